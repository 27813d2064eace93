"""A session: agents and those who act from outside step the same worlds, and may stop between."""

from __future__ import annotations

import numpy as np
import pytest

from sts import agents
from sts.domains import domain
from sts.engine import session
from sts.engine.lockstep import Played, Script, play
from sts.engine.session import Actions, Session, StepResult, Team
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.numerics.streams import stream
from tests.examples import instructed

WORLD = domain("lambda-star")
BATCH, PEOPLE, STEPS = 4, 4, 9
STATES = WORLD.generate(BATCH, seed=5, height=6, width=6, participants=PEOPLE, horizon=STEPS)
TOLD = instructed(["Go to Good.", "", "Stay where you are.", "Go up."], [0, 0, 3, 5])
EVERYONE = range(PEOPLE)


def teams(*names: str) -> list[Team]:
    """Teams of participants 1, 2, ...; participant 0 acts from outside."""
    return [
        Team(
            agents.load(name),
            (role,),
            np.array([stream("test", name, b) for b in range(BATCH)], np.uint64),
        )
        for role, name in enumerate(names, 1)
    ]


def from_outside(step: int) -> Actions:
    """What somebody does at a step, whoever else is there."""
    draws = np.random.default_rng(step)
    return Actions(
        draws.integers(0, 9, (BATCH, PEOPLE), np.int8),
        draws.integers(0, 3, (BATCH, PEOPLE), np.int8),
    )


def taken(begun: Session, steps: int) -> list[np.ndarray]:
    """Step a session; return all that came of it."""
    out: list[np.ndarray] = []
    for _ in range(steps):
        out += [*begun.step(from_outside(begun.steps), (0,)), begun.worlds.rewards.copy()]
        out.append(begun.worlds.scene)
    return out


class Listening(agents.Agent):
    """Keeps all that it has ever heard."""

    name = "listening"

    def __init__(self) -> None:
        self.heard: list[list[str]] = []

    def act(self, observation, instructions, memory, draws):
        self.heard.append([instructions.texts[i] for i in instructions.ids])
        return agents.Choice(np.zeros((len(instructions.ids), 1), int)), memory


def test_each_of_several_instructions_is_heard_from_its_step_on() -> None:
    asked = [
        [Instruction("Wait.", "a", 0, "setter"), Instruction("Go.", "a", 3, "setter")],
        [],
        [Instruction("Late.", "a", 5, "setter"), Instruction("Go.", "a", 3, "setter")],
        [Instruction("Now.", "a", 2, "setter"), Instruction("No, now.", "a", 2, "curator")],
    ]
    agent = Listening()
    team = Team(agent, (0,), np.zeros(BATCH, np.uint64))
    begun = session.open(WORLD, WORLD.restore(STATES), [team], told=asked)
    for _ in range(4):
        begun.step()
    later = session.open(WORLD, begun.state(), [team], told=asked)
    for _ in range(2):
        later.step()
    assert np.array(agent.heard).T.tolist() == [
        ["Wait."] * 3 + ["Go."] * 3,
        [""] * 6,
        [""] * 3 + ["Go."] * 2 + ["Late."],
        [""] * 2 + ["No, now."] * 4,
    ]


def test_a_session_that_stopped_goes_on_as_if_it_never_had() -> None:
    crew = teams("sarsa", "imitation", "random")
    whole = session.open(WORLD, WORLD.restore(STATES), crew, told=TOLD)
    expected = taken(whole, STEPS)
    begun = session.open(WORLD, WORLD.restore(STATES), crew, told=TOLD)
    found = taken(begun, 4)
    later = session.open(WORLD, begun.state(), crew, told=TOLD)
    assert later.steps == 4
    found += taken(later, STEPS - 4)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert later.state().worlds == whole.state().worlds


def test_lock_step_play_is_a_session_that_a_script_steps() -> None:
    crew = teams("local-search", "random")
    moves, says = (np.stack(one, 1) for one in zip(*map(from_outside, range(STEPS)), strict=True))
    script = Script(
        moves,
        says,
        np.broadcast_to(np.arange(PEOPLE) == 0, (STEPS, PEOPLE)),
    )
    played: Played = play(WORLD, WORLD.restore(STATES), crew, steps=STEPS, script=script, told=TOLD)
    begun = session.open(WORLD, WORLD.restore(STATES), crew, told=TOLD)
    for t in range(STEPS):
        step: StepResult = begun.step(from_outside(t), (0,))
        np.testing.assert_array_equal(step.moves, played.moves[:, t])
        np.testing.assert_array_equal(step.says, played.says[:, t])
        np.testing.assert_array_equal(step.log_probs, played.log_probs[:, t])
        np.testing.assert_array_equal(begun.worlds.scene, played.scene[:, t + 1])


def test_several_people_and_agents_share_a_session_and_who_is_neither_stays() -> None:
    begun = session.open(WORLD, WORLD.restore(STATES), teams("local-search"))
    before = begun.observe(EVERYONE).cell
    given = from_outside(0)
    step = begun.step(given, (0, 2))
    np.testing.assert_array_equal(step.moves[:, (0, 2)], given.moves[:, (0, 2)])
    np.testing.assert_array_equal(step.says[:, (0, 2)], given.says[:, (0, 2)])
    assert (step.moves[:, 3] == WORLD.noop).all() and not step.says[:, 3].any()
    assert np.isnan(step.log_probs[:, (0, 2, 3)]).all()
    assert np.isfinite(step.log_probs[:, 1]).all()
    np.testing.assert_array_equal(begun.observe(EVERYONE).cell[:, 3], before[:, 3])
    np.testing.assert_array_equal(begun.observe((0, 2)).last_move, given.moves[:, (0, 2)])


def test_an_agent_whose_participant_is_held_still_observes_and_says_how_likely_it_was() -> None:
    begun = session.open(WORLD, WORLD.restore(STATES), teams("local-search"))
    step = begun.step(from_outside(0), np.arange(PEOPLE) == 1)
    np.testing.assert_array_equal(step.moves[:, 1], from_outside(0).moves[:, 1])
    assert np.isfinite(step.log_probs[:, 1]).all()


@pytest.mark.parametrize("bad", [(9, 0), (-1, 0), (0, 22), (0, -1)])
def test_what_the_domain_has_not_is_refused_before_anything_moves(bad: tuple[int, int]) -> None:
    begun = session.open(WORLD, WORLD.restore(STATES))
    given = Actions(*(np.full((BATCH, PEOPLE), value, np.int8) for value in bad))
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(given, (1,))
    assert begun.steps == 0 and begun.state().worlds == tuple(STATES)
    begun.step(given)  # nobody is held: what it has is not looked at


def test_who_cannot_take_part_is_refused_when_the_session_opens() -> None:
    worlds = WORLD.restore(STATES)
    with pytest.raises(StsError, match="expected each participant in one team only"):
        session.open(WORLD, worlds, teams("random") * 2)
    with pytest.raises(ArgumentError, match="plays only in"):
        session.open(domain("tests.annotator_app.ring:Ring"), worlds, teams("local-search"))
    with pytest.raises(StsError, match="an instruction for each of 4"):
        session.open(WORLD, worlds, told=instructed(["Go."], [0]))
