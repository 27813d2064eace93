"""What where-is-good proposes makes sense: Good is in sight, silence fails, the answer passes."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from sts.episodes import Episode
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import MOVES, TOKENS
from sts.worlds.lambda_star.torus import distance
from sts_scenarios import categories, mining
from sts_scenarios.categories.lambda_star.tracks import read_grid
from sts_scenarios.category import CONTEXT
from tests.examples import on_test_side, recorded
from tests.scenarios.scripted import episode
from tests.scenarios.solving import STAY, continued

RULE = categories.named("where-is-good")
MANY = 14


@pytest.fixture(scope="module")
def proposed() -> list[Scenario]:
    """Return up to MANY scenarios a difficulty, spread over what the category proposes."""
    played = [
        *recorded("local-search", count=40, team=2, steps=36, height=9, width=10, seed=1),
        *recorded("random", count=40, team=4, steps=36, seed=2),
        *recorded("local-search", count=20, team=3, steps=36, height=5, width=5, seed=3),
    ]
    found: dict[str, list[mining.Pick]] = defaultdict(list)
    for trajectory in on_test_side(played):
        for candidate in RULE.moments(trajectory):
            found[candidate.difficulty].append(mining.Pick(trajectory, candidate))
    return [
        mining.make_scenario(RULE, one, id=RULE.name, text="?", seed=0)
        for own in found.values()
        for one in own[:: -(-len(own) // MANY)]
    ]


def passes(scenario: Scenario, word: str) -> bool:
    """Whether standing still and saying a word at once passes."""
    rest = scenario.horizon - 1
    what = continued(scenario, [STAY] * (rest + 1), [TOKENS.index(word)] + [0] * rest)
    found = RULE.label(what, scenario.takeover, scenario.roles, scenario.parameters)
    return found.verdict == "success"


def apart(scenario: Scenario, frame: int, which: int) -> int:
    """Return how far object `which` is from the participant, by the world's own measure."""
    size, scene = read_grid(scenario.recording.state), scenario.recording.scene[frame]
    return int(distance(int(scene[2 + scenario.roles[0]]), int(scene[which]), *size))


def test_there_is_something_to_try_at_every_difficulty(proposed: list[Scenario]) -> None:
    assert len(proposed) >= MANY
    assert {s.difficulty for s in proposed} == {"easy", "medium", "hard"}


def test_what_is_proposed_fits(proposed: list[Scenario]) -> None:
    assert [RULE.fits(s) for s in proposed] == [None] * len(proposed)


def test_the_answer_passes_and_silence_does_not(proposed: list[Scenario]) -> None:
    for scenario in proposed:
        assert passes(scenario, scenario.parameters["answer"])
        assert not passes(scenario, "silence")


def test_good_is_in_sight_where_the_answer_points(proposed: list[Scenario]) -> None:
    for s in proposed:
        assert apart(s, CONTEXT, 0) <= 1
        size = read_grid(s.recording.state)
        row, column = divmod(int(s.recording.scene[CONTEXT, 2 + s.roles[0]]), size.width)
        move = MOVES.index(s.parameters["answer"])
        there = (row + move // 3 - 1) % size.height, (column + move % 3 - 1) % size.width
        assert np.ravel_multi_index(there, size) == s.recording.scene[CONTEXT, 0]


def cut(what: Episode, category: str, **parameters: object) -> Scenario:
    """Return a bare scenario of a hand-made episode, for `fits` alone."""
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


@pytest.mark.parametrize(
    ("what", "parameters", "fault"),
    [
        (ALONE, {"answer": "up"}, "not in sight"),
        (STILL, {"answer": "up"}, "the answer is stay"),
    ],
)
def test_what_does_not_fit_says_why(
    what: Episode, parameters: dict[str, object], fault: str
) -> None:
    found = RULE.fits(cut(what, RULE.name, **parameters))
    assert found is not None
    assert fault in found
