"""Utterances are tokens or text, as the domain declares; they are kept, replayed and shown."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sts.agents import PolicyOutput
from sts.commands.terminal import describe_utterances
from sts.continuations.takeover import continue_all
from sts.domains import load_domain, validate_episodes
from sts.domains.conformance import check
from sts.engine import session
from sts.engine.replay import verify
from sts.engine.session import Actions
from sts.episodes import Instruction
from sts.errors import DamagedData, StsError
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.trajectories import trajectory_store as store
from sts.trajectories.trajectory import Trajectory
from sts.viewer.payload import continuation_payload
from sts_scenarios.rules.category import Category
from tests.domains import spaces
from tests.domains.keepers import category
from tests.examples import play_turns
from tests.mined import mine
from tests.recording import record

TEXT = "Über “hier”!"


def talked(count: int = 1, seed: int = 2, steps: int = 20) -> list[Trajectory]:
    return record(
        spaces.Talker(), domain=spaces.HALL, count=count, steps=steps, seed=seed, settings={}
    )


class Quiet(spaces.Talker):
    """Says only its instruction."""

    name = "quiet"

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        texts = np.array(instructions.texts)[instructions.ids]
        shape = observation.last_move.shape
        return PolicyOutput(np.ones((*shape, 4)), np.broadcast_to(texts[:, None], shape)), memory


@pytest.fixture(scope="module")
def scenario() -> Any:
    talk: Category = category(spaces.HALL)
    every = [
        replace(t, instructions=(), provenance=t.provenance | {"split": "test"}) for t in talked()
    ]
    (found,) = mine(every, [talk], per_category=1, seed=0).scenarios
    return found


@pytest.mark.parametrize("name", [spaces.HALL, spaces.BELLS])
def test_world_of_words_keeps_every_claim(name):
    every = list(check(name, steps=20, seeds=2))
    assert {one.claim: one.how for one in every if one.ok is False} == {}


def test_utterance_is_heard_in_the_next_step_and_kept(tmp_path):
    (one,) = talked(steps=6, seed=0)
    told = "Keep the lanterns alight."
    assert one.episode.utterances[0].tolist() == [told, told]  # the world's own instruction
    world = load_domain(spaces.HALL)
    team = session.Team(spaces.Talker(), (0, 1), np.zeros(1, np.uint64))
    begun = session.open_session(world, world.restore([one.episode.state]), [team])
    said = [begun.step().utterances[0].tolist() for _ in range(4)]
    assert said == [["step 0"] * 2, ["step 1"] * 2, ["heard step 1 step 1"] * 2, ["step 3"] * 2]
    store.export(tmp_path / "t.parquet", [one])
    (kept,) = store.read(tmp_path / "t.parquet")
    assert kept.id == one.id and kept.episode.utterances.tolist() == one.episode.utterances.tolist()
    assert verify([kept.episode]) == [None]


def test_content_hash_depends_on_every_letter_but_not_on_the_dtype():
    episode = talked()[0].episode
    utterances = episode.utterances.copy()
    utterances[3, 0] += "."
    assert replace(episode, utterances=utterances).content_hash != episode.content_hash
    again = replace(episode, utterances=np.array(episode.utterances.tolist()))  # of a fixed length
    assert again.content_hash == episode.content_hash


def test_minari_keeps_texts(tmp_path):
    every = [replace(t, instructions=()) for t in talked(2)]
    exporter.write(tmp_path / "talk-v0", every)
    found = importer.read(tmp_path / "talk-v0", domain=spaces.HALL)
    assert [t.id for t in found] == [t.id for t in every]


def test_continuation_with_texts_is_shown_to_annotators(scenario, tmp_path):
    files.write(tmp_path / "s.parquet", [scenario])
    (kept,) = files.read(tmp_path / "s.parquet")
    assert kept.hash == scenario.hash
    asked = replace(kept, instruction=Instruction(TEXT, "light-one", 6, "curator"))
    (made,) = continue_all([asked], Quiet(), seed=0, indices=[0])
    utterances = made.episode.utterances
    assert utterances[:6].tolist() == kept.recording.utterances[:6].tolist()
    assert set(utterances[6:, 0].tolist()) == {TEXT}
    assert set(utterances[6:, 1].tolist()) == {""}  # the no-op partner says nothing
    assert f"keeper says “{TEXT}” in step +1" in describe_utterances(made.episode, (0,), 6)
    sent = continuation_payload(Workspace.open(tmp_path), made)
    assert sent["texts"][-1] == [13, 0, TEXT] and len(sent["texts"]) == 12 + 8
    played = play_turns(asked, [(0, TEXT)] * asked.horizon)
    assert set(played.episode.utterances[6:, 0].tolist()) == {TEXT}  # people write, too


@pytest.mark.parametrize(
    "utterances",
    ["two\nlines", "x" * 2001, "\x1b[2J", 3, None, [["a", "b"]]],
    ids=["lines", "long", "control", "number", "nothing", "shape"],
)
def test_invalid_text_of_an_agent_is_refused(scenario, utterances):
    class Wrong(Quiet):
        version = "1"

        def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
            shape = observation.last_move.shape
            own = (
                np.array(utterances) if isinstance(utterances, list) else np.full(shape, utterances)
            )
            return PolicyOutput(np.ones((*shape, 4)), own), memory

    with pytest.raises(StsError, match=r"agent 'quiet' at step 0: expected texts \[1, 1\] of one"):
        continue_all([scenario], Wrong(), seed=0, indices=[0])


@pytest.mark.parametrize(
    "utterances", [np.zeros((20, 2), np.int8), "two\nlines"], ids=["tokens", "lines"]
)
def test_recorded_utterances_of_another_type_are_refused(utterances):
    episode = replace(talked()[0].episode, utterances=np.broadcast_to(utterances, (20, 2)))
    with pytest.raises(DamagedData, match="it: expected texts of one line, found others"):
        validate_episodes([episode], ["it"])
    world = load_domain(spaces.HALL)
    begun = session.open_session(world, world.restore([episode.state]))
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(Actions(episode.actions[:1], episode.utterances[:1]), held=(0, 1))
