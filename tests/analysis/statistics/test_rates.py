"""Rates and differences adjusted for annotators: golden numbers, and what cannot be told."""

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs.ratings import apply_adjudication, check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics import rates
from sts_analysis.statistics.annotators import fit_effects
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


def test_effects_and_rates_equal_the_golden_numbers(model) -> None:
    effects = model.effects
    centred = effects.effect - effects.effect.mean()
    assert centred == pytest.approx([0.082432, -0.282432, 0.2], abs=1e-6)
    assert effects.workload == pytest.approx([0.3125, 0.375, 0.3125])
    assert effects.component == pytest.approx(0.053282, abs=1e-6)
    found = model.estimate_rates()
    assert found.plain == pytest.approx([0.6875, 0.375])
    assert found.rate == pytest.approx([0.664696, 0.397804], abs=1e-6)
    assert found.se == pytest.approx([0.135431, 0.119872], abs=1e-6)
    assert found.interval == pytest.approx(
        np.array([[0.342738, 0.882850], [0.176845, 0.670097]]), abs=1e-6
    )
    assert model.widen_rates(found) == pytest.approx(
        np.array([[0.245177, 0.923656], [0.110163, 0.778997]]), abs=1e-6
    )


def test_difference_equals_the_golden_number_and_the_rates(model) -> None:
    found = model.estimate_rates()
    these = model.compare(np.arange(2), other_annotators=False)
    assert these.value[0] == pytest.approx(found.rate[0] - found.rate[1])
    assert these.se[0] == pytest.approx(0.104554, abs=1e-6)
    assert these.adjustment[0] == pytest.approx(0.266892 - 0.3125, abs=1e-6)
    others = model.compare(np.arange(2), other_annotators=True)
    assert others.se[0] ** 2 == pytest.approx(0.010932, abs=1e-6)  # V_k is below V_cell


def test_agents_without_enough_clips_are_not_adjusted() -> None:
    model = RateModel(lay_out(A=A, B=B))
    found = model.compare(np.arange(2), other_annotators=False)
    assert not found.identifiable[0] and np.isnan(found.value[0]) and np.isnan(found.p_holm[0])
    even = RateModel(lay_out(A="1a0b 1a1b 0a0b 1a1b", B="0a1b 1a0b 0a0b 1a0b"))
    assert even.compare(np.arange(2), other_annotators=False).identifiable[0]


def test_agents_with_annotators_of_their_own_are_not_identifiable() -> None:
    words = " ".join(["1{}0{}1{}"] * 12)
    by = {name: words.replace("{}", name[-1]) for name in ("Aa", "Ba", "Cb")}
    model = RateModel(lay_out(**by))
    found = model.compare(np.arange(3), other_annotators=False)
    pairs = dict(zip(zip(found.first, found.second, strict=True), found.identifiable, strict=True))
    assert pairs == {(0, 1): True, (0, 2): False, (1, 2): False}


def test_link_of_a_single_unit_does_not_identify_agents() -> None:
    words = " ".join(["1a0a1a"] * 12), " ".join(["1b0b1b"] * 12)
    linked = RateModel(lay_out(A=words[0] + " 1a1b", B=words[1] + " 0a1b"))
    assert not linked.compare(np.arange(2), other_annotators=False).identifiable[0]
    twice = RateModel(lay_out(A=words[0] + " 1a1b 1a0b", B=words[1] + " 0a1b 1a0b"))
    assert twice.compare(np.arange(2), other_annotators=False).identifiable[0]


def fit_directly(judgements, successes) -> np.ndarray:
    """Fit agent + scenario + annotator by dummy variables; return the annotators, float64[K]."""
    agent, scenario, person = np.nonzero(judgements)
    weight = np.sqrt(judgements[agent, scenario, person])
    sizes = judgements.shape
    dummies = [np.eye(n)[code] for n, code in zip(sizes, (agent, scenario, person), strict=True)]
    response = successes[agent, scenario, person] / weight**2
    design = np.concatenate(dummies, axis=1) * weight[:, None]
    return np.linalg.lstsq(design, response * weight, rcond=None)[0][-sizes[2] :]


def test_effects_with_and_without_each_unit_are_those_of_least_squares() -> None:
    rng = np.random.default_rng(0)
    judgements = rng.poisson(0.7, (4, 20, 3)).astype(float)
    successes = rng.binomial(judgements.astype(int), 0.5).astype(float)
    unit = np.arange(20) // 3
    effects = fit_effects(judgements, successes, unit)
    for u in range(-1, 7):
        kept = unit != u
        expected = fit_directly(judgements[:, kept], successes[:, kept])
        effect = effects.effect - (effects.drop[u] if u >= 0 else 0)
        assert effect - effect[0] == pytest.approx(expected - expected[0])


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


def test_single_verdicts_say_nothing_of_other_annotators() -> None:
    rng = np.random.default_rng(2)
    words = " ".join(f"{rng.integers(2)}{rng.choice(list('abc'))}" for _ in range(40))
    model = RateModel(lay_out(A=words, B=words))
    assert not model.generalises(model.estimate_rates(), np.arange(2))


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
    compared = model.compare(np.arange(2), other_annotators=False)
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
