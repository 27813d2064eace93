"""The tables of gates in the docs are what is measured."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from sts.suites.types import DIFFICULTIES
from sts.trajectories.types import Trajectory
from sts_scenarios import categories, gates
from tests.examples import on_test_side, recorded
from tests.reproduction.suites import gate_recordings, gate_table, pools
from tests.reproduction.suites.gate_recordings import MEASURES
from tests.reproduction.suites.gate_table import (
    agents_row,
    measured,
    pool_row,
    shaky_row,
    suite_row,
)
from tests.reproduction.suites.renew_babyai import AGENTS

FOLDER = Path(__file__).parents[2] / "docs"
PAGES = {"lambda-star": "curator.md", "babyai": "babyai.md", "overcooked": "overcooked.md"}
DOCS = {domain: (FOLDER / page).read_text() for domain, page in PAGES.items()}
HELD = {one.name: one for domain in MEASURES for one in gate_table.held(domain)}
POOLS = {"babyai-stand-or-take": 200, "way-or-stay": 200}
"""Of which the pages say that their pools are others than their domain's."""
ROWS = (pool_row, suite_row, agents_row)


@functools.cache
def played(domain: str) -> list[Trajectory]:
    return MEASURES[domain].recordings()


def test_what_is_beyond_its_limit_has_a_mark() -> None:
    some = on_test_side(recorded("random", count=60, team=3, steps=40, height=6, width=6))
    one = measured(HELD["count-others"], some, pool=10, continuations=1, larger=4)
    assert (one.category, one.pool < pools.POOL) == ("count-others", True)
    assert f"| {one.pool} ! |" in pool_row(one)
    assert one.passed["reader"] == 1.0 and agents_row(one).endswith(" 1.00 |")
    beyond = gates.Gate("count-others", "open loop", 0.9, 0.1)
    rows = [beyond if row.name == "open loop" else row for row in one.of_pool]
    assert beyond in one._replace(of_pool=rows).beyond
    assert "| .90 ! |" in pool_row(one._replace(of_pool=rows))


def test_a_probe_with_an_unsteady_hand_passes_less_and_each_difficulty_has_its_share(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rule = HELD["babyai-fetch"]
    monkeypatch.setattr(gate_recordings, "LEVELS", ("PutNextS6N3", "ActionObjDoor", "PickupLoc"))
    monkeypatch.setattr(gate_recordings, "AGENTS", AGENTS[:1])
    pool = pools.pool(rule, gate_recordings.babyai(episodes=14), 8)
    steady, shaky = (gate_table.by_difficulty(rule, pool, 2, slip=slip) for slip in (0, 1))
    assert sum(count for count, _ in steady.values()) == len(pool) > 4
    assert {rate for _, rate in steady.values()} == {1.0}
    assert max(rate for _, rate in shaky.values()) < 1
    assert [*steady] == [level for level in DIFFICULTIES if level in steady]


def test_the_docs_have_every_category_in_every_table() -> None:
    for name, rule in HELD.items():
        tables = len(ROWS) + MEASURES[rule.domain].shaky
        there = DOCS[rule.domain].count(f"| `{name}` | ")
        assert there >= tables, name


def test_of_babyai_only_its_missions_are_held_to_no_gates() -> None:
    lacking = {one.name for one in categories.of("babyai")} - {*HELD}
    assert lacking == {f"babyai-{kind}" for kind in ("go-to", "open", "pick-up", "put-next")} | {
        "babyai-sequence"
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HELD))
def test_the_docs_say_what_is_measured(name: str) -> None:
    rule = HELD[name]
    one = measured(rule, played(rule.domain), pool=POOLS.get(name))
    for row in (*ROWS, *([shaky_row] if one.shaky else [])):
        assert row(one) in DOCS[rule.domain]
