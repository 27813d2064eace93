"""Exporting: what one participant saw, step by step, for others to read."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from sts.cli.main import main
from sts.domains import domain
from sts.episodes import Instruction
from sts.errors import ArgumentError, ReplayMismatch
from sts.formats import rlds
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.observed import observe
from sts.trajectories.record import record
from sts.trajectories.types import Trajectory
from tests.domains import spaces
from tests.examples import instead, recorded, state_after
from tests.trajectories.bell import NAME, walks


def exported(path: Path, trajectories: list[Trajectory], role: int | None = None) -> pd.DataFrame:
    rlds.write(path, trajectories, role=role)
    return pd.read_parquet(path, dtype_backend="numpy_nullable")


def test_rlds_has_a_row_for_each_step_and_one_for_the_end(tmp_path: Path) -> None:
    every = recorded(count=3, team=2, steps=24) + recorded("random", count=2, team=3, steps=9)
    table = exported(tmp_path / "t.parquet", every, role=1)
    assert len(table) == 3 * 25 + 2 * 10
    assert table.episode_id.unique().tolist() == [t.id for t in every]
    for t in every:
        rows = table[table.episode_id == t.id]
        steps = t.episode.steps
        assert rows.step.tolist() == list(range(steps + 1))
        assert rows.action[:-1].tolist() == t.episode.moves[:, 1].tolist()
        assert rows.reward[:-1].tolist() == (t.episode.rewards[:, 1] * 0.5).tolist()
        assert rows[["action", "reward", "discount"]].iloc[-1].isna().all()
        assert rows.discount[:-1].eq(1.0).all()
        assert rows.is_first.tolist() == [True] + steps * [False]
        assert rows.is_last.tolist() == steps * [False] + [True]
        assert not rows.is_terminal.any()


def test_rlds_holds_what_the_participant_saw_at_each_step(tmp_path: Path) -> None:
    (one,) = recorded(count=1, team=3)
    table = exported(tmp_path / "t.parquet", [one], role=2)
    for step in (0, 7, one.episode.steps):
        worlds = domain("lambda-star").restore([state_after(one, step)])
        seen = worlds.observe((2,), team=(0, 1, 2), world=False)
        row = table.iloc[step]
        assert row["observation.cell"] == seen.cell[0, 0]
        assert row["observation.last_move"] == seen.last_move[0, 0]
        for name in ("good", "team", "others", "reward", "heard"):
            assert row[f"observation.{name}"].tolist() == getattr(seen, name)[0, 0].tolist(), name


def test_rlds_tells_at_each_step_what_had_been_asked(tmp_path: Path) -> None:
    silent, asked = recorded(count=2, steps=9)
    said = [Instruction(text, "c", at, "setter") for text, at in (("Où est Zoë?", 7), ("Go.", 2))]
    asked = dataclasses.replace(asked, instructions=tuple(said))
    (walk,) = walks(1)
    table = exported(tmp_path / "t.parquet", [silent, asked])
    column = table.language_instruction.tolist()
    assert column[:10] == 10 * [""]
    assert column[10:] == 2 * [""] + 5 * ["Go."] + 3 * ["Où est Zoë?"]
    table = exported(tmp_path / "w.parquet", [walk])
    assert table.language_instruction.tolist() == 10 * ["Ring the bell."]


@pytest.mark.parametrize(
    ("name", "agent", "told"),
    [
        (spaces.PENDULUM, spaces.Swinging, "float32[1]"),
        (spaces.CRANE, spaces.Wandering, "int64[2]"),
    ],
)
def test_rlds_holds_actions_of_any_type(tmp_path: Path, name: str, agent: Any, told: str) -> None:
    (one,) = record(agent(), domain=name, count=1, steps=5, seed=0, settings={})
    rlds.write(tmp_path / "t.parquet", [one])
    table = pq.read_table(tmp_path / "t.parquet")
    assert json.loads(table.schema.metadata[b"sts.actions"]) == told
    assert table.column("action").to_pylist() == [*one.episode.moves[:, 0].tolist(), None]
    assert table.column("reward").to_pylist() == [*one.episode.rewards[:, 0].tolist(), None]


def test_only_those_of_the_same_name_count_as_the_team(tmp_path: Path) -> None:
    (one,) = recorded(count=1, team=3)
    someone = dataclasses.replace(one.participants[1], name="someone")
    mixed = dataclasses.replace(one, participants=(one.participants[0], someone, someone))
    (together,), (apart,) = (list(observe([t], 0)) for t in (one, mixed))
    assert not together.values["others"].any()
    assert apart.values["others"].sum() == together.values["team"].sum() > 0


def test_an_environments_own_names_and_its_end_are_kept(tmp_path: Path) -> None:
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


def test_what_is_written_does_not_depend_on_how_much_is_replayed_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = recorded(count=5)
    rlds.write(tmp_path / "a.parquet", every)
    monkeypatch.setattr("sts.trajectories.observed.STEPS_AT_ONCE", 48)
    monkeypatch.setattr(rlds, "BUFFERED_ROWS", 1)
    rlds.write(tmp_path / "b.parquet", every)
    a, b = (pd.read_parquet(tmp_path / f"{name}.parquet") for name in "ab")
    pd.testing.assert_frame_equal(a, b)


def test_progress_ends_with_all(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    rlds.write(tmp_path / "t.parquet", recorded(count=4), progress=lambda *at: told.append(at))
    assert told[-1] == (4, 4)


def test_an_altered_recording_is_not_exported(tmp_path: Path) -> None:
    (one,) = recorded(count=1)
    rewards = one.episode.rewards.copy()
    rewards[5, 0] += 1
    episode = dataclasses.replace(one.episode, rewards=rewards)
    with pytest.raises(ReplayMismatch, match="step 5: participant 0 receives"):
        rlds.write(tmp_path / "t.parquet", [dataclasses.replace(one, episode=episode)])
    assert not (tmp_path / "t.parquet").exists()


def test_several_domains_in_one_export_are_refused(tmp_path: Path) -> None:
    both = recorded(count=1) + walks(1)
    with pytest.raises(ArgumentError, match=f"found lambda-star, {NAME}; select one with --domain"):
        rlds.write(tmp_path / "t.parquet", both)


def test_observations_of_other_shapes_are_refused(tmp_path: Path) -> None:
    for steps in (9, 8):
        both = walks(1) + walks(1, steps=steps, cells=7)
        with pytest.raises(ArgumentError, match=r"differ in the shape of observation 'row'"):
            rlds.write(tmp_path / "t.parquet", both)


@pytest.mark.parametrize("role", [-1, 2, 99])
def test_a_participant_that_there_is_not_is_refused(tmp_path: Path, role: int) -> None:
    with pytest.raises(ArgumentError, match=f"expected --role of 0 to 1 .*, found {role}"):
        rlds.write(tmp_path / "t.parquet", recorded(count=1, team=2), role=role)


@pytest.fixture
def root(tmp_path: Path) -> Path:
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
        (("--domain", "lambda-star", "--who", "random"), 3),
        (("--who", "random"), 3),
        (("--domain", NAME), 2),
        (("--source", "sts record local"), 6),
    ],
)
def test_ls_and_export_mean_the_same_by_their_flags(
    root: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...], count: int
) -> None:
    assert called(root, "ls", *flags, "--json") == 0
    assert sum(row["trajectories"] for row in json.loads(capsys.readouterr().out)) == count
    out = root / "out.parquet"
    assert called(root, "export", str(out), *flags) == 0
    assert len(store.read(out)) == count
    assert capsys.readouterr().out == f"{count} trajectories -> {out}\n"


def test_the_two_sides_are_exported_apart(root: Path) -> None:
    for side in ("train", "test"):
        assert called(root, "export", str(root / side), "--split", side) == 0
    found = [{t.split for t in store.read(root / side)} for side in ("train", "test")]
    assert found == [{"train"}, {"test"}]


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["export", "{out}", "--format", "rlds"], 2, "expected trajectories of one domain, found"),
        (["export", "{out}", "--format", "tfds"], 2, "unknown format 'tfds'; known: minari, parq"),
        (["export", "{out}", "--role", "0"], 2, "--role cannot be combined with --format parquet"),
        (["export", "{root}"], 1, "exists: remove it, or choose another name"),
        (["export", "{out}", "--who", "ann"], 1, "none of 11 trajectories is left by --who ann"),
        (["import", "--format", "lambdastar-2016"], 2, "reads files: expected FILE"),
        (
            ["import", "x", "--format", "lambdastar-2016", "--domain", "ring"],
            2,
            "knows its domain: expected no --domain",
        ),
        (
            ["import", "x", "y", "--format", "minari", "--domain", "moon"],
            2,
            "unknown domain 'moon'",
        ),
    ],
)
def test_a_wrong_export_or_import_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, line: str
) -> None:
    places = {"{out}": str(root / "out"), "{root}": str(root)}
    assert called(root, *(places.get(word, word) for word in words)) == code
    error = capsys.readouterr().err
    assert line in error and error.count("\n") == 1
    assert not (root / "out").exists()


def test_an_empty_workspace_has_nothing_to_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert called(tmp_path / "none", "export", str(tmp_path / "t")) == 1
    assert "no trajectories to export" in capsys.readouterr().err


def test_an_importer_without_files_is_called_once(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    own = recorded("blind", count=2)
    instead(monkeypatch, "sts.importers", lambda: own)
    monkeypatch.setattr("sts.commands.importing._check", lambda _: None)  # loads the domain
    assert called(root, "import", "--format", "own") == 0
    assert "own: 2 trajectories, every step replayed exactly" in capsys.readouterr().out
    assert called(root, "import", "x", "--format", "own") == 2
    assert "finds its recordings itself: expected no FILE" in capsys.readouterr().err
