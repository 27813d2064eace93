"""Runs: resumable after kill -9, the same whatever the workers or the interruption."""

import dataclasses

import pytest

from sts import agents
from sts.agents.info import load_info
from sts.continuations import continuation_store as store
from sts.continuations import index, parts, plan
from sts.continuations.plan import make_plan
from sts.continuations.run import run, run_chunk
from sts.continuations.takeover import continue_all, group_by_shape
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from sts.storage.workspace import Workspace
from tests.continuations.garden import KEEPERS, gardens
from tests.domains import spaces
from tests.examples import in_this_process, scenario, scenarios
from tests.faults.writes import kill_at_each_write
from tests.recording import record

NAMES = ("random", "local-search")
landing = pytest.mark.landing


@pytest.fixture(scope="module")
def several():
    return scenarios(6) + scenarios(6, horizon=5)


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(str(tmp_path / "w"))


@pytest.fixture
def other_workspace(tmp_path):
    return Workspace.open(str(tmp_path / "other"))


def do(workspace, several, *names, count=3, workers=1):
    """Run agents; return how many continuations of each are new, or of all those of NAMES."""
    options = {"count": count, "seed": 0, "workers": workers}
    done = run(workspace, several, names or NAMES, progress=lambda done, total: None, **options)
    return done.new if names else sum(done.new.values())


def tend(workspace, several, *names, workers=1):
    do(workspace, several, *(f"{KEEPERS}:{name}" for name in names), count=4, workers=workers)


def load_continuations(workspace, several):
    return store.load(workspace, {s.hash for s in several})


def hashes(workspace, several):
    return {c.id: c.content_hash for c in load_continuations(workspace, several)}


@pytest.mark.parametrize("workers", [pytest.param(1, marks=landing), 2])
def test_four_and_then_ten_continuations_equal_ten_at_once(
    workspace, other_workspace, several, workers, monkeypatch
):
    assert do(workspace, several, count=4) == 12 * 2 * 4
    before = hashes(workspace, several)
    assert do(workspace, several, count=10, workers=workers) == 12 * 2 * 6
    assert do(workspace, several, count=10) == 0
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", 30)
    assert do(other_workspace, several[::-1], count=10) == 12 * 2 * 10
    assert before.items() <= hashes(workspace, several).items()
    assert hashes(workspace, several) == hashes(other_workspace, several)


@pytest.mark.parametrize("names", [NAMES[:1], pytest.param(NAMES, marks=pytest.mark.slow)])
def test_a_run_killed_at_any_write_is_resumed_to_the_same_rows(
    tmp_path, several, names, monkeypatch
):
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", 6)
    asked = several[4:8]

    def run_in(name):
        return sum(do(Workspace.open(str(tmp_path / name)), asked, *names).values())

    def rows(name):
        found = store.load(Workspace.open(str(tmp_path / name)), {s.hash for s in asked})
        return {c.id: c.content_hash for c in found}

    run_in("whole")
    whole, halves = rows("whole"), []
    for name, killed in kill_at_each_write(run_in):
        half = rows(name)
        assert half.items() <= whole.items(), name
        if killed:
            halves.append(len(half))
            assert run_in(name) == len(whole) - len(half), name
            assert rows(name) == whole, name
    # before a file is on the disk, or before it has its name: workspace.toml, the requests, parts,
    # the index
    kept = [0, *(0 for _ in names), *(6 * part for part in range(2 * len(names) + 1))]
    assert halves == [n for n in kept for _ in range(2)]


@pytest.mark.landing
def test_scenario_of_a_batch_sensitive_agent_is_rerun_as_a_whole(
    workspace, other_workspace, several
):
    leans = f"{KEEPERS}:Leans"
    assert do(workspace, several[:3], leans, count=4) == {leans: 12}
    before = hashes(workspace, several)
    assert do(workspace, several[:3], leans, count=10) == {leans: 30}
    do(other_workspace, several[:5], leans, count=10)
    assert hashes(workspace, several) == hashes(other_workspace, several[:3])
    assert [c.together for c in load_continuations(workspace, several)] == [10] * 30
    assert before.items().isdisjoint(hashes(workspace, several).items())
    assert do(workspace, several[:3], leans, count=4) == {leans: 0}


def planned(several, names=NAMES, **options):
    known = {name: load_info(name) for name in names}
    options = {"count": 3, "seed": 0, "suite": "s", **options}
    return make_plan(index.EMPTY, several, names, known, **options).chunks


def test_plan_does_not_depend_on_the_order_of_scenarios_or_agents(several):
    chunks = planned(several, count=10)
    assert chunks == planned(several[::-1], NAMES[::-1], count=10)
    assert max(chunk.size for chunk in chunks) <= plan.MIN_CHUNK_SIZE
    shares = [(chunk.agent, share) for chunk in chunks for share in chunk.shares]
    each = [(agent, share.scenario.hash, i) for agent, share in shares for i in share.indices]
    assert len(set(each)) == len(each) == 12 * 2 * 10
    for change in ({"count": 9}, {"seed": 1}, {"suite": "t"}):
        assert planned(several, **({"count": 10} | change)) != chunks


def test_chunk_may_be_run_twice(workspace, several):
    chunks = planned(several, NAMES[:1])
    workspace.create()
    for chunk in (*chunks, *chunks[::-1]):
        assert run_chunk(workspace, chunk) == chunk.size
    before = hashes(workspace, several)
    for part in chunks[0].split():  # as when one of its scenarios had failed
        run_chunk(workspace, part)
    assert hashes(workspace, several) == before
    assert len(before) == 36 and do(workspace, several) == 36


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "9.9"}, r"planned by sts 9\.9, and this worker has sts"),
        ({"fingerprint": "0" * 16}, "has changed since the run was planned"),
    ],
)
def test_chunk_planned_by_another_version_is_rejected(workspace, several, change, message):
    with pytest.raises(ArgumentError, match=message) as error:
        run_chunk(workspace, planned(several, NAMES[:1])[0]._replace(**change))
    assert "\n" not in str(error.value)
    assert hashes(workspace, several) == {}


def test_shard_with_other_content_is_not_overwritten(workspace, several):
    chunk = planned(several)[0]
    name = parts.part_name(chunk.plan, chunk.number)
    (scenario, indices), *_ = chunk.shares
    own = continue_all([scenario], agents.load(chunk.agent), seed=9, indices=indices)
    mine = [dataclasses.replace(c, identity=dataclasses.replace(c.identity, seed=0)) for c in own]
    parts.write_part(workspace.create().store, name, mine)
    raw = workspace.store.get(name)
    with pytest.raises(DamagedData, match="already exists with other content"):
        run_chunk(workspace, chunk)
    assert workspace.store.get(name) == raw


def test_deterministic_agent_gets_one_continuation(workspace, several):
    tend(workspace, several, "Keeper", "Resting")
    every = load_continuations(workspace, several)
    assert [c.agent for c in every].count("keeper") == 12 * 4
    assert [c.deterministic for c in every if c.agent == "resting"] == [True] * 12


def test_deterministic_agent_with_a_random_partner_gets_every_continuation(workspace, several):
    drawn, alike = (
        dataclasses.replace(one, partner=f"agent:{KEEPERS}:{name}")
        for one, name in zip(several[:2], ("Keeper", "Resting"), strict=True)
    )
    tend(workspace, [drawn, alike], "Resting")
    many = load_continuations(workspace, [drawn])
    assert len({c.content_hash for c in many}) > 1
    assert [c.deterministic for c in many] == [False] * 4
    assert [c.deterministic for c in load_continuations(workspace, [alike])] == [True]


@pytest.mark.parametrize(
    ("names", "changes", "message"),
    [
        ((), {"count": 0}, "expected 1 or more"),
        ((), {"workers": 0}, "expected 1 or more"),
        (("random", "random"), {}, "random and random are the same agent"),
        (
            ("random", "sts.domains.random:Random"),
            *({}, "random and sts.domains.random:Random are the same agent"),
        ),
    ],
)
def test_invalid_counts_and_repeated_agents_are_rejected(
    workspace, several, names, changes, message
):
    with pytest.raises(ArgumentError, match=message):
        do(workspace, several, *names, **changes)
    assert not workspace.root.joinpath("continuations").exists()


def test_run_rejects_random_for_unbounded_actions(workspace):
    agent, crane = spaces.Wandering(), spaces.LOOSE_CRANE
    (one,) = record(agent, domain=crane, count=1, steps=16, seed=0, settings={})
    with pytest.raises(ArgumentError, match="'random' cannot play in .*LooseCrane.* are unbounded"):
        do(workspace, [scenario(one)], "random")
    assert not workspace.root.exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=landing)])
def test_environment_failure_names_its_scenario_and_costs_no_other(
    workspace, other_workspace, workers
):
    several = gardens((False, True, False, True, False))
    sound = [s for s in several if s.id not in ("garden-02", "garden-04")]
    with pytest.raises(StsError) as caught:
        tend(workspace, several, "Keeper", "Resting", workers=workers)
    assert str(caught.value) == (
        "scenario garden-02: domain 'tests.continuations.garden:Garden' failed to step at step 6: "
        f"RuntimeError: the hose burst (agent {KEEPERS}:Keeper, 1 more failed; "
        "finished continuations are kept)"
    )
    every = load_continuations(workspace, several)
    assert [c.agent for c in every].count("resting") == 5
    tend(other_workspace, sound, "Keeper")
    kept = {c.id: c.content_hash for c in every if c.agent == "keeper"}
    assert kept == hashes(other_workspace, sound) and len(kept) == 3 * 4


@pytest.mark.parametrize(
    ("batch", "workers"),
    [(200, 1), *(pytest.param(4, workers, marks=landing) for workers in (1, 2))],
)
def test_agent_is_skipped_after_failing_in_three_scenarios(workspace, monkeypatch, batch, workers):
    several = gardens((True,) * 12 + (False,))
    monkeypatch.setattr("sts.continuations.plan.MIN_CHUNK_SIZE", batch)
    monkeypatch.setattr("sts.continuations.plan.MAX_CHUNK_SIZE", batch)
    with pytest.raises(StsError, match=r"garden-01: .*Keeper skipped \d+ more") as caught:
        tend(workspace, several, "Keeper", "Resting", workers=workers)
    made = [c.agent for c in load_continuations(workspace, several)]
    assert made.count("resting") == 13
    if workers == 1:  # with more workers, others are under way by then
        assert "2 more failed" in str(caught.value) and "skipped 10 more" in str(caught.value)
        assert "keeper" not in made


def test_error_names_its_scenario_once_and_keeps_its_type(workspace, several):
    recording = several[0].recording
    rewards = recording.rewards.copy()
    rewards[2, 0] = 5
    bad = dataclasses.replace(several[0], recording=dataclasses.replace(recording, rewards=rewards))
    with pytest.raises(ReplayMismatch, match="^scenario clean-take-01 does not replay: ") as caught:
        do(workspace, [bad, *several[1:]])
    assert caught.value.step == 2
    assert str(caught.value).count("scenario") == 1
    assert len(hashes(workspace, several[1:])) == 11 * 2 * 3


def test_environments_of_two_sizes_run_as_each_alone(workspace, monkeypatch):
    in_this_process(monkeypatch)
    several, keeper = gardens((False,) * 4, lengths=(6, 9)), agents.load(f"{KEEPERS}:Keeper")
    tend(workspace, several, "Keeper")
    alone = [c for s in several for c in continue_all([s], keeper, seed=0, indices=range(4))]
    assert hashes(workspace, several) == {c.id: c.content_hash for c in alone}
    assert len(alone) == 4 * 4
    assert [len(group) for group in group_by_shape(several)] == [2, 2]
    with pytest.raises(StsError, match=r"observe at step 0: .*'lit' of one shape .*, found \(6,\)"):
        continue_all(several, keeper, seed=0, indices=[0])
    monkeypatch.setattr("sts.continuations.takeover.observation_shapes", lambda _: 1 / 0)
    tend(workspace, several, "Keeper")  # a run that lacks nothing needs no world
