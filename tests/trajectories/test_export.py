"""Exporting what one player saw, step by step, and importing several files."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sts.cli.main import main
from sts.domains import load_domain
from sts.episodes import Instruction
from sts.errors import ArgumentError, DamagedData, ReplayMismatch
from sts.formats import rlds
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.observed import iter_observations
from sts.trajectories.trajectory import Player, Trajectory
from tests.domains import spaces
from tests.examples import instead, on_test_side, recorded, state_after
from tests.recording import record
from tests.trajectories.bell import NAME, walks


def exported(path: Path, trajectories: list[Trajectory], player: int | None = None) -> pd.DataFrame:
    rlds.write(path, trajectories, player=player)
    return pd.read_parquet(path, dtype_backend="numpy_nullable")


def test_rlds_has_a_row_for_each_step_and_one_for_the_end(tmp_path):
    every = recorded(count=3, team=2, steps=24) + recorded("random", count=2, team=3, steps=9)
    table = exported(tmp_path / "t.parquet", every, player=1)
    assert len(table) == 3 * 25 + 2 * 10
    assert table.episode_id.unique().tolist() == [t.id for t in every]
    for t in every:
        rows = table[table.episode_id == t.id]
        steps = t.episode.steps
        assert rows.step.tolist() == list(range(steps + 1))
        assert rows.action[:-1].tolist() == t.episode.actions[:, 1].tolist()
        assert rows.reward[:-1].tolist() == (t.episode.rewards[:, 1] * 0.5).tolist()
        assert rows[["action", "reward", "discount"]].iloc[-1].isna().all()
        assert rows.discount[:-1].eq(1.0).all()
        assert rows.is_first.tolist() == [True] + steps * [False]
        assert rows.is_last.tolist() == steps * [False] + [True]
        assert not rows.is_terminal.any()


def test_rlds_contains_the_observations_of_the_participant(tmp_path):
    (one,) = recorded(count=1, team=3)
    table = exported(tmp_path / "t.parquet", [one], player=2)
    for step in (0, 7, one.episode.steps):
        worlds = load_domain("lambda-star").restore([state_after(one, step)])
        seen = worlds.observe((2,), team=(0, 1, 2), world=False)
        row = table.iloc[step]
        assert row["observation.cell"] == seen.cell[0, 0]
        assert row["observation.last_move"] == seen.last_move[0, 0]
        for name in ("good", "team", "others", "reward", "heard"):
            assert row[f"observation.{name}"].tolist() == getattr(seen, name)[0, 0].tolist(), name


def test_rlds_contains_the_current_instruction_at_each_step(tmp_path):
    silent, asked = recorded(count=2, steps=9)
    said = [Instruction(text, "c", at, "setter") for text, at in (("Où est Zoë?", 7), ("Go.", 2))]
    said[1] = dataclasses.replace(said[1], player=0, mark="failure", marked_at=6)
    said.append(Instruction("Stay.", "c", 4, "setter", player=1))
    people = (Player("human", "p1"), asked.players[1])
    moves = (asked.episode.actions + 1) % 9
    asked = dataclasses.replace(asked, players=people, instructions=tuple(said), intended=moves)
    (walk,) = walks(1)
    table = exported(tmp_path / "t.parquet", [silent, asked])
    column = table.language_instruction.tolist()
    assert column[:10] == 10 * [""]
    assert column[10:] == 2 * [""] + 5 * ["Go."] + 3 * ["Où est Zoë?"]
    assert table.instruction_mark.tolist() == 12 * [""] + 5 * ["failure"] + 3 * [""]
    assert table.is_person.tolist() == 10 * [False] + 10 * [True]
    assert table.player_kind.tolist() == 10 * ["agent"] + 10 * ["human"]
    assert table.player_name.tolist() == 10 * ["local-search"] + 10 * ["p1"]
    assert table.intended_action[10:19].tolist() == moves[:, 0].tolist()
    assert table.intended_action.isna().tolist() == 10 * [True] + 9 * [False] + [True]
    other = exported(tmp_path / "o.parquet", [asked], player=1)
    assert other.language_instruction.tolist() == 4 * [""] + 3 * ["Stay."] + 3 * ["Où est Zoë?"]
    table = exported(tmp_path / "w.parquet", [walk])
    assert table.language_instruction.tolist() == 10 * ["Ring the bell."]


@pytest.mark.parametrize(
    ("name", "agent", "told"),
    [
        (spaces.PENDULUM, spaces.Swinging, "float32[1]"),
        (spaces.CRANE, spaces.Wandering, "int64[2]"),
    ],
)
def test_rlds_holds_actions_of_any_type(tmp_path, name, agent, told):
    (one,) = record(agent(), domain=name, count=1, steps=5, seed=0, settings={})
    rlds.write(tmp_path / "t.parquet", [one])
    table = pq.read_table(tmp_path / "t.parquet")
    assert json.loads(table.schema.metadata[b"sts.actions"]) == told
    assert table.column("action").to_pylist() == [*one.episode.actions[:, 0].tolist(), None]
    assert table.column("reward").to_pylist() == [*one.episode.rewards[:, 0].tolist(), None]


def test_only_participants_of_the_same_name_count_as_the_team(tmp_path):
    (one,) = recorded(count=1, team=3)
    someone = dataclasses.replace(one.players[1], name="someone")
    mixed = dataclasses.replace(one, players=(one.players[0], someone, someone))
    (together,), (apart,) = (list(iter_observations([t], 0)) for t in (one, mixed))
    assert not together.values["others"].any()
    assert apart.values["others"].sum() == together.values["team"].sum() > 0


def test_rlds_keeps_observation_names_and_the_terminal_step(tmp_path):
    (one,) = walks(1)
    table = exported(tmp_path / "t.parquet", [one])
    rung = int(np.flatnonzero(one.episode.rewards.any(1))[0])
    assert one.episode.rewards[rung].max() == 1 and rung < one.episode.steps - 1
    where = [int(np.argmax(row)) for row in table["observation.row"]]
    assert where == [min(where[0] + t, where[rung + 1]) for t in range(10)]
    assert table["observation.far.near"].tolist() == pytest.approx([at / 6 for at in where])
    assert table.reward.sum() in (0.0, 0.25)
    assert table.discount[:-1].tolist() == [0.0 if t >= rung else 1.0 for t in range(9)]
    assert table.is_terminal.tolist() == 9 * [False] + [True]


def test_rlds_does_not_depend_on_the_size_of_replay_batches(tmp_path, monkeypatch):
    every = recorded(count=5)
    rlds.write(tmp_path / "a.parquet", every)
    monkeypatch.setattr("sts.trajectories.observed.STEPS_AT_ONCE", 48)
    monkeypatch.setattr(rlds, "BUFFERED_ROWS", 1)
    told = []
    rlds.write(tmp_path / "b.parquet", every, progress=lambda *at: told.append(at))
    assert told[-1] == (5, 5)
    a, b = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in "ab")
    pd.testing.assert_frame_equal(a, b)


def test_altered_recording_is_not_exported(tmp_path):
    (one,) = recorded(count=1)
    rewards = one.episode.rewards.copy()
    rewards[5, 0] += 1
    episode = dataclasses.replace(one.episode, rewards=rewards)
    with pytest.raises(ReplayMismatch, match="step 5: player 0 receives"):
        rlds.write(tmp_path / "t.parquet", [dataclasses.replace(one, episode=episode)])
    assert not (tmp_path / "t.parquet").exists()


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ({"steps": 9, "cells": 7}, "differ in the shape of observation 'row'"),
        ({"steps": 8, "cells": 7}, "differ in the shape of observation 'row'"),
        (None, f"found {NAME}, lambda-star; select one with --domain"),
    ],
)
def test_export_rejects_mixed_observations_and_unknown_roles(tmp_path, second, message):
    others = recorded(count=1) if second is None else walks(1, **second)
    with pytest.raises(ArgumentError, match=message):
        rlds.write(tmp_path / "t.parquet", walks(1) + others)
    with pytest.raises(ArgumentError, match="expected --player of 0 to 1 .*, found 2"):
        rlds.write(tmp_path / "t.parquet", walks(1), player=2)
    assert not (tmp_path / "t.parquet").exists()


@pytest.fixture
def root(tmp_path):
    workspace = Workspace.open(str(tmp_path / "w"))
    store.save(workspace, recorded(count=6) + recorded("random", count=3) + walks(2))
    return workspace.root


def called(root: Path, *words: str) -> int:
    return main(["trajectories", *words, "--workspace", str(root)])


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        ((), 11),
        (("--domain", "lambda-star"), 9),
        (("--domain", "lambda-star", "--played-by", "random"), 3),
        (("--played-by", "random"), 3),
        (("--domain", NAME), 2),
        (("--source", "sts record local"), 6),
        (("--split", "test"), None),
    ],
)
def test_ls_and_export_select_the_same_trajectories(root, capsys, flags, count):
    assert called(root, "ls", *flags, "--json") == 0
    listed = sum(row["trajectories"] for row in json.loads(capsys.readouterr().out))
    out = root / "out.parquet"
    assert called(root, "export", str(out), *flags) == 0
    exported = store.read(out)
    if count is None:
        count = len(on_test_side(exported))
        assert 0 < count < 11
    assert len(exported) == listed == count
    assert capsys.readouterr().out == f"{count} trajectories -> {out}\n"


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["export", "{out}", "--format", "rlds"], 2, "expected trajectories of one domain, found"),
        (["export", "{out}", "--format", "tfds"], 2, "unknown format 'tfds'; known: minari, parq"),
        (
            ["export", "{out}", "--player", "0"],
            2,
            "--player cannot be combined with --format parquet",
        ),
        (["export", "{root}"], 1, "exists: remove it, or choose another name"),
        (
            ["export", "{out}", "--played-by", "ann"],
            1,
            "none of 11 trajectories matches --played-by ann",
        ),
        (["import", "--format", "lambdastar-2016"], 2, "reads files: expected FILE"),
        (
            ["import", "x", "--format", "lambdastar-2016", "--domain", "ring"],
            *(2, "knows its domain: expected no --domain"),
        ),
        (["import", "x", "y", "--format", "minari", "--domain", "moon"], 2, "unknown domain 'moo"),
    ],
)
def test_invalid_export_or_import_prints_one_line_error(root, capsys, words, code, line):
    places = {"{out}": str(root / "out"), "{root}": str(root)}
    assert called(root, *(places.get(word, word) for word in words)) == code
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
    assert called(root / "none", "export", str(root / "out")) == 1
    assert "no trajectories to export" in capsys.readouterr().err
    assert not (root / "out").exists()


def test_importer_without_files_is_called_once(root, capsys, monkeypatch):
    own = recorded("blind", count=2)
    instead(monkeypatch, "sts.importers", lambda: own)
    monkeypatch.setattr("sts.commands.importing._check_replay", lambda _: None)  # loads the domain
    assert called(root, "import", "--format", "own") == 0
    assert "own: 2 trajectories, every step replayed exactly" in capsys.readouterr().out
    assert called(root, "import", "x", "--format", "own") == 2
    assert "finds its recordings itself: expected no FILE" in capsys.readouterr().err


@pytest.fixture
def take(tmp_path, monkeypatch):
    """Return a function that imports paths by an importer that fails as the path's name says."""
    every = recorded(count=3)

    def read(path):
        if path.name == "damaged":
            raise DamagedData("line 3:\nexpected JSON")
        if path.name == "unknown":
            raise ArgumentError(f"{path}: of no known kind")
        if path.name == "stopped":
            raise KeyboardInterrupt
        path.stat()
        return [every[int(path.name)]]

    def importing(*names, flags=()):
        instead(monkeypatch, "sts.importers", read)
        monkeypatch.setattr(
            "sts.commands.importing._check_replay", lambda _: None
        )  # loads the domain
        for name in "012":
            (tmp_path / name).touch()
        paths = [str(tmp_path / name) for name in names]
        common = ["--format", "own", "--workspace", str(tmp_path / "w")]
        code = main(["trajectories", "import", *paths, *common, *flags])
        monkeypatch.undo()
        return code

    return importing


def count_kept(folder: Path) -> int:
    return len(store.load(Workspace.open(str(folder / "w"))))


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("0", "damaged", "1", "unknown", "missing", "2"), 1),
        (("unknown", "0", "damaged", "1", "2", "missing"), 2),
    ],
)
def test_import_keeps_valid_files_and_names_the_others(take, tmp_path, capsys, names, code):
    assert take(*names) == code
    out, error = capsys.readouterr()
    assert count_kept(tmp_path) == 3
    assert out.endswith("3 trajectories in all\n") and out.count("\n") == 4
    assert sorted(error.splitlines()) == [
        f"sts: {tmp_path}/damaged: line 3: expected JSON",
        f"sts: {tmp_path}/missing: No such file or directory",
        f"sts: {tmp_path}/unknown: of no known kind",
    ]


def test_import_json_lists_imported_and_failed_files(take, tmp_path, capsys):
    assert take("unknown") == 2
    assert capsys.readouterr() == ("", f"sts: {tmp_path}/unknown: of no known kind\n")
    assert not (tmp_path / "w").exists()
    assert take("0", "unknown", flags=("--json",)) == 2
    value = json.loads(capsys.readouterr().out)
    assert [one["file"] for one in value["files"]] == [f"{tmp_path}/0"]
    unknown = f"{tmp_path}/unknown"
    assert value["failed"] == [{"file": unknown, "why": f"{unknown}: of no known kind"}]
    assert take("0", flags=("--json",)) == 0
    assert json.loads(capsys.readouterr().out)["failed"] == []


def test_files_imported_before_an_interrupt_are_kept(take, tmp_path, capsys):
    assert take("0", "stopped", "1") == 130
    assert "interrupted; what was finished is kept" in capsys.readouterr().err
    assert count_kept(tmp_path) == 1
    assert take("0", "1", "2") == 0
    assert count_kept(tmp_path) == 3
