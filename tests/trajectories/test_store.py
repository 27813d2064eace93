"""Trajectory files: what is written is read, what is damaged is not."""

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts.cli.main import main
from sts.domains import checked, domain
from sts.engine.replay import verify
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, DamagedData, NewerFormat, UnknownName
from sts.storage import arrow, parquet
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.record import generate_states
from sts.trajectories.types import Participant, trajectory
from tests.access.attempts import attempt
from tests.examples import DATA, recorded

GOLDEN = DATA / "trajectories-3.parquet"
EARLIER = DATA / "trajectories-2.parquet"


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    before = recorded(count=3, team=1) + recorded("random", count=2, team=4, steps=9)
    store.write(tmp_path / "t.parquet", before)
    after = store.read(tmp_path / "t.parquet")
    assert [t.id for t in after] == [t.id for t in before]
    for a, b in zip(after, before, strict=True):
        assert a.episode.content_hash == b.episode.content_hash
        assert (a.participants, a.instructions, a.world, a.source, a.provenance) == (
            (b.participants, b.instructions, b.world, b.source, b.provenance)
        )


def test_an_instruction_given_during_the_recording_is_kept(tmp_path: Path) -> None:
    one = recorded(count=1)[0]
    told = Instruction("Go to Good.", "clean-take", 4, "setter")
    who = (Participant("human", "p1"), Participant("script", "setter"))
    silent = trajectory(one.episode, who, source="test", provenance={})
    with_told = dataclasses.replace(silent, instructions=(told,))
    store.write(tmp_path / "t.parquet", [with_told])
    assert store.read(tmp_path / "t.parquet")[0].instructions == (told,)
    assert store.read(tmp_path / "t.parquet")[0].participants == who
    assert with_told.id != one.id


def test_the_golden_file_of_version_3_is_read() -> None:
    found = store.read(GOLDEN)
    assert [t.id for t in found[:2]] == ["d3c20cea570a191b", "cbfeb783050057fe"]
    pendulum = found[2].episode
    assert (found[2].id, pendulum.domain) == ("58faa3a97360eafd", "gymnasium:Pendulum-v1")
    assert (pendulum.moves.dtype.name, pendulum.moves.shape) == ("float32", (6, 1, 1))
    assert pendulum.rewards.dtype == np.float64
    talk = found[3].episode
    assert (found[3].id, talk.says.shape) == ("5fd88f693f0345aa", (6, 2))
    assert talk.says[0].tolist() == ["Keep the lanterns alight."] * 2


def test_the_golden_file_of_version_2_is_refused_and_its_version_named() -> None:
    with pytest.raises(DamagedData, match="trajectories format 2; this version reads 3: move"):
        store.read(EARLIER)


def test_a_file_of_a_later_version_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    rows: dict[str, list[Any]] = {name: [] for name in store.SCHEMA}
    parquet.write(path, "trajectories", 4, store.SCHEMA, rows)
    with pytest.raises(NewerFormat, match="trajectories format 4; this version reads up to 3"):
        store.read(path)


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_a_truncated_file_is_refused(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "t.parquet"
    store.write(path, recorded(count=1))
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DamagedData, match="expected a Parquet file of trajectories"):
        store.read(path)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    parquet.write(path, "scenarios", 1, {"id": store.SCHEMA["id"]}, {"id": ["a"]})
    with pytest.raises(DamagedData, match="found 'scenarios/1'"):
        store.read(path)


def test_an_altered_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    store.write(path, recorded(count=1))
    table = parquet.read(path, "trajectories", store.VERSION, store.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in store.SCHEMA}
    rows["rewards"][0][5] = (rows["rewards"][0][5] + 2) % 3
    parquet.write(path, "trajectories", store.VERSION, store.SCHEMA, rows)
    with pytest.raises(DamagedData, match="has been modified"):
        store.read(path)


@pytest.mark.parametrize(
    ("column", "value"), [("split", "other"), ("height", 9), ("width", 0), ("height", 0)]
)
def test_a_row_with_another_side_or_size_is_refused(
    tmp_path: Path, column: str, value: Any
) -> None:
    path = tmp_path / "t.parquet"
    store.write(path, recorded(count=1))
    table = parquet.read(path, "trajectories", store.VERSION, store.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in store.SCHEMA}
    parquet.write(path, "trajectories", store.VERSION, store.SCHEMA, rows | {column: [value]})
    with pytest.raises(DamagedData, match="its split or size does not match"):
        store.read(path)


def test_those_of_one_side_stand_in_row_groups_of_their_own_and_are_read_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 4)
    path, every = tmp_path / "t.parquet", recorded(count=30, team=1)
    store.write(path, every)
    spans = parquet.spans(path, "split")
    assert {(one.least, one.most) for one in spans} == {("train",) * 2, ("test",) * 2}
    assert sum(one.rows for one in spans) == 30
    assert max(one.rows for one in spans) == 4
    assert [t.id for t in store.read(path)] == [t.id for t in every]


def test_a_file_is_held_to_its_hashes_once_and_again_where_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, every = Workspace.open(tmp_path / "w"), recorded(count=3, team=1)
    path = store.save(workspace, every)
    held: list[int] = []
    real = checked

    def watched(episodes: Any, *rest: Any) -> Any:
        held.append(len(episodes))
        return real(episodes, *rest)

    monkeypatch.setattr(store, "checked", watched)
    assert [t.id for t in store.load(workspace)] == [t.id for t in every]
    assert held == []
    store.write(path, every[:2])  # what is noted of it is not true of this
    assert len(store.load(workspace)) == len(store.load(workspace)) == 2
    assert held == [2]
    table = parquet.read(path, store.FORMAT, store.VERSION, store.SCHEMA)
    columns = table.to_pydict() | {"source": ["another", every[1].source]}
    parquet.write(path, store.FORMAT, store.VERSION, store.SCHEMA, columns)
    for _ in range(2):
        with pytest.raises(DamagedData, match="has been modified"):
            store.load(workspace)


def test_a_trajectory_is_found_by_the_first_digits_of_its_id(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path))
    every = recorded(count=3)
    store.save(workspace, every)
    assert store.find(workspace, every[1].id[:10]).id == every[1].id
    with pytest.raises(UnknownName):
        store.find(workspace, "nothing")


def test_only_what_is_stored_beside_it_is_read_to_find_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 2)
    every = recorded(count=5, team=1) + store.read(GOLDEN)
    workspace = Workspace.open(tmp_path / "w")
    store.save(workspace, every[:3])
    path = store.save(workspace, every[3:])
    groups: list[object] = []
    real = parquet.unpacked

    def watched(*given: Any, **named: Any) -> Any:
        groups.append(named["groups"])
        return real(*given, **named)

    monkeypatch.setattr(parquet, "unpacked", watched)
    for one in every:
        found = store.find(workspace, one.id)
        assert (found.id, found.episode.content_hash) == (one.id, one.episode.content_hash)
    assert groups.count(None) == 2  # of each file the ids, once
    assert all(len(g) == 1 for g in groups if g is not None)  # type: ignore[arg-type]
    store.write(path, every[3:4])
    with pytest.raises(UnknownName):
        store.find(workspace, every[-1].id)
    assert store.find(workspace, every[3].id).id == every[3].id


def test_an_altered_trajectory_is_not_found_to_be_sound(tmp_path: Path) -> None:
    every = recorded(count=2, team=1)
    workspace = Workspace.open(tmp_path / "w")
    path = store.save(workspace, every)
    table = parquet.read(path, store.FORMAT, store.VERSION, store.SCHEMA)
    columns = table.to_pydict() | {"source": ["another", every[1].source]}
    parquet.write(path, store.FORMAT, store.VERSION, store.SCHEMA, columns)
    assert store.find(workspace, every[1].id).id == every[1].id
    with pytest.raises(DamagedData, match="has been modified"):
        store.find(workspace, every[0].id)


def test_a_replay_that_leaves_its_recording_is_named_by_its_first_step() -> None:
    one = recorded(count=1)[0].episode
    rewards = one.rewards.copy()
    rewards[7:, 1] += 1
    changed = Episode(one.domain, one.state, one.moves, one.says, rewards, one.scene)
    (found,) = verify(domain(one.domain), [changed])
    assert found is not None
    assert found.step == 7
    assert "participant 1 receives" in found.what
    scene = one.scene.copy()
    scene[4, 2] += 1
    moved = Episode(one.domain, one.state, one.moves, one.says, one.rewards, scene)
    (found,) = verify(domain(one.domain), [moved])
    assert found is not None
    assert (found.step, "object 2" in found.what) == (3, True)


def test_an_episode_cannot_be_written_to() -> None:
    one = recorded(count=1)[0].episode
    with pytest.raises(ValueError, match="read-only"):
        one.moves[0, 0] = 1
    with pytest.raises(DamagedData):
        Episode(one.domain, one.state, one.moves, one.says, one.rewards, one.scene[1:])
    wide = one.moves.astype(np.int64)
    other = Episode(one.domain, one.state, wide, one.says, one.rewards, one.scene)
    with pytest.raises(DamagedData, match="it: expected moves under 9, found others"):
        checked([other], ["it"])


def test_a_world_moved_to_the_other_side_is_refused(tmp_path: Path) -> None:
    one = recorded(count=1)[0]
    for world in ("0" * 64, "not hexadecimal"):
        store.write(tmp_path / "t.parquet", [dataclasses.replace(one, world="0" * 64)])
        table = parquet.read(tmp_path / "t.parquet", "trajectories", store.VERSION, store.SCHEMA)
        rows = {name: table.column(name).to_pylist() for name in store.SCHEMA}
        rows["world"] = [world]
        parquet.write(tmp_path / "t.parquet", "trajectories", store.VERSION, store.SCHEMA, rows)
        with pytest.raises(DamagedData, match="was altered: expected world"):
            store.read(tmp_path / "t.parquet")


def test_other_participants_than_the_episode_has_are_refused(tmp_path: Path) -> None:
    one = recorded(count=1)[0]
    store.write(tmp_path / "t.parquet", [dataclasses.replace(one, participants=())])
    with pytest.raises(DamagedData, match="does not list as many participants as it has"):
        store.read(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("people", '{"a": 1}'),
        ("people", '[["agent"], ["agent"]]'),
        ("people", "[[1, 2]]"),
        ("instructions", "[1]"),
        ("instructions", '[{"text": 1, "category": "", "given_at": 0, "source": "setter"}]'),
        ("instructions", "[" * 100_000),
        ("provenance", "NaN"),
        ("provenance", "[]"),
    ],
)
def test_crafted_json_in_a_row_is_one_error_of_ours(tmp_path: Path, column: str, text: str) -> None:
    path = tmp_path / "t.parquet"
    store.write(path, recorded(count=1))
    table = parquet.read(path, "trajectories", store.VERSION, store.SCHEMA)
    rows = {name: table.column(name).to_pylist() for name in store.SCHEMA}
    parquet.write(path, "trajectories", store.VERSION, store.SCHEMA, rows | {column: [text]})
    with pytest.raises(DamagedData, match="t.parquet: trajectory"):
        store.read(path)


def test_a_recording_that_no_file_could_hold_is_refused_before_it_is_made() -> None:
    with pytest.raises(ArgumentError, match="too many for one recording; record [0-9]+ at a time"):
        recorded(count=10**12)


def test_scenes_of_frames_count_by_their_numbers_and_not_by_who_is_in_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(arrow, "MOST", 4 * 11 * 7)
    name = "tests.domains.worlds:Lanterns"
    assert len(generate_states(name, count=7, steps=10, seed=0, settings={})) == 7
    with pytest.raises(ArgumentError, match="record 7 at a time"):
        generate_states(name, count=8, steps=10, seed=0, settings={})


def test_worlds_seen_from_near_and_far_are_verified_together() -> None:
    found = recorded(count=2, radius=1) + recorded(count=2, radius=2)
    assert verify(domain("lambda-star"), [t.episode for t in found]) == [None] * 4


@attempt(
    "Paths",
    "pipes, devices, or links to them, in the place of recordings",
    "one line; they are not waited for",
)
def test_pipes_and_devices_are_not_waited_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    workspace.path("trajectories").mkdir()
    os.mkfifo(workspace.path("trajectories", "x.parquet"))
    take = ["trajectories", "import", "--format"]
    for words in (
        ["trajectories", "verify", str(tmp_path / "pipe")],
        ["trajectories", "ls"],
        [*take, "lambdastar-2016", str(tmp_path / "pipe")],
        [*take, "minari", "/dev/zero"],
    ):
        assert main([*words, "--workspace", str(workspace.root)]) == 1
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "expected a file" in error


def test_what_is_listed_says_what_can_be_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace.open(str(tmp_path))
    kept = recorded(count=3, team=1)
    store.save(workspace, kept)
    words = ["trajectories", "ls", "--workspace", str(tmp_path)]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sorted(id for row in rows for id in row["ids"]) == sorted(t.id for t in kept)
    assert main(words) == 0
    assert all(row["ids"][0] in capsys.readouterr().out for row in rows[:1])
