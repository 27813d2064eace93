"""Replay and takeover: checked step by step, independent of batch and order, and reproducible."""

import dataclasses

import numpy as np
import pytest

from sts import agents
from sts.continuations.continuation import Continuation
from sts.continuations.takeover import continue_all, group_by_shape
from sts.domains import load_domain
from sts.engine.replay import verify
from sts.episodes import Instruction
from sts.errors import ArgumentError, ReplayMismatch, StsError
from tests.examples import on_test_side, recorded, scenario, scenarios


def hashes(found: list[Continuation]) -> dict[str, str]:
    return {c.id: c.content_hash for c in found}


@pytest.fixture(scope="module")
def several():
    return scenarios(4)


def test_context_equals_the_recording_and_the_rest_is_the_agents(several):
    for one in continue_all(several, agents.load("random"), seed=0, indices=range(3)):
        source = next(s for s in several if s.hash == one.scenario_hash).recording
        c = one.takeover
        assert (one.episode.actions[:c] == source.actions[:c]).all()
        assert (one.episode.scene[: c + 1] == source.scene[: c + 1]).all()
        assert one.episode.steps == c + one.horizon
    found = continue_all(several[:1], agents.load("random"), seed=0, indices=range(10))
    assert len({c.episode.content_hash for c in found}) == 10
    assert verify([c.episode for c in found]) == [None] * len(found)


@pytest.mark.parametrize("name", ["random", "stigmergy", "rule"])
def test_continuations_do_not_depend_on_batch_or_order(name, several):
    agent = agents.load(name)
    whole = hashes(continue_all(several, agent, seed=1, indices=range(4)))
    backwards = hashes(continue_all(several[::-1], agent, seed=1, indices=(3, 1, 0, 2)))
    alone = [continue_all([s], agent, seed=1, indices=[i]) for s in several for i in range(4)]
    assert whole == backwards == hashes([c for each in alone for c in each])


def test_partner_stands_still_repeats_the_recording_or_is_played():
    one = on_test_side(recorded("random", count=16, team=3))[0]
    c = 6

    def run(partner):
        cut = scenario(one, context=c, partner=partner)
        return continue_all([cut], agents.load("random"), seed=0, indices=[0])[0]

    still, repeated, played = run("no-op"), run("replay"), run("agent:random")
    stay = load_domain("lambda-star").noop
    assert (still.episode.actions[c:, 1:] == stay).all()
    assert (repeated.episode.actions[c:, 1:] == one.episode.actions[2 + c : 16, 1:]).all()
    assert (played.episode.actions[c:, 1:] != stay).any()
    assert (played.episode.actions[c:, 1:] != repeated.episode.actions[c:, 1:]).any()


@pytest.mark.parametrize(("column", "step"), [("rewards", 0), ("scene", 0), ("scene", 5)])
def test_replay_mismatch_names_the_step(column, step):
    (one,) = scenarios(1)
    changed = getattr(one.recording, column).copy()
    row = step + 1 if column == "scene" else step
    changed[row, 0] = changed[row, 0] + 1 if changed[row, 0] < 2 else changed[row, 0] - 1
    recording = dataclasses.replace(one.recording, **{column: changed})
    bad = dataclasses.replace(one, recording=recording)
    with pytest.raises(ReplayMismatch, match=f"step {step}:") as error:
        continue_all([bad], agents.load("random"), seed=0, indices=[0])
    assert error.value.step == step and one.id in str(error.value)
    with pytest.raises(ReplayMismatch, match="state at takeover"):
        other = dataclasses.replace(one, takeover_hash="0" * 64)
        continue_all([other], agents.load("random"), seed=0, indices=[0])


def test_recording_after_the_takeover_is_not_needed():
    (one,) = scenarios(1)
    end = one.recording.slice_steps(one.recording.state, 0, one.context)
    cut = dataclasses.replace(one, recording=end)
    found = continue_all([cut], agents.load("random"), seed=0, indices=[0])
    assert found[0].episode.steps == one.context + one.horizon


MIXED_AGENTS = "random", "local-search", "reader", "reader-noisy-30", "oracle", "q-learning"


@pytest.mark.parametrize("name", MIXED_AGENTS)
@pytest.mark.parametrize("apart", [False, True])
def test_batch_of_different_lengths_players_and_grids_changes_nothing(name, apart):
    grid = scenario(on_test_side(recorded(count=24, height=9, width=5))[0])
    others = [*scenarios(2, horizon=5), *scenarios(2, context=3, horizon=11)]
    mixed = [grid, *others, *scenarios(2, players=(1,)), *scenarios(1, partner="replay")]
    assert len(group_by_shape(mixed)) == 1
    agent = agents.load(name)
    together = continue_all(mixed, agent, seed=0, indices=(0, 2), by_scenario=apart)
    alone = [
        one
        for own in mixed
        for i in (0, 2)
        for one in continue_all([own], agent, seed=0, indices=[i])
    ]
    assert [one.content_hash for one in together] == [one.content_hash for one in alone]
    for one, other in zip(together, alone, strict=True):
        np.testing.assert_array_equal(one.log_probs, other.log_probs)


def test_agents_see_no_row_of_an_episode_that_has_ended():
    class Counting(agents.Agent):
        name = "counting"
        version = "1"
        rows = []

        def initial_state(self, batch, players):
            return {"row": np.arange(batch)}

        def act(self, observation, instructions, memory, draws):
            assert len(observation.cell) == len(instructions.ids) == len(draws)
            self.rows.append(memory["row"].tolist())
            return agents.PolicyOutput(np.full(draws.shape[:2], 4)), memory

    short, long = scenarios(1, horizon=2), scenarios(1, horizon=4)
    continue_all([*short, *long], Counting(), seed=0, indices=(0, 1))
    steps = short[0].context + 2
    assert Counting.rows == [[0, 1, 2, 3]] * steps + [[0, 1]] * 2


@pytest.mark.parametrize(
    ("rows", "kept", "message"),
    [
        (4, None, "at step .*of 2 episodes; found int64.4, 1."),
        (1, None, "at step 0: .*of 4 episodes; found int64.1, 1."),
        (None, 3, "at step .*expected memory of 4 episodes, found 'row' of shape .3."),
    ],
)
def test_agent_that_answers_for_other_rows_than_it_was_given_is_named(rows, kept, message):
    class Stubborn(agents.Agent):
        name = "stubborn"
        version = "1"

        def act(self, observation, instructions, memory, draws):
            moves = np.full((rows or len(draws), 1), 4)
            return agents.PolicyOutput(moves), {"row": np.arange(kept or len(draws))}

    mixed = [*scenarios(1, horizon=2), *scenarios(1, horizon=4)]
    with pytest.raises(StsError, match=f"'stubborn' {message}"):
        continue_all(mixed, Stubborn(), seed=0, indices=(0, 1))


def test_scenarios_of_different_numbers_of_players_are_never_in_one_batch():
    more = scenario(on_test_side(recorded(count=24, n_players=4))[0])
    mixed = [more, *scenarios(2)]
    assert sorted(len(group) for group in group_by_shape(mixed)) == [1, 2]
    with pytest.raises(ArgumentError, match="one shape"):
        continue_all(mixed, agents.load("random"), seed=0, indices=[0])


def test_agent_hears_each_instruction_from_its_step_on(several):
    class Listening(agents.Agent):
        name = "listening"
        version = "1"
        heard = []

        def act(self, observation, instructions, memory, draws):
            self.heard.append([instructions.texts[i] for i in instructions.ids])
            return agents.PolicyOutput(np.full((len(instructions.ids), 1), 4)), memory

    one, other = several[:2]
    earlier = tuple(Instruction(text, "a", at, "setter") for text, at in (("A.", 1), ("B.", 3)))
    both = [dataclasses.replace(one, earlier_instructions=earlier), other]
    made = continue_all(both, Listening(), seed=0, indices=[0])
    first, second = np.array(Listening.heard).T.tolist()
    asked = [one.instruction.text] * one.horizon
    assert first == ["", "A.", "A.", "B.", "B.", "B.", *asked]
    assert second == [""] * 6 + asked
    assert [c.earlier_instructions for c in made] == [earlier, ()]
    assert made[0].instructions == (*earlier, one.instruction)
