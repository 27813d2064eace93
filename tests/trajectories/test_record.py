"""Recording: by seed, replayable, and split by world."""

import pytest

from sts.domains import domain
from sts.errors import ArgumentError
from sts.replay import verify
from sts.trajectories.types import split
from tests.examples import recorded


def test_equal_seeds_record_equal_trajectories_and_others_differ() -> None:
    first, again, other = (recorded(count=5, seed=s) for s in (3, 3, 4))
    assert [t.id for t in first] == [t.id for t in again]
    assert not {t.id for t in first} & {t.id for t in other}


def test_a_recording_does_not_depend_on_how_many_are_made() -> None:
    assert [t.id for t in recorded("random", count=3)] == [
        t.id for t in recorded("random", count=9)[:3]
    ]


@pytest.mark.parametrize("agent", ["random", "local-search", "stigmergy", "oracle"])
def test_replaying_a_recording_gives_the_recording(agent: str) -> None:
    found = recorded(agent, count=6, team=3)
    assert verify(domain("lambda-star"), [t.episode for t in found]) == [None] * 6


def test_one_world_in_five_is_on_the_test_side_whoever_plays_it() -> None:
    first, other = recorded(count=400, steps=4), recorded("random", count=400, steps=4)
    assert [t.world for t in first] == [t.world for t in other]
    share = sum(t.split == "test" for t in first) / 400
    assert 0.12 < share < 0.28
    assert all(split(t.world) == t.split for t in first)


@pytest.mark.parametrize(
    "settings",
    [{"count": 0}, {"steps": 0}, {"height": 2}, {"width": 256}, {"team": 0}, {"team": 43}],
)
def test_what_cannot_be_recorded_is_refused(settings: dict[str, int]) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        recorded(**settings)
