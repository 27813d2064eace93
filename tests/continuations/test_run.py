"""Runs: resumable after kill -9, the same whatever the workers or the interruption."""

import dataclasses
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sts import agents
from sts.continuations import store
from sts.continuations.run import run
from sts.continuations.takeover import by_shape, continue_all
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Scenario
from tests.continuations.garden import KEEPERS, gardens
from tests.examples import scenarios

NAMES = ("random", "local-search")


@pytest.fixture(scope="module")
def several() -> list[Scenario]:
    return scenarios(6) + scenarios(6, horizon=5)


def do(workspace: Workspace, several: list[Scenario], count: int = 3, workers: int = 1) -> int:
    done = run(
        workspace,
        several,
        NAMES,
        count=count,
        seed=0,
        workers=workers,
        progress=lambda done, total: None,
    )
    return sum(done.made.values())


def hashes(workspace: Workspace, several: list[Scenario]) -> dict[str, str]:
    return {c.id: c.content_hash for c in store.load(workspace, {s.hash for s in several})}


def test_workers_and_order_change_nothing(tmp_path: Path, several: list[Scenario]) -> None:
    one, two = Workspace.open(str(tmp_path / "1")), Workspace.open(str(tmp_path / "2"))
    do(one, several)
    do(two, several[::-1], workers=2)
    assert hashes(one, several) == hashes(two, several)
    assert len(hashes(one, several)) == 12 * 2 * 3


def test_a_second_run_makes_nothing_and_more_continuations_only_the_rest(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path))
    assert do(workspace, several) == 72
    before = hashes(workspace, several)
    assert do(workspace, several) == 0
    assert do(workspace, several, count=4) == 24
    after = hashes(workspace, several)
    assert {id: after[id] for id in before} == before


def test_a_deterministic_agent_gets_one_continuation(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path))
    tend(workspace, several, "Keeper", "Resting")
    found = store.load(workspace, {s.hash for s in several})
    assert [c.agent for c in found].count("keeper") == 12 * 4
    assert [c.deterministic for c in found if c.agent == "resting"] == [True] * 12


KILLS_ITSELF = """
import os, pathlib, signal, sys
from sts.continuations import run as r
from sts.suites.store import read_scenarios
from sts.storage.workspace import Workspace

calls = 0

def counted(real):
    def call(*given):
        global calls
        calls += 1
        if calls == int(sys.argv[3]):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*given)
    return call

scenarios = read_scenarios(pathlib.Path(sys.argv[2]))
os.fsync, os.replace = counted(os.fsync), counted(os.replace)
r.BATCH = 6
r.run(Workspace.open(sys.argv[1]), scenarios, ("random", "local-search"), count=6, seed=0,
      workers=1, progress=lambda done, total: None)
"""


def test_a_run_killed_at_any_moment_is_resumed_to_the_same_hashes(
    tmp_path: Path, several: list[Scenario]
) -> None:
    whole = Workspace.open(str(tmp_path / "whole"))
    do(whole, several, count=6)
    killed = Workspace.open(str(tmp_path / "killed")).ensure()
    suites.write_scenarios(tmp_path / "s.parquet", several)
    for moment in (1, 4, 9, 14):  # before a file is on the disk, or before it has its name
        words = [str(killed.root), str(tmp_path / "s.parquet"), str(moment)]
        done = subprocess.run([sys.executable, "-c", KILLS_ITSELF, *words])
        assert done.returncode == -signal.SIGKILL
    half = hashes(killed, several)
    assert len(half) == 6 * (0 + 1 + 4 + 6)
    assert do(killed, several, count=6) == 144 - len(half)
    assert hashes(killed, several) == hashes(whole, several)


def test_nothing_half_written_is_read(tmp_path: Path, several: list[Scenario]) -> None:
    workspace = Workspace.open(str(tmp_path))
    do(workspace, several[:2])
    path = next(workspace.path("continuations").glob("*/*.parquet"))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DamagedData, match="expected a Parquet file of continuations"):
        hashes(workspace, several)


def test_an_edited_agent_never_passes_for_the_old_one(tmp_path: Path) -> None:
    source = (
        "import numpy as np\n"
        "from sts.agents import Agent, Choice\n"
        "class Mine(Agent):\n"
        "    name = 'mine'\n"
        "    def act(self, observation, instructions, memory, draws):\n"
        "        return Choice(np.ones((*observation.cell.shape, 9))), memory\n"
    )
    marks = []
    for version, text in enumerate((source, source.replace("ones", "ones_like"), source)):
        file = tmp_path / f"mine_{version}.py"
        file.write_text(text)
        code = (
            "import sys; sys.path.insert(0, sys.argv[1]);"
            "import importlib.util as u;"
            "s = u.spec_from_file_location('mine', sys.argv[2]); m = u.module_from_spec(s);"
            "sys.modules['mine'] = m; s.loader.exec_module(m);"
            "from sts import agents; print(agents.fingerprint(m.Mine()))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), str(file)],
            capture_output=True,
            text=True,
            check=True,
        )
        marks.append(done.stdout.strip())
    assert marks[0] != marks[1]
    assert marks[0] == marks[2]
    assert agents.fingerprint(agents.load("random")) not in marks


def test_beside_a_partner_that_draws_a_deterministic_agent_gets_them_all(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path))
    drawn, alike = (
        dataclasses.replace(one, partner=f"agent:{KEEPERS}:{name}")
        for one, name in zip(several, ("Keeper", "Resting"), strict=False)
    )
    tend(workspace, [drawn, alike], "Resting")
    found = store.load(workspace, {drawn.hash, alike.hash})
    many = [c for c in found if c.scenario_hash == drawn.hash]
    assert len({c.content_hash for c in many}) > 1
    assert [c.deterministic for c in many] == [False] * 4
    assert [c.deterministic for c in found if c.scenario_hash == alike.hash] == [True]


def test_counts_and_workers_under_one_and_doubled_agents_are_refused(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path))
    for count, workers in ((0, 1), (1, 0)):
        with pytest.raises(ArgumentError, match="expected 1 or more"):
            do(workspace, several, count=count, workers=workers)
    for other in ("random", "sts.worlds.lambda_star.agents.random:Random"):
        with pytest.raises(ArgumentError, match=f"named twice: random and {other}"):
            run(
                workspace,
                several,
                ("random", other),
                count=1,
                seed=0,
                workers=1,
                progress=lambda done, total: None,
            )
    assert not workspace.root.joinpath("continuations").exists()


def tend(workspace: Workspace, several: list[Scenario], *names: str, workers: int = 1) -> None:
    run(
        workspace,
        several,
        [f"{KEEPERS}:{name}" for name in names],
        count=4,
        seed=0,
        workers=workers,
        progress=lambda done, total: None,
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_world_that_fails_in_a_scenario_costs_no_other_and_is_named(
    tmp_path: Path, workers: int
) -> None:
    several = gardens((False, True, False, True, False))
    sound = [s for s in several if s.id not in ("garden-02", "garden-04")]
    workspace, other = Workspace.open(str(tmp_path / "1")), Workspace.open(str(tmp_path / "2"))
    with pytest.raises(StsError) as caught:
        tend(workspace, several, "Keeper", "Resting", workers=workers)
    assert str(caught.value) == (
        "scenario garden-02: domain 'tests.continuations.garden:Garden' failed to step at step 6: "
        f"RuntimeError: the hose burst (agent {KEEPERS}:Keeper, 1 more failed; "
        "all that was made is kept)"
    )
    found = store.load(workspace, {s.hash for s in several})
    assert [c.agent for c in found].count("keeper") == 3 * 4
    assert [c.agent for c in found].count("resting") == 5
    tend(other, sound, "Keeper")
    kept = {c.id: c.content_hash for c in found if c.agent == "keeper"}
    assert kept == hashes(other, sound)


@pytest.mark.parametrize(("batch", "workers"), [(200, 1), (4, 1), (4, 2)])
def test_an_agent_that_fails_in_three_scenarios_is_not_tried_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, workers: int
) -> None:
    several, workspace = gardens((True,) * 12 + (False,)), Workspace.open(str(tmp_path))
    monkeypatch.setattr("sts.continuations.run.BATCH", batch)
    with pytest.raises(StsError, match=r"garden-01: .*Keeper was not tried in \d+ more") as caught:
        tend(workspace, several, "Keeper", "Resting", workers=workers)
    made = [c.agent for c in store.load(workspace, {s.hash for s in several})]
    assert made.count("resting") == 13
    if workers == 1:  # of others, some are under way by then
        assert "2 more failed" in str(caught.value) and "tried in 10 more" in str(caught.value)
        assert "keeper" not in made


def test_a_failure_that_names_its_scenario_does_so_once_and_stays_what_it_is(
    tmp_path: Path, several: list[Scenario]
) -> None:
    rewards = several[0].recording.rewards.copy()
    rewards[2, 0] = 5
    bad = dataclasses.replace(
        several[0], recording=dataclasses.replace(several[0].recording, rewards=rewards)
    )
    workspace = Workspace.open(str(tmp_path))
    with pytest.raises(ReplayMismatch, match="^scenario reach-good-01 does not replay: ") as caught:
        do(workspace, [bad, *several[1:]])
    assert caught.value.step == 2
    assert str(caught.value).count("scenario") == 1
    assert len(hashes(workspace, several[1:])) == 11 * 2 * 3


def test_worlds_of_two_sizes_in_one_suite_run_as_each_alone(tmp_path: Path) -> None:
    several = gardens((False,) * 4, lengths=(6, 9))
    workspace, keeper = Workspace.open(str(tmp_path)), agents.load(f"{KEEPERS}:Keeper")
    tend(workspace, several, "Keeper")
    alone = [c for s in several for c in continue_all([s], keeper, seed=0, indices=range(4))]
    assert hashes(workspace, several) == {c.id: c.content_hash for c in alone}
    assert len(alone) == 4 * 4
    assert [len(group) for group in by_shape(several)] == [2, 2]
    with pytest.raises(
        StsError, match=r"failed to observe at step 0: .*'lit' is of shapes \(6,\) and"
    ):
        continue_all(several, keeper, seed=0, indices=[0])


def test_a_run_that_lacks_nothing_needs_no_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    several, workspace = gardens((False,)), Workspace.open(str(tmp_path))
    tend(workspace, several, "Keeper")
    monkeypatch.setattr("sts.continuations.takeover.shapes", lambda _: 1 / 0)
    tend(workspace, several, "Keeper")
