"""Whose a continuation is, and that it is played with the dice of a name."""

from __future__ import annotations

import dataclasses
import importlib
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents.facts import load_info
from sts.cli.main import main
from sts.continuations import store
from sts.continuations.run import RunResult, run
from sts.continuations.takeover import continue_all
from sts.continuations.types import Identity
from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.trajectories.record import Batch, record, record_all
from tests.examples import in_this_process, scenarios, small

AGENT = """
import numpy as np
from sts.agents import Agent, Choice

class Mine(Agent):
    name = "mine"
    trained_on = "nothing"

    def act(self, observation, instructions, memory, draws):
        return Choice(np.ones((*observation.cell.shape, 9))), memory
"""
EDITED = AGENT.replace("nothing", "something")
WORLD = {"height": 6, "width": 7, "participants": 2, "horizon": 8}
NUMBERS = itertools.count()
Write = Callable[[str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Return what writes an agent's module, new or again, and names the agent."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"dice_agent_{next(NUMBERS)}"

    def made(text: str) -> str:
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return f"{name}:Mine"

    yield made
    sys.modules.pop(name, None)


def forget(path: str) -> None:
    """Lets a module be imported anew, as another process does."""
    sys.modules.pop(path.partition(":")[0], None)


def test_the_dice_are_those_of_scenario_part_name_seed_and_index_alone() -> None:
    one = Identity("scenario", "mine", "0" * 16, 0, 0)
    drawn = {
        (part, name, other.scenario, other.seed, other.index): int(other.random_stream(part, name))
        for part in ("agent", "partner")
        for name in ("mine", "yours")
        for other in (
            one,
            dataclasses.replace(one, scenario="other"),
            dataclasses.replace(one, seed=1),
            dataclasses.replace(one, index=1),
        )
    }
    assert len(set(drawn.values())) == len(drawn) == 16
    for other in (
        dataclasses.replace(one, fingerprint="1" * 16),
        dataclasses.replace(one, agent="whoever"),
    ):
        assert other.random_stream("partner", "mine") == one.random_stream("partner", "mine")
        assert other.id != one.id


def test_two_versions_of_an_agent_play_with_the_same_dice(write: Write) -> None:
    several, found, recordings = scenarios(3), [], []
    for text in (AGENT, EDITED):
        path = write(text)
        agent = agents.load(path)
        found.append(continue_all(several, agent, seed=1, indices=(0, 1)))
        recordings.append(
            record(agent, domain="lambda-star", count=3, steps=8, seed=1, settings=WORLD)
        )
        forget(path)
    for first, second in zip(*found, strict=True):
        assert first.id != second.id and first.fingerprint != second.fingerprint
        np.testing.assert_array_equal(first.episode.moves, second.episode.moves)
    for one, other in zip(*recordings, strict=True):
        assert one.provenance["fingerprint"] != other.provenance["fingerprint"]
        assert one.id == other.id


def test_a_recording_has_the_dice_of_its_world(write: Write) -> None:
    agent = agents.load(write(AGENT))

    def moves(**more: int) -> list[bytes]:
        every = record(agent, domain="lambda-star", count=2, steps=8, seed=1, settings=WORLD | more)
        return [one.episode.moves.tobytes() for one in every]

    assert moves() == moves()
    assert not set(moves()) & set(moves(width=6))  # the same seed and indices, another world


@pytest.mark.parametrize("workers", [1, 2])
def test_a_worker_with_other_code_refuses_the_task(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    several, path = scenarios(2), write(AGENT)
    known = load_info(path)
    write(EDITED)
    monkeypatch.setattr("sts.continuations.run.gather", lambda names: {path: known})
    workspace = Workspace.open(str(tmp_path / "w"))
    with pytest.raises(ArgumentError, match="has changed since the run was planned") as caught:
        run(
            workspace,
            several,
            [path],
            count=2,
            seed=0,
            workers=workers,
            progress=lambda done, total: None,
        )
    assert f"planned {known.fingerprint}" in str(caught.value) and "\n" not in str(caught.value)
    assert store.load(workspace, {s.hash for s in several}) == []


def test_a_recording_refuses_other_code_too(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(AGENT)
    known = {path: load_info(path)}
    write(EDITED)
    settings: dict[str, Any] = {
        "domain": "lambda-star",
        "count": 2,
        "steps": 8,
        "seed": 0,
        "settings": WORLD,
    }
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        list(record_all(known, **settings, workers=2))
    in_this_process(monkeypatch)
    (batch,) = record_all(known, **settings, workers=1)  # which is the code that was planned
    assert isinstance(batch, Batch) and len(batch.trajectories) == 2


STATED = AGENT.replace('name = "mine"', 'name = "mine"\n    version = "7"').replace(
    "    def act(", "    def __init__(self):\n        self.model = object()\n\n    def act("
)


def test_an_identity_as_stated_is_shown_as_such(
    write: Write,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(STATED)
    words = [
        "run",
        small(Workspace.open(tmp_path / "w")).label,
        "--agent",
        path,
        "--continuations",
        "1",
    ]
    words += ["--workspace", str(tmp_path / "w")]
    assert main(words) == 0
    assert "@7 (identity as stated)" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["fingerprint"].endswith("@7") and row["stated_version"] == "7"
    write(STATED.replace('version = "7"', ""))
    forget(path)
    assert main(words) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "its model (object) cannot be read" in said


CACHING = """
import numpy as np
from sts.agents import Agent, Choice

class Mine(Agent):
    name = "mine"

    def __init__(self):
        self.temperature = 0.5
        self.cache = {}
        self._asked = 0

    def act(self, observation, instructions, memory, draws):
        self._asked += 1
        self.cache[self._asked] = observation.cell.shape
        self.last = observation.cell
        return Choice(np.ones((*observation.cell.shape, 9))), memory
"""


def played(workspace: Workspace, path: str, **options: Any) -> RunResult:
    settings: dict[str, Any] = {"count": 20, "seed": 0, "workers": 1} | options
    return run(workspace, scenarios(6), [path], progress=lambda done, total: None, **settings)


def test_an_agent_with_a_cache_has_one_fingerprint_and_is_resumed(
    write: Write, tmp_path: Path
) -> None:
    path, workspace = write(CACHING), Workspace.open(str(tmp_path / "w"))
    first = played(workspace, path, count=10)
    assert first.made == {path: 60}
    assert played(workspace, path).made == {path: 60}  # what is there is kept
    assert played(workspace, path).made == {path: 0}
    found = store.load(workspace, {s.hash for s in scenarios(6)})
    assert len(found) == 120 and {one.fingerprint for one in found} == {
        *first.fingerprints.values()
    }


HEATING = CACHING.replace("self._asked += 1", "self._asked += 1; self.temperature *= 0.99")
BOUND = 'name = "mine"\n    parameters = ("cache",)'
DRIFTS = {
    "temperature": HEATING,
    "cache": CACHING.replace('name = "mine"', BOUND),
    "version": CACHING.replace("self._asked += 1", "self._asked += 1; self.version = '9'"),
}


@pytest.mark.parametrize("what", DRIFTS)
def test_an_agent_that_changes_what_it_declares_is_refused(
    write: Write, tmp_path: Path, what: str
) -> None:
    path, workspace = write(DRIFTS[what]), Workspace.open(str(tmp_path / "w"))
    with pytest.raises(StsError, match=f"agent 'mine' changed its {what} while it played"):
        played(workspace, path)
    assert store.load(workspace, {s.hash for s in scenarios(6)}) == []
    with pytest.raises(StsError, match=f"changed its {what} while it played"):
        record(agents.load(path), domain="lambda-star", count=2, steps=8, seed=1, settings=WORLD)


def test_a_parameter_that_is_not_named_may_change(write: Write, tmp_path: Path) -> None:
    path = write(HEATING.replace('name = "mine"', 'name = "mine"\n    parameters = ()'))
    assert played(Workspace.open(str(tmp_path / "w")), path).made == {path: 120}


def test_two_versions_share_no_row_and_play_with_the_same_dice(
    write: Write, tmp_path: Path
) -> None:
    workspace = Workspace.open(str(tmp_path / "w"))
    marks: list[str] = []
    for text in (CACHING, CACHING.replace("0.5", "0.7")):
        path = write(text)
        done = played(workspace, path)
        assert done.made == {path: 120}
        marks += done.fingerprints.values()
        forget(path)
    found = store.load(workspace, {s.hash for s in scenarios(6)})
    by_mark = {
        m: {(c.scenario_hash, c.identity.index): c for c in found if c.fingerprint == m}
        for m in marks
    }
    one, other = (by_mark[mark] for mark in marks)
    assert len(one) == len(other) == 120 and len(found) == 240
    for place, mine in one.items():
        np.testing.assert_array_equal(mine.episode.moves, other[place].episode.moves)
