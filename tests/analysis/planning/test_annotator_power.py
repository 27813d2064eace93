"""Plans of differences that hold for other annotators, held against simulated reports."""

import json

import numpy as np
import pytest

from sts.cli.main import main
from sts_analysis.planning.annotator_power import (
    Pool,
    plan_for_others,
    simulate_power_for_others,
)
from sts_analysis.planning.chances import Accuracy
from sts_analysis.planning.power import Assumptions, Design, find_difference

ASSUMED = Assumptions(np.array([0.5]), np.ones(1), 0.4, 0.5, 0.5, Accuracy(0.95, 0.95))


def plan(scenarios: int, continuations: int, pool: Pool, target: float = 0.15):
    pairs = pool.agents * (pool.agents - 1) // 2
    design = Design(scenarios, continuations, 1, pairs=pairs)
    return design, plan_for_others(ASSUMED, design, pool, target)


@pytest.mark.parametrize(
    ("scenarios", "continuations", "pool"),
    [
        (60, 2, Pool(5, 3, 1.2, 0.4)),
        pytest.param(60, 1, Pool(4, 2, 1.2, 0.4), marks=pytest.mark.slow),
        pytest.param(160, 3, Pool(5, 4, 1.2, 0.4), marks=pytest.mark.slow),
        pytest.param(316, 3, Pool(10, 6, 0.7, 0.8), marks=pytest.mark.slow),
        pytest.param(240, 2, Pool(5, 4, 0.5, 1.2), marks=pytest.mark.slow),
    ],
)
def test_simulated_reports_have_the_planned_power(scenarios, continuations, pool) -> None:
    design, found = plan(scenarios, continuations, pool)
    assert found.difference is not None and found.power_error is not None
    assert found.power == pytest.approx(0.8, abs=0.05 + 2 * found.power_error)
    again = simulate_power_for_others(ASSUMED, design, pool, found.difference, studies=20, seed=1)
    assert again == simulate_power_for_others(
        ASSUMED, design, pool, found.difference, studies=20, seed=1
    )


def test_annotators_who_are_alike_cost_nothing() -> None:
    design, found = plan(10_000, 3, Pool(4, 2, 0.0, 0.0))  # too large to be simulated
    alone = find_difference(ASSUMED, design)
    assert found.difference == pytest.approx(alone) and found.power is None
    assert found.shares["strictness"] + found.shares["favours"] == pytest.approx(0)


@pytest.mark.landing
def test_more_scenarios_do_not_make_good_for_annotators_who_favour_agents() -> None:
    _, few = plan(200, 3, Pool(3, 2, 0.5, 1.0), 0.2)
    assert few.needed["scenarios"] is None
    count = few.needed["annotators"]
    assert count is not None and count > 3
    _, more = plan(200, 3, Pool(count, 2, 0.5, 1.0))
    assert more.difference is not None and more.difference <= 0.2


@pytest.mark.landing
def test_command_plans_for_these_annotators_and_for_others(capsys) -> None:
    words = ["power", "--scenarios", "60", "--continuations", "1", "--annotators", "4"]
    assert main([*words, "--favouritism", "0.8", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["pairs"]
    pool = {"annotators": 4, "agents": 2, "strictness": 1.2, "favouritism": 0.8}
    assert row["others"]["pool"] == pool and row["others"]["difference"] > row["difference"]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "For other annotators like these 4 (strictness 1.20, favouritism 0.40" in shown
    assert "for other annotators" in shown
    for wrong, said in (
        (["--annotators", "2"], "expected --annotators of 3 or more"),
        (["--strictness", "1"], "--strictness needs --annotators"),
        (["--annotators", "3", "--favouritism", "-1"], "--favouritism: expected 0 to 5"),
        (["--annotators", "3", "--target", "fixed"], "leave out --target fixed"),
    ):
        assert main(["power", *wrong]) == 2 and said in capsys.readouterr().err
