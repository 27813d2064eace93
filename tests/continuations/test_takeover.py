"""Replay and takeover: checked step by step, independent of batch and order, and reproducible."""

import dataclasses
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from sts import agents
from sts.continuations import store
from sts.continuations.takeover import continue_all, group_by_shape
from sts.continuations.types import Continuation
from sts.domains import domain
from sts.engine.replay import verify
from sts.episodes import Instruction
from sts.errors import ArgumentError, ReplayMismatch
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario
from sts.worlds.lambda_star.state import decode
from tests.examples import on_test_side, recorded, scenario, scenarios


def hashes(found: list[Continuation]) -> dict[str, str]:
    return {c.id: c.content_hash for c in found}


@pytest.fixture(scope="module")
def several() -> list[Scenario]:
    return scenarios(4)


def test_the_context_is_the_recording_and_the_rest_is_the_agents(several: list[Scenario]) -> None:
    for one in continue_all(several, agents.load("random"), seed=0, indices=range(3)):
        source = next(s for s in several if s.hash == one.scenario_hash).recording
        c = one.takeover
        assert (one.episode.moves[:c] == source.moves[:c]).all()
        assert (one.episode.scene[: c + 1] == source.scene[: c + 1]).all()
        assert one.episode.steps == c + one.horizon
    ten = continue_all(several[:1], agents.load("random"), seed=0, indices=range(10))
    assert len({c.episode.content_hash for c in ten}) == 10


@pytest.mark.parametrize("name", ["random", "stigmergy", "rule"])
def test_results_do_not_depend_on_batch_or_order(name: str, several: list[Scenario]) -> None:
    agent = agents.load(name)
    whole = hashes(continue_all(several, agent, seed=1, indices=range(4)))
    backwards = hashes(continue_all(several[::-1], agent, seed=1, indices=(3, 1, 0, 2)))
    alone: dict[str, str] = {}
    for one in several:
        for index in range(4):
            alone |= hashes(continue_all([one], agent, seed=1, indices=[index]))
    assert whole == backwards == alone


def test_equal_seeds_agree_and_other_seeds_differ(several: list[Scenario]) -> None:
    agent = agents.load("random")
    runs = [continue_all(several, agent, seed=s, indices=[0]) for s in (5, 5, 6)]
    same, again, other = ([c.episode.content_hash for c in run] for run in runs)
    assert same == again
    assert not set(same) & set(other)


def test_a_continuation_replays_from_its_own_state(several: list[Scenario]) -> None:
    found = continue_all(several, agents.load("local-search"), seed=0, indices=range(2))
    assert verify(domain("lambda-star"), [c.episode for c in found]) == [None] * len(found)


def test_partners_do_nothing_repeat_or_are_played() -> None:
    one = on_test_side(recorded("random", count=16, team=3))[0]
    c = 6

    def run(partner: str) -> Continuation:
        cut = scenario(one, takeover=c, partner=partner)
        return continue_all([cut], agents.load("random"), seed=0, indices=[0])[0]

    still, repeated, played = run("no-op"), run("replay"), run("agent:random")
    stay = domain("lambda-star").noop
    assert (still.episode.moves[c:, 1:] == stay).all()
    assert (repeated.episode.moves[c:, 1:] == one.episode.moves[2 + c : 16, 1:]).all()
    assert (played.episode.moves[c:, 1:] != stay).any()
    assert (played.episode.moves[c:, 1:] != repeated.episode.moves[c:, 1:]).any()


def test_an_agent_draws_never_move_the_world() -> None:
    several = scenarios(3, roles=(0, 1))
    runs = [
        continue_all(several, agents.load(name), seed=seed, indices=[0])
        for name, seed in (("random", 0), ("random", 9), ("local-search", 0))
    ]
    objects = [np.stack([c.episode.scene[:, :2] for c in run]) for run in runs]
    assert (objects[0] == objects[1]).all()
    assert (objects[0] == objects[2]).all()


def test_log_probabilities_are_those_of_what_was_done(several: list[Scenario]) -> None:
    (one, *_) = continue_all(several, agents.load("random"), seed=0, indices=[0])
    assert one.log_probs.shape == (one.episode.steps, 1)
    assert np.allclose(one.log_probs, np.log(1 / 9), atol=1e-6)
    (one, *_) = continue_all(several, agents.load("local-search"), seed=0, indices=[0])
    assert np.isfinite(one.log_probs).all()
    assert one.log_probs[one.takeover :].mean() > np.log(1 / 9)


@pytest.mark.parametrize("column", ["rewards", "scene"])
@pytest.mark.parametrize("step", [0, 3, 5])
def test_a_context_that_differs_from_its_recording_is_named_by_its_step(
    column: str, step: int
) -> None:
    (one,) = scenarios(1)
    changed = getattr(one.recording, column).copy()
    row = step + 1 if column == "scene" else step
    changed[row, 0] = changed[row, 0] + 1 if changed[row, 0] < 2 else changed[row, 0] - 1
    recording = dataclasses.replace(one.recording, **{column: changed})
    bad = dataclasses.replace(one, recording=recording)
    with pytest.raises(ReplayMismatch, match=f"step {step}:") as error:
        continue_all([bad], agents.load("random"), seed=0, indices=[0])
    assert error.value.step == step
    assert one.id in str(error.value)


def test_another_state_at_takeover_is_refused() -> None:
    (one,) = scenarios(1)
    bad = dataclasses.replace(one, takeover_hash="0" * 64)
    with pytest.raises(ReplayMismatch, match="state at takeover"):
        continue_all([bad], agents.load("random"), seed=0, indices=[0])


def test_what_follows_the_recording_does_not_matter_without_replaying_partners() -> None:
    (one,) = scenarios(1)
    end = one.recording.part(one.recording.state, 0, one.takeover)
    cut = dataclasses.replace(one, recording=end)
    found = continue_all([cut], agents.load("random"), seed=0, indices=[0])
    assert found[0].episode.steps == one.takeover + one.horizon


def test_the_instruction_is_invisible_before_it_is_given() -> None:
    heard: list[tuple[int, str]] = []

    class Listener(agents.Agent):
        name, version = "listener", "1"

        def act(self, observation, instructions, memory, draws):
            heard.append((int(observation.step[0]), instructions.texts[instructions.ids[0]]))
            return agents.Choice(np.ones((1, 1, 9))), memory

    (one,) = scenarios(1)
    continue_all([one], Listener(), seed=0, indices=[0])
    start = decode(one.recording.state).step
    texts = [text for _, text in heard]
    assert [step for step, _ in heard] == list(range(start, start + 14))
    assert texts == [""] * 6 + ["Go to Good."] * 8


def test_scenarios_of_other_shapes_are_never_in_one_batch() -> None:
    mixed = scenarios(2) + scenarios(2, horizon=5) + scenarios(1, roles=(1,))
    assert sorted(len(group) for group in group_by_shape(mixed)) == [1, 2, 2]
    with pytest.raises(ArgumentError, match="one shape"):
        continue_all(mixed, agents.load("random"), seed=0, indices=[0])


def test_grids_of_several_sizes_share_a_batch() -> None:
    small = scenarios(1)[0]
    other = on_test_side(recorded(count=24, height=9, width=5))[0]
    both = [small, scenario(other)]
    assert len(group_by_shape(both)) == 1
    agent = agents.load("local-search")
    together = hashes(continue_all(both, agent, seed=0, indices=[0]))
    apart = hashes([continue_all([s], agent, seed=0, indices=[0])[0] for s in both])
    assert together == apart


def test_an_agent_hears_each_instruction_from_its_step_on_under_replay_too(
    several: list[Scenario],
) -> None:
    class Listening(agents.Agent):
        name = "listening"
        version = "1"
        heard: ClassVar[list[list[str]]] = []

        def act(self, observation, instructions, memory, draws):
            self.heard.append([instructions.texts[i] for i in instructions.ids])
            return agents.Choice(np.full((len(instructions.ids), 1), 4)), memory

    one, other = several[:2]
    earlier = tuple(Instruction(text, "a", at, "setter") for text, at in (("A.", 1), ("B.", 3)))
    both = [dataclasses.replace(one, heard=earlier), other]
    made = continue_all(both, Listening(), seed=0, indices=[0])
    first, second = np.array(Listening.heard).T.tolist()
    asked = [one.instruction.text] * one.horizon
    assert first == ["", "A.", "A.", "B.", "B.", "B.", *asked]
    assert second == [""] * 6 + asked
    assert [c.heard for c in made] == [earlier, ()]
    assert made[0].instructions == (*earlier, one.instruction)


def test_a_continuation_keeps_all_that_was_heard_in_its_file(
    several: list[Scenario], tmp_path: Path
) -> None:
    earlier = Instruction("A.", "a", 1, "setter")
    scenario = dataclasses.replace(several[0], heard=(earlier,))
    made = continue_all([scenario], agents.load("random"), seed=0, indices=[0])
    workspace = Workspace.open(str(tmp_path)).ensure()
    store.save(workspace, made)
    (kept,) = store.load(workspace, [scenario.hash])
    assert kept.heard == (earlier,) and kept.content_hash == made[0].content_hash
