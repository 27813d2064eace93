"""Rates of a study judged in part, from cells that were reached or clips by their copies."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.annotations.queue.rounds import RoundOrder, find_reached
from sts_analysis.report.claim import Progress, decide
from sts_analysis.statistics.information import measure_information
from sts_analysis.statistics.race import find_closed_bar
from sts_analysis.statistics.rates import Comparisons, RateModel
from sts_analysis.statistics.tabulation import Outcomes, tabulate

NO_SCENARIOS = pd.DataFrame(columns=["scenario", "category", "kind"])
SCENARIOS, CONTINUATIONS, CATEGORIES = 80, 10, 4
NONE = np.nan


def play(seed: int, alike: tuple[float | None, float | None] = (0.0, 1.0)) -> pd.DataFrame:
    """Play two agents with a rate of .5; continuations of an agent with this outcome look alike."""
    rng = np.random.default_rng(seed)
    category = np.arange(SCENARIOS) % CATEGORIES
    order = RoundOrder({f"s{s:02}": f"c{c}" for s, c in enumerate(category)}, seed)
    rows: list[tuple[Any, ...]] = []
    for agent, same in zip("AB", alike, strict=True):
        chance = rng.beta(1, 1, SCENARIOS)
        for s, i in np.ndindex(SCENARIOS, CONTINUATIONS):
            y = float(rng.random() < chance[s])
            clip = f"{agent}{s}-{'alike' if y == same else i}"
            place = order.find_place(agent, i, f"s{s:02}")
            rows.append((agent, f"s{s:02}", f"c{category[s]}", len(rows), clip, i + 1, place, y))
    names = ["agent", "scenario", "category", "continuation", "clip", "round", "place", "y"]
    table = pd.DataFrame(rows, columns=names)
    return table.assign(cell=table["place"].rank(method="dense"))


def judge(table: pd.DataFrame, share: float, *, rounds: bool, seed: int = 0) -> pd.DataFrame:
    """Judge a share of the clips, in rounds or drawn at random; return a ratings table."""
    first = table.groupby("clip")["cell"].min()
    order = first.sort_values() if rounds else first.sample(frac=1, random_state=seed)
    judged = table["clip"].isin(order.index[: round(share * len(order))])
    verdict = np.where(table["y"] == 1, "success", "failure")
    return table.assign(
        annotator=np.where(judged, "ana", ""), verdict=np.where(judged, verdict, "")
    )


def lay_out(table: pd.DataFrame, *, without: tuple[str, ...] = ()) -> Outcomes:
    """Lay out a table without its columns `without`, as if read from a file without them."""
    columns: dict[str, Any] = {"clip": "", "round": NONE, "cell": NONE}
    usual: dict[str, Any] = {
        "truth": "",
        "kind": "",
        "sees": "observation",
        "source": "human",
        "horizon": 40,
    }
    rows = table.assign(**usual, **{name: columns[name] for name in without})
    return tabulate(rows, "human", scenarios=NO_SCENARIOS)


def summarise(studies: int, read: Callable[[int], Outcomes]) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean rates of both agents, and in what share of studies intervals hold .5."""
    rates, covered = np.zeros((2, studies, 2))
    for study in range(studies):
        found = RateModel(read(study)).estimate_rates()
        rates[study] = found.rate
        covered[study] = (found.interval[:, 0] <= 0.5) & (0.5 <= found.interval[:, 1])
    return rates.mean(axis=0), covered.mean(axis=0)


@pytest.mark.parametrize(
    ("cell", "known", "reached"),
    [
        ([1, 2, 3, 4], [1, 1, 0, 1], [1, 1, 0, 0]),  # what is known behind a gap does not count
        ([4, 3, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1]),
        ([1, 1, 2, 2], [1, 0, 1, 1], [0, 0, 0, 0]),  # all of one cell
        ([1, 2, NONE, 3], [1, 1, 0, 1], [1, 1, 0, 1]),  # not queued, so nothing waits for it
        ([1, 2, NONE, 3], [1, 1, 1, 0], [1, 1, 0, 0]),
    ],
)
def test_cells_count_up_to_the_first_that_waits(cell, known, reached) -> None:
    numbers = np.array(cell, float)
    alone, no_rounds = np.zeros(len(cell), int), np.full(len(cell), NONE)
    found = find_reached(alone, numbers, no_rounds, np.array(known, bool))
    assert found is not None and found.tolist() == [bool(r) for r in reached]


def test_rounds_alone_count_when_they_are_complete() -> None:
    nothing, rounds = np.full(6, NONE), np.array([1, 1, 2, 2, 3, 3], float)
    agent = np.zeros(6, int)

    def find(*known: int) -> list[bool]:
        found = find_reached(agent, nothing, rounds, np.array(known, bool))
        assert found is not None
        return found.tolist()

    assert find(1, 1, 1, 0, 1, 0) == [True, True, False, False, False, False]
    assert find(1, 1, 1, 1, 0, 1) == [True, True, True, True, False, False]
    assert find(1, 0, 1, 0, 0, 0) == [True, False, False, False, False, False]
    assert find_reached(agent, nothing, nothing, np.ones(6, bool)) is None


def test_agent_that_joins_later_takes_nothing_from_the_others() -> None:
    agent, known = np.array([0, 0, 0, 1, 1, 1]), np.array([1, 1, 1, 1, 0, 1], bool)
    cell = np.array([2, 4, 6, 1, 3, 5], float)
    found = find_reached(agent, cell, np.full(6, NONE), known)
    assert found is not None and found.tolist() == [True, True, True, True, False, False]


def test_complete_table_has_the_same_values_with_and_without_rounds() -> None:
    table = judge(play(1), 1.0, rounds=True)
    whole, bare = lay_out(table), lay_out(table, without=("round", "cell", "clip"))
    assert np.array_equal(whole.value, bare.value) and whole.draw == bare.draw == ""


def test_each_reached_continuation_counts_with_the_value_of_its_clip() -> None:
    table = judge(play(2), 0.5, rounds=True)
    found = lay_out(table)
    waiting = table[table["verdict"] == ""].groupby("agent")["cell"].min()
    reached = table[table["cell"] < table["agent"].map(waiting)]
    expected = reached.pivot_table(values="y", index="agent", columns="scenario", aggfunc="mean")
    assert found.value == pytest.approx(expected.to_numpy(), nan_ok=True)
    assert found.draw == "rounds" and found.continuations.verdicts.sum() == len(reached)
    assert found.judging is not None
    assert found.judging.share.sum() == pytest.approx(np.isfinite(found.value).sum())
    assert (found.round, found.rounds) == (
        table.loc[table["cell"] == waiting.min(), "round"].item(),
        10,
    )


def test_scenario_with_alike_continuations_stands_for_more() -> None:
    table = judge(play(3), 0.25, rounds=False, seed=3)
    found = lay_out(table, without=("round", "cell"))
    judged = table[table["verdict"] != ""]
    # Over a category, the mean of what is judged; every scenario has as many continuations.
    by_category = judged.groupby(["agent", "category"])["y"].mean().groupby("agent").mean()
    assert RateModel(found).estimate_rates().plain == pytest.approx(by_category.to_numpy())
    assert found.draw == "uneven" or by_category.nunique() == 1
    bare = lay_out(judge(play(3, (None, None)), 0.25, rounds=False), without=("round", "cell"))
    assert bare.draw == "random"


def test_closed_study_of_random_clips_claims_no_order_if_copies_differ() -> None:
    played = play(4, (0.0, None))
    played["y"] = played["y"].where(played["agent"] == "A", 0.0)
    in_rounds = lay_out(judge(played, 0.5, rounds=True))
    at_random = lay_out(judge(played, 0.5, rounds=False), without=("round", "cell"))
    closed = Progress(100, 50, "time is up")
    for outcomes, reason in ((in_rounds, ""), (at_random, "copies")):
        model = RateModel(outcomes)
        claim = decide(model, model.estimate_rates(), closed)
        assert claim.reason == reason and (claim.state == "final") == (reason == "")
        assert (claim.bar > 2 * closed.bar).all() == (reason == "")
        assert claim.significant.any()  # so that without the reason an order would be claimed


def compare(outcomes: Outcomes) -> Comparisons:
    return RateModel(outcomes).compare(np.arange(2))


def test_information_is_complete_at_the_end_and_small_after_one_round() -> None:
    table = play(5, (None, None))
    for part, expected in ((1.0, 1.0), (0.1, 0.325)):
        outcomes = lay_out(judge(table, part, rounds=True))
        share, known = measure_information(outcomes, compare(outcomes))
        assert share == pytest.approx([expected]) and known.all() == (expected == 1)


@pytest.mark.landing
def test_information_is_the_ratio_of_the_variances_of_differences() -> None:
    """Clips of one agent differ, so that a third of the clips is a third of the continuations."""
    found = []
    for study in range(40):
        table = play(study, (None, None))
        part, whole = (lay_out(judge(table, share, rounds=True)) for share in (0.33, 1.0))
        pairs = compare(part)
        ratio = (compare(whole).se[0] / pairs.se[0]) ** 2
        found.append((ratio, measure_information(part, pairs).share[0]))
    ratio, share = np.mean(found, axis=0)
    assert share == pytest.approx(ratio, abs=0.03) and share > 0.6


@pytest.mark.parametrize(
    "studies",
    [pytest.param(12, marks=pytest.mark.landing), pytest.param(400, marks=pytest.mark.slow)],
)
def test_closing_at_the_best_of_many_looks_rarely_claims_a_difference(studies) -> None:
    wrong, naive = 0, 0
    for study in range(studies):
        table = play(study, (None, None))
        ahead, ahead_at_05 = False, False
        for share in (0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.85, 0.95):
            outcomes = lay_out(judge(table, share, rounds=True))
            pairs = compare(outcomes)
            with np.errstate(invalid="ignore"):
                bar = find_closed_bar(measure_information(outcomes, pairs).share)
                ahead |= bool((pairs.p < bar).any())
                ahead_at_05 |= bool((pairs.p < 0.05).any())
        wrong, naive = wrong + ahead, naive + ahead_at_05
    assert wrong / studies <= 0.075 + 3 * np.sqrt(0.075 * 0.925 / studies)
    assert naive > wrong and (studies < 400 or naive / studies > 0.12)


@pytest.mark.parametrize(
    ("share", "studies", "alike"),
    [
        *(pytest.param(share, 40, (0.0, 1.0), marks=pytest.mark.landing) for share in (0.1, 0.5)),
        *(
            pytest.param(share, 400, alike, marks=pytest.mark.slow)
            for share in (0.1, 0.25, 0.5, 0.75)
            for alike in ((0.0, 1.0), (0.0, None), (None, None))
        ),
    ],
)
def test_rates_are_unbiased_and_covered_at_any_moment(share, studies, alike) -> None:
    rates, covered = summarise(
        studies, lambda study: lay_out(judge(play(study, alike), share, rounds=True))
    )
    assert rates == pytest.approx([0.5, 0.5], abs=3 * 0.05 / np.sqrt(studies))
    assert (covered >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / studies)).all()


@pytest.mark.landing
def test_clips_at_random_are_biased_where_rounds_and_weights_are_not() -> None:
    def draw(study: int, *without: str) -> Outcomes:
        table = judge(play(study), 0.25, rounds=False, seed=study)
        return lay_out(table, without=("round", "cell", *without))

    naive, covered = summarise(30, lambda study: draw(study, "clip"))
    weighed, _ = summarise(30, draw)
    assert naive[0] > 0.7 and naive[1] < 0.3 and (covered < 0.2).all()
    assert weighed == pytest.approx([0.5, 0.5], abs=0.05)
