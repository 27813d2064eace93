"""The table of gates in the docs is what is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios import categories, gates
from scenarios.suites import gate_table
from scenarios.suites.gate_table import agents_row, measured, pool_row, suite_row
from sts.trajectories.types import Trajectory
from tests.examples import on_test_side, recorded

DOCS = (Path(__file__).parents[2] / "docs" / "curator.md").read_text()
HELD = {c.name: c for c in categories.of(gate_table.DOMAIN) if c.controls is not None}
ROWS = (pool_row, suite_row, agents_row)


@pytest.fixture(scope="module")
def played() -> list[Trajectory]:
    return gate_table.recordings()


def test_what_is_beyond_its_limit_has_a_mark() -> None:
    some = on_test_side(recorded("random", count=60, team=3, steps=40, height=6, width=6))
    one = measured(HELD["count-others"], some, pool=10, continuations=1, larger=4)
    assert (one.category, one.pool < gates.POOL) == ("count-others", True)
    assert f"| {one.pool} ! |" in pool_row(one)
    assert one.passed["reader"] == 1.0 and agents_row(one).endswith(" 1.00 |")
    beyond = gates.Gate("count-others", "open loop", 0.9, 0.1)
    rows = [beyond if row.name == "open loop" else row for row in one.of_pool]
    assert beyond in one._replace(of_pool=rows).beyond
    assert "| .90 ! |" in pool_row(one._replace(of_pool=rows))


def test_the_docs_have_every_category_in_every_table() -> None:
    for name in HELD:
        assert DOCS.count(f"| `{name}` | ") >= len(ROWS)


@pytest.mark.slow
@pytest.mark.parametrize("name", HELD)
def test_the_docs_say_what_is_measured(name: str, played: list[Trajectory]) -> None:
    one = measured(HELD[name], played)
    for row in ROWS:
        assert row(one) in DOCS
