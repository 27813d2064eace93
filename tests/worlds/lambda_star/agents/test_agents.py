"""What the Λ* agents do, each against its own rule."""

from __future__ import annotations

import numpy as np
import pytest

from sts import agents
from sts.agents.protocol import Instructions
from sts.domains import domain
from sts.engine.lockstep import Played, Script, play
from sts.engine.session import Team, fit
from sts.numerics.streams import stream
from sts.worlds.lambda_star.domain import Batch, Observation
from sts.worlds.lambda_star.state import MOVES, TOKENS
from sts.worlds.lambda_star.torus import distance, moved
from tests.examples import instructed
from tests.worlds.lambda_star.examples import state

SIZE = 9
STAY = MOVES.index("stay")


def at(row: int, column: int) -> int:
    return row * SIZE + column


def world(good: int, evil: int, *cells: int, good_pattern=(STAY,), evil_pattern=(STAY,)) -> Batch:
    """Return a 9x9 world at its start; Good and Evil stand still unless told otherwise."""
    return Batch(
        [
            state(
                height=SIZE,
                width=SIZE,
                good=good,
                evil=evil,
                good_pattern=good_pattern,
                evil_pattern=evil_pattern,
                good_cursor=0,
                evil_cursor=0,
                step=0,
                counter=0,
                cells=cells,
                moves=(-1,) * len(cells),
                says=(0,) * len(cells),
                rewards=(0,) * len(cells),
            )
        ]
    )


def followed(
    name: str,
    worlds: Batch,
    text: str = "",
    *,
    steps: int = 12,
    given_at: int = 0,
    roles: tuple[int, ...] = (0,),
    script: Script | None = None,
) -> Played:
    return play(
        domain("lambda-star"),
        worlds,
        [Team(agents.load(name), roles, np.array([stream("agents", name)], np.uint64))],
        steps=steps,
        told=instructed([text], [given_at]),
        script=script,
    )


def first_choice(name: str, worlds: Batch, text: str = "", roles=(0,)) -> agents.Choice:
    agent = fit(agents.load(name), domain("lambda-star"))
    seen = worlds.observe(roles, team=roles, world=agent.sees != "observation")
    told = Instructions(("", text), np.array([1], np.int32))
    draws = np.zeros((1, len(roles), agent.draws))
    return agent.act(seen, told, agent.begin(1, len(roles)), draws)[0]


def places(p: Played, which: int = 2) -> list[int]:
    return p.scene[0, :, which].tolist()


def apart(p: Played, which: int) -> list[int]:
    pairs = zip(places(p), places(p, which), strict=True)
    return [distance(a, b, SIZE, SIZE) for a, b in pairs]


def walked(p: Played) -> tuple[int, int]:
    moves = p.moves[0, :, 0].astype(int)
    return int((moves // 3 - 1).sum()), int((moves % 3 - 1).sum())


def test_random_gives_every_move_the_same_weight_and_is_silent():
    choice = first_choice("random", world(0, 5, at(4, 4)), "Reach Good.")
    assert len(set(choice.moves.ravel().tolist())) == 1 and choice.says is None


@pytest.mark.parametrize(
    ("good", "evil", "best"),
    [
        (at(4, 4), at(0, 0), {"stay"}),
        (at(3, 3), at(0, 0), {"up-left"}),
        (at(4, 6), at(0, 0), {"up-right", "right", "down-right"}),
        (at(4, 7), at(0, 0), set(MOVES)),
        (at(0, 0), at(3, 4), {"down-left", "down", "down-right"}),
        (at(0, 0), at(4, 4), set(MOVES) - {"stay"}),
    ],
)
def test_local_search_spreads_evenly_over_the_best_cells_in_sight(good, evil, best):
    choice = first_choice("local-search", world(good, evil, at(4, 4)))
    weights = choice.moves[0, 0]
    assert {m for m, w in zip(MOVES, weights, strict=True) if w} == best
    assert set(weights.tolist()) <= {0.0, 1.0}


def test_a_local_searcher_alone_and_one_with_stigmergy_choose_alike():
    for good in range(0, 81, 5):
        worlds = world(good, (good + 12) % 81, at(4, 4))
        local, joined = (first_choice(n, worlds).moves for n in ("local-search", "stigmergy"))
        np.testing.assert_array_equal(local, joined)


def test_stigmergy_draws_a_neighbour_to_what_only_a_team_mate_sees():
    worlds = world(at(4, 6), at(0, 0), at(4, 2), at(4, 4))
    blindly, led = (
        first_choice("stigmergy", worlds),
        first_choice("stigmergy", worlds, roles=(0, 1)),
    )
    assert (blindly.moves[0, 0] > 0).all()
    names = {m for m, w in zip(MOVES, led.moves[0, 0], strict=True) if w}
    assert names == {"up-right", "right", "down-right"}


def test_stigmergy_lets_the_later_mark_stand():
    """Good pays role 0 and Evil costs role 1; both see the cells between them."""
    worlds = world(at(4, 2), at(4, 7), at(4, 3), at(4, 5))
    weights = first_choice("stigmergy", worlds, roles=(0, 1)).moves[0]
    # Role 0 sees rewards 0..2: its mark is +1. Role 1 sees -1..0: its mark of -0.5 stands on what
    # both see (column 4), so role 0 stays left of it and role 1 takes the cells Evil spares.
    assert [m for m, w in zip(MOVES, weights[0], strict=True) if w] == ["left"]
    best = {m for m, w in zip(MOVES, weights[1], strict=True) if w}
    assert best == {m for m in MOVES if not m.endswith("right")}


def test_the_oracle_goes_where_good_will_be_by_a_shortest_way():
    worlds = world(at(0, 0), at(5, 5), at(4, 4), good_pattern=(MOVES.index("up-left"),))
    choice = first_choice("oracle", worlds)
    assert MOVES[int(choice.moves[0, 0].argmax())] == "down-right"
    p = followed("oracle", world(at(0, 0), at(8, 0), at(4, 3), good_pattern=(5, 7, 1, 3)))
    assert apart(p, 0)[4:] == [0] * 9


@pytest.mark.parametrize("name", ["blind", "rule"])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Walk 3 cells up.", (-3, 0)),
        ("Walk five cells down and to the right.", (5, 5)),
        ("Head 12 cells left.", (0, -12)),
    ],
)
def test_walkers_go_as_far_as_told_and_stop(name, text, expected):
    assert walked(followed(name, world(0, 5, at(4, 4)), text, steps=15)) == expected


@pytest.mark.parametrize("name", ["blind", "rule"])
def test_walkers_count_from_takeover_even_when_told_before(name):
    takeover, steps = 6, 12
    rng = np.random.default_rng(3)
    moves = np.zeros((1, steps, 3), np.int8)
    moves[0, :takeover, 0] = rng.integers(0, 9, takeover)
    moves[0, takeover - 1, 0] = MOVES.index("down")
    forced = np.zeros((steps, 3), np.bool_)
    forced[:takeover] = True
    script = Script(moves, np.zeros_like(moves), forced)
    worlds = world(0, 5, at(4, 4), at(8, 8), at(8, 7))
    p = followed(name, worlds, "Walk 3 cells up.", steps=steps, given_at=2, script=script)
    own = p.moves[0, takeover:, 0].tolist()
    assert own == [MOVES.index("up")] * 3 + [STAY] * 3


@pytest.mark.parametrize("name", ["blind", "rule"])
def test_standing_still_is_standing_still(name):
    p = followed(name, world(at(4, 5), at(4, 3), at(4, 4)), "Stand still.", given_at=2)
    assert set(p.moves[0, 2:, 0].tolist()) == {STAY}


@pytest.mark.parametrize("name", ["blind", "rule"])
@pytest.mark.parametrize("text", ["Where is Good?", "Do you see Evil?"])
def test_a_question_is_answered_once_at_takeover_standing_still(name, text):
    takeover, steps = 5, 12
    forced = np.zeros((steps, 1), np.bool_)
    forced[:takeover] = True
    moves = np.full((1, steps, 1), STAY, np.int8)
    script = Script(moves, np.zeros_like(moves), forced)
    for given_at in (2, takeover):
        worlds = world(at(3, 5), at(0, 0), at(4, 4))
        p = followed(name, worlds, text, steps=steps, given_at=given_at, script=script)
        said = np.flatnonzero(p.says[0, :, 0])
        assert said.tolist() == [takeover]
        assert set(p.moves[0, takeover:, 0].tolist()) == {STAY}


@pytest.mark.parametrize("move", range(9))
def test_rule_says_where_good_is(move):
    worlds = world(moved(at(4, 4), move, SIZE, SIZE), at(0, 0), at(4, 4))
    p = followed("rule", worlds, "In which direction is Good?", steps=1)
    assert TOKENS[int(p.says[0, 0, 0])] == MOVES[move]


def test_rule_is_silent_where_it_never_saw_good():
    p = followed("rule", world(at(0, 0), at(0, 5), at(4, 4)), "Where is Good?")
    assert (p.says == 0).all()


@pytest.mark.parametrize(
    ("evil", "answer"), [(at(5, 5), "yes"), (at(4, 4), "yes"), (at(4, 6), "no")]
)
def test_rule_says_whether_evil_is_in_sight(evil, answer):
    p = followed("rule", world(at(0, 0), evil, at(4, 4)), "Is Evil in sight?", steps=1)
    assert TOKENS[int(p.says[0, 0, 0])] == answer


def test_blind_guesses_evenly_among_the_answers():
    worlds = world(at(4, 5), at(0, 0), at(4, 4))
    for text, answers in (("Where is Good?", set(MOVES)), ("Do you see Evil?", {"yes", "no"})):
        choice = first_choice("blind", worlds, text)
        assert choice.says is not None
        says = choice.says[0, 0]
        assert {t for t, w in zip(TOKENS, says, strict=True) if w} == answers
        assert len(set(says[says > 0].tolist())) == 1


def test_blind_uses_nothing_that_it_sees():
    here, there = world(at(4, 5), 0, at(4, 4)), world(at(8, 8), 1, at(2, 7))
    for text in ("", "Reach Good.", "Keep away from Evil.", "Walk 3 cells up.", "Where is Good?"):
        one, other = first_choice("blind", here, text), first_choice("blind", there, text)
        np.testing.assert_array_equal(one.moves, other.moves)
        np.testing.assert_array_equal(one.says, other.says)


def test_rule_reaches_a_good_that_it_sees_or_remembers():
    right = MOVES.index("right")
    p = followed("rule", world(at(4, 5), at(0, 0), at(4, 4)), "Reach Good.", steps=2)
    assert apart(p, 0)[1] == 0
    worlds = world(at(4, 5), at(0, 0), at(4, 4), good_pattern=(STAY,))
    moves = np.full((1, 8, 1), MOVES.index("left"), np.int8)
    forced = np.zeros((8, 1), np.bool_)
    forced[:3] = True
    script = Script(moves, np.zeros_like(moves), forced)
    p = followed("rule", worlds, "Reach Good.", steps=8, given_at=3, script=script)
    assert p.moves[0, 3:7, 0].tolist() == [right] * 4 and apart(p, 0)[7] == 0


def test_rule_finds_a_good_that_it_never_saw():
    p = followed("rule", world(at(0, 0), at(8, 8), at(4, 4)), "Reach Good.", steps=40)
    assert 0 in apart(p, 0)


def test_rule_keeps_next_to_a_good_that_moves_at_random():
    pattern = tuple(np.random.default_rng(1).integers(0, 9, 30).tolist())
    worlds = world(at(4, 5), at(0, 0), at(4, 4), good_pattern=pattern)
    p = followed("rule", worlds, "Follow Good for 9 steps.", steps=30)
    assert max(apart(p, 0)) <= 1


def test_rule_flees_evil_and_keeps_away_from_where_it_saw_it():
    p = followed("rule", world(at(0, 0), at(4, 5), at(4, 4)), "Keep away from Evil.", steps=10)
    gone = apart(p, 1)
    assert gone[0] == 1 and gone[1:4] == [2, 3, 4] and set(gone[4:]) == {4}


def test_rule_without_sight_of_evil_stays_where_it_is():
    p = followed("rule", world(at(0, 0), at(0, 2), at(4, 4)), "Avoid Evil.", steps=5)
    assert set(p.moves[0, :, 0].tolist()) == {STAY}


@pytest.mark.parametrize("roles", [(0,), (0, 1)])
def test_rule_joins_another_participant_of_its_team_or_not(roles):
    worlds = world(at(0, 0), at(0, 2), at(4, 4), at(5, 5))
    p = followed("rule", worlds, "Join participant B.", steps=6, roles=roles)
    pairs = zip(places(p, 2), places(p, 3), strict=True)
    assert any(a == b for a, b in pairs) == (roles == (0,))


def test_rule_without_an_instruction_is_a_local_searcher():
    for good in range(0, 81, 7):
        worlds = world(good, (good + 2) % 81, at(4, 4))
        rule, local = first_choice("rule", worlds), first_choice("local-search", worlds)
        np.testing.assert_array_equal(rule.moves, local.moves)
        assert rule.says is not None and (rule.says.argmax(-1) == 0).all()


def test_an_observation_without_the_world_is_not_enough_for_the_oracle():
    seen: Observation = world(0, 5, at(4, 4)).observe((0,), team=(0,), world=False)
    assert seen.good_next is None
