"""Runs: resumable after kill -9, the same whatever the workers or the interruption."""

import dataclasses
import errno
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.agents.facts import load_info
from sts.cli.main import main
from sts.continuations import index, parts, plan, store
from sts.continuations.plan import make_plan
from sts.continuations.run import run, run_chunk
from sts.continuations.takeover import continue_all, group_by_shape
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites.types import Scenario
from sts.trajectories.record import record
from tests.continuations.garden import KEEPERS, gardens
from tests.domains import spaces
from tests.examples import in_this_process, scenario, scenarios

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


KILLED_AT_EVERY_WRITE = """
import os, pathlib, signal, sys
from sts.continuations import plan, store
from sts.continuations.run import run
from sts.suites import scenarios as files
from sts.storage.workspace import Workspace
from tests.faults.writes import dying

scenarios, root = files.read(pathlib.Path(sys.argv[2])), pathlib.Path(sys.argv[1])
plan.MAX_CHUNK_SIZE = 6

def do(name):
    workspace = Workspace.open(str(root / name))
    options = {"count": 3, "seed": 0, "workers": 1, "progress": lambda done, total: None}
    return run(workspace, scenarios, sys.argv[3:], **options)

def rows(name):
    found = store.load(Workspace.open(str(root / name)), {s.hash for s in scenarios})
    return {c.id: c.content_hash for c in found}

do("whole")
whole, moment, halves = rows("whole"), 0, []
while True:
    moment += 1
    child = os.fork()
    if not child:
        dying(moment)
        do(str(moment))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    half = rows(str(moment))
    assert half.items() <= whole.items(), moment
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    halves.append(len(half))
    assert sum(do(str(moment)).made.values()) == len(whole) - len(half), moment
    assert rows(str(moment)) == whole, moment
print(*halves)
"""


@pytest.mark.parametrize("names", [NAMES[:1], pytest.param(NAMES, marks=pytest.mark.landing)])
def test_a_run_killed_at_any_write_is_resumed_to_the_same_rows(
    tmp_path: Path, several: list[Scenario], names: tuple[str, ...]
) -> None:
    files.write(tmp_path / "s.parquet", several[4:8])
    words = [
        sys.executable,
        "-c",
        KILLED_AT_EVERY_WRITE,
        str(tmp_path),
        str(tmp_path / "s.parquet"),
        *names,
    ]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # before a file is on the disk, or before it has its name: workspace.toml, parts, the index
    kept = [0, *(6 * part for part in range(2 * len(names) + 1))]
    assert done.stdout.split() == [str(n) for n in kept for _ in range(2)]


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.landing)])
def test_four_continuations_and_then_ten_are_the_rows_of_ten_at_once(
    tmp_path: Path, several: list[Scenario], workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = Workspace.open(str(tmp_path / "1")), Workspace.open(str(tmp_path / "2"))
    assert do(one, several, count=4) == 12 * 2 * 4
    assert do(one, several, count=10, workers=workers) == 12 * 2 * 6
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", 30)
    assert do(two, several[::-1], count=10) == 12 * 2 * 10
    assert hashes(one, several) == hashes(two, several)


LEANS = "tests.continuations.test_run:Leans"


class Leans(agents.Agent):
    """Does what depends on how many others there are."""

    name = "leans"
    version = "1"  # the tests that it is written among read files

    def act(self, observation, instructions, memory, draws):
        weights = np.ones((*observation.cell.shape, 9))
        weights[..., len(observation.cell) % 9] = 50.0
        return agents.Choice(weights), memory


def test_a_scenario_of_a_batch_sensitive_agent_is_made_anew_as_a_whole(
    tmp_path: Path, several: list[Scenario]
) -> None:
    one, two = Workspace.open(str(tmp_path / "1")), Workspace.open(str(tmp_path / "2"))
    options: dict[str, Any] = {"seed": 0, "workers": 1, "progress": lambda done, total: None}
    assert run(one, several[:3], [LEANS], count=4, **options).made == {LEANS: 12}
    before = hashes(one, several)
    more = run(one, several[:3], [LEANS], count=10, **options)
    assert (more.made, more.kept) == ({LEANS: 30}, {LEANS: 0})
    run(two, several[:5], [LEANS], count=10, **options)
    found = store.load(one, {s.hash for s in several})
    assert hashes(one, several) == hashes(two, several[:3])
    assert {c.together for c in found} == {10} and len(found) == 30
    assert before.items().isdisjoint(hashes(one, several).items())
    assert run(one, several[:3], [LEANS], count=4, **options).made == {LEANS: 0}


def test_a_plan_is_of_the_list_and_not_of_its_order_or_of_who_does_it(
    several: list[Scenario],
) -> None:
    known = {name: load_info(name) for name in NAMES}
    options: dict[str, Any] = {"count": 10, "seed": 0, "suite": "s"}
    one = make_plan(index.EMPTY, several, NAMES, known, **options)
    other = make_plan(index.EMPTY, several[::-1], NAMES[::-1], known, **options)
    assert one.chunks == other.chunks
    assert max(chunk.size for chunk in one.chunks) <= plan.MIN_CHUNK_SIZE
    planned_ones = [
        (chunk.agent, share.scenario.hash, i)
        for chunk in one.chunks
        for share in chunk.shares
        for i in share.indices
    ]
    assert len(set(planned_ones)) == len(planned_ones) == 12 * 2 * 10
    for change in ({"count": 9}, {"seed": 1}, {"suite": "t"}):
        assert (
            make_plan(index.EMPTY, several, NAMES, known, **(options | change)).chunks != one.chunks
        )


def test_a_chunk_that_is_done_twice_changes_nothing(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    known = {"random": load_info("random")}
    whole = make_plan(index.EMPTY, several, NAMES[:1], known, count=3, seed=0, suite="")
    for chunk in (*whole.chunks, *whole.chunks[::-1]):
        assert run_chunk(workspace, chunk) == chunk.size
    (first, *_) = whole.chunks
    before = hashes(workspace, several)
    for part in first.parts:  # as where one of its scenarios had failed
        run_chunk(workspace, part)
    assert hashes(workspace, several) == before
    assert len(before) == 36 and do(workspace, several) == 36


def test_a_chunk_that_another_version_planned_is_refused(
    tmp_path: Path, several: list[Scenario]
) -> None:
    known = {"random": load_info("random")}
    (chunk, *_) = make_plan(
        index.EMPTY, several, NAMES[:1], known, count=3, seed=0, suite=""
    ).chunks
    workspace = Workspace.open(str(tmp_path))
    with pytest.raises(
        ArgumentError, match=r"planned by sts 9\.9, and this worker has sts"
    ) as error:
        run_chunk(workspace, chunk._replace(version="9.9"))
    assert "\n" not in str(error.value)
    with pytest.raises(ArgumentError, match="has changed since the run was planned"):
        run_chunk(workspace, chunk._replace(fingerprint="0" * 16))
    assert hashes(workspace, several) == {}


def test_a_part_that_disagrees_with_what_is_made_is_one_line_and_stays(
    tmp_path: Path, several: list[Scenario]
) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    known = {name: load_info(name) for name in NAMES}
    whole = make_plan(index.EMPTY, several, NAMES, known, count=3, seed=0, suite="")
    name = parts.part_name(whole.chunks[0].plan, whole.chunks[0].number)
    (scenario, indices), *_ = whole.chunks[0].shares
    own = continue_all([scenario], agents.load(whole.chunks[0].agent), seed=9, indices=indices)
    mine = [dataclasses.replace(c, identity=dataclasses.replace(c.identity, seed=0)) for c in own]
    parts.write_part(workspace.store, name, mine)
    raw = workspace.store.get(name)
    with pytest.raises(DamagedData, match="already exists with other content"):
        run_chunk(workspace, whole.chunks[0])
    assert workspace.store.get(name) == raw


def test_a_full_disk_at_any_write_is_one_line_and_keeps_nothing_wrong(
    tmp_path: Path, several: list[Scenario], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", 6)
    whole = Workspace.open(str(tmp_path / "whole"))
    do(whole, several[4:8])
    rows, real = hashes(whole, several), os.fsync
    for moment in range(1, 7):
        left = moment

        def fsync(handle: int) -> None:
            nonlocal left
            left -= 1
            if left <= 0:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(handle)

        workspace = Workspace.open(str(tmp_path / str(moment)))
        monkeypatch.setattr(os, "fsync", fsync)
        if moment < 6:
            with pytest.raises(OSError, match="No space left"):
                do(workspace, several[4:8])
        else:  # the index alone is not kept
            do(workspace, several[4:8])
        monkeypatch.setattr(os, "fsync", real)
        assert not list(workspace.root.rglob(".*"))
        half = hashes(workspace, several)
        assert len(half) == 6 * max(0, moment - 2) and half.items() <= rows.items()
        do(workspace, several[4:8])
        assert hashes(workspace, several) == rows


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
    files = [tmp_path / f"mine_{version}.py" for version in range(3)]
    for file, text in zip(
        files, (source, source.replace("ones", "ones_like"), source), strict=True
    ):
        file.write_text(text)
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "import importlib.util as u\n"
        "from sts import agents\n"
        "for file in sys.argv[2:]:\n"
        "    s = u.spec_from_file_location('mine', file); m = u.module_from_spec(s)\n"
        "    sys.modules['mine'] = m; s.loader.exec_module(m)\n"
        "    print(agents.fingerprint(m.Mine()))\n"
    )
    words = [sys.executable, "-c", code, str(tmp_path), *map(str, files)]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    marks = done.stdout.split()
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
    for other in ("random", "sts.domains.random:Random"):
        with pytest.raises(ArgumentError, match=f"random and {other} are the same agent"):
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


def test_run_refuses_an_agent_of_another_world_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "w"
    words = ["run", "core@2", "--agent", "random", "--agent", "overcooked-stay"]
    assert main([*words, "--continuations", "1", "--workspace", str(folder)]) == 2
    assert capsys.readouterr().err == (
        "sts: agent 'overcooked-stay' plays only in overcooked, not in lambda-star; choose "
        "another agent\n"
    )
    assert not folder.exists()


def test_run_refuses_random_for_unbounded_actions_before_anything_runs(tmp_path: Path) -> None:
    settings: dict[str, Any] = {}
    (one,) = record(
        spaces.Wandering(), domain=spaces.LOOSE_CRANE, count=1, steps=16, seed=0, settings=settings
    )
    workspace = Workspace.open(str(tmp_path / "w"))
    with pytest.raises(ArgumentError, match="'random' cannot play in .*LooseCrane.* are unbounded"):
        run(workspace, [scenario(one)], ("random",), count=1, seed=0, workers=1, progress=print)
    assert not workspace.root.exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.landing)])
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
        "finished continuations are kept)"
    )
    found = store.load(workspace, {s.hash for s in several})
    assert [c.agent for c in found].count("keeper") == 3 * 4
    assert [c.agent for c in found].count("resting") == 5
    tend(other, sound, "Keeper")
    kept = {c.id: c.content_hash for c in found if c.agent == "keeper"}
    assert kept == hashes(other, sound)


@pytest.mark.parametrize(
    ("batch", "workers"),
    [
        (200, 1),
        pytest.param(4, 1, marks=pytest.mark.landing),
        pytest.param(4, 2, marks=pytest.mark.landing),
    ],
)
def test_an_agent_that_fails_in_three_scenarios_is_not_tried_further(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, batch: int, workers: int
) -> None:
    several, workspace = gardens((True,) * 12 + (False,)), Workspace.open(str(tmp_path))
    monkeypatch.setattr("sts.continuations.plan.MIN_CHUNK_SIZE", batch)
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", batch)
    with pytest.raises(StsError, match=r"garden-01: .*Keeper skipped \d+ more") as caught:
        tend(workspace, several, "Keeper", "Resting", workers=workers)
    made = [c.agent for c in store.load(workspace, {s.hash for s in several})]
    assert made.count("resting") == 13
    if workers == 1:  # of others, some are under way by then
        assert "2 more failed" in str(caught.value) and "skipped 10 more" in str(caught.value)
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
    with pytest.raises(ReplayMismatch, match="^scenario clean-take-01 does not replay: ") as caught:
        do(workspace, [bad, *several[1:]])
    assert caught.value.step == 2
    assert str(caught.value).count("scenario") == 1
    assert len(hashes(workspace, several[1:])) == 11 * 2 * 3


def test_worlds_of_two_sizes_in_one_suite_run_as_each_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_this_process(monkeypatch)
    several = gardens((False,) * 4, lengths=(6, 9))
    workspace, keeper = Workspace.open(str(tmp_path)), agents.load(f"{KEEPERS}:Keeper")
    tend(workspace, several, "Keeper")
    alone = [c for s in several for c in continue_all([s], keeper, seed=0, indices=range(4))]
    assert hashes(workspace, several) == {c.id: c.content_hash for c in alone}
    assert len(alone) == 4 * 4
    assert [len(group) for group in group_by_shape(several)] == [2, 2]
    with pytest.raises(
        StsError, match=r"failed to observe at step 0: .*'lit' of one shape .*, found \(6,\) and"
    ):
        continue_all(several, keeper, seed=0, indices=[0])


def test_a_run_that_lacks_nothing_needs_no_world(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_this_process(monkeypatch)
    several, workspace = gardens((False,)), Workspace.open(str(tmp_path))
    tend(workspace, several, "Keeper")
    monkeypatch.setattr("sts.continuations.takeover.shapes", lambda _: 1 / 0)
    tend(workspace, several, "Keeper")
