"""Whatever an agent of a user does to its process costs no other agent a row."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.continuations import store
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.examples import scenarios

AGENTS = """
import os
import pathlib
import threading
import time

import numpy as np

from sts.agents import Agent, Choice


class Sound(Agent):
    name, version = "sound", "1"

    def begin(self, batch, roles):
        return {"steps": np.zeros(batch, int)}

    def act(self, observation, instructions, memory, draws):
        if (memory["steps"] >= 3).all():
            self.misbehave()
        weights = np.ones((*observation.cell.shape, 9))
        weights[..., os.getpid() == 0] = 3.0
        return Choice(weights), {"steps": memory["steps"] + 1}

    def misbehave(self):
        pass


class Quits(Sound):
    name = "quits"

    def misbehave(self):
        os._exit(0)


class QuitsOnce(Sound):
    name = "quits-once"

    def misbehave(self):
        mark = pathlib.Path("quit-once")
        if not mark.exists():
            mark.touch()
            os._exit(0)


class Interrupts(Sound):
    name = "interrupts"

    def misbehave(self):
        raise KeyboardInterrupt


class Leaves(Sound):
    name = "leaves"

    def misbehave(self):
        raise SystemExit(0)


class Patches(Sound):
    name = "patches"

    def misbehave(self):
        np.ones = None
        os.getpid = lambda: 0


class NeverEnds(Sound):
    name = "never-ends"

    def misbehave(self):
        threading.Thread(target=time.sleep, args=(600,)).start()


class Cooks(Sound):
    name, domain = "cooks", "overcooked"


class Hangs(Sound):
    name = "hangs"

    def misbehave(self):
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                pass
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a suite `mine@1` and the module `users`, which is the current one."""
    workspace = Workspace.open(str(tmp_path / "sts-workspace"))
    suites.freeze(workspace, "mine", scenarios(4))
    (tmp_path / "users.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows(folder: Path) -> dict[str, list[str]]:
    """Return the content hashes of each agent's continuations."""
    workspace = Workspace.open(str(folder / "sts-workspace"))
    out: dict[str, list[str]] = {}
    for one in store.load(workspace, {s.hash for s in suites.load(workspace, "mine@1").scenarios}):
        out.setdefault(one.agent, []).append(one.content_hash)
    return out


def run(*agents: str, workers: int = 1) -> int:
    words = [word for agent in agents for word in ("--agent", agent)]
    return main(["run", "mine@1", *words, "--continuations", "2", "--workers", str(workers)])


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("Quits", "its process ended with exit code 0 and without a result"),
        ("Interrupts", "KeyboardInterrupt"),
        ("Leaves", "SystemExit: 0"),
        ("Hangs", "its process made no progress for 3 seconds and was killed"),
    ],
)
@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.landing)])
def test_agent_that_ends_or_hangs_its_process_costs_no_other_a_row(
    kind: str, line: str, workers: int, folder: Path, monkeypatch: Any, capfd: Any
) -> None:
    monkeypatch.setenv("STS_PATIENCE", "3")
    assert run(f"users:{kind}", "users:Sound", "random", workers=workers) == 1
    said = capfd.readouterr()
    (error,) = said.err.splitlines()
    assert said.out == "" and line in error and f"agent users:{kind}" in error
    assert {agent: len(own) for agent, own in rows(folder).items()} == {"sound": 8, "random": 8}


def test_module_patched_by_an_agent_changes_no_row_of_another(folder: Path, capfd: Any) -> None:
    assert run("users:Sound", "random") == 0
    before = rows(folder)
    assert run("users:Patches", "users:Sound", "random") == 1
    assert "agent users:Patches" in capfd.readouterr().err
    for path in (folder / "sts-workspace" / "continuations").rglob("*"):
        if path.is_file():
            path.unlink()
    assert run("users:Patches", "users:Sound", "random") == 1
    after = rows(folder)
    assert {"sound", "random"} == set(before) and before == {n: after[n] for n in before}


def test_thread_of_an_agent_that_never_ends_does_not_hold_up_a_run(folder: Path) -> None:
    words = ["run", "mine@1", "--agent", "users:NeverEnds", "--continuations", "2"]
    done = subprocess.run([str(Path(sys.executable).parent / "sts"), *words], timeout=300)
    assert done.returncode == 0 and len(rows(folder)["never-ends"]) == 8
    assert threading.active_count() < 50


def test_death_that_another_attempt_made_good_is_mentioned(folder: Path, capfd: Any) -> None:
    assert run("users:QuitsOnce", "random") == 0
    (line,) = capfd.readouterr().err.splitlines()
    assert line == (
        "sts: warning: agent users:QuitsOnce: its process ended with exit code 0 and without a "
        "result; another attempt succeeded"
    )
    assert len(rows(folder)["quits-once"]) == len(rows(folder)["random"]) == 8


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import os; os._exit(0)", "ended with exit code 0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_agent_that_cannot_be_loaded_costs_no_other_a_row(
    text: str, line: str, folder: Path, capfd: Any
) -> None:
    (folder / "gone.py").write_text(text)
    assert run("gone:Agent", "users:Sound", "random") == 1
    (error,) = capfd.readouterr().err.splitlines()
    assert error.startswith("sts: agent 'gone:Agent' cannot be loaded: ") and line in error
    assert {agent: len(own) for agent, own in rows(folder).items()} == {"sound": 8, "random": 8}


def test_module_of_a_user_is_never_imported_in_the_main_process(folder: Path) -> None:
    assert run("users:Sound", "random") == 0
    words = ["--agent", "users:Sound", "--domain", "lambda-star", "--episodes", "3"]
    assert main(["record", *words]) == 0
    assert "users" not in sys.modules


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("Quits", "agent users:Quits: its process ended with exit code 0 and without a result"),
        ("Interrupts", "agent users:Interrupts: KeyboardInterrupt"),
    ],
)
def test_score_names_an_agent_that_ends_its_process(
    kind: str, line: str, folder: Path, monkeypatch: Any, capfd: Any
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    words = ["--agent", f"users:{kind}", "--agent", "random", "--episodes", "2", "--steps", "5"]
    assert main(["lambda-star", "score", *words]) == 1
    said = capfd.readouterr()
    sys.modules.pop("users", None)
    assert said.out == "" and line in said.err and said.err.count("\n") == 1


def test_users_agent_of_another_world_is_refused_before_anything_runs(
    folder: Path, capfd: Any
) -> None:
    assert run("users:Cooks", "random") == 2
    assert capfd.readouterr().err == (
        "sts: agent 'cooks' plays only in overcooked, not in lambda-star; choose another agent\n"
    )
    assert rows(folder) == {} and "users" not in sys.modules


def test_recording_with_an_agent_that_ends_its_process_keeps_the_others(
    folder: Path, capfd: Any
) -> None:
    words = [word for kind in ("Quits", "Sound") for word in ("--agent", f"users:{kind}")]
    assert main(["record", *words, "--domain", "lambda-star", "--episodes", "3"]) == 1
    kept, error = capfd.readouterr().err.splitlines()
    assert kept.startswith("sts: 3 of 6 episodes are saved") and "users:Quits" in error
