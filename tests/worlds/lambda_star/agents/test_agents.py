"""What the Λ* agents do, each against its own rule."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from sts import agents
from sts.agents.protocol import Instructions
from sts.domains import load_domain
from sts.engine.lockstep import Rollouts, Script, play_episodes
from sts.engine.session import Team, bind_agent
from sts.numerics.streams import stream
from sts_lambda_star.domain import Batch
from sts_lambda_star.state import MOVES, TOKENS
from sts_lambda_star.torus import distance, move_cell
from tests.examples import instructed
from tests.worlds.lambda_star.agents.teams import start
from tests.worlds.lambda_star.examples import batch_of

SIZE = 9
STAY = MOVES.index("stay")


def cell_at(row: int, column: int) -> int:
    return row * SIZE + column


def world(good: int, evil: int, *cells: int, **patterns) -> Batch:
    """Return a 9x9 world at its start; Good and Evil stand still unless given patterns."""
    return batch_of([start(SIZE, SIZE, good=good, evil=evil, cells=cells, **patterns)])


def led(actions: list[int], steps: int, n_players: int = 1) -> Script:
    """Return a script that leads the first player along actions, and holds the others."""
    forced = np.ones((steps, n_players), np.bool_)
    forced[len(actions) :, 0] = False
    script = np.full((1, steps, n_players), STAY, np.int8)
    script[0, : len(actions), 0] = actions
    return Script(script, np.zeros_like(script), forced)


def followed(
    name: str,
    worlds: Batch,
    text: str = "",
    *,
    steps: int = 12,
    given_at: int = 0,
    players: tuple[int, ...] = (0,),
    script: Script | None = None,
) -> Rollouts:
    return play_episodes(
        load_domain("lambda-star"),
        worlds,
        [Team(agents.load(name), players, np.array([stream("agents", name)], np.uint64))],
        steps=steps,
        instructions=instructed([text], [given_at]),
        script=script,
    )


def first_choice(name: str, worlds: Batch, text: str = "", players=(0,)) -> agents.PolicyOutput:
    agent = bind_agent(agents.load(name), load_domain("lambda-star"))
    seen = worlds.observe(players, team=players, world=agent.sees != "observation")
    told = Instructions(("", text), np.array([1], np.int32))
    draws = np.zeros((1, len(players), agent.draws))
    return agent.act(seen, told, agent.initial_state(1, len(players)), draws)[0]


def places(p: Rollouts, which: int = 2) -> list[int]:
    return p.scene[0, :, which].tolist()


def measure_distances(p: Rollouts, which: int) -> list[int]:
    pairs = zip(places(p), places(p, which), strict=True)
    return [distance(a, b, SIZE, SIZE) for a, b in pairs]


def weighed(weights: np.ndarray, names: Sequence[str]) -> set[str]:
    """Return the names with a weight, all of which weigh the same."""
    assert len(set(weights[weights > 0].tolist())) == 1
    return {name for name, weight in zip(names, weights, strict=True) if weight}


@pytest.mark.parametrize(
    ("good", "evil", "best"),
    [
        (cell_at(4, 4), cell_at(0, 0), {"stay"}),
        (cell_at(3, 3), cell_at(0, 0), {"up-left"}),
        (cell_at(4, 6), cell_at(0, 0), {"up-right", "right", "down-right"}),
        (cell_at(4, 7), cell_at(0, 0), set(MOVES)),
        (cell_at(0, 0), cell_at(3, 4), {"down-left", "down", "down-right"}),
        (cell_at(0, 0), cell_at(4, 4), set(MOVES) - {"stay"}),
    ],
)
def test_local_search_spreads_evenly_over_the_best_cells_in_sight(good, evil, best):
    """Also stigmergy where nobody else is, and the rule agent without an instruction."""
    for name in ("local-search", "stigmergy", "rule"):
        choice = first_choice(name, world(good, evil, cell_at(4, 4)))
        assert weighed(choice.actions[0, 0], MOVES) == best
        assert choice.utterances is None or (choice.utterances.argmax(-1) == 0).all()


def test_oracle_goes_where_good_will_be_by_a_shortest_way():
    p = followed(
        "oracle", world(cell_at(0, 0), cell_at(8, 0), cell_at(4, 3), good_pattern=(5, 7, 1, 3))
    )
    assert measure_distances(p, 0)[4:] == [0] * 9


each_walker = pytest.mark.parametrize("name", ["blind", "rule"])


@each_walker
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Walk five cells down and to the right.", (5, 5)),
        ("Head 12 cells left.", (0, -12)),
        ("Stand still.", (0, 0)),
    ],
)
def test_walkers_go_as_far_as_instructed_and_stop(name, text, expected):
    p = followed(name, world(cell_at(4, 5), 5, cell_at(4, 4)), text, steps=15)
    actions = p.actions[0, :, 0].astype(int)
    assert (int((actions // 3 - 1).sum()), int((actions % 3 - 1).sum())) == expected


@each_walker
def test_walkers_count_from_takeover_even_when_instructed_before(name):
    led_by = [*np.random.default_rng(3).integers(0, 9, 5).tolist(), MOVES.index("down")]
    worlds = world(0, 5, cell_at(4, 4), cell_at(8, 8), cell_at(8, 7))
    script = led(led_by, 12, 3)
    p = followed(name, worlds, "Walk 3 cells up.", given_at=2, script=script)
    assert p.actions[0, 6:, 0].tolist() == [MOVES.index("up")] * 3 + [STAY] * 3


@each_walker
@pytest.mark.parametrize("text", ["Where is Good?", "Do you see Evil?"])
def test_question_is_answered_once_at_takeover_standing_still(name, text):
    for given_at in (2, 5):
        worlds = world(cell_at(3, 5), cell_at(0, 0), cell_at(4, 4))
        p = followed(name, worlds, text, given_at=given_at, script=led([STAY] * 5, 12))
        assert np.flatnonzero(p.utterances[0, :, 0]).tolist() == [5]
        assert set(p.actions[0, 5:, 0].tolist()) == {STAY}


def test_rule_agent_answers_by_what_it_sees():
    for move, answer in enumerate(MOVES):
        good = move_cell(cell_at(4, 4), move, SIZE, SIZE)
        assert answer_of(good, cell_at(0, 0), "In which direction is Good?") == answer
    assert answer_of(cell_at(0, 0), cell_at(0, 5), "Where is Good?") == TOKENS[0], (
        "it never saw Good"
    )
    for evil, answer in ((cell_at(5, 5), "yes"), (cell_at(4, 4), "yes"), (cell_at(4, 6), "no")):
        assert answer_of(cell_at(0, 0), evil, "Is Evil in sight?") == answer


def answer_of(good: int, evil: int, text: str) -> str:
    p = followed("rule", world(good, evil, cell_at(4, 4)), text, steps=1)
    return TOKENS[int(p.utterances[0, 0, 0])]


def test_blind_agent_guesses_evenly_and_uses_nothing_that_it_sees():
    for text, answers in (("Where is Good?", set(MOVES)), ("Do you see Evil?", {"yes", "no"})):
        choice = first_choice("blind", world(cell_at(4, 5), cell_at(0, 0), cell_at(4, 4)), text)
        assert choice.utterances is not None and weighed(choice.utterances[0, 0], TOKENS) == answers
    here, there = world(cell_at(4, 5), 0, cell_at(4, 4)), world(cell_at(8, 8), 1, cell_at(2, 7))
    for text in ("", "Reach Good.", "Keep away from Evil.", "Walk 3 cells up.", "Where is Good?"):
        one, other = first_choice("blind", here, text), first_choice("blind", there, text)
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.utterances, other.utterances)


def test_rule_agent_reaches_a_good_that_it_sees_remembers_or_never_saw():
    right, left = MOVES.index("right"), MOVES.index("left")
    seen = cell_at(4, 5), cell_at(0, 0), cell_at(4, 4)
    assert measure_distances(followed("rule", world(*seen), "Reach Good.", steps=2), 0)[1] == 0
    p = followed(
        "rule", world(*seen), "Reach Good.", steps=8, given_at=3, script=led([left] * 3, 8)
    )
    assert p.actions[0, 3:7, 0].tolist() == [right] * 4 and measure_distances(p, 0)[7] == 0
    unseen = world(cell_at(0, 0), cell_at(8, 8), cell_at(4, 4))
    assert 0 in measure_distances(followed("rule", unseen, "Reach Good.", steps=40), 0)


def test_rule_agent_keeps_next_to_a_good_that_moves_at_random():
    pattern = tuple(np.random.default_rng(1).integers(0, 9, 30).tolist())
    worlds = world(cell_at(4, 5), cell_at(0, 0), cell_at(4, 4), good_pattern=pattern)
    p = followed("rule", worlds, "Follow Good for 9 steps.", steps=30)
    assert max(measure_distances(p, 0)) <= 1


def test_rule_agent_flees_evil_and_keeps_away_from_where_it_saw_it():
    p = followed(
        "rule", world(cell_at(0, 0), cell_at(4, 5), cell_at(4, 4)), "Keep away from Evil.", steps=10
    )
    assert measure_distances(p, 1) == [1, 2, 3, *[4] * 8]
    p = followed("rule", world(cell_at(0, 0), cell_at(0, 2), cell_at(4, 4)), "Avoid Evil.", steps=5)
    assert set(p.actions[0, :, 0].tolist()) == {STAY}, "it never saw Evil"


@pytest.mark.parametrize("players", [(0,), (0, 1)])
def test_rule_agent_joins_a_participant_of_another_team(players):
    worlds = world(cell_at(0, 0), cell_at(0, 2), cell_at(4, 4), cell_at(5, 5))
    p = followed("rule", worlds, "Join participant B.", steps=6, players=players)
    pairs = zip(places(p, 2), places(p, 3), strict=True)
    assert any(a == b for a, b in pairs) == (players == (0,))
