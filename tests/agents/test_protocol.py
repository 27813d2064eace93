"""What the engine does with an agent's answers, good and bad."""

from typing import Any, cast

import numpy as np
import pytest

from sts.agents import Agent, PolicyOutput
from sts.domains import load_domain
from sts.engine.lockstep import Script, play_episodes
from sts.engine.sampling import UNIFORM_SHARE
from sts.engine.session import Team
from sts.errors import StsError
from sts.numerics.streams import stream

BATCH, ROLES, STEPS = 3, (0, 2), 5
SHAPE = (BATCH, len(ROLES))
STREAMS = np.array([stream("protocol", i) for i in range(BATCH)], np.uint64)


def weights(*values, shape=SHAPE):
    return np.broadcast_to(np.array(values, float), (*shape, len(values))).copy()


EVEN = weights(*[1] * 9)
NAN = np.where(np.arange(9) == 4, np.nan, EVEN)


class Scripted(Agent):
    """Answers as `choice` does at each step, counts its steps, and keeps what it was shown."""

    name = "scripted"

    def __init__(self, choice=lambda t: PolicyOutput(EVEN), draws=0, sees="observation"):
        self.choice, self.seen = choice, []
        self.draws, self.sees = draws, sees  # type: ignore[misc]

    def initial_state(self, batch, players):
        return {"acted": np.zeros(batch, np.int64)}

    def act(self, observation, instructions, memory, draws):
        self.seen.append((observation, draws.copy()))
        answer = self.choice(len(self.seen) - 1)
        memory = {"acted": memory["acted"] + 1}
        return (answer, memory) if isinstance(answer, PolicyOutput) else answer


def play_teams(*teams, steps=STEPS, script=None):
    world = load_domain("lambda-star")
    states = world.generate(BATCH, seed=1, n_players=3)
    own = [Team(t, ROLES, STREAMS) if isinstance(t, Agent) else t for t in teams]
    return play_episodes(world, world.restore(states), own, steps=steps, script=script)


def test_actions_follow_the_weights():
    agent = Scripted(lambda t: PolicyOutput(weights(0, 0, 0, 0.5, 0, 0, 0, 1.5, 0)))
    teams = [Team(agent, ROLES, STREAMS + np.uint64(100 * i)) for i in range(60)]
    found = np.concatenate([play_teams(team).actions[:, :, ROLES] for team in teams])
    assert set(found.ravel().tolist()) == {3, 7}
    assert abs((found == 7).mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / found.size)


def test_log_probabilities_include_the_uniform_share():
    actions, utterances = weights(*range(9)), weights(*range(1, 23))
    p = play_teams(
        Scripted(lambda t: PolicyOutput(actions * 1024, utterances))
    )  # their scale does not matter
    chances = (np.arange(9) / 36, np.arange(1, 23) / 253)
    done = (p.actions[:, :, ROLES], p.utterances[:, :, ROLES])
    expected = sum(
        np.log((1 - UNIFORM_SHARE) * chance[action] + UNIFORM_SHARE / chance.size)
        for chance, action in zip(chances, done, strict=True)
    )
    np.testing.assert_allclose(p.log_probs[:, :, ROLES], expected, rtol=1e-6)
    assert np.isnan(p.log_probs[:, :, 1]).all()
    np.testing.assert_array_equal(
        p.actions, play_teams(Scripted(lambda t: PolicyOutput(actions, utterances))).actions
    )
    assert (p.actions[:, :, 1] == 4).all() and (
        p.utterances[:, :, 1] == 0
    ).all()  # a player of no team


def test_excluded_forced_action_has_a_finite_log_probability():
    actions = np.full((BATCH, STEPS, 3), 7, np.int8)
    script = Script(actions, np.zeros_like(actions), np.ones((STEPS, 3), np.bool_))
    p = play_teams(Scripted(lambda t: PolicyOutput(weights(0, 1, *[0] * 7))), script=script)
    assert (p.actions == 7).all()
    np.testing.assert_allclose(p.log_probs[:, :, 0], np.log(UNIFORM_SHARE / 9), rtol=1e-6)


def test_integer_actions_are_executed_without_log_probabilities():
    actions = np.array([[0, 1], [2, 3], [8, 4]])
    p = play_teams(Scripted(lambda t: PolicyOutput(actions, actions + 1)))
    np.testing.assert_array_equal(p.actions[:, 2, ROLES], actions)
    np.testing.assert_array_equal(p.utterances[:, 2, ROLES], actions + 1)
    assert np.isnan(p.log_probs).all()


def test_random_draws_are_fresh_at_every_step_and_for_every_role():
    agent = Scripted(draws=3)
    play_teams(agent)
    drawn = np.stack([draws for _, draws in agent.seen])
    assert drawn.shape == (STEPS, *SHAPE, 3) and ((drawn >= 0) & (drawn < 1)).all()
    assert np.unique(drawn).size == drawn.size


def test_episodes_of_one_stream_share_draws_and_roles_do_not():
    p = play_teams(Team(Scripted(draws=2), ROLES, np.full(BATCH, 5, np.uint64)))
    np.testing.assert_array_equal(p.actions[0, :, 0], p.actions[1, :, 0])
    assert (p.actions[:, :, 0] != p.actions[:, :, 2]).any()


@pytest.mark.parametrize(
    ("sees", "shown"), [("observation", False), ("rehearsal", False), ("world", True)]
)
def test_hidden_state_is_shown_only_to_agents_that_declare_it(sees, shown):
    agent = Scripted(sees=sees)
    play_teams(agent)
    assert {seen.good_next is not None for seen, _ in agent.seen} == {shown}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (PolicyOutput(weights(*[1] * 8)), "float64[3, 2, 8]"),
        (PolicyOutput(weights(*[1] * 9, shape=(2, 2))), "float64[2, 2, 9]"),
        (PolicyOutput(weights(*[0] * 9)), "weights [0.0, 0.0"),
        (PolicyOutput(weights(-1, *[1] * 8)), "weights [-1.0"),
        (PolicyOutput(weights(np.inf, *[1] * 8)), "weights [inf"),
        (PolicyOutput(NAN), "nan"),
        (PolicyOutput(np.full(SHAPE, 9)), "an action outside 0..8"),
        (PolicyOutput(np.full(SHAPE, -1)), "an action outside 0..8"),
        (PolicyOutput(np.full(SHAPE, 0.5)), "float64[3, 2]"),
        (PolicyOutput(np.full((*SHAPE, 9), "up")), "<U2[3, 2, 9]"),
        (PolicyOutput(EVEN, weights(*[1] * 9)), "float64[3, 2, 9]"),
        (PolicyOutput(EVEN, np.full(SHAPE, 22)), "an action outside 0..21"),
        (PolicyOutput(cast(Any, None)), "no moves"),
        (None, "expected (PolicyOutput, memory) from act"),
        (EVEN, "expected (PolicyOutput, memory) from act"),
        ({"actions": EVEN}, "expected (PolicyOutput, memory) from act"),
        (KeyError("it"), "failed at step 3: KeyError: 'it'"),
        (SystemExit(0), "failed at step 3: SystemExit: 0"),
    ],
)
def test_invalid_answer_error_names_agent_step_and_value(answer, message):
    def choice(t):
        if t == 3 and isinstance(answer, BaseException):
            raise answer
        return answer if t == 3 else PolicyOutput(EVEN)

    with pytest.raises(StsError) as caught:
        play_teams(Scripted(choice))
    error = str(caught.value)
    assert "agent 'scripted'" in error and ("at step 3" in error or "from act" in message)
    assert message in error and "\n" not in error


def test_error_in_initial_state_names_the_agent():
    class Late(Scripted):
        def initial_state(self, batch, players):
            raise KeyError("memory")

    with pytest.raises(StsError, match="'scripted' failed in initial_state: KeyError: 'memory'"):
        play_teams(Late())


def test_team_continues_with_the_memory_it_is_given():
    first = play_teams(Scripted())
    np.testing.assert_array_equal(first.memories[0]["acted"], [STEPS] * BATCH)
    one = Scripted(lambda t: PolicyOutput(weights(*[1] * 9, shape=(BATCH, 1))))
    again = [Team(Scripted(), ROLES, STREAMS, memory=first.memories[0]), Team(one, (1,), STREAMS)]
    assert [memory["acted"].tolist() for memory in play_teams(*again).memories] == [
        *([2 * STEPS] * BATCH, [STEPS] * BATCH)
    ]
    np.testing.assert_array_equal(first.memories[0]["acted"], [STEPS] * BATCH)


def test_random_draws_continue_after_earlier_steps():
    whole, parts = Scripted(draws=2), Scripted(draws=2)
    long = play_teams(whole, steps=2 * STEPS)
    actions = [play_teams(Team(parts, ROLES, STREAMS, since=since)).actions for since in (0, STEPS)]
    np.testing.assert_array_equal(np.concatenate(actions, 1), long.actions)
    drawn, again = ([draws for _, draws in agent.seen] for agent in (parts, whole))
    np.testing.assert_array_equal(drawn, again)
