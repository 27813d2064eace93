"""What missions ask for, read from their text."""

from __future__ import annotations

import pytest

from sts.worlds.babyai.agents.missions import (
    KINDS,
    Clause,
    Thing,
    is_relative,
    mission_kind,
    parse_clauses,
)
from sts.worlds.babyai.environment import levels
from tests.worlds.babyai.examples import begun

BALL, KEY, ANY = Thing("red", "ball"), Thing("", "key"), Thing("grey", "")


@pytest.mark.parametrize(
    ("mission", "expected"),
    [
        ("go to the red ball", [Clause("go-to", BALL, None)]),
        ("pick up a grey object", [Clause("pick-up", ANY, None)]),
        ("open the door on your left", [Clause("open", Thing("", "door"), None)]),
        ("put the red ball next to a key", [Clause("put-next", BALL, KEY)]),
        (
            "go to a key, then pick up the red ball",
            [Clause("go-to", KEY, None), Clause("pick-up", BALL, None)],
        ),
        (
            "go to a key after you pick up the red ball and go to a grey object behind you",
            [Clause("pick-up", BALL, None), Clause("go-to", ANY, None), Clause("go-to", KEY, None)],
        ),
        ("sing a song", []),
        ("", []),
    ],
)
def test_clauses_are_read_in_an_order_in_which_they_may_be_done(
    mission: str, expected: list[Clause]
) -> None:
    assert parse_clauses(mission) == expected


@pytest.mark.parametrize("level", sorted(levels()))
def test_every_level_s_mission_is_of_the_kind_of_its_instruction(level: str) -> None:
    named = {"GoToInstr": "go-to", "OpenInstr": "open", "PickupInstr": "pick-up"}
    for seed in range(3):
        world = begun(level, seed)
        own = type(world.live.instrs).__name__
        expected = (named | {"PutNextInstr": "put-next"}).get(own, "sequence")
        assert mission_kind(world.instruction()) == expected in KINDS, world.instruction()


def test_places_seen_from_the_start_are_told_from_the_word_you() -> None:
    assert is_relative("pick up the ball in front of you")
    assert is_relative("go to the door on your right")
    assert not is_relative("go to the door after you open the red door")
