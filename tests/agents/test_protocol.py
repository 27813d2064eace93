"""What the engine does with an agent's answers, good and bad."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from sts.agents import Agent, Choice
from sts.domains import domain
from sts.engine.lockstep import Script, play
from sts.engine.sampling import UNIFORM_SHARE
from sts.engine.session import Team
from sts.errors import DamagedData, StsError
from sts.numerics.streams import stream
from tests.examples import instructed

BATCH, ROLES, STEPS = 3, (0, 2), 5
SHAPE = (BATCH, len(ROLES))


class Scripted(Agent):
    """Answers with what it was made with, and keeps what it was shown."""

    name = "scripted"

    def __init__(self, choice, draws=0):
        self.choice, self.seen = choice, []
        self.draws = draws

    def act(self, observation, instructions, memory, draws):
        self.seen.append((observation, instructions, draws.copy()))
        return self.choice(len(self.seen) - 1), memory


def played(agent, *, streams=None, script=None, told=None, teams=None):
    world = domain("lambda-star")
    states = world.generate(BATCH, seed=1, participants=3)
    if streams is None:
        streams = np.array([stream("protocol", i) for i in range(BATCH)], np.uint64)
    teams = teams or [Team(agent, ROLES, streams)]
    return play(world, world.restore(states), teams, steps=STEPS, script=script, told=told)


def weights(*values, shape=SHAPE):
    return np.broadcast_to(np.array(values, float), (*shape, len(values))).copy()


EVEN = weights(*[1] * 9)


def test_actions_follow_the_weights():
    lonely = weights(0, 0, 0, 0.5, 0, 0, 0, 1.5, 0)
    found = np.concatenate(
        [
            played(
                Scripted(lambda t: Choice(lonely)),
                streams=np.arange(BATCH, dtype=np.uint64) + np.uint64(100 * i),
            ).moves[:, :, ROLES]
            for i in range(60)
        ]
    )
    assert set(found.ravel().tolist()) == {3, 7}
    share, count = (found == 7).mean(), found.size
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / count)


def test_scaling_weights_changes_nothing():
    uneven = weights(*range(9))
    once = played(Scripted(lambda t: Choice(uneven)))
    again = played(Scripted(lambda t: Choice(uneven * 1024)))
    np.testing.assert_array_equal(once.moves, again.moves)
    np.testing.assert_allclose(once.log_probs, again.log_probs)


def test_log_probabilities_mix_a_little_of_everything():
    moves, says = weights(*range(9)), weights(*range(1, 23))
    p = played(Scripted(lambda t: Choice(moves, says)))
    chances = (np.arange(9) / 36, np.arange(1, 23) / 253)
    done = (p.moves[:, :, ROLES], p.says[:, :, ROLES])
    expected = sum(
        np.log((1 - UNIFORM_SHARE) * chance[action] + UNIFORM_SHARE / chance.size)
        for chance, action in zip(chances, done, strict=True)
    )
    np.testing.assert_allclose(p.log_probs[:, :, ROLES], expected, rtol=1e-6)
    assert np.isnan(p.log_probs[:, :, 1]).all()


def test_a_forced_action_that_the_agent_excludes_has_a_finite_log_probability():
    only_up = weights(0, 1, 0, 0, 0, 0, 0, 0, 0)
    moves = np.full((BATCH, STEPS, 3), 7, np.int8)
    script = Script(moves, np.zeros_like(moves), np.ones((STEPS, 3), np.bool_))
    p = played(Scripted(lambda t: Choice(only_up)), script=script)
    assert (p.moves == 7).all()
    np.testing.assert_allclose(p.log_probs[:, :, 0], np.log(UNIFORM_SHARE / 9), rtol=1e-6)


def test_integer_actions_are_taken_as_they_are_without_log_probabilities():
    actions = np.array([[0, 1], [2, 3], [8, 4]])
    p = played(Scripted(lambda t: Choice(actions, actions + 1)))
    np.testing.assert_array_equal(p.moves[:, 2, ROLES], actions)
    np.testing.assert_array_equal(p.says[:, 2, ROLES], actions + 1)
    assert np.isnan(p.log_probs).all()


def test_who_is_in_no_team_stays_and_is_silent():
    p = played(Scripted(lambda t: Choice(EVEN, weights(*[1] * 22))))
    assert (p.moves[:, :, 1] == 4).all() and (p.says[:, :, 1] == 0).all()


def test_draws_are_fresh_at_every_step_and_for_every_role():
    agent = Scripted(lambda t: Choice(EVEN), draws=3)
    played(agent)
    drawn = np.stack([draws for _, _, draws in agent.seen])
    assert drawn.shape == (STEPS, *SHAPE, 3)
    assert ((drawn >= 0) & (drawn < 1)).all()
    assert np.unique(drawn).size == drawn.size


def test_episodes_of_one_stream_draw_alike_and_their_roles_apart():
    agent = Scripted(lambda t: Choice(EVEN), draws=2)
    same = np.full(BATCH, 5, np.uint64)
    p = played(agent, streams=same)
    np.testing.assert_array_equal(p.moves[0, :, 0], p.moves[1, :, 0])
    assert (p.moves[:, :, 0] != p.moves[:, :, 2]).any()


def test_an_instruction_is_invisible_before_it_is_given():
    agent = Scripted(lambda t: Choice(EVEN))
    played(agent, told=instructed(["Go.", "", "Stay."], [2, 0, 4]))
    heard = [[i.texts[k] for k in i.ids] for _, i, _ in agent.seen]
    assert heard == [[""] * 3] * 2 + [["Go.", "", ""]] * 2 + [["Go.", "", "Stay."]]


def test_only_an_agent_that_sees_the_world_is_shown_it():
    agent = Scripted(lambda t: Choice(EVEN))
    for sees in ("observation", "rehearsal"):
        agent.sees, agent.seen = sees, []  # type: ignore[misc]
        played(agent)
        assert all(seen.good_next is None for seen, _, _ in agent.seen)
    agent.sees, agent.seen = "world", []  # type: ignore[misc]
    played(agent)
    assert all(seen.good_next is not None for seen, _, _ in agent.seen)


def nan(values):
    values[1, 1, 4] = np.nan
    return values


BAD = (
    (Choice(weights(*[1] * 8)), "float64[3, 2, 8]"),
    (Choice(weights(*[1] * 9, shape=(2, 2))), "float64[2, 2, 9]"),
    (Choice(weights(*[0] * 9)), "weights [0.0, 0.0"),
    (Choice(weights(-1, *[1] * 8)), "weights [-1.0"),
    (Choice(weights(np.inf, *[1] * 8)), "weights [inf"),
    (Choice(nan(EVEN.copy())), "nan"),
    (Choice(np.full(SHAPE, 9)), "an action outside 0..8"),
    (Choice(np.full(SHAPE, -1)), "an action outside 0..8"),
    (Choice(np.full(SHAPE, 0.5)), "float64[3, 2]"),
    (Choice(np.full((*SHAPE, 9), "up")), "<U2[3, 2, 9]"),
    (Choice(EVEN, weights(*[1] * 9)), "float64[3, 2, 9]"),
    (Choice(EVEN, np.full(SHAPE, 22)), "an action outside 0..21"),
    (Choice(cast(Any, None)), "no moves"),
)


@pytest.mark.parametrize(("choice", "found"), BAD)
def test_what_is_no_choice_is_refused_with_agent_step_and_finding(choice, found):
    agent = Scripted(lambda t: choice if t == 3 else Choice(EVEN))
    with pytest.raises(StsError) as caught:
        played(agent)
    said = str(caught.value)
    assert "'scripted' at step 3" in said and found in said and "\n" not in said


def test_an_agent_that_fails_is_named_with_its_step():
    def fail(t):
        raise KeyError("no such thing")

    with pytest.raises(StsError, match="'scripted' failed at step 0: KeyError"):
        played(Scripted(fail))


@pytest.mark.parametrize("answer", [None, EVEN, {"moves": EVEN}])
def test_an_answer_that_is_no_choice_at_all_is_refused(answer):
    with pytest.raises(StsError, match=r"expected \(Choice, memory\) from act"):
        played(Scripted(lambda t: answer))


class Counting(Agent):
    """Remembers how often it acted, and keeps its draws."""

    name = "counting"
    draws = 2

    def __init__(self):
        self.drawn = []

    def begin(self, batch, roles):
        return {"acted": np.zeros(batch, np.int64)}

    def act(self, observation, instructions, memory, draws):
        self.drawn.append(draws)
        return Choice(EVEN), {"acted": memory["acted"] + 1}


def test_what_teams_remember_at_the_end_is_returned_team_by_team():
    streams = np.arange(BATCH, dtype=np.uint64)
    (kept,) = played(Counting()).memories
    np.testing.assert_array_equal(kept["acted"], [STEPS] * BATCH)
    scripted = Scripted(lambda t: Choice(weights(*[1] * 9, shape=(BATCH, 1))))
    teams = [Team(Counting(), ROLES, streams), Team(scripted, (1,), streams)]
    assert [sorted(m) for m in played(None, teams=teams).memories] == [["acted"], []]


def test_a_team_goes_on_with_the_memory_that_it_is_given():
    streams = np.arange(BATCH, dtype=np.uint64)
    first = played(Counting(), streams=streams)
    again = [Team(Counting(), ROLES, streams, memory=first.memories[0])]
    (kept,) = played(None, teams=again).memories
    np.testing.assert_array_equal(kept["acted"], [2 * STEPS] * BATCH)
    np.testing.assert_array_equal(first.memories[0]["acted"], [STEPS] * BATCH)


def test_draws_go_on_where_those_of_earlier_steps_ended():
    """Two passes draw what one of twice the steps would, for planning and for sampling alike."""
    streams, world = np.arange(BATCH, dtype=np.uint64), domain("lambda-star")
    states = world.generate(BATCH, seed=1, participants=3)
    whole, parts = Counting(), Counting()
    long = play(world, world.restore(states), [Team(whole, ROLES, streams)], steps=2 * STEPS)
    moves = [
        played(None, teams=[Team(parts, ROLES, streams, since=since)]).moves for since in (0, STEPS)
    ]
    np.testing.assert_array_equal(np.concatenate(moves, 1), long.moves)
    np.testing.assert_array_equal(parts.drawn, whole.drawn)


def test_no_participant_is_played_twice():
    streams = np.zeros(BATCH, np.uint64)
    agent = Scripted(lambda t: Choice(EVEN))
    teams = [Team(agent, ROLES, streams), Team(agent, (1, 2), streams)]
    with pytest.raises(StsError, match="one team only"):
        played(agent, teams=teams)


def test_an_agent_that_fails_to_begin_is_named():
    class Late(Scripted):
        def begin(self, batch, roles):
            raise KeyError("memory")

    with pytest.raises(StsError, match="'scripted' failed in begin: KeyError: 'memory'"):
        played(Late(lambda t: Choice(EVEN)))


@pytest.mark.parametrize(("move", "say"), [(9, 0), (-1, 0), (0, 22), (0, -1)])
def test_a_script_of_what_the_domain_has_not_never_reaches_the_kernels(move, say):
    forced = np.ones((STEPS, 3), bool)
    moves, says = (np.full((BATCH, STEPS, 3), v, np.int8) for v in (move, say))
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        played(Scripted(lambda t: Choice(EVEN)), script=Script(moves, says, forced))
