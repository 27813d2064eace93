"""Plans: golden numbers, and the power that reports of simulated studies have."""

import json
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from sts.cli.main import main
from sts_analysis.planning.chances import Accuracy, ChanceModel
from sts_analysis.planning.pilot import (
    measure,
    measure_accuracy,
    measure_pair,
    scenarios_needed,
    share_between,
    widen_count,
)
from sts_analysis.planning.power import (
    Assumptions,
    Design,
    Plan,
    find_difference,
    plan_study,
    reach,
    simulate_power,
)
from sts_analysis.statistics.rates import RateModel
from tests.analysis.planning.designs import (
    CORRELATION,
    ICC,
    draw_verdicts,
    lay_out,
    make_pilot,
    make_table,
)

ACCURACY = 0.95


class Cell(NamedTuple):
    """A study of two agents, one with this rate."""

    rate: float
    scenarios: int
    continuations: int
    categories: int = 4
    unit_size: int = 1
    share: float = 0.0
    pairs: int = 1

    @property
    def assumptions(self) -> Assumptions:
        rate = np.full(self.categories, self.rate)
        even = np.full(self.categories, 1 / self.categories)
        accuracy = Accuracy(ACCURACY, ACCURACY)
        return Assumptions(rate, even, ICC, CORRELATION, self.share, accuracy)

    @property
    def design(self) -> Design:
        sizes = self.scenarios, self.continuations, 1, float(self.unit_size)
        return Design(*sizes, pairs=self.pairs)

    def plan(self) -> Plan:
        return plan_study(self.assumptions, self.design, 0.05)

    def detect(self, difference: float, studies: int, agents: int = 2) -> float:
        """Return how often a report finds a significant difference of the first two agents."""
        number = np.arange(self.scenarios)
        category, unit = number * self.categories // self.scenarios, number // self.unit_size
        other = self.rate + (difference if self.rate <= 0.5 else -difference)
        verdicts = draw_verdicts(
            [self.rate, other, *[self.rate] * (agents - 2)],
            unit=unit,
            continuations=self.continuations,
            share=self.share,
            accuracy=ACCURACY,
            studies=studies,
            seed=7,
        )
        models = (RateModel(lay_out(verdicts[:, i], category, unit)) for i in range(studies))
        found = [model.compare(np.arange(agents)) for model in models]
        return float(np.mean([comparisons.p_holm[0] < 0.05 for comparisons in found]))


PLAIN = [
    Cell(0.05, 40, 3),
    Cell(0.03, 160, 3),
    Cell(0.05, 160, 3),
    Cell(0.9, 80, 3),
    Cell(0.2, 20, 1, categories=2),
    Cell(0.5, 40, 3),
    Cell(0.5, 10, 5, categories=1),
]
IN_UNITS = [
    Cell(0.5, 160, 3, 4, 4, 0.5),
    Cell(0.5, 120, 3, 4, 10, 0.5),
    Cell(0.3, 160, 2, 4, 10, 0.4),
    Cell(0.5, 60, 3, 1, 5, 0.8),
    Cell(0.2, 100, 3, 2, 4, 1.0),
]
"""Designs of 12 to 40 units."""
GOLDEN = [(Cell(0.05, 40, 3), 0.166270), (Cell(0.5, 40, 3), 0.214115), (Cell(0.9, 80, 3), 0.121527)]


@pytest.mark.parametrize(("cell", "difference"), GOLDEN)
def test_detectable_difference_equals_the_golden_number(cell: Cell, difference: float) -> None:
    assert find_difference(cell.assumptions, cell.design) == pytest.approx(difference, abs=1e-6)


def test_reach_equals_the_golden_numbers() -> None:
    assert reach(36, 0.05, 0.8) == pytest.approx(2.879149, abs=1e-6)
    assert reach(76, 0.05, 0.8) == pytest.approx(2.837612, abs=1e-6)


@pytest.mark.landing
@pytest.mark.parametrize("studies", [200, pytest.param(2000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "cell",
    [
        pytest.param(cell, marks=pytest.mark.slow if n % 2 else ())
        for n, cell in enumerate([*PLAIN, *IN_UNITS])
    ],
    ids=str,
)
def test_reports_have_the_power_that_the_plan_prints(cell: Cell, studies: int) -> None:
    plan = cell.plan()
    assert plan.difference is not None and plan.power is not None
    seen = cell.detect(plan.difference, studies)
    error = 2 * np.sqrt(seen * (1 - seen) / studies) if studies < 2000 else 0.0
    print(f"{cell}: {plan.difference:.4f} {plan.searched} {plan.power:.4f} {seen:.4f}")
    assert seen == pytest.approx(0.8, abs=0.05 + error)
    assert seen == pytest.approx(plan.power, abs=0.05 + error)


@pytest.mark.landing
def test_plans_that_take_units_for_independent_promise_too_much() -> None:
    for cell in IN_UNITS:
        naive = find_difference(cell.assumptions, cell.design._replace(unit_size=1.0))
        assert naive is not None and cell.detect(naive, 200) < 0.68


@pytest.mark.landing
def test_holm_over_all_pairs_detects_at_least_what_its_first_step_does() -> None:
    cell = Cell(0.5, 80, 3, pairs=10)
    difference = find_difference(cell.assumptions, cell.design)
    assert difference is not None and cell.detect(difference, 200, agents=5) > 0.75


def test_difference_is_searched_for_if_simulated_power_falls_short() -> None:
    cell = Cell(0.5, 10, 5, categories=1)
    formula = find_difference(cell.assumptions, cell.design)
    plan = cell.plan()
    assert formula is not None and plan.searched and plan.difference is not None
    assert plan.difference > formula + 0.01
    assert simulate_power(cell.assumptions, cell.design, formula, seed=3) < 0.78
    assert plan.power == pytest.approx(0.8, abs=0.03)
    strict = cell.design._replace(pairs=15)
    assert simulate_power(cell.assumptions, strict, formula, seed=3) < 0.45


def test_needed_numbers_suffice_and_smaller_ones_do_not() -> None:
    cell = Cell(0.5, 900, 1)
    target = 0.94 * (find_difference(cell.assumptions, cell.design) or 0.0)
    needed = plan_study(cell.assumptions, cell.design, target).needed
    for name, number in needed.items():
        assert number is not None and number > 1
        enough: dict[str, Any] = {name: number}
        short: dict[str, Any] = {name: number - 1}
        found = [
            find_difference(cell.assumptions, cell.design._replace(**size)) or 0.0
            for size in (enough, short)
        ]
        assert found[0] <= target < found[1]
    few = Cell(0.5, 40, 3).plan().needed
    assert few["scenarios"] == 750 and few["continuations"] is few["annotations"] is None


def test_units_and_pairs_make_the_detectable_difference_larger() -> None:
    cell = Cell(0.5, 160, 3, unit_size=4, share=0.5)
    alone = cell.design._replace(unit_size=1.0).variance(cell.assumptions, 0.1)
    assert cell.design.variance(cell.assumptions, 0.1) == pytest.approx(alone * [2.5, 1, 1])
    designs = [cell.design._replace(pairs=pairs) for pairs in (1, 3, 15)]
    found = [find_difference(cell.assumptions, design) or 0.0 for design in designs]
    assert 0 < found[0] < found[1] < found[2]
    assert find_difference(cell.assumptions, cell.design._replace(unit_size=40.0)) is None


def test_continuations_alone_count_if_the_scenarios_are_fixed() -> None:
    cell = Cell(0.5, 60, 5)
    design = cell.design._replace(fixed=True)
    plan = plan_study(cell.assumptions, design, 0.05)
    assert plan.shares["scenarios"] == 0 and plan.power is not None and 0.74 < plan.power < 0.9
    assert plan.needed["continuations"] is not None


def test_pilot_shows_the_world_it_comes_from() -> None:
    unit, right = np.arange(1200) // 4, Accuracy(0.9, 0.9)
    verdicts = draw_verdicts(
        [0.3, 0.4], unit=unit, continuations=3, share=0.5, accuracy=0.9, seed=1
    )
    outcomes = lay_out(verdicts[:, 0], np.arange(1200) % 4, unit)
    moments = measure(outcomes, np.arange(2))
    chances = moments.fit_chances(right)
    assert chances.rate.mean(axis=1) == pytest.approx([0.3, 0.4], abs=0.03)
    assert chances.icc == pytest.approx([ICC, ICC], abs=0.06)
    assert chances.correlation == pytest.approx(CORRELATION, abs=0.08)
    assert chances.trajectory_share == pytest.approx(0.5, abs=0.12)
    assert moments.rate_trajectory_share == pytest.approx(0.5, abs=0.08)
    spread = 0.64 * (0.21 + 0.24)  # of outcomes as judged
    between, within = ICC * (1 - CORRELATION) * spread, ((1 - ICC) * spread + 0.18) / 3
    share = between / (between + within)
    assert share_between(outcomes, 0, 1) == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize(
    ("count", "wider"), [(500, 1.7), pytest.param(1500, 1.0, marks=pytest.mark.slow)]
)
def test_variances_of_a_few_scenarios_are_not_biased(count: int, wider: float) -> None:
    unit = np.arange(24) // 3  # eight units across two categories
    verdicts = draw_verdicts([0.5] * 2, unit=unit, continuations=3, share=0.6, studies=count)
    studies = [lay_out(verdicts[:, i], np.arange(24) % 2, unit) for i in range(count)]
    found = [measure(study, np.arange(2)) for study in studies]
    covariance = np.mean([moments.covariance for moments in found], axis=0)
    noise = np.mean([moments.noise for moments in found])
    assert np.diag(covariance) - noise == pytest.approx(ICC * 0.25, rel=0.03 * wider)
    assert covariance[0, 1] == pytest.approx(ICC * 0.25 * CORRELATION, rel=0.05 * wider)
    in_unit = np.mean([np.diag(moments.in_unit) for moments in found])
    assert in_unit == pytest.approx(0.6 * ICC * 0.25, rel=0.04 * wider)


def test_simulated_chances_have_the_stated_moments() -> None:
    rate, unit = np.array([[0.2], [0.2]]), np.arange(4) // 2
    model = ChanceModel(rate, np.full(2, 0.3), 0.6, 0.5)
    chance = model.draw(np.zeros(4, int), unit, np.random.default_rng(0), 40_000)
    assert chance.mean() == pytest.approx(0.2, abs=0.003)
    assert chance.var() == pytest.approx(0.3 * 0.16, rel=0.03)
    found = np.corrcoef(
        np.stack([chance[0, :, 0], chance[1, :, 0], *chance[:, :, 1], chance[0, :, 2]])
    )
    assert found[0, 1:] == pytest.approx([0.6, 0.5, 0.3, 0.0], abs=0.02)


@pytest.mark.parametrize("accuracy", [1.0, 0.9])
def test_plan_from_a_pilot_has_the_standard_error_of_its_report(accuracy: float) -> None:
    verdicts = draw_verdicts([0.4, 0.45], unit=np.arange(200), continuations=3, accuracy=accuracy)
    frame = make_table(verdicts[:, 0])
    rows = [("", "", "", f"r{i}", "p0", "success", "success") for i in range(8)]
    answers = pd.DataFrame(rows, columns=[*frame.columns, "truth"])
    pilot = make_pilot(pd.concat([frame.assign(truth=""), answers]))
    assert pilot.accuracy.sensitivity == pytest.approx((8 + 3.8) / 12)
    measured = measure_pair(pilot, 0, 1)
    assert not isinstance(measured, str)
    assumptions, design = measured
    assert design[:4] == (200, 3, 1, 1.0)
    error = np.sqrt(design.variance(assumptions, 0.0).sum() / 200)
    report = pilot.model.compare(np.arange(2))
    assert error == pytest.approx(report.se[0], rel=0.04)


def test_accuracy_is_no_worse_than_pass_rates_allow() -> None:
    rows = [("success", "success")] * 6 + [("success", "failure")] * 2
    answers = pd.DataFrame(rows, columns=["truth", "verdict"])
    usual = measure_accuracy(answers, np.array([[0.2, 0.6], [np.nan, np.nan]]))
    assert usual == pytest.approx((9.8 / 12, 0.95))
    assert measure_accuracy(answers, np.array([[0.9, 1.0], [0.0, 0.02]])) == (0.9, 0.98)


def test_range_of_needed_scenarios_follows_the_chi_square_distribution() -> None:
    low, high = widen_count(1000, 18)
    assert (low / 1000, high / 1000) == pytest.approx((0.69, 1.66), abs=0.01)


def test_needed_scenarios_make_the_same_difference_significant() -> None:
    verdicts = draw_verdicts([0.45, 0.55, 0.5], unit=np.arange(80), continuations=3, seed=2)
    outcomes = lay_out(verdicts[:, 0], np.arange(80) % 4, np.arange(80))
    model = RateModel(outcomes)
    found = model.compare(np.arange(2))
    needed = scenarios_needed(model, 0, 1, pairs=3)
    assert needed is not None

    def margin(number: int) -> float:
        error = float(found.se[0]) * np.sqrt(80 / number)
        return abs(float(found.value[0])) - reach(number - 4, 0.05 / 3, 0.8) * error

    centre = next(number for number in range(10, 10_000) if margin(number) >= 0)
    assert needed == widen_count(centre, 76)
    more = scenarios_needed(model, 0, 1, pairs=10)
    assert more is not None and more[0] > needed[0]


def test_needed_scenarios_are_unknown_if_no_number_suffices() -> None:
    verdicts = draw_verdicts([0.5, 0.5], unit=np.arange(40), continuations=2)[:, 0]
    verdicts[1] = verdicts[0]
    outcomes = lay_out(verdicts, np.arange(40) % 2, np.arange(40))
    assert scenarios_needed(RateModel(outcomes), 0, 1, pairs=1) is None
    single = lay_out(verdicts[..., :1], np.arange(40) % 2, np.arange(40))
    assert share_between(single, 0, 1) is None


def test_command_plans_with_and_without_a_pilot(tmp_path, capsys) -> None:
    path = str(tmp_path / "ratings.csv")
    verdicts = draw_verdicts([0.3, 0.4, 0.5], unit=np.arange(60), continuations=2)[:, 0]
    make_table(verdicts).to_csv(path, index=False)
    assert main(["power", "--table", path, "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert [(pair["a"], pair["b"]) for pair in pairs] == [("c", "b"), ("b", "a")]
    low, high = pairs[0]["scenarios_range"]
    assert low < pairs[0]["needed"]["scenarios"] < high and pairs[0]["design"]["pairs"] == 3
    assert main(["power", "--table", path, "--pair", "a", "c", "--continuations", "3"]) == 0
    text = capsys.readouterr().out
    assert "(3 comparisons, Holm)" in text and "Continuations for 5 points" in text
    make_table(verdicts[..., :1]).to_csv(path, index=False)
    assert main(["power", "--table", path, "--pair", "a", "c"]) == 0
    assert "not known: the pilot has one continuation" in capsys.readouterr().out
    assert main(["power", "--n-agents", "6", "--unit-size", "4"]) == 0
    assert "(15 comparisons, Holm)" in capsys.readouterr().out


def test_hours_grow_with_continuations_faster_than_what_they_detect(capsys) -> None:
    words = "power --n-agents 6 --scenarios 100 --seconds 36 --sensitivity 1 --specificity 1 --json"
    assert main(words.split()) == 0
    (pair,) = json.loads(capsys.readouterr().out)["pairs"]
    rows = {row["continuations"]: row for row in pair["hours"]}
    assert {n: row["hours"] for n, row in rows.items()} == {1: 6, 2: 12, 3: 18, 5: 30, 10: 60}
    differences = [row["difference"] for row in rows.values()]
    assert differences == sorted(differences, reverse=True)
    assert differences[0] < 2 * differences[-1]  # ten times the hours
    assert rows[3]["difference"] == pytest.approx(pair["difference"])


def same_verdicts(scenarios: int, verdict: int) -> np.ndarray:
    return np.full((2, scenarios, 2), verdict)


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (make_table(same_verdicts(8, 1)[:1]), "expected labels of two agents"),
        (make_table(same_verdicts(5, 1)), "a, b: 5 units have labels of both, fewer than 6"),
        (make_table(same_verdicts(8, 1)), "neither agent's outcomes vary"),
        (make_table(same_verdicts(8, 1)).assign(annotator="", verdict=""), "expected human labels"),
    ],
)
def test_pilot_that_shows_nothing_is_an_error(frame, error, tmp_path, capsys) -> None:
    frame.to_csv(tmp_path / "ratings.csv", index=False)
    assert main(["power", "--table", str(tmp_path / "ratings.csv")]) == 1
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "error"),
    [
        (["--power", "1"], "--power: expected a probability in (0.05, 1), found 1.0"),
        (["--difference", "0"], "--difference: expected points in (0, 100], found 0.0"),
        (["--seconds", "0"], "--seconds: expected more than 0, found 0.0"),
        (["--rate", "1.2"], "--rate: expected a share in (0, 1), found 1.2"),
        (["--trajectory-share", "2"], "--trajectory-share: expected a share in [0, 1], found 2.0"),
        (["--pair", "a", "b"], "--pair needs a pilot"),
        (["--table", "t.csv", "--icc", "0.3"], "--icc is for a study without a pilot"),
        (["--n-agents", "1"], "expected --n-agents of 2 or more, found 1"),
        (["--unit-size", "0"], "expected --unit-size of 1 or more, found 0"),
        (["--sensitivity", ".4", "--specificity", ".5"], "expected a sum above 1"),
    ],
)
def test_invalid_flags_print_one_line_error(flags, error, capsys) -> None:
    assert main(["power", *flags]) == 2
    printed = capsys.readouterr().err
    assert error in printed and printed.count("\n") == 1
