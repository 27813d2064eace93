"""What a report knows of the tables that it was made from."""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sts_analysis.inputs import tables
from sts_analysis.inputs.gather import add_scores, gather_table
from sts_analysis.inputs.tables import InputFile

RATINGS = pd.DataFrame(
    {
        "agent": ["a", "b", "\u00e9, \"b\"", "=1+1"],
        "scenario": "s",
        "continuation": range(4),
        "verdict": [True, False, True, False],
        "seconds": [0.1, np.nan, 1e-9, 3.0],
    }
)  # fmt: skip
SCORES = pd.DataFrame({"agent": ["a", "b"], "metric": "m", "value": [1, 2.5]})


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_each_file_that_was_read_has_its_name_rows_and_digest(tmp_path: Path) -> None:
    table, scores = tmp_path / "r.csv", tmp_path / "s.parquet"
    table.write_text("agent,scenario,verdict\n\na,s,1\n,,\nb,s,0\n")
    SCORES.to_parquet(scores)
    gathered = add_scores(gather_table(table), scores)
    first, second = gathered.inputs
    assert first == InputFile("r.csv", 2, digest(table))
    assert second == InputFile("s.parquet", 2, digest(scores))
    assert gathered.scores["value"].tolist() == [1, 2.5]


@pytest.mark.parametrize("rows_at_once", [2, 1000])
def test_digest_of_a_data_frame_is_that_of_its_csv_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows_at_once: int
) -> None:
    monkeypatch.setattr(tables, "_ROWS_AT_ONCE", rows_at_once)
    frame = RATINGS
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False)
    gathered = add_scores(gather_table(frame), SCORES)
    scores = hashlib.sha256(b"agent,metric,value\na,m,1.0\nb,m,2.5\n").hexdigest()
    assert gathered.inputs == (InputFile("table", 4, digest(path)), InputFile("scores", 2, scores))
    again = gather_table(path)
    pd.testing.assert_frame_equal(again.ratings, gathered.ratings)
    assert again.inputs[0].sha256 == gathered.inputs[0].sha256
