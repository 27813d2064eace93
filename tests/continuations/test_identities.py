"""Whose a continuation is, and that an agent plays with random draws that its name decides."""

import dataclasses
import importlib
import itertools
import json
import sys
from typing import Any

import pytest

from sts import agents
from sts.agents.info import load_info
from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.continuations.continuation import Identity
from sts.continuations.run import run
from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.trajectories.record import Batch, record_all
from tests.examples import in_this_process, scenarios, small
from tests.recording import record

AGENT = """
import numpy as np
from sts.agents import Agent, PolicyOutput

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
        return PolicyOutput(np.ones((*observation.cell.shape, 9))), memory
"""
EDITED = AGENT.replace("0.5", "0.7")
NAME = 'name = "mine"'
HEATING = AGENT.replace("self._asked += 1", "self._asked += 1; self.temperature *= 0.99")
WORLD = {"height": 6, "width": 7, "n_players": 2, "horizon": 8}
RECORD: dict[str, Any] = {
    "domain": "lambda-star",
    "count": 2,
    "steps": 8,
    "seed": 1,
    "settings": WORLD,
}
NUMBERS = itertools.count()


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Return a function that writes an agent's module, new or again, and returns its name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    name = f"dice_agent_{next(NUMBERS)}"

    def write(text):
        (tmp_path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return f"{name}:Mine"

    yield write
    sys.modules.pop(name, None)


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(str(tmp_path / "w"))


def forget(path):
    """Let a module be imported again, as another process imports it."""
    sys.modules.pop(path.partition(":")[0], None)


def run_agents(workspace, path, count=20, workers=1):
    settings = {"count": count, "seed": 0, "workers": workers}
    return run(workspace, scenarios(6), [path], progress=lambda done, total: None, **settings)


def load_continuations(workspace):
    return store.load(workspace, {s.hash for s in scenarios(6)})


def test_random_stream_depends_on_scenario_part_name_seed_and_index():
    one = Identity("scenario", "mine", "0" * 16, 0, 0)
    changes: tuple[dict[str, Any], ...]
    changes = ({}, {"scenario": "other"}, {"seed": 1}, {"index": 1})
    streams = {
        int(dataclasses.replace(one, **change).random_stream(part, name))
        for part in ("agent", "partner")
        for name in ("mine", "yours")
        for change in changes
    }
    assert len(streams) == 16
    for change in ({"fingerprint": "1" * 16}, {"agent": "another"}):
        other = dataclasses.replace(one, **change)  # type: ignore[arg-type]
        assert other.random_stream("partner", "mine") == one.random_stream("partner", "mine")
        assert other.id != one.id


def test_random_stream_of_a_recording_depends_on_its_settings(write):
    agent = agents.load(write(AGENT))

    def actions(**more):
        every = record(agent, **(RECORD | {"settings": WORLD | more}))
        return [one.episode.actions.tobytes() for one in every]

    assert actions() == actions()
    assert not set(actions()) & set(actions(width=6))  # the same seed and indices, another world


@pytest.mark.parametrize("workers", [1, 2])
def test_worker_with_other_code_rejects_the_task(write, workspace, monkeypatch, workers):
    path = write(AGENT)
    known = {path: load_info(path)}
    write(EDITED)
    monkeypatch.setattr("sts.continuations.run.load_infos", lambda names: known)
    with pytest.raises(ArgumentError, match="has changed since the run was planned") as caught:
        run_agents(workspace, path, workers=workers)
    assert f"planned {known[path].fingerprint}" in str(caught.value)
    assert "\n" not in str(caught.value) and load_continuations(workspace) == []
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        list(record_all(known, **RECORD, workers=workers))
    in_this_process(monkeypatch)
    (batch,) = record_all(known, **RECORD, workers=1)  # here, the planned code is loaded
    assert isinstance(batch, Batch) and len(batch.trajectories) == 2


def test_stated_version_is_shown_in_the_fingerprint(write, workspace, capsys):
    stated = AGENT.replace(NAME, f'{NAME}\n    version = "7"').replace("{}", "object()")
    path = write(stated.replace("self.cache[", "{}["))
    words = ["run", small(workspace).label, "--agent", path, "--continuations", "1"]
    words += ["--workspace", str(workspace.root)]
    assert main(words) == 0
    assert "@7 (identity as stated)" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["fingerprint"].endswith("@7") and row["stated_version"] == "7"
    write(stated.replace('version = "7"', ""))
    forget(path)
    assert main(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "its cache (object) cannot be read" in error


def test_agent_with_a_cache_keeps_its_fingerprint_when_resumed(write, workspace):
    path = write(AGENT)
    first = run_agents(workspace, path, count=10)
    assert first.new == {path: 60}
    assert run_agents(workspace, path).new == {path: 60}  # what is there is kept
    assert run_agents(workspace, path).new == {path: 0}
    rows = load_continuations(workspace)
    assert len(rows) == 120 and {one.fingerprint for one in rows} == {*first.fingerprints.values()}


@pytest.mark.parametrize(
    ("attribute", "text"),
    [
        ("temperature", HEATING),
        ("cache", AGENT.replace(NAME, f'{NAME}\n    parameters = ("cache",)')),
        ("version", AGENT.replace("self._asked += 1", "self._asked += 1; self.version = '9'")),
    ],
)
def test_agent_that_changes_a_parameter_is_rejected(write, workspace, attribute, text):
    path = write(text)
    with pytest.raises(StsError, match=f"agent 'mine' changed its {attribute} while it played"):
        run_agents(workspace, path)
    assert load_continuations(workspace) == []
    with pytest.raises(StsError, match=f"changed its {attribute} while it played"):
        record(agents.load(path), **RECORD)


def test_undeclared_parameter_may_change(write, workspace):
    path = write(HEATING.replace(NAME, f"{NAME}\n    parameters = ()"))
    assert run_agents(workspace, path).new == {path: 120}


def test_an_edited_agent_never_passes_for_the_old_one(write, workspace):
    marks, recordings = [], []
    for text in (AGENT, EDITED):
        path = write(text)
        done = run_agents(workspace, path)
        assert done.new == {path: 120}
        marks += done.fingerprints.values()
        recordings.append(record(agents.load(path), **RECORD))
        forget(path)
    one, other = (
        {
            (c.scenario_hash, c.identity.index): c.episode.actions.tolist()
            for c in load_continuations(workspace)
            if c.fingerprint == mark
        }
        for mark in marks
    )
    assert (
        len(one) == 120
        and one == other
        and len({c.id for c in load_continuations(workspace)}) == 240
    )
    for first, second in zip(*recordings, strict=True):
        assert first.provenance["fingerprint"] != second.provenance["fingerprint"]
        assert first.id == second.id
