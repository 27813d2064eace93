"""Recording: by seed, replayable, and split by world."""

import re
from pathlib import Path
from typing import Any

import pytest

from sts import agents
from sts.agents.facts import load_info
from sts.cli.main import main
from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import ArgumentError, StsError
from sts.storage.workspace import Workspace
from sts.trajectories import record, store
from sts.trajectories.types import Trajectory, split_of
from tests.examples import recorded


def test_equal_seeds_record_equal_trajectories_and_others_differ() -> None:
    first, again, other = (recorded(count=5, seed=s) for s in (3, 3, 4))
    assert [t.id for t in first] == [t.id for t in again]
    assert not {t.id for t in first} & {t.id for t in other}


def test_a_recording_does_not_depend_on_how_many_are_made() -> None:
    assert [t.id for t in recorded("random", count=3)] == [
        t.id for t in recorded("random", count=9)[:3]
    ]


@pytest.mark.parametrize("agent", ["random", "local-search", "stigmergy", "oracle"])
def test_replaying_a_recording_gives_the_recording(agent: str) -> None:
    found = recorded(agent, count=6, team=3)
    assert verify(domain("lambda-star"), [t.episode for t in found]) == [None] * 6


def test_one_world_in_five_is_on_the_test_side_whoever_plays_it() -> None:
    first, other = recorded(count=400, steps=4), recorded("random", count=400, steps=4)
    assert [t.world for t in first] == [t.world for t in other]
    share = sum(t.split == "test" for t in first) / 400
    assert 0.12 < share < 0.28
    assert all(split_of(t.world) == t.split for t in first)


@pytest.mark.parametrize(
    "settings",
    [{"count": 0}, {"steps": 0}, {"height": 2}, {"width": 256}, {"team": 0}, {"team": 43}],
)
def test_what_cannot_be_recorded_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError, match="expected"):
        recorded(**settings)


@pytest.mark.parametrize("workers", [1, 2])
def test_batches_and_processes_record_what_one_batch_does(
    workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "EPISODES_PER_TASK", 4)
    names = ("rule", "random")
    asked: dict[str, Any] = {"domain": "lambda-star", "count": 10, "steps": 12, "seed": 5}
    asked["settings"] = {"height": 6, "width": 6, "participants": 2, "horizon": 12}
    recording = record.record_all(
        {name: load_info(name) for name in names}, workers=workers, **asked
    )
    batches = sorted((one for one in recording if isinstance(one, record.Batch)), key=_place)
    assert [(one.agent, one.first) for one in batches] == [
        (name, first) for name in ("random", "rule") for first in (0, 4, 8)
    ]
    found = [one for batch in batches for one in batch.trajectories]
    names = ("random", "rule")
    together = [one for name in names for one in record.record(agents.load(name), **asked)]
    assert [t.id for t in found] == [t.id for t in together]
    assert [t.provenance for t in found] == [t.provenance for t in together]


def _place(batch: record.Batch) -> tuple[str, int]:
    return batch.agent, batch.first


@pytest.mark.parametrize(
    ("workers", "deadly"),
    [("2", "false"), ("2", "true"), pytest.param("1", "true", marks=pytest.mark.landing)],
)
def test_an_episode_whose_world_fails_is_named_and_costs_no_other(
    tmp_path: Path, workers: str, deadly: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code = main(
        [
            *("record", "--domain", "tests.continuations.garden:Thorny", "--seed", "5"),
            *("--agent", "tests.domains.keepers:Keeper", "--episodes", "6", "--steps", "5"),
            *("--workers", workers, "--set", f"deadly={deadly}", "--workspace", str(tmp_path)),
        ]
    )
    assert code == 1
    kept, error = capfd.readouterr().err.splitlines()
    found = store.load(Workspace.open(str(tmp_path)))
    good = sorted(one.provenance["index"] for one in found)
    assert len(good) == 4 and kept.startswith("sts: 4 of 6 episodes are saved in ")
    first = min(set(range(6)) - set(good))
    why = "its process ended with exit code 9" if deadly == "true" else "RuntimeError: the thorns"
    assert error.startswith(f"sts: tests.domains.keepers:Keeper, episode {first}: ")
    assert why in error and error.endswith("(1 more failed)")


def test_a_world_that_ends_its_process_where_it_begins_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["record", "--domain", "tests.continuations.garden:Bottomless", "--episodes", "1"]
    words += ["--agent", "tests.domains.keepers:Keeper", "--workspace", str(tmp_path)]
    assert main(words) == 1
    said = capfd.readouterr()
    (line,) = said.err.splitlines()
    assert said.out == ""
    assert line.startswith("sts: ")
    assert "its process ended with exit code" in line


def test_an_error_keeps_the_other_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = record.record_task

    def breaks_later(task: record.Task) -> list[Trajectory]:
        if task.first >= 6:
            raise StsError("the world broke")
        return whole(task)

    monkeypatch.setattr(record, "EPISODES_PER_TASK", 3)
    monkeypatch.setattr(record, "record_task", breaks_later)
    words = ["record", "--domain", "lambda-star", "--agent", "random"]
    words += ["--episodes", "9", "--steps", "5"]
    assert main([*words, "--workspace", str(tmp_path)]) == 1
    kept, error = capsys.readouterr().err.splitlines()
    assert kept.startswith("sts: 6 of 9 episodes are saved in ")
    assert error == "sts: random, episode 6: the world broke (2 more failed)"
    assert [one.provenance["index"] for one in store.load(Workspace.open(tmp_path))] == [*range(6)]


@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.landing)])
def test_an_agent_that_does_not_play_these_worlds_costs_no_other_its_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], workers: str
) -> None:
    agents_ = ("--agent", "random", "--agent", "tests.domains.keepers:LanternKeeper")
    words = [
        "record",
        "--domain",
        "lambda-star",
        *agents_,
        "--episodes",
        "4",
        "--steps",
        "5",
        "--workers",
        workers,
    ]
    assert main([*words, "--workspace", str(tmp_path)]) == 2
    *kept, error = capsys.readouterr().err.splitlines()
    assert error.startswith("sts: agent 'lantern-keeper' plays only in ")
    assert workers == "2" or kept[0].startswith("sts: 4 of 8 episodes are saved in ")


def test_a_world_that_does_not_replay_is_not_recorded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world = "tests.domains.worlds:GlobalNumpyWind"
    for workers, agents_ in (("1", ["Keeper"]), ("2", ["Keeper", "Resting"])):
        words = ["record", "--domain", world, "--episodes", "3", "--steps", "20"]
        words += [w for name in agents_ for w in ("--agent", f"tests.domains.keepers:{name}")]
        assert main([*words, "--workers", workers, "--workspace", str(tmp_path)]) == 1
        error = capsys.readouterr().err
        assert error.startswith(f"sts: domain '{world}' does not replay its own recording: ")
        assert re.search(rf"step \d+: .*; run sts domain check {world}\n$", error)
        assert error.count("\n") == 1
    assert not list(tmp_path.rglob("*.parquet"))
