"""Curves of success: weighted as the pass rate, by counting, and by hand under censoring."""

import numpy as np
import pandas as pd
import pytest
from statsmodels.duration.survfunc import CumIncidenceRight

from sts_analysis.inputs.ratings import apply_adjudication, check_ratings
from sts_analysis.inputs.tables import from_frame
from sts_analysis.statistics.success_curves import (
    CENSORED,
    FAILURE,
    SUCCESS,
    Curve,
    SuccessCurves,
    cumulative_incidence,
    find_success_curves,
    reached,
)
from sts_analysis.statistics.tabulation import Outcomes, tabulate

NO_SCENARIOS = pd.DataFrame(columns=["scenario", "category", "kind"])
COLUMNS = [
    "agent",
    "scenario",
    "category",
    "continuation",
    "annotator",
    "verdict",
    "step",
    "horizon",
]


def read_height(curve: Curve | None, step: int) -> float:
    assert curve is not None
    return float(curve.height[np.searchsorted(curve.steps, step, side="right") - 1])


def find_curves(*rows: tuple, source: str = "human") -> tuple[Outcomes, tuple[SuccessCurves, ...]]:
    """Find the curves of rows of `COLUMNS`; one without an annotator is auto-resolved."""
    frame = pd.DataFrame(rows, columns=COLUMNS)
    frame["source"] = np.where(frame["annotator"] == "", "settled", source)
    table = apply_adjudication(check_ratings(from_frame("table", frame)))
    outcomes = tabulate(table, source, scenarios=NO_SCENARIOS)
    return outcomes, find_success_curves(outcomes, table)


def test_curve_ends_at_the_pass_rate_and_counts_by_its_weights() -> None:
    outcomes, (found,) = find_curves(
        ("A", "s", "c", "0", "ana", "success", 4, 20),
        ("A", "s", "c", "0", "ben", "failure", 9, 20),
        ("A", "s", "c", "1", "", "not_done", None, 20),
        ("A", "t", "c", "0", "ana", "success", 12, 20),
        ("A", "t", "c", "1", "ana", "cannot_judge", None, 20),
        ("A", "u", "d", "0", "ben", "success", 4, 20),
        ("A", "u", "d", "1", "ben", "not_done", None, 20),
    )
    assert outcomes.value.tolist() == [[0.25, 1, 0.5]] and found.reason == ""
    for step, height in {3: 0, 4: (0.25 + 0.5) / 3, 11: 0.25, 12: 1.75 / 3, 20: 1.75 / 3}.items():
        assert read_height(found.reached, step) == pytest.approx(height)
        assert read_height(found.incidence, step) == pytest.approx(height)
    assert found.horizon == 20


def test_shorter_horizons_leave_the_incidence_but_not_the_count() -> None:
    _, (found,) = find_curves(
        ("A", "s", "c", "0", "ana", "success", 1, 4),
        ("A", "t", "c", "0", "ana", "not_done", None, 2),
        ("A", "u", "c", "0", "ana", "failure", 3, 4),
        ("A", "v", "c", "0", "ana", "success", 4, 4),
    )
    assert read_height(found.reached, 4) == pytest.approx(0.5)
    # Survival is 3/4 after step 1, and 3/8 after step 3, with two left then.
    assert read_height(found.incidence, 4) == pytest.approx(0.25 + 3 / 8)


def test_curves_are_of_each_agent_and_say_why_they_are_unknown() -> None:
    _, found = find_curves(
        ("A", "s", "c", "0", "ana", "success", 3, 9),
        ("B", "s", "c", "0", "ana", "success", None, 9),
        ("C", "s", "c", "0", "ana", "cannot_judge", None, 7),
        ("D", "s", "c", "0", "ana", "not_done", None, 7),
    )
    assert [curves.reason for curves in found] == [
        "",
        "1 success has no step",
        "nothing judged",
        "",
    ]
    assert read_height(found[0].reached, 3) == 1 and read_height(found[3].reached, 7) == 0
    assert found[1].incidence is None and found[2].horizon == 7
    _, (unknown,) = find_curves(("A", "s", "c", "0", "ana", "success", 3, None))
    assert unknown.reason == "no horizon is given" and unknown.horizon is None


def test_incidence_with_one_horizon_counts_successes_exactly() -> None:
    rng = np.random.default_rng(1)
    step = rng.integers(1, 50, size=200)
    status = rng.choice([CENSORED, SUCCESS, FAILURE], size=200)
    step[status == CENSORED] = 50
    curve = cumulative_incidence(step, status, np.ones(200), horizon=50)
    for t in range(51):
        assert read_height(curve, t) == pytest.approx(np.mean((status == SUCCESS) & (step <= t)))


def test_incidence_agrees_with_statsmodels_under_weights_and_censoring() -> None:
    rng = np.random.default_rng(2)
    for size in (3, 40, 400):
        step, weights = rng.integers(1, 30, size=size), rng.random(size)
        status = rng.choice([CENSORED, SUCCESS, FAILURE], size=size)
        status[0] = SUCCESS
        curve = cumulative_incidence(step, status, weights, horizon=30)
        theirs = CumIncidenceRight(step, status, freq_weights=weights)
        for t, height in zip(theirs.times, theirs.cinc[0], strict=True):
            assert read_height(curve, int(t)) == pytest.approx(height, abs=1e-12)


def test_curves_without_a_success_stay_at_zero() -> None:
    curve = cumulative_incidence(np.array([5, 5]), np.array([0, 2]), np.ones(2), horizon=5)
    assert curve.steps.tolist() == [0, 5] and curve.height.tolist() == [0, 0]
    none = reached(np.array([], dtype=int), np.array([]), total=5, horizon=10)
    assert none.steps.tolist() == [0, 10] and none.height.tolist() == [0, 0]
