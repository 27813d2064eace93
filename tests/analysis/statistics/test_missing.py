"""Missing continuations: what was planned, and what they could change at worst."""

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.ratings import apply_adjudication, check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.missing import count_missing, fill_missing
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import Outcomes, tabulate

PAIR = np.arange(2)


def lay_out(**words: str) -> Outcomes:
    """Lay out agents: of each a word per scenario, in it a verdict per continuation.

    The verdicts are 1, 0, ? for "cannot judge" and _ for none; "." is no continuation.
    """
    verdicts = {"1": "success", "0": "failure", "?": "cannot_judge", "_": ""}
    rows = [
        (agent, f"s{s:02}", f"c{s % 3}", f"{i}", verdicts[letter])
        for agent, text in words.items()
        for s, word in enumerate(text.split())
        for i, letter in enumerate(word)
        if letter != "."
    ]
    columns = ["agent", "scenario", "category", "continuation", "verdict"]
    table = check_ratings(from_frame("table", pd.DataFrame(rows, columns=columns)))
    return tabulate(
        apply_adjudication(table), "human", scenarios=pd.DataFrame(columns=columns[1:3] + ["kind"])
    )


def draw(rng: np.random.Generator, rates: np.ndarray, *, dropped: float = 0.0) -> str:
    """Draw five continuations per scenario; drop failures with a probability."""
    letters = np.where(rng.random((len(rates), 5)) < rates[:, None], "1", "0")
    letters[(letters == "0") & (rng.random(letters.shape) < dropped)] = "."
    return " ".join(map("".join, letters.tolist()))


def test_planned_continuations_are_the_most_that_an_agent_itself_has():
    outcomes = lay_out(A="111 11 _1", B="1 1 1", C="11 . 11")
    assert count_missing(outcomes).tolist() == [[0, 1, 1], [0, 0, 0], [0, 2, 0]]


def test_planned_continuations_may_be_stated():
    outcomes = lay_out(A="111 11 11", B="1 1 1")
    assert count_missing(outcomes, 2).tolist() == [[0, 0, 0], [1, 1, 1]]


def test_missing_continuations_get_one_outcome():
    outcomes = lay_out(A="11 1 . __ ?", B="00 00 00 00 00")
    missing = count_missing(outcomes)
    assert missing[0].tolist() == [0, 1, 2, 0, 1]
    low, high = (
        fill_missing(outcomes, missing, 0, end, with_unjudgeable=False).value for end in (0, 1)
    )
    assert low.tolist()[:3] == [1, 0.5, 0] and high.tolist()[:3] == [1, 1, 1]
    assert np.isnan(low[3]) and (low[4], high[4]) == (0, 1)


@pytest.mark.parametrize("target", ["sampled", "fixed"])
def test_worst_case_equals_the_comparison_of_a_table_that_is_filled_in(target):
    rng = np.random.default_rng(3)
    rates = rng.uniform(0.2, 0.9, 24)
    better, worse = draw(rng, rates, dropped=0.3).split(), draw(rng, rates * 0.3).split()
    better[5], worse[7] = ".....", "....."
    full = {"A": better, "B": worse}
    outcomes = lay_out(**{name: " ".join(words) for name, words in full.items()})
    filled = lay_out(
        A=" ".join(better).replace(".", "0"),
        B=" ".join(worse).replace(".", "1"),
    )
    model = RateModel(outcomes, target=target, missing=count_missing(outcomes, 5))
    worst = model.compare_worst(0, 1)
    expected = RateModel(filled, target=target).compare(PAIR)
    assert worst.value[0] == pytest.approx(expected.value[0])
    assert worst.se[0] == pytest.approx(expected.se[0])
    assert worst.p[0] == pytest.approx(expected.p[0])
    found = model.compare(PAIR)
    assert found.p_worst[0] == pytest.approx(expected.p[0]) and found.p[0] < found.p_worst[0]
    assert found.missing[0] == sum(word.count(".") for word in better + worse)


def test_complete_studies_have_one_p():
    rng = np.random.default_rng(0)
    outcomes = lay_out(A=draw(rng, np.full(12, 0.9)), B=draw(rng, np.full(12, 0.3)))
    found = RateModel(outcomes, missing=count_missing(outcomes)).compare(PAIR)
    assert found.p_worst.tolist() == found.p.tolist() and found.missing.tolist() == [0]


@pytest.mark.landing
def test_equal_agents_are_not_told_apart_by_failures_that_one_of_them_lacks():
    naive, guarded = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        rates = rng.uniform(0.3, 0.8, 30)
        outcomes = lay_out(A=draw(rng, rates, dropped=0.7), B=draw(rng, rates))
        model = RateModel(outcomes, missing=count_missing(outcomes, 5))
        found = model.compare(PAIR)
        naive.append(found.p[0] < 0.05)
        guarded.append(found.p_worst[0] < 0.05)
    assert np.mean(naive) > 0.9 and np.mean(guarded) <= 0.05


def test_annotators_give_the_share_of_existing_continuations_of_the_worst_case():
    rows = [
        (agent, f"s{s:02}", f"{i}", "ab"[(s + i) % 2], (s * 7 + i * 3) % 10 < chance)
        for agent, chance in (("A", 8), ("B", 3))
        for s in range(40)
        for i in range(3)
        if (agent, i) != ("A", 2) or s % 4
    ]
    columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
    table = check_ratings(from_frame("table", pd.DataFrame(rows, columns=columns)))
    outcomes = tabulate(
        apply_adjudication(table),
        "human",
        scenarios=pd.DataFrame(columns=["scenario", "category", "kind"]),
    )
    missing = count_missing(outcomes)
    worst = fill_missing(outcomes, missing, 0, 0, with_unjudgeable=False)
    assert missing[0].sum() == 10 and set(worst.share) == {1.0, 2 / 3}
    found = RateModel(outcomes, missing=missing).compare(PAIR)
    assert found.value[0] > 0 and found.p[0] < found.p_worst[0] < 0.05
