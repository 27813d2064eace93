"""The benchmarks at sizes so small that only their sums mean anything."""

from __future__ import annotations

import math

import pytest

from tests.benchmarks import (
    __main__,
    chained,
    continued,
    curating,
    curator,
    domains,
    elsewhere,
    formats,
    learners,
    limits,
    load,
    memory,
    paths,
    pipeline,
    scaling,
    sessions,
    trials,
    wide,
    worlds,
)
from tests.benchmarks.crowd import Pace
from tests.benchmarks.measure import Sizes, Table, markdown

pytestmark = pytest.mark.slow

TINY = Sizes(
    runs=1,
    slow=1,
    steps=12,
    episodes=20,
    few=2,
    learners=4,
    rehearsals=3,
    abreast=3,
    repeats=2,
    many=10,
    new=10,
    memory=(2, 3),
    scenarios=2,
    continuations=1,
    exported=3,
    turns=5,
    candidates=20,
    accepted=3,
)


def holds(*tables: Table) -> None:
    """Every row has a cell for each column, and what was measured is a positive number."""
    for table in tables:
        assert table.rows
        for row in table.rows:
            assert len(row) == len(table.header)
            numbers = [value for value in row[1:] if isinstance(value, float)]
            assert numbers and all(math.isfinite(n) and n >= 0 for n in numbers)
        lines = markdown(table).splitlines()
        assert sum(line.startswith("|") for line in lines) == len(table.rows) + 2


def test_ways_to_play_agree_and_are_timed():
    reactive, policies = paths.measured(TINY), paths.numpy_policy(TINY)
    learning = learners.measured(TINY)
    holds(
        __main__.aims(policies, learning),
        paths.reactive(reactive, TINY),
        paths.general(policies),
        paths.compared(reactive, TINY),
        learners.table(learning, TINY),
        learners.compared(learning, TINY),
        limits.table(limits.measured(TINY), learning),
    )


def test_making_worlds_and_stepping_them_is_timed():
    holds(worlds.generation(TINY), worlds.learners(TINY))


def test_a_turn_and_new_worlds_are_timed_held_open_and_not():
    table = sessions.turns(TINY)
    holds(table, sessions.renewed(TINY))
    assert [row[1] for row in table.rows] == ["1 and 7", "1 and 11"]


def test_scaling_and_memory_are_measured():
    holds(scaling.table(TINY), memory.table(TINY))


def test_the_pipeline_is_timed():
    start = pipeline.start_up(TINY)
    holds(start, pipeline.continuations(TINY), chained.chains(TINY))
    assert [row[0] for row in start.rows[:3]] == ["an empty Python", "sts --help", "sts suite ls"]


def test_a_run_of_six_agents_is_timed_with_its_workers_and_by_what_it_does():
    called, spent = wide.tables(TINY)
    holds(called, spent)
    assert [row[1] for row in called.rows] == ["1", "2", "2"] * 2
    assert all(own > 0 and path >= own for *_, own, _, path in called.rows)
    assert all(others > 0.1 for *_, others, _ in called.rows[1:5:3])
    assert all(sum(row[2:]) == pytest.approx(100) for row in spent.rows)


def test_agents_elsewhere_are_timed_beside_those_in_process():
    holds(elsewhere.table(TINY))


def test_formats_are_timed_and_weighed():
    holds(formats.table(TINY))


def test_environments_of_others_are_timed_in_one_process_and_in_two():
    table = domains.table(TINY)
    holds(table)
    assert [row[:2] for row in table.rows] == [
        (f"`{kind.domain}`", count) for kind in domains.KINDS for count in ("1", "2")
    ]


def test_every_trial_is_verified_against_the_clock():
    table = trials.table(TINY)
    holds(table)
    assert table.rows[0][1:3] == ("91102 of 91102", "76 of 76")


def test_a_curators_changes_are_timed_in_every_domain():
    table = curating.table(TINY)
    holds(table)
    assert len(table.rows) == 3 * 5


def test_suites_are_mined_and_continued_in_every_domain():
    table = continued.table(TINY)
    holds(table)
    assert {row[0] for row in table.rows} == {"lambda-star", "babyai", "overcooked"}
    assert {row[2] for row in table.rows} == {"1"}


def test_a_crowd_is_answered_and_what_the_server_holds_is_noted():
    size = load.Size(
        people=3,
        pace=Pace(0.1, 0.2),
        alone=Pace(0.1, 0.2),
        answers=12,
        alone_answers=5,
        marks=(10, 30),
        wrong=20,
    )
    answered, strange, day = load.tables(size)
    holds(answered)
    assert [row[0] for row in answered.rows] == ["one, alone", "3 at once"]
    assert [row[2] for row in strange.rows] == [401, 200]
    assert [row[0] for row in day.rows] == [10, 30] and day.rows[1][1] > 100


@pytest.mark.browser
def test_a_curators_page_is_timed(chromium: object):
    holds(curator.table(TINY._replace(runs=2)))
