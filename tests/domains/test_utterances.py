"""What is said is tokens or text, as a domain declares; it is kept, replayed, heard and shown."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.agents import Choice
from sts.commands.terminal import describe_utterances
from sts.continuations.human import Play
from sts.continuations.takeover import continue_all
from sts.domains import checked, domain
from sts.domains.conformance import check
from sts.engine import session
from sts.engine.replay import verify
from sts.engine.session import Actions
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, DamagedData, StsError
from sts.suites import scenarios as files
from sts.trajectories import store
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from sts.viewer.payload import build_payload
from sts_scenarios import mining
from sts_scenarios.category import Category
from tests.domains import spaces
from tests.domains.keepers import category


def talked(count: int = 1) -> list[Trajectory]:
    silent = record(spaces.Talker(), domain=spaces.HALL, count=count, steps=20, seed=2, settings={})
    return [replace(t, instructions=()) for t in silent]


class Quiet(spaces.Talker):
    """Says nothing but what it is told to."""

    name = "quiet"

    def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
        texts = np.array(instructions.texts)[instructions.ids]
        shape = observation.last_move.shape
        return Choice(np.ones((*shape, 4)), np.broadcast_to(texts[:, None], shape)), memory


@pytest.fixture(scope="module")
def scenario() -> Any:
    talk: Category = category(spaces.HALL)
    every = [replace(t, provenance=t.provenance | {"split": "test"}) for t in talked()]
    (found,) = mining.mine(every, [talk], per_category=1, seed=0).scenarios
    return found


@pytest.mark.parametrize("name", [spaces.HALL, spaces.BELLS])
def test_a_world_of_words_keeps_every_claim(name: str) -> None:
    every = list(check(name, steps=20, seeds=2))
    assert {one.claim: one.how for one in every if one.ok is False} == {}


def test_what_is_said_is_heard_in_the_next_step_and_kept(tmp_path: Path) -> None:
    (one,) = record(spaces.Talker(), domain=spaces.HALL, count=1, steps=6, seed=0, settings={})
    told = "Keep the lanterns alight."
    assert one.episode.says[0].tolist() == [told, told]  # the world's own instruction, at once
    world = domain(spaces.HALL)
    begun = session.open(
        world,
        world.restore([one.episode.state]),
        [session.Team(spaces.Talker(), (0, 1), np.zeros(1, np.uint64))],
    )
    said = [begun.step().says[0].tolist() for _ in range(4)]
    assert said == [["step 0"] * 2, ["step 1"] * 2, ["heard step 1 step 1"] * 2, ["step 3"] * 2]
    store.write(tmp_path / "t.parquet", [one])
    (kept,) = store.read(tmp_path / "t.parquet")
    assert kept.id == one.id and kept.episode.says.tolist() == one.episode.says.tolist()
    assert verify(world, [kept.episode]) == [None]


def test_one_letter_more_is_another_episode() -> None:
    (one,) = talked()
    says = one.episode.says.copy()
    says[3, 0] += "."
    assert replace(one.episode, says=says).content_hash != one.episode.content_hash
    again = replace(one.episode, says=np.array(one.episode.says.tolist()))  # of a fixed length
    assert again.content_hash == one.episode.content_hash


def test_a_minari_dataset_brings_texts_back(tmp_path: Path) -> None:
    from sts.formats.minari import exporter, importer

    every = talked(2)
    exporter.write(tmp_path / "talk-v0", every)
    assert [t.id for t in importer.read(tmp_path / "talk-v0", domain=spaces.HALL)] == [
        t.id for t in every
    ]


def test_texts_are_said_in_a_continuation_and_shown_to_judges(
    scenario: Any, tmp_path: Path
) -> None:
    files.write(tmp_path / "s.parquet", [scenario])
    (kept,) = files.read(tmp_path / "s.parquet")
    assert kept.hash == scenario.hash
    asked = replace(kept, instruction=Instruction("Über “hier”!", "light-one", 6, "curator"))
    (made,) = continue_all([asked], Quiet(), seed=0, indices=[0])
    assert made.episode.says[:6].tolist() == kept.recording.says[:6].tolist()
    assert set(made.episode.says[6:, 0].tolist()) == {"Über “hier”!"}
    assert set(made.episode.says[6:, 1].tolist()) == {""}  # who does nothing says nothing
    assert "says “Über “hier”!” in step +1" in describe_utterances(made.episode, (0,), 6)
    world = domain(spaces.HALL)
    sent = build_payload(
        drawing=None,
        picture=world.picture(made.episode.state),
        scene=[],
        says=made.episode.says,
        takeover=6,
        evaluated=(0,),
        tokens=world.tokens,
        instructions=made.instructions,
    )
    assert sent["texts"][-1] == [13, 0, "Über “hier”!"] and len(sent["texts"]) == 12 + 8
    with pytest.raises(ArgumentError, match="has no tokens from which a person could choose"):
        Play(asked, person="p", attempt=0)


@pytest.mark.parametrize(
    "says",
    ["two\nlines", "x" * 2001, "\x1b[2J", 3, None, [["a", "b"]]],
    ids=["lines", "long", "control", "number", "nothing", "shape"],
)
def test_what_no_line_can_hold_is_not_said(scenario: Any, says: Any) -> None:
    class Wrong(Quiet):
        version = "1"

        def act(self, observation: Any, instructions: Any, memory: Any, draws: Any) -> Any:
            shape = observation.last_move.shape
            own = np.array(says) if isinstance(says, list) else np.full(shape, says)
            return Choice(np.ones((*shape, 4)), own), memory

    with pytest.raises(StsError, match=r"agent 'quiet' at step 0: expected texts \[1, 1\] of one"):
        continue_all([scenario], Wrong(), seed=0, indices=[0])


@pytest.mark.parametrize(
    "says", [np.zeros((20, 2), np.int8), "two\nlines"], ids=["tokens", "lines"]
)
def test_a_record_of_other_utterances_than_its_world_has_is_refused(says: Any) -> None:
    (one,) = talked()
    made: Episode = replace(one.episode, says=np.broadcast_to(says, (20, 2)))
    with pytest.raises(DamagedData, match="it: expected texts of one line, found others"):
        checked([made], ["it"])
    world = domain(spaces.HALL)
    begun = session.open(world, world.restore([one.episode.state]))
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        begun.step(Actions(made.moves[:1], made.says[:1]), held=(0, 1))
