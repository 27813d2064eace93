"""Everything that the record holds is as it was; each claim is a test, each difference has a place.

A change that is meant to change results writes the record again and says so.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.record import kept
from tests.record.claims import RECORDINGS, SCORES, SUITES, Claims

pytestmark = pytest.mark.slow


def expect(name: str, found: dict[str, Any]) -> None:
    """Fail with the place of each difference from the record."""
    assert kept.differences(kept.read()[name], found) == []


@pytest.mark.parametrize("world", RECORDINGS)
def test_trajectories_are_recorded_and_replay_as_before(claims: Claims, world: str) -> None:
    expect(f"trajectories-{world}", claims.record_world(world))


def test_the_record_holds_500_trajectories() -> None:
    record = kept.read()
    assert sum(record[f"trajectories-{world}"]["trajectories"] for world in RECORDINGS) == 500


def test_packaged_suites_have_the_hashes_of_the_record(claims: Claims) -> None:
    expect("suite-hashes", claims.suite_hashes())


@pytest.mark.parametrize("suite", SUITES)
def test_agents_continue_scenarios_as_before(claims: Claims, suite: str) -> None:
    expect(f"continuations-{suite}", claims.continuations(suite))


@pytest.mark.parametrize("suite", SUITES)
def test_automatic_labels_are_as_before(claims: Claims, suite: str) -> None:
    expect(f"labels-{suite}", claims.labels(suite))


def test_published_episodes_replay_as_before(claims: Claims) -> None:
    expect("published-episodes", claims.published_episodes())


@pytest.mark.parametrize("setting", SCORES)
def test_published_behaviours_score_as_before(claims: Claims, setting: str) -> None:
    expect(f"scores-{setting}", claims.scores(setting))


def test_rates_and_differences_of_a_table_are_as_before(claims: Claims) -> None:
    expect("simulated-report", claims.simulated_report())


def test_a_study_of_300_answers_exports_as_before(claims: Claims, study_folder: Path) -> None:
    expect("study", claims.study(study_folder))


def test_a_difference_from_the_record_names_its_place() -> None:
    lines = kept.differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}, "d": 4})
    assert lines == ["/a/c: record 2, now 3", "/d: record None, now 4"]
