"""Parquet files made elsewhere: what cannot be an episode is refused before anything plays it."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sts.domains import checked
from sts.episodes import Episode, columns
from sts.errors import DamagedData, StsError
from sts.storage import arrow, parquet
from tests.examples import recorded

KIND = ("episodes", 1, columns.EPISODE)


def written(path: Path, **changes: Any) -> Path:
    rows: dict[str, Any] = columns.episode_columns([recorded(count=1)[0].episode])
    parquet.write(path, *KIND, rows | changes)
    return path


def changed(name: str, value: int) -> Episode:
    one = recorded(count=1)[0].episode
    fields = {n: getattr(one, n).copy() for n in ("moves", "says", "rewards", "scene")}
    fields[name][3, 0] = value
    return Episode(one.domain, one.state, **fields)


@pytest.mark.parametrize(
    ("name", "value", "found"),
    [
        ("says", 100, "expected tokens under 22"),
        ("says", -3, "expected tokens under 22"),
        ("moves", 9, "expected moves under 9"),
        ("moves", -1, "expected moves under 9"),
        ("scene", 42, "expected cells that are on the grid"),
    ],
)
def test_an_action_or_a_cell_that_the_world_has_not_is_refused(
    tmp_path: Path, name: str, value: int, found: str
) -> None:
    rows = columns.episode_columns([changed(name, value)])
    parquet.write(tmp_path / "e.parquet", *KIND, rows)
    with pytest.raises(DamagedData, match=found):
        checked(columns.episodes(parquet.read(tmp_path / "e.parquet", *KIND)), ["row 0"])


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"state": [b"LSTA"]}, "expected a Λ\\* state"),
        ({"participants": [1], "steps": [48]}, "expected columns of 48 steps"),
        ({"steps": [-1]}, "expected columns of -1 steps|differ in the number"),
        ({"objects": [2]}, "expected columns of 24 steps"),
    ],
)
def test_an_episode_that_is_not_of_its_state_is_refused(
    tmp_path: Path, change: dict[str, Any], found: str
) -> None:
    path = written(tmp_path / "e.parquet", **change)
    with pytest.raises(DamagedData, match=found):
        checked(columns.episodes(parquet.read(path, *KIND)), ["row 0"])


@pytest.mark.parametrize(
    ("name", "value"),
    [("moves", [None]), ("moves", [[1, None]]), ("steps", [None]), ("state", [None])],
)
def test_a_gap_in_a_column_is_refused(tmp_path: Path, name: str, value: list[Any]) -> None:
    path = written(tmp_path / "e.parquet", **{name: value})
    with pytest.raises(DamagedData, match=f"column {name} has missing values"):
        parquet.read(path, *KIND)


def test_a_column_too_large_is_neither_written_nor_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "e.parquet", state=[b"x" * 5000])
    parquet.read(path, *KIND)
    monkeypatch.setattr(arrow, "MOST", 1000)
    monkeypatch.setattr(arrow, "MAX_BYTES", 1000)
    with pytest.raises(DamagedData, match="column state has 1 values of [0-9]+ bytes"):
        parquet.read(path, *KIND)
    assert len(arrow.lists([np.zeros(1000, np.int8)], pa.int8())) == 1
    with pytest.raises(StsError, match="at most 1000 values in a column, found 1001"):
        arrow.lists([np.zeros(1001, np.int8)], pa.int8())
