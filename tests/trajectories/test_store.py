"""Trajectory files: what is written is read, what is damaged is not."""

import dataclasses
import json
import os
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sts.cli.main import main
from sts.domains import validate_episodes
from sts.engine.replay import verify
from sts.episodes import Instruction, columns
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError, UnknownName
from sts.storage import arrow, parquet
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.record import generate_states
from sts.trajectories.trajectory import Player, make_trajectory
from tests.access.attempts import attempt
from tests.examples import DATA, recorded, spy

GOLDEN = DATA / "trajectories-4.parquet"
FORMAT = (store.FORMAT, store.VERSION, store.SCHEMA)
EPISODES = ("episodes", 1, columns.EPISODE_SCHEMA)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "t.parquet"


@pytest.fixture
def workspace(tmp_path):
    return Workspace.open(tmp_path / "w").create()


def edit(path, **changes):
    """Write a file of trajectories again with other columns; a function changes a column."""
    rows = parquet.read_table(path, *FORMAT).to_pydict()
    for name, change in changes.items():
        rows[name] = change(rows[name]) if callable(change) else change
    parquet.write_table(path, *FORMAT, rows)


def test_trajectories_are_read_back_as_written(file):
    before = recorded(count=3, team=1) + recorded("random", count=2, team=4, steps=9)
    told = Instruction("Go to Good.", "clean-take", 4, "setter")
    who = (Player("human", "p1"), Player("script", "setter"))
    silent = make_trajectory(recorded(count=1)[0].episode, who, source="test", provenance={})
    with_told = dataclasses.replace(silent, instructions=(told,))
    assert with_told.id != silent.id
    moves = (silent.episode.actions + 1) % 9
    marked = Instruction("Stay.", "c", 7, "setter", player=1, mark="success", marked_at=9)
    aimed = dataclasses.replace(silent, instructions=(told, marked), intended=moves)
    assert aimed.id != dataclasses.replace(aimed, intended=None).id != with_told.id
    before += [with_told, aimed]
    store.export(file, before)
    names = ("id", "players", "instructions", "world", "source", "provenance")
    for a, b in zip(store.read(file), before, strict=True):
        assert a.episode.content_hash == b.episode.content_hash
        assert [getattr(a, name) for name in names] == [getattr(b, name) for name in names]
        intended = [None if t.intended is None else t.intended.tolist() for t in (a, b)]
        assert intended[0] == intended[1]


def test_optional_fields_of_an_instruction_are_stored_only_when_set():
    plain = Instruction("Go.", "c", 4, "setter")
    assert plain.to_json() == {"text": "Go.", "category": "c", "given_at": 4, "source": "setter"}
    marked = dataclasses.replace(plain, player=0, mark="cannot_tell", marked_at=0)
    added = {"player": 0, "mark": "cannot_tell", "marked_at": 0}
    assert marked.to_json() == plain.to_json() | added
    assert Instruction(**marked.to_json()) == marked
    for wrong in ({"player": True}, {"player": -1}, {"mark": "success"}, {"marked_at": 3}):
        with pytest.raises(DamagedData):
            dataclasses.replace(plain, **wrong)


def test_intended_moves_and_players_of_instructions_must_fit_the_episode(file):
    (one,) = recorded(count=1)
    moves = one.episode.actions
    damaged: list[Any] = [moves[:-1], moves.astype(np.int16), moves[:0]]
    for wrong in damaged:
        with pytest.raises(DamagedData, match=r"expected intended moves .* int8\[24, 2\], found"):
            dataclasses.replace(one, intended=wrong)
    store.export(file, [dataclasses.replace(one, intended=moves + 9)])
    with pytest.raises(DamagedData, match="expected actions under 9"):
        store.read(file)
    to_third = Instruction("Go.", "c", 4, "setter", player=2)
    store.export(file, [dataclasses.replace(one, instructions=(to_third,))])
    with pytest.raises(DamagedData, match="has an instruction to a player that it does not have"):
        store.read(file)


def test_golden_file_of_version_4_is_read():
    first, second, pendulum, talk = store.read(GOLDEN)
    assert [first.id, second.id] == ["d3c20cea570a191b", "cbfeb783050057fe"]
    assert (pendulum.id, pendulum.episode.domain) == ("58faa3a97360eafd", "gymnasium:Pendulum-v1")
    actions = pendulum.episode.actions
    assert (actions.dtype.name, actions.shape) == ("float32", (6, 1, 1))
    assert pendulum.episode.rewards.dtype == np.float64
    assert (talk.id, talk.episode.utterances.shape) == ("5fd88f693f0345aa", (6, 2))
    assert talk.episode.utterances[0].tolist() == ["Keep the lanterns alight."] * 2
    with pytest.raises(DamagedData, match="trajectories format 3; this version reads 4: move"):
        store.read(DATA / "trajectories-3.parquet")


@pytest.mark.parametrize(
    ("kind", "version", "error", "message"),
    [
        ("trajectories", 5, NewerFormat, "trajectories format 5; this version reads up to 4"),
        ("scenarios", 1, DamagedData, "found 'scenarios/1'"),
    ],
)
def test_file_of_another_version_or_kind_is_rejected(file, kind, version, error, message):
    parquet.write_table(file, kind, version, {"id": store.SCHEMA["id"]}, {"id": ["a"]})
    with pytest.raises(error, match=message):
        store.read(file)


@pytest.mark.parametrize("keep", [0, 3, 100, -1])
def test_truncated_file_is_rejected(file, keep):
    store.export(file, recorded(count=1))
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(DamagedData, match="expected a Parquet file of trajectories"):
        store.read(file)


CRAFTED = "t.parquet: trajectory"


@pytest.mark.parametrize(
    ("column", "change", "message"),
    [
        ("rewards", lambda rows: [[(n + 2) % 3 for n in rows[0]]], "has been modified"),
        ("split", ["other"], "its split or size does not match"),
        ("height", [9], "its split or size does not match"),
        ("height", [0], "its split or size does not match"),
        ("width", [0], "its split or size does not match"),
        ("world", ["0" * 64], "was altered: expected world"),
        ("world", ["not hexadecimal"], "was altered: expected world"),
        ("people", ['{"a": 1}'], CRAFTED),
        ("people", ['[["agent"], ["agent"]]'], CRAFTED),
        ("people", ["[[1, 2]]"], CRAFTED),
        ("instructions", ["[1]"], CRAFTED),
        (
            "instructions",
            ['[{"text": 1, "category": "", "given_at": 0, "source": "setter"}]'],
            CRAFTED,
        ),
        ("instructions", ["[" * 100_000], CRAFTED),
        ("provenance", ["NaN"], CRAFTED),
        ("provenance", ["[]"], CRAFTED),
    ],
)
def test_altered_row_is_rejected(file, column, change, message):
    store.export(file, recorded(count=1))
    edit(file, **{column: change})
    with pytest.raises(DamagedData, match=message):
        store.read(file)


def test_number_of_participants_must_fit_the_episode(file):
    store.export(file, [dataclasses.replace(recorded(count=1)[0], players=())])
    with pytest.raises(DamagedData, match="does not list as many players as it has"):
        store.read(file)


def test_trajectory_with_a_forged_world_is_rejected(file):
    """The id and the split follow the claimed world, so only the world itself shows it."""
    store.export(file, [dataclasses.replace(recorded(count=1)[0], world="0" * 64)])
    with pytest.raises(DamagedData, match="was altered: expected world"):
        store.read(file)


def test_each_split_has_its_own_row_groups_and_order_is_kept(file, monkeypatch):
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 4)
    every = recorded(count=30, team=1)
    store.export(file, every)
    spans = parquet.read_ranges(file, "split")
    assert {(one.minimum, one.maximum) for one in spans} == {("train",) * 2, ("test",) * 2}
    assert sum(one.rows for one in spans) == 30 and max(one.rows for one in spans) == 4
    assert [t.id for t in store.read(file)] == [t.id for t in every]


def test_file_is_verified_once_and_again_after_a_change(workspace, monkeypatch):
    every = recorded(count=3, team=1)
    path, held = store.save(workspace, every), spy(monkeypatch, store, "validate_episodes")
    assert [t.id for t in store.load(workspace)] == [t.id for t in every]
    assert held == []
    store.export(path, every[:2])  # the note of the verified file is not about this one
    assert len(store.load(workspace)) == len(store.load(workspace)) == 2
    assert [len(given[0]) for given, _ in held] == [2]
    edit(path, source=["another", every[1].source])
    for _ in range(2):
        with pytest.raises(DamagedData, match="has been modified"):
            store.load(workspace)
    assert store.find_trajectory(workspace, every[1].id[:10]).id == every[1].id
    with pytest.raises(DamagedData, match="has been modified"):
        store.find_trajectory(workspace, every[0].id)


def test_finding_a_trajectory_reads_one_row_group(workspace, monkeypatch):
    monkeypatch.setattr(store, "ROWS_PER_GROUP", 2)
    every = recorded(count=5, team=1) + store.read(GOLDEN)
    store.save(workspace, every[:3])
    path, calls = store.save(workspace, every[3:]), spy(monkeypatch, parquet, "decode_table")
    for one in every:
        found = store.find_trajectory(workspace, one.id[:10])
        assert (found.id, found.episode.content_hash) == (one.id, one.episode.content_hash)
    groups = [more["groups"] for _, more in calls]
    assert groups.count(None) == 2  # the ids of each file, once
    assert all(len(group) == 1 for group in groups if group is not None)
    store.export(path, every[3:4])
    for unknown in ("nothing", every[-1].id):
        with pytest.raises(UnknownName):
            store.find_trajectory(workspace, unknown)
    assert store.find_trajectory(workspace, every[3].id).id == every[3].id


@pytest.mark.parametrize(
    ("column", "place", "step", "message"),
    [("rewards", (7, 1), 7, "player 1 receives"), ("scene", (4, 2), 3, "object 2")],
)
def test_verify_names_the_first_step_that_differs(column, place, step, message):
    one = recorded(count=1)[0].episode
    values = getattr(one, column).copy()
    values[place] += 1
    (found,) = verify([dataclasses.replace(one, **{column: values})])
    assert found is not None and found.step == step and message in found.description


def test_episode_is_immutable_and_checked():
    one = recorded(count=1)[0].episode
    with pytest.raises(ValueError, match="read-only"):
        one.actions[0, 0] = 1
    with pytest.raises(DamagedData):
        dataclasses.replace(one, scene=one.scene[1:])
    wide = dataclasses.replace(one, actions=one.actions.astype(np.int64))
    with pytest.raises(DamagedData, match="it: expected actions under 9, found others"):
        validate_episodes([wide], ["it"])


FIELDS = {"moves": "actions", "says": "utterances"}
"""The fields of an episode whose columns have other names."""


def write_episode(path, **changes):
    rows = columns.episodes_to_columns([recorded(count=1)[0].episode])
    parquet.write_table(path, *EPISODES, rows | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"says": 100}, "expected tokens under 22"),
        ({"says": -3}, "expected tokens under 22"),
        ({"moves": 9}, "expected actions under 9"),
        ({"moves": -1}, "expected actions under 9"),
        ({"scene": 42}, "expected cells that are on the grid"),
        ({"state": [b"LSTA"]}, "expected a Λ\\* state"),
        ({"participants": [1], "steps": [48]}, "expected columns of 48 steps"),
        ({"steps": [-1]}, "expected columns of -1 steps|differ in the number"),
        ({"objects": [2]}, "expected columns of 24 steps"),
        ({"moves": [None]}, "column moves has missing values"),
        ({"moves": [[1, None]]}, "column moves has missing values"),
        ({"steps": [None]}, "column steps has missing values"),
        ({"state": [None]}, "column state has missing values"),
    ],
)
def test_episode_that_does_not_fit_its_state_is_rejected(file, changes, message):
    """A number takes the place of one entry of its column."""
    one = recorded(count=1)[0].episode
    for name, value in changes.items():
        if isinstance(value, int):
            values = getattr(one, FIELDS.get(name, name)).copy()
            values[3, 0] = value
            changes = {name: [values.ravel().tolist()]}
    write_episode(file, **changes)
    with pytest.raises(DamagedData, match=message):
        validate_episodes(columns.table_to_episodes(parquet.read_table(file, *EPISODES)), ["row 0"])


def test_too_large_column_is_neither_written_nor_read(file, monkeypatch):
    write_episode(file, state=[b"x" * 5000])
    parquet.read_table(file, *EPISODES)
    monkeypatch.setattr(arrow, "MAX_LIST_VALUES", 1000)
    monkeypatch.setattr(arrow, "MAX_BYTES", 1000)
    with pytest.raises(DamagedData, match="column state has 1 values of [0-9]+ bytes"):
        parquet.read_table(file, *EPISODES)
    assert len(arrow.to_list_column([np.zeros(1000, np.int8)], pa.int8())) == 1
    with pytest.raises(StsError, match="at most 1000 values in a column, found 1001"):
        arrow.to_list_column([np.zeros(1001, np.int8)], pa.int8())


def test_too_large_recording_is_rejected_with_a_possible_size(monkeypatch):
    with pytest.raises(ArgumentError, match="too many for one recording; record [0-9]+ at a time"):
        recorded(count=10**12)
    monkeypatch.setattr(arrow, "MAX_LIST_VALUES", 4 * 11 * 7)
    name = "tests.domains.worlds:Lanterns"
    assert len(generate_states(name, count=7, steps=10, seed=0, settings={})) == 7
    with pytest.raises(ArgumentError, match="record 7 at a time"):
        generate_states(name, count=8, steps=10, seed=0, settings={})


def test_environments_with_different_radius_are_verified_together():
    found = recorded(count=2, radius=1) + recorded(count=2, radius=2)
    assert verify([t.episode for t in found]) == [None] * 4


@attempt(
    "Paths",
    "pipes, devices, or links to them, in the place of recordings",
    "one line; they are not waited for",
)
def test_pipes_and_devices_in_place_of_recordings_are_rejected(tmp_path, workspace, capsys):
    os.mkfifo(tmp_path / "pipe")
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


def test_listed_ids_are_those_that_can_be_shown(workspace, capsys):
    kept = recorded(count=3, team=1)
    store.save(workspace, kept)
    words = ["trajectories", "ls", "--workspace", str(workspace.root)]
    assert main([*words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert sorted(id for row in rows for id in row["ids"]) == sorted(t.id for t in kept)
    assert main(words) == 0
    assert rows[0]["ids"][0] in capsys.readouterr().out
