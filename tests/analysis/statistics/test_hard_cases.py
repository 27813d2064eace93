"""In each hard case the report's interval holds, and the naive one is caught failing."""

from pathlib import Path

import pytest

from tests.analysis.hard_cases.case import Case
from tests.analysis.hard_cases.table import CASES, REPLICATES, shown

METHOD = Path(__file__).parents[3] / "docs" / "method.md"


@pytest.mark.parametrize(
    "case",
    [pytest.param(one, marks=[pytest.mark.slow] if one.slow else []) for one in CASES],
    ids=lambda one: f"{one.quantity}, {one.case}",
)
def test_it_holds_where_the_naive_one_fails(case: Case) -> None:
    before, after = case.simulate(case.replicates)
    assert before < case.naive_low, f"the naive one holds: {before:.3f}"
    assert case.low - 0.015 <= after <= case.high, f"{after:.3f}"


def test_the_method_shows_every_hard_case() -> None:
    rows = shown(METHOD.read_text("utf-8"))
    assert [(q, case) for q, case, *_ in rows] == [(one.quantity, one.case) for one in CASES]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda one: f"{one.quantity}, {one.case}")
def test_the_methods_table_is_what_the_simulation_gives(case: Case) -> None:
    before, after = case.simulate(REPLICATES)
    assert case.low <= after <= case.high
    (row,) = [
        row
        for row in shown(METHOD.read_text("utf-8"))
        if row[1] == case.case and row[0] == case.quantity
    ]
    assert row[2:] == pytest.approx((before, after), abs=0.002)
