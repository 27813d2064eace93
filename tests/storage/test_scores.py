"""The workspace's scores: what is not known stays so, and a file of another version is named."""

import math
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import DamagedData, NewerFormat, StsError
from sts.storage import parquet, scores

ROW = {"agent": "a", "metric": "m", "value": 1.0}


def test_a_row_reads_back_and_what_it_does_not_say_is_not_known(tmp_path: Path) -> None:
    scores.write(tmp_path / "s.parquet", [ROW | {"n": 5, "sees": "rehearsal"}, ROW])
    first, second = scores.read(tmp_path / "s.parquet")
    assert (first["n"], first["sees"], first["fingerprint"]) == (5, "rehearsal", "")
    assert math.isnan(second["n"]) and math.isnan(second["standard_error"])
    assert second["sees"] == ""


@pytest.mark.parametrize(("version", "error"), [(1, DamagedData), (3, NewerFormat)])
def test_a_file_of_another_version_is_named(
    tmp_path: Path, version: int, error: type[StsError]
) -> None:
    path = tmp_path / "s.parquet"
    schema = {name: scores.SCHEMA[name] for name in ("agent", "metric", "value")}
    parquet.write(path, "scores", version, schema, {name: [ROW[name]] for name in schema})
    with pytest.raises(error, match=f"scores format {version}; this version reads"):
        scores.read(path)
    with pytest.raises(DamagedData, match=f"scores format {version}; this version reads 2"):
        mark = pq.read_schema(path).metadata[b"sts.format"].decode()
        scores.check_mark("s.parquet", mark)


def test_scores_of_anyone_s_need_no_mark() -> None:
    scores.check_mark("s.parquet", "")
    assert pa.types.is_string(scores.SCHEMA["sees"])
