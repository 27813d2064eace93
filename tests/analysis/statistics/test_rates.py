"""Rates and differences adjusted for annotators: golden numbers, and what cannot be told."""

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.ratings import apply_adjudication, check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics import rates
from sts_analysis.statistics.rates import RateModel
from sts_analysis.statistics.tabulation import Outcomes, tabulate

A = "1a0b 1c1a 0b1c 1a1b 0c0a 1b1c 1a0b 1c1a"
B = "0b1b 1c0a 0b0c 1a0b 0c0b 1a1c 0a0b 1c0b"
NO_SCENARIOS = pd.DataFrame(columns=["scenario", "category", "kind"])


def lay_out(**agents: str) -> Outcomes:
    """Lay out verdicts: of each agent a word per scenario, in it (verdict, annotator) pairs."""
    rows = [
        (name, f"s{s:02}", f"{s}-{i}", word[i + 1], {"1": "success", "0": "failure"}[word[i]])
        for name, words in agents.items()
        for s, word in enumerate(words.split())
        for i in range(0, len(word), 2)
    ]
    columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
    table = check_ratings(from_frame("table", pd.DataFrame(rows, columns=columns)))
    return tabulate(apply_adjudication(table), "human", scenarios=NO_SCENARIOS)


@pytest.fixture
def model(monkeypatch) -> RateModel:
    monkeypatch.setattr(rates, "MIN_CLIPS", 0)  # the golden example has 16 clips
    monkeypatch.setattr(rates, "MIN_ANNOTATORS_OF_RATES", 3)
    return RateModel(lay_out(A=A, B=B))


def test_adjusted_rates_equal_the_golden_numbers(model) -> None:
    found = model.estimate_rates()
    assert model.annotators.workload == pytest.approx([0.3125, 0.375, 0.3125])
    assert found.plain == pytest.approx([0.6875, 0.375])
    assert found.rate == pytest.approx([0.665904, 0.393478], abs=1e-6)
    assert found.se == pytest.approx([0.137565, 0.123476], abs=1e-6)
    assert model.widen_rates(found) == pytest.approx(
        np.array([[0.251949, 0.921845], [0.116660, 0.761155]]), abs=1e-6
    )


def test_difference_is_that_of_the_rates(model) -> None:
    found, pairs = model.estimate_rates(), model.compare(np.arange(2))
    assert pairs.value[0] == pytest.approx(found.rate[0] - found.rate[1])
    assert pairs.adjustment[0] == pytest.approx(pairs.value[0] - 0.3125)
    assert model.compare(np.arange(2), other_annotators=True).se[0] > pairs.se[0]


def test_agents_without_enough_clips_are_not_adjusted() -> None:
    model = RateModel(lay_out(A=A, B=B))
    found = model.compare(np.arange(2))
    assert not found.identifiable[0] and np.isnan(found.value[0]) and np.isnan(found.p_holm[0])
    even = RateModel(lay_out(A="1a0b 1a1b 0a0b 1a1b", B="0a1b 1a0b 0a0b 1a0b"))
    assert even.compare(np.arange(2)).identifiable[0]


def test_agents_with_annotators_of_their_own_are_not_identifiable() -> None:
    words = " ".join(["1{}0{}1{}"] * 12)
    by = {name: words.replace("{}", name[-1]) for name in ("Aa", "Ba", "Cb")}
    model = RateModel(lay_out(**by))
    found = model.compare(np.arange(3))
    pairs = dict(zip(zip(found.first, found.second, strict=True), found.identifiable, strict=True))
    assert pairs == {(0, 1): True, (0, 2): False, (1, 2): False}


def test_link_of_a_single_unit_does_not_identify_agents() -> None:
    words = " ".join(["1a0a1a"] * 12), " ".join(["1b0b1b"] * 12)
    linked = RateModel(lay_out(A=words[0] + " 1a1b", B=words[1] + " 0a1b"))
    assert not linked.compare(np.arange(2)).identifiable[0]
    twice = RateModel(lay_out(A=words[0] + " 1a1b 1a0b", B=words[1] + " 0a1b 1a0b"))
    assert twice.compare(np.arange(2)).identifiable[0]


def test_disagreement_about_one_agent_widens_differences_for_other_annotators() -> None:
    rng = np.random.default_rng(1)
    words = {}
    for agent in "AB":
        favour = {"a": 0.9, "b": 0.5, "c": 0.1} if agent == "A" else dict.fromkeys("abc", 0.5)
        drawn = [[(int(rng.random() < favour[k]), k) for k in "abc"] for _ in range(30)]
        words[agent] = " ".join("".join(f"{v}{k}" for v, k in word) for word in drawn)
    model = RateModel(lay_out(**words))
    assert model.generalises(model.estimate_rates(), np.arange(2))
    these, others = (model.compare(np.arange(2), other_annotators=wide) for wide in (False, True))
    assert these.value == pytest.approx(others.value)
    assert others.se[0] > 2 * these.se[0] and others.df[0] < these.df[0]


def test_rates_for_other_annotators_need_five_who_can_be_told_apart() -> None:
    words = " ".join(["1a0b1c", "0d1e0a"] * 15)
    model = RateModel(lay_out(A=words, B=words))
    assert np.isfinite(model.widen_rates(model.estimate_rates())).all()
    three = RateModel(lay_out(A=" ".join(["1a0b1c"] * 30), B=" ".join(["0a0b1c"] * 30)))
    assert np.isnan(three.widen_rates(three.estimate_rates())).all()
    apart = RateModel(lay_out(A=" ".join(["1a0b1c"] * 30), B=" ".join(["0d0e1f"] * 30)))
    assert np.isnan(apart.widen_rates(apart.estimate_rates())).all()


def test_auto_resolved_continuations_count_by_their_share() -> None:
    rows = [("A", "s", str(i), "", "not_done", "settled", "") for i in range(2)]
    rows += [("A", "s", "2", "ana", "success", "human", ""), ("A", "s", "3", "", "", "human", "")]
    rows += [("A", "t", "0", "", "not_done", "settled", "")]
    columns = ["agent", "scenario", "continuation", "annotator", "verdict", "source", "category"]
    table = check_ratings(from_frame("table", pd.DataFrame(rows, columns=columns)))
    found = tabulate(apply_adjudication(table), "human", scenarios=NO_SCENARIOS)
    assert found.value.tolist() == [[0.5, 0.0]] and found.judged.tolist() == [[3, 1]]
    assert found.judging is not None
    assert found.judging.share.ravel().tolist() == [0.5, 0.0]


def test_unjudgeable_continuations_bound_rates_and_undo_narrow_leads() -> None:
    rows = []
    for s in range(40):
        rows += [("A", f"s{s:02}", "ana", "success" if s % 4 else "failure")]
        rows += [("B", f"s{s:02}", "ana", "failure" if s % 4 else "success")]
    for s in range(40, 60):
        rows += [("A", f"s{s:02}", "ana", "cannot_judge"), ("B", f"s{s:02}", "ana", "success")]
    columns = ["agent", "scenario", "annotator", "verdict"]
    table = check_ratings(from_frame("table", pd.DataFrame(rows, columns=columns)))
    outcomes = tabulate(apply_adjudication(table), "human", scenarios=NO_SCENARIOS)
    model = RateModel(outcomes)
    found = model.estimate_rates()
    assert found.rate[0] == pytest.approx(0.75)
    assert found.bounds[0, 0] < 0.5 < 0.83 < found.bounds[0, 1] and np.isnan(found.bounds[1]).all()
    compared = model.compare(np.arange(2))
    assert compared.value[0] == pytest.approx(0.5)
    assert compared.p[0] > 0.5  # A leads only if its unjudgeable clips are left out


def test_fixed_scenarios_leave_out_the_variance_between_them() -> None:
    words = " ".join(["1a1a1a", "0a0a0a"] * 8)
    other = " ".join(["1a1a0a", "1a0a0a"] * 8)
    outcomes = lay_out(A=words, B=other)
    fixed, sampled = RateModel(outcomes, target="fixed"), RateModel(outcomes)
    assert fixed.estimate_rates().se[0] == 0 < sampled.estimate_rates().se[0]
    # Of each scenario of B the variance is 2/9 x 3/2, and the mean of 16 such means of three.
    assert fixed.estimate_rates().se[1] == pytest.approx(np.sqrt(1 / 3 / 3 / 16))
