"""Continuations of a user's agent count only if another process plays them again alike."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.continuations import replay
from sts.jobs import pool
from sts.jobs.executors import OwnedTask
from sts.jobs.pool import Pool
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts_scenarios.rules.labels import _format_notes
from tests.examples import scenarios

AGENTS = """
import linecache
import os
import pathlib
import time

import numpy as np

from sts.agents import Agent, PolicyOutput

LAYER = np.random.default_rng().random(9)

class Sound(Agent):
    name, version = "sound", "1"

    def initial_state(self, batch, players):
        return {"steps": np.zeros(batch, int)}

    def act(self, observation, instructions, memory, draws):
        weights = np.ones((*observation.cell.shape, 9))
        actions = self.choose(weights, int(memory["steps"][0]))
        return PolicyOutput(actions), {"steps": memory["steps"] + 1}

    def choose(self, weights, step):
        return weights

class Layer(Sound):
    name = "layer"

    def choose(self, weights, step):
        return weights * LAYER**4

class Order(Sound):
    name = "order"

    def choose(self, weights, step):
        weights[..., hash(f"step {step}") % 9] = 100
        return weights

class Reads(Sound):
    name = "reads"

    def choose(self, weights, step):
        weights[..., int(linecache.getline("weights.txt", 1))] = 100
        return weights

class Hangs(Sound):
    name = "hangs"

    def choose(self, weights, step):
        owner = pathlib.Path("owner")
        if not owner.exists():
            owner.write_text(str(os.getpid()))
        while owner.read_text() != str(os.getpid()):
            time.sleep(0.01)
        return weights

class Scaled(Sound):
    name = "scaled"

    def __init__(self, factor=1):
        self.factor = factor

class Model(Sound):
    name, reproducible, version = "model", False, "2026-11"

    def choose(self, weights, step):
        return weights * np.random.default_rng().random(9) ** 4
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a suite `mine@1` and the module `users`, which is the current one."""
    suites.freeze_scenarios(Workspace.open(str(tmp_path / "sts-workspace")), "mine", scenarios(4))
    (tmp_path / "users.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def new_interpreters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let new interpreters play agents again, as in runs outside of tests."""
    monkeypatch.setattr(replay, "Pool", Pool)


def run(*agents: str, suite: str = "mine@1", count: int = 2, options: tuple[str, ...] = ()) -> int:
    words = [word for agent in agents for word in ("--agent", agent)]
    return main(["run", suite, *words, "--continuations", str(count), *options])


def freeze_with_partner(folder: Path, name: str) -> None:
    workspace = Workspace.open(str(folder / "sts-workspace"))
    suites.freeze_scenarios(workspace, "paired", scenarios(4, partner=f"agent:{name}"))


def load_hashes(folder: Path) -> dict[str, list[str]]:
    """Return the content hashes of each agent's continuations."""
    out: dict[str, list[str]] = {}
    for continuation in load(folder):
        out.setdefault(continuation.agent, []).append(continuation.content_hash)
    return out


def load(folder: Path, label: str = "mine@1"):
    workspace = Workspace.open(str(folder / "sts-workspace"))
    suite = suites.load(workspace, label)
    return store.load(workspace, {scenario.hash for scenario in suite.scenarios})


@pytest.mark.landing
def test_agent_whose_play_depends_on_the_process_keeps_no_continuation(
    folder, monkeypatch, capfd, new_interpreters
):
    monkeypatch.setenv("PYTHONHASHSEED", "1")  # of the workers, and not of the replay
    assert run("users:Order", "users:Layer", "users:Sound", "random") == 1
    (error,) = capfd.readouterr().err.splitlines()
    assert error.startswith("sts: agent users:Order: 4 of 4 continuations differ when it plays ")
    assert "weights_digest" in error and "reproducible = False" in error
    assert error.endswith("(users:Layer also failed; other finished continuations are kept)")
    assert {name: len(own) for name, own in load_hashes(folder).items()} == {
        "sound": 8,
        "random": 8,
    }


@pytest.mark.parametrize(
    "interpreter", ["", pytest.param(f"{sys.executable}:", marks=pytest.mark.landing)]
)
def test_stored_continuations_are_not_reused_when_a_file_has_changed(folder, capfd, interpreter):
    name = f"{interpreter}users:Reads"
    (folder / "weights.txt").write_text("3")
    assert run(name, count=1) == 0 == run(name)
    before = load_hashes(folder)
    (folder / "weights.txt").write_text("5")
    capfd.readouterr()
    assert run(name, count=3) == 1
    out, error = capfd.readouterr()
    assert out == "" and f"agent {name}: " in error and " continuations differ when " in error
    assert load_hashes(folder) == before


@pytest.mark.landing
def test_continuations_with_a_partner_that_has_changed_are_not_reused(folder, capfd):
    freeze_with_partner(folder, "users:Reads")
    (folder / "weights.txt").write_text("3")
    assert run("random", suite="paired@1") == 0
    (folder / "weights.txt").write_text("5")
    capfd.readouterr()
    assert run("random", suite="paired@1", count=3) == 1
    (error,) = capfd.readouterr().err.splitlines()
    assert "agent random: " in error and " continuations differ when " in error
    assert "its partner has changed (users:Reads), run it in a new workspace" in error
    assert len(load(folder, "paired@1")) == 8


@pytest.mark.landing
def test_continuations_with_an_unreproducible_partner_are_kept_by_index(folder):
    freeze_with_partner(folder, "users:Model")
    assert run("random", "users:Sound", suite="paired@1") == 0
    assert run("random", "users:Sound", suite="paired@1", count=3) == 0
    continuations = load(folder, "paired@1")
    assert len(continuations) == 24 and {c.together for c in continuations} == {0}
    assert {c.provenance["reproducible"] for c in continuations} == {False}


@pytest.mark.landing
def test_replay_that_never_ends_is_stopped(folder, monkeypatch, capfd, new_interpreters):
    monkeypatch.setenv("STS_PATIENCE", "2")
    monkeypatch.setattr(pool, "SPAWN_S", 10.0)
    assert run("users:Hangs?label=slow", "random") == 1
    (error,) = capfd.readouterr().err.splitlines()
    assert "cannot be played again in a new process, so none counts" in error
    assert "its process made no progress for 2 seconds" in error
    assert [*load_hashes(folder)] == ["random"]


def test_unreproducible_agent_is_kept_by_index_and_never_replayed(folder):
    assert run("users:Model") == 0
    before = load_hashes(folder)["model"]
    assert run("users:Model", count=3) == 0
    continuations = load(folder)
    assert len(continuations) == 12 and {*before} < {c.content_hash for c in continuations}
    assert [c.together for c in continuations] == [0] * 12
    notes = [*_format_notes(continuations[0])]
    assert notes[:2] == [
        "identity as stated: version 2026-11",
        "not reproducible: played once, and never checked by playing it again",
    ]


def test_continuations_without_replay_say_so_in_provenance_and_notes(folder):
    assert run("users:Layer", "random", options=("--no-replay",)) == 0
    played, random = load(folder)[0], load(folder)[-1]
    assert played.provenance["replayed"] is False and played.provenance["agent"] == "users:Layer"
    assert any(note.startswith("not replayed: ") for note in _format_notes(played))
    assert "replayed" not in random.provenance and "agent" not in random.provenance


@pytest.mark.landing
def test_new_interpreter_hashes_texts_otherwise_when_the_seed_is_set(monkeypatch):
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    with Pool(1) as forked, Pool(1, method="spawn") as spawned:
        hashes = [pool.run_task(OwnedTask(hash, "mine"), "a text") for pool in (forked, spawned)]
    assert hashes[0] != hashes[1]


def test_versions_are_shown_and_run_by_the_names_of_reports(folder, capfd):
    assert run("users:Scaled?factor=2", "users:Scaled?factor=3", count=1) == 0
    marks = [c.fingerprint[:8] for c in load(folder)[::4]]
    scenario = f"mine@1/{load(folder)[0].scenario_id}"
    capfd.readouterr()
    assert main(["show", scenario]) == 2
    names = sorted(f"scaled#{mark}" for mark in marks)
    assert f"agent scaled has 2 versions: {', '.join(names)}; name one" in capfd.readouterr().err
    assert main(["show", scenario, "--agent", names[1]]) == 0
    shown = capfd.readouterr().out
    assert f"{names[1]} #0 on " in shown and names[0] not in shown
    assert main(["show", scenario, "--agent", "users:Scaled?factor=2"]) == 0
    assert run(names[0]) == 0
    assert len({c.fingerprint for c in load(folder)}) == 2 and len(load(folder)) == 12
