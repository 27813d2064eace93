"""A session: agents and those who act from outside step the same worlds, and may stop between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts import agents
from sts.domains import load_domain
from sts.engine import session
from sts.engine.session import Actions, Session, Team
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.numerics.streams import stream
from tests.examples import instructed

WORLD = load_domain("lambda-star")
BATCH, PEOPLE, STEPS = 4, 4, 9
STATES = WORLD.generate(BATCH, seed=5, height=6, width=6, n_players=PEOPLE, horizon=STEPS)
TOLD = instructed(["Go to Good.", "", "Stay where you are.", "Go up."], [0, 0, 3, 5])
EVERYONE = range(PEOPLE)


def teams(*names: str) -> list[Team]:
    """Return teams of players 1, 2, ...; player 0 acts from outside."""
    streams = {n: np.array([stream("test", n, b) for b in range(BATCH)], np.uint64) for n in names}
    return [Team(agents.load(n), (player,), streams[n]) for player, n in enumerate(names, 1)]


def from_outside(step: int) -> Actions:
    """Return what all players would do at a step."""
    draws = np.random.default_rng(step)
    return Actions(*(draws.integers(0, n, (BATCH, PEOPLE), np.int8) for n in (9, 3)))


def take_steps(begun: Session, steps: int) -> list[np.ndarray]:
    """Step a session; return all that came of it."""
    out: list[np.ndarray] = []
    for _ in range(steps):
        out += [*begun.step(from_outside(begun.steps), (0,)), begun.worlds.rewards.copy()]
        out.append(begun.worlds.scene)
    return out


class Listening(agents.Agent):
    name = "listening"

    def __init__(self) -> None:
        self.heard: list[list[str]] = []
        self.ids: list[list[int]] = []

    def act(self, observation, instructions, memory, draws):
        self.ids.append(instructions.ids.tolist())
        self.heard.append([instructions.texts[i] for i in instructions.ids])
        return agents.PolicyOutput(np.zeros((len(instructions.ids), 1), int)), memory


def test_each_instruction_is_heard_from_its_step_on():
    asked = [
        [Instruction("Wait.", "a", 0, "setter"), Instruction("Go.", "a", 3, "setter")],
        [],
        [Instruction("Late.", "a", 5, "setter"), Instruction("Go.", "a", 3, "setter")],
        [Instruction("Now.", "a", 2, "setter"), Instruction("No, now.", "a", 2, "curator")],
    ]
    agent = Listening()
    team = Team(agent, (0,), np.zeros(BATCH, np.uint64))
    begun = session.open_session(WORLD, WORLD.restore(STATES), [team], instructions=asked)
    for _ in range(4):
        begun.step()
    later = session.open_session(WORLD, begun.state(), [team], instructions=asked)
    for _ in range(2):
        later.step()
    assert np.array(agent.heard).T.tolist() == [
        ["Wait."] * 3 + ["Go."] * 3,
        [""] * 6,
        [""] * 3 + ["Go."] * 2 + ["Late."],
        [""] * 2 + ["No, now."] * 4,
    ]


def test_ids_of_instructions_increase_even_if_a_text_is_given_again():
    agent = Listening()
    team = Team(agent, (0,), np.zeros(BATCH, np.uint64))
    planned = [[Instruction("Go.", "a", step, "setter") for step in (1, 4)]] * BATCH
    game = session.open_session(WORLD, WORLD.restore(STATES), [team], instructions=planned)
    for step in range(6):
        if step == 2:
            game.tell(0, "Stop.")
            game.tell(0, "Go.")
        if step == 3:
            game = session.open_session(WORLD, game.state(), [team], instructions=planned)
        game.step()
    assert [heard[0] for heard in agent.heard] == ["", "Go.", "Go.", "Go.", "Go.", "Go."]
    assert [ids[0] for ids in agent.ids] == [0, 1, 3, 3, 4, 4]
    assert [ids[1] for ids in agent.ids] == [0, 1, 1, 1, 4, 4]


def test_each_team_hears_what_it_is_told_at_that_step():
    agents_ = Listening(), Listening()
    crew = [Team(agent, (p,), np.zeros(BATCH, np.uint64)) for p, agent in enumerate(agents_)]
    game = session.open_session(WORLD, WORLD.restore(STATES), crew)
    for step in range(3):
        if step:
            game.tell(step, f"Step {step}.", team=1)
        game.step()
    assert agents_[0].heard == [[""] * BATCH] * 3
    assert agents_[1].heard == [
        [""] * 4,
        ["", "Step 1.", "", ""],
        ["", "Step 1.", "Step 2.", ""],
    ]


@given(steps=st.lists(st.integers(0, STEPS - 1), max_size=5), cut=st.integers(0, STEPS))
@settings(max_examples=15)
def test_telling_instructions_equals_planning_them(steps, cut):
    texts = ["Go to Good.", "Stay where you are."]
    asked = [Instruction(texts[i % 2], "a", step, "setter") for i, step in enumerate(sorted(steps))]
    crew = teams("reader", "local-search")
    whole = session.open_session(WORLD, WORLD.restore(STATES), crew, instructions=[asked] * BATCH)
    expected = take_steps(whole, STEPS)
    game, found = session.open_session(WORLD, WORLD.restore(STATES), crew), []
    for step in range(STEPS):
        if step == cut:
            game = session.open_session(WORLD, game.state(), crew)
        for instruction in asked:
            if instruction.given_at == step:
                for world in range(BATCH):
                    game.tell(world, instruction.text)
        found += take_steps(game, 1)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_resumed_session_equals_an_uninterrupted_one():
    crew = teams("sarsa", "imitation", "random")
    whole = session.open_session(WORLD, WORLD.restore(STATES), crew, instructions=TOLD)
    expected = take_steps(whole, STEPS)
    begun = session.open_session(WORLD, WORLD.restore(STATES), crew, instructions=TOLD)
    found = take_steps(begun, 4)
    later = session.open_session(WORLD, begun.state(), crew, instructions=TOLD)
    assert later.steps == 4
    found += take_steps(later, STEPS - 4)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert later.state().worlds == whole.state().worlds


def test_people_and_agents_share_a_session_and_others_stay():
    begun = session.open_session(WORLD, WORLD.restore(STATES), teams("local-search"))
    before = begun.observe(EVERYONE).cell
    done = from_outside(0)
    step = begun.step(done, (0, 2))
    np.testing.assert_array_equal(step.actions[:, (0, 2)], done.actions[:, (0, 2)])
    np.testing.assert_array_equal(step.utterances[:, (0, 2)], done.utterances[:, (0, 2)])
    assert (step.actions[:, 3] == WORLD.noop).all() and not step.utterances[:, 3].any()
    assert np.isnan(step.log_probs[:, (0, 2, 3)]).all()
    assert np.isfinite(step.log_probs[:, 1]).all()
    np.testing.assert_array_equal(begun.observe(EVERYONE).cell[:, 3], before[:, 3])
    np.testing.assert_array_equal(begun.observe((0, 2)).last_move, done.actions[:, (0, 2)])
    held = begun.step(from_outside(1), np.arange(PEOPLE) == 1)  # of an agent, which still observes
    np.testing.assert_array_equal(held.actions[:, 1], from_outside(1).actions[:, 1])
    assert np.isfinite(held.log_probs[:, 1]).all()


@pytest.mark.parametrize("bad", [(9, 0), (-1, 0), (0, 22), (0, -1)])
def test_unknown_actions_are_rejected_before_any_step(bad):
    begun = session.open_session(WORLD, WORLD.restore(STATES))
    given = Actions(*(np.full((BATCH, PEOPLE), value, np.int8) for value in bad))
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(given, (1,))
    assert begun.steps == 0 and begun.state().worlds == tuple(STATES)
    begun.step(given)  # no player is held, so its actions are not read


def test_invalid_teams_and_instructions_are_rejected_on_opening():
    worlds = WORLD.restore(STATES)
    with pytest.raises(StsError, match="expected each player in one team only"):
        session.open_session(WORLD, worlds, teams("random") * 2)
    with pytest.raises(ArgumentError, match="plays only in"):
        session.open_session(
            load_domain("tests.annotator_app.ring:Ring"), worlds, teams("local-search")
        )
    with pytest.raises(StsError, match="an instruction for each of 4"):
        session.open_session(WORLD, worlds, instructions=instructed(["Go."], [0]))


def test_choices_are_those_that_the_step_executes():
    crew = teams("reader-noisy-60", "random")
    plain = session.open_session(WORLD, WORLD.restore(STATES), crew)
    asked = session.open_session(WORLD, WORLD.restore(STATES), crew)
    for step in range(STEPS):
        choices = asked.choose()
        choices.actions[:] = 0  # a copy
        choices = asked.choose()
        expected, found = (game.step(from_outside(step), (0,)) for game in (plain, asked))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
        np.testing.assert_array_equal(choices.actions[:, 1:3], found.actions[:, 1:3])
        assert (choices.actions[:, 0] == WORLD.noop).all()
