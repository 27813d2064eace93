"""An executor that comes in a separate package, `tests/data/relay`."""

import shutil
from pathlib import Path

import pytest

from sts.continuations import continuation_store as store
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.examples import scenarios
from tests.plugins.installing import ROOT, install, session

AGENT = """
import numpy as np
from sts.agents import Agent, PolicyOutput

class Mine(Agent):
    name = "mine"

    def act(self, observation, instructions, memory, draws):
        return PolicyOutput(np.ones((*observation.cell.shape, 9))), memory
"""
RUN = "run mine@1 --agent random --agent agent:Mine --continuations 10 --workers 2 --no-replay"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    install(ROOT / "tests" / "data" / "relay", tmp_path / "site", "sts_relay")
    return tmp_path / "site"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a suite and an agent in it."""
    workspace = Workspace.open(str(tmp_path / "here" / "sts-workspace"))
    suites.freeze_scenarios(workspace, "mine", scenarios(4))
    (tmp_path / "here" / "agent.py").write_text(AGENT)
    return tmp_path / "here"


def rows(folder: Path) -> dict[str, str]:
    workspace = Workspace.open(str(folder / "sts-workspace"))
    found = store.load(workspace, {s.hash for s in suites.load(workspace, "mine@1").scenarios})
    return {one.id: one.content_hash for one in found}


def test_packaged_executor_makes_the_same_rows_as_the_local_one(site, folder):
    shutil.copytree(folder / "sts-workspace", folder / "aside" / "sts-workspace")
    local = f"{RUN.replace('--workers 2', '--workers 1')} --workspace aside/sts-workspace"
    relay, here = session(site, folder, f"{RUN} --executor relay --json", local)
    assert [one["new"] for one in relay.json] == [40, 40]
    relayed = rows(folder)
    kept = folder / "sts-workspace" / "continuations"
    assert len(relayed) == 80 and len(list(kept.glob("*/*.parquet"))) == 2
    assert here.code == 0 and rows(folder / "aside") == relayed


@pytest.mark.slow
def test_worker_with_other_code_is_refused_and_the_run_resumes(site, folder):
    (folder / "other").mkdir()
    (folder / "other" / "agent.py").write_text(AGENT.replace("np.ones(", "np.full("))
    # the first chunk has three scenarios of 15 and is done here, the second one in `other`
    words = "run mine@1 --agent agent:Mine --continuations 15 --workers 2 --executor relay"
    (said,) = session(site, folder, words, RELAY_ELSEWHERE=str(folder / "other"))
    assert said.code == 2 and said.err.count("\n") == 1
    changed = "the code of agent 'agent:Mine' has changed since the run was planned (fingerprint "
    assert changed in said.err
    half = rows(folder)
    assert 0 < len(half) < 60
    (said,) = session(site, folder, words)
    whole = rows(folder)
    assert said.code == 0 and len(whole) == 60 and half.items() <= whole.items()


def test_unknown_or_idle_executor_is_refused(site, folder):
    nowhere, idle = session(site, folder, f"{RUN} --executor nowhere", f"{RUN} --executor idle")
    line = "sts: unknown executor 'nowhere'; known: idle, local, relay"
    assert (nowhere.code, nowhere.err.partition("; did")[0].strip()) == (2, line)
    line = "sts: the executor stopped with 2 tasks unfinished; start again\n"
    assert (idle.code, idle.err) == (1, line)
    assert rows(folder) == {}
