"""Whatever an agent of a user does to its process costs no other agent a row."""

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.continuations import continuation_store as store
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.examples import scenarios

AGENTS = """
import os
import pathlib
import threading
import time

import numpy as np

from sts.agents import Agent, PolicyOutput

class Sound(Agent):
    name, version = "sound", "1"

    def initial_state(self, batch, players):
        return {"steps": np.zeros(batch, int)}

    def act(self, observation, instructions, memory, draws):
        if (memory["steps"] >= 3).all():
            self.misbehave()
        weights = np.ones((*observation.cell.shape, 9))
        weights[..., os.getpid() == 0] = 3.0
        return PolicyOutput(weights), {"steps": memory["steps"] + 1}

    def misbehave(self):
        pass

def quit_once():
    mark = pathlib.Path("quit-once")
    if not mark.exists():
        mark.touch()
        os._exit(0)

def patch():
    np.ones = None
    os.getpid = lambda: 0

def hang():
    while True:
        try:
            time.sleep(0.01)
        except BaseException:
            pass

def error(one):
    raise one

for name, misbehave in {
    "Quits": lambda: os._exit(0),
    "QuitsOnce": quit_once,
    "Interrupts": lambda: error(KeyboardInterrupt()),
    "Leaves": lambda: error(SystemExit(0)),
    "Patches": patch,
    "NeverEnds": lambda: threading.Thread(target=time.sleep, args=(600,)).start(),
    "Hangs": hang,
}.items():
    attributes = {"name": name.lower(), "misbehave": staticmethod(misbehave), "__module__": "users"}
    globals()[name] = type(name, (Sound,), attributes)

class Cooks(Sound):
    name, domain = "cooks", "overcooked"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return a folder with a suite `mine@1` and the module `users`, which is the current one."""
    workspace = Workspace.open(str(tmp_path / "sts-workspace"))
    suites.freeze_scenarios(workspace, "mine", scenarios(4))
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


def counts(folder: Path) -> dict[str, int]:
    return {agent: len(own) for agent, own in rows(folder).items()}


def run(*agents: str, workers: int = 1) -> int:
    words = [word for agent in agents for word in ("--agent", agent)]
    return main(["run", "mine@1", *words, "--continuations", "2", "--workers", str(workers)])


ENDS = {
    "Quits": "its process ended with exit code 0 and without a result",
    "Interrupts": "KeyboardInterrupt",
    "Leaves": "SystemExit: 0",
    "Hangs": "its process made no progress for 3 seconds and was killed",
}


@pytest.mark.parametrize(
    ("kind", "workers"),
    [
        *(("Interrupts", 1), ("Leaves", 1), ("Hangs", 1), ("Quits", 2)),
        pytest.param("Quits", 1, marks=pytest.mark.slow),
        *(pytest.param(kind, 2, marks=pytest.mark.slow) for kind in ENDS if kind != "Quits"),
    ],
)
def test_agent_that_ends_or_hangs_its_process_costs_no_other_a_row(
    kind, workers, folder, monkeypatch, capfd
):
    monkeypatch.setenv("STS_PATIENCE", "3")
    assert run(f"users:{kind}", "users:Sound", "random", workers=workers) == 1
    said = capfd.readouterr()
    (error,) = said.err.splitlines()
    assert said.out == "" and ENDS[kind] in error and f"agent users:{kind}" in error
    assert counts(folder) == {"sound": 8, "random": 8}


def test_module_patched_by_an_agent_changes_no_row_of_another(folder, capfd):
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


def test_thread_of_an_agent_that_never_ends_does_not_hold_up_a_run(folder):
    words = ["run", "mine@1", "--agent", "users:NeverEnds", "--continuations", "2"]
    done = subprocess.run([str(Path(sys.executable).parent / "sts"), *words], timeout=300)
    assert done.returncode == 0 and len(rows(folder)["neverends"]) == 8
    assert threading.active_count() < 50


def test_retried_process_death_prints_a_warning(folder, capfd):
    assert run("users:QuitsOnce", "random") == 0
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith(
        "sts: warning: agent users:QuitsOnce: its process ended with exit code 0"
    )
    assert line.endswith("without a result; another attempt succeeded")
    assert counts(folder) == {"quitsonce": 8, "random": 8}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("import os; os._exit(0)", "ended with exit code 0"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_agent_that_cannot_be_loaded_costs_no_other_agent_a_row(text, line, folder, capfd):
    (folder / "gone.py").write_text(text)
    assert run("gone:Agent", "users:Sound", "random") == 1
    (error,) = capfd.readouterr().err.splitlines()
    assert error.startswith("sts: agent 'gone:Agent' cannot be loaded: ") and line in error
    assert counts(folder) == {"sound": 8, "random": 8}


def test_module_of_a_user_is_never_imported_in_the_main_process(folder):
    assert run("users:Sound", "random") == 0
    words = ["--agent", "users:Sound", "--domain", "lambda-star", "--episodes", "3"]
    assert main(["record", *words]) == 0
    assert "users" not in sys.modules


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("Quits", "its process ended with exit code 0 and without a result"),
        ("Interrupts", "KeyboardInterrupt"),
    ],
)
def test_score_names_an_agent_that_ends_its_process(kind, line, folder, monkeypatch, capfd):
    monkeypatch.syspath_prepend(str(folder))
    words = ["--agent", f"users:{kind}", "--agent", "random", "--episodes", "2", "--steps", "5"]
    assert main(["lambda-star", "score", *words]) == 1
    out, error = capfd.readouterr()
    sys.modules.pop("users", None)
    assert out == "" and f"agent users:{kind}: {line}" in error and error.count("\n") == 1


@pytest.mark.parametrize(("agent", "name"), [("users:Cooks", "cooks")] + [("overcooked-stay",) * 2])
def test_agent_of_another_domain_is_rejected_before_anything_runs(agent, name, folder, capfd):
    assert run(agent, "random") == 2
    assert capfd.readouterr().err == (
        f"sts: agent '{name}' plays only in overcooked, not in lambda-star; choose another agent\n"
    )
    assert rows(folder) == {} and "users" not in sys.modules


def test_recording_keeps_the_episodes_of_other_agents(folder, capfd):
    words = [word for kind in ("Quits", "Sound") for word in ("--agent", f"users:{kind}")]
    assert main(["record", *words, "--domain", "lambda-star", "--episodes", "3"]) == 1
    kept, error = capfd.readouterr().err.splitlines()
    assert kept.startswith("sts: 3 of 6 episodes are saved") and "users:Quits" in error
