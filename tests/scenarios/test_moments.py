"""What a category proposes makes sense: seen lately, not done yet nor by waiting, possible."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from scenarios import categories, mining
from scenarios.categories.lambda_star.tracks import grid
from scenarios.category import CONTEXT
from scenarios.suites import build_starter
from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES
from sts.worlds.lambda_star.torus import distance
from tests.examples import on_test_side, recorded
from tests.scenarios.scripted import episode
from tests.scenarios.solving import STAY, continued, solution

NAMES = sorted(build_starter.CATEGORIES)
EACH = pytest.mark.parametrize("name", NAMES)
MANY = 14


@pytest.fixture(scope="module")
def proposed() -> dict[str, list[Scenario]]:
    """Returns up to MANY scenarios a difficulty of each category, spread over what it proposes."""
    played = [
        *recorded("local-search", count=40, team=2, steps=36, height=9, width=10, seed=1),
        *recorded("random", count=40, team=4, steps=36, seed=2),
        *recorded("local-search", count=20, team=3, steps=36, height=5, width=5, seed=3),
    ]
    found: dict[tuple[str, str], list[mining.Pick]] = defaultdict(list)
    for trajectory in on_test_side(played):
        for name in NAMES:
            category = categories.named(name)
            for candidate in category.moments(trajectory):
                found[name, candidate.difficulty].append(mining.Pick(trajectory, candidate))
    out: dict[str, list[Scenario]] = {name: [] for name in NAMES}
    for (name, _), own in found.items():
        for one in own[:: -(-len(own) // MANY)]:
            category = categories.named(name)
            out[name].append(mining.scenario(category, one, id=name, text="?", seed=0))
    return out


def passes(scenario: Scenario, what: Episode) -> bool:
    label = categories.named(scenario.category).label
    found = label(what, scenario.takeover, scenario.roles, scenario.parameters)
    return found.verdict == "success"


def apart(scenario: Scenario, frame: int, which: int) -> int:
    """Returns how far object `which` is from the participant, by the world's own measure."""
    size, scene = grid(scenario.recording.state), scenario.recording.scene[frame]
    return int(distance(int(scene[2 + scenario.roles[0]]), int(scene[which]), *size))


@EACH
def test_there_is_something_to_try_at_every_difficulty(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    assert len(proposed[name]) >= MANY
    assert {s.difficulty for s in proposed[name]} == {"easy", "medium", "hard"}


@EACH
def test_what_is_proposed_fits(name: str, proposed: dict[str, list[Scenario]]) -> None:
    assert [categories.named(name).fits(s) for s in proposed[name]] == [None] * len(proposed[name])


@EACH
def test_waiting_in_silence_does_it_only_where_that_is_asked(
    name: str, proposed: dict[str, list[Scenario]]
) -> None:
    for scenario in proposed[name]:
        idle = continued(scenario, [STAY] * scenario.horizon, [0] * scenario.horizon)
        assert passes(scenario, idle) == (name == "stand-still")


@EACH
def test_what_is_proposed_can_be_done(name: str, proposed: dict[str, list[Scenario]]) -> None:
    for scenario in proposed[name]:
        assert passes(scenario, solution(scenario))


def test_good_was_seen_lately_and_is_not_reached_yet(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["reach-good"]:
        assert min(apart(s, f, 0) for f in range(CONTEXT - 2, CONTEXT + 1)) <= 1
        assert apart(s, CONTEXT, 0) > 0


def test_good_is_in_sight_to_be_followed_or_pointed_at(
    proposed: dict[str, list[Scenario]],
) -> None:
    for s in proposed["follow-good"] + proposed["where-is-good"]:
        assert apart(s, CONTEXT, 0) <= 1


def test_evil_was_seen_just_now_to_be_avoided(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["avoid-evil"]:
        assert min(apart(s, CONTEXT - 1, 1), apart(s, CONTEXT, 1)) <= 1
        assert apart(s, CONTEXT, 1) in (1, 2)


def test_the_team_mate_is_the_only_one_seen_lately(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["join-teammate"]:
        near = {
            p
            for p in range(s.recording.participants)
            for f in range(CONTEXT - 3, CONTEXT + 1)
            if p != s.roles[0] and apart(s, f, 2 + p) <= 1
        }
        assert near == {s.parameters["target"]}
        assert apart(s, CONTEXT, 2 + s.parameters["target"]) > 0


def test_the_answer_about_evil_is_what_is_seen_and_a_no_was_a_yes_before(
    proposed: dict[str, list[Scenario]],
) -> None:
    for s in proposed["evil-in-sight"]:
        assert (apart(s, CONTEXT, 1) <= 1) == (s.parameters["answer"] == "yes")
        assert min(apart(s, f, 1) for f in range(CONTEXT + 1)) <= 1
    assert {s.parameters["answer"] for s in proposed["evil-in-sight"]} == {"yes", "no"}


def test_good_lies_where_the_answer_points(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["where-is-good"]:
        size = grid(s.recording.state)
        row, column = divmod(int(s.recording.scene[CONTEXT, 2 + s.roles[0]]), size.width)
        move = MOVES.index(s.parameters["answer"])
        there = (row + move // 3 - 1) % size.height, (column + move % 3 - 1) % size.width
        assert np.ravel_multi_index(there, size) == s.recording.scene[CONTEXT, 0]


def test_who_is_to_stop_or_turn_was_moving(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["stand-still"] + proposed["walk"]:
        assert (s.recording.moves[:CONTEXT, s.roles[0]] != STAY).sum() >= CONTEXT / 2


def test_a_walk_is_no_longer_than_the_other_way_round(proposed: dict[str, list[Scenario]]) -> None:
    for s in proposed["walk"]:
        move, size = MOVES.index(s.parameters["direction"]), grid(s.recording.state)
        for way, side in zip((move // 3 - 1, move % 3 - 1), size, strict=True):
            assert abs(way) * s.parameters["cells"] < side / 2


def cut(what: Episode, category: str, **parameters: object) -> Scenario:
    """Returns a bare scenario of a hand-made episode, for `fits` alone."""
    return Scenario(
        id="x",
        category=category,
        kind="",
        instruction=None,  # type: ignore[arg-type]
        parameters=dict(parameters),
        trajectory="",
        world="",
        context_start=0,
        takeover=CONTEXT,
        horizon=5,
        roles=(0,),
        partner="no-op",
        difficulty="easy",
        tags=(),
        takeover_hash="",
        recording=what,
        provenance={},
    )


ALONE = episode("right " * CONTEXT, start=(0, 0), good=[(3, 3)], evil=[(3, 6)])
STILL = episode("stay " * CONTEXT, start=(3, 3), good=[(3, 3)], evil=[(2, 3), (3, 2)])
TWO = episode("stay " * CONTEXT, start=(0, 0), others=[((0, 1), ""), ((1, 1), "")])


@pytest.mark.parametrize(
    ("what", "category", "parameters", "fault"),
    [
        (ALONE, "reach-good", {}, "not in sight"),
        (STILL, "reach-good", {}, "on Good already"),
        (ALONE, "follow-good", {"steps": 3}, "not in sight"),
        (STILL, "follow-good", {"steps": 6}, "fewer steps"),
        (ALONE, "avoid-evil", {}, "not in sight"),
        (ALONE, "walk", {"direction": "down", "cells": 3}, "too small"),
        (ALONE, "walk", {"direction": "stay", "cells": 3}, "no such way"),
        (STILL, "stand-still", {}, "hardly moved"),
        (TWO, "join-teammate", {"target": 1}, "not the only one"),
        (TWO, "join-teammate", {"target": 0}, "itself"),
        (TWO, "join-teammate", {"target": 3}, "no such"),
        (ALONE, "where-is-good", {"answer": "up"}, "not in sight"),
        (STILL, "where-is-good", {"answer": "up"}, "the answer is stay"),
        (ALONE, "evil-in-sight", {"answer": "no"}, "never in sight"),
        (STILL, "evil-in-sight", {"answer": "no"}, "the answer is yes"),
    ],
)
def test_what_does_not_fit_says_why(
    what: Episode, category: str, parameters: dict[str, object], fault: str
) -> None:
    found = categories.named(category).fits(cut(what, category, **parameters))
    assert found is not None
    assert fault in found
