"""Parquet files of ours: what they may hold is known before anything of them is unpacked."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import DamagedData, NewerFormat, StsError
from sts.storage import arrow, parquet
from tests.access.attempts import attempt

SCHEMA = {"name": pa.string(), "step": pa.int32(), "moves": pa.list_(pa.int8())}


def made(path: Path, rows: int = 4, name: str = "a", moves: int = 3) -> Path:
    columns = {"name": [name] * rows, "step": range(rows), "moves": [[0] * moves] * rows}
    parquet.write(path, "bells", 1, SCHEMA, columns)
    return path


def refused(path: Path, found: str) -> None:
    with pytest.raises(DamagedData, match=found) as error:
        parquet.read(path, "bells", 1, SCHEMA)
    assert str(error.value).startswith(str(path)) and str(error.value).isprintable()


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    table = parquet.read(made(tmp_path / "b.parquet"), "bells", 1, SCHEMA)
    assert table.schema.types == list(SCHEMA.values())
    assert table.column("name").to_pylist() == ["a"] * 4
    assert [list(moves) for moves in arrow.unlist(table, "moves")] == [[0, 0, 0]] * 4


@attempt(
    "Files from elsewhere",
    "a file of ours that says it holds more rows or values than any may",
    "refused before it is unpacked",
)
@pytest.mark.parametrize(
    ("limit", "value", "found"),
    [
        ("MAX_ROWS", 3, "at most 3 rows, found 4"),
        ("MAX_ITEMS", 3, "column name has 4 values"),
        ("MOST", -3, "column moves has 12 values"),
        ("MAX_BYTES", 3, r"column name has 4 values of \d+ bytes"),
    ],
)
def test_a_file_that_says_that_it_is_too_large_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, found: str
) -> None:
    path = made(tmp_path / "b.parquet")
    monkeypatch.delattr(pq.ParquetFile, "read")
    home = arrow if limit in ("MOST", "MAX_BYTES") else parquet
    monkeypatch.setattr(home, limit, value)
    if limit == "MOST":
        monkeypatch.setattr(parquet, "MAX_ROWS", 4)
    refused(path, found)


@attempt(
    "Files from elsewhere",
    "a file of ours in which one text is repeated a million times",
    "refused before it is repeated",
    times=2,
)
def test_one_text_that_a_small_file_repeats_without_end_is_never_repeated_in_memory(
    tmp_path: Path,
) -> None:
    path, count = tmp_path / "b.parquet", 2**20
    once = pa.array(["x" * 10_000], pa.string())
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), once)
    lists = pa.ListArray.from_arrays(pa.array(np.arange(count + 1, dtype=np.int32)), column)
    for name, values in (("name", column), ("tags", lists)):
        table = pa.table({name: values})
        with pq.ParquetWriter(path, table.schema, store_schema=False) as writer:
            writer.write_table(table)
            writer.add_key_value_metadata({"sts.format": "bells/1"})
        assert path.stat().st_size < 10**6
        kind = pa.string() if name == "name" else pa.list_(pa.string())
        with pytest.raises(DamagedData, match=f"bytes of texts in column {name}, found more"):
            parquet.read(path, "bells", 1, {name: kind})


def test_more_rows_than_are_read_are_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "MAX_ROWS", 3)
    with pytest.raises(StsError, match="expected at most 3 rows in a file, found 4"):
        made(tmp_path / "b.parquet")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1, 2**70])
def test_a_number_too_large_for_its_column_is_one_line(tmp_path: Path, number: int) -> None:
    path = tmp_path / "b.parquet"
    with pytest.raises(DamagedData, match="column step: expected int32") as error:
        parquet.write(path, "bells", 1, {"step": pa.int32()}, {"step": [number]})
    assert "\n" not in str(error.value)
    assert not path.exists()


@pytest.mark.parametrize(
    ("mark", "kind", "found"),
    [
        ("bells/2", NewerFormat, "bells format 2; this version reads up to 1"),
        ("bells/" + "9" * 5000, NewerFormat, "bells format 9{9};"),
        ("bells/²", DamagedData, "found 'bells/²'"),
        ("x" * 5000, DamagedData, r"found 'x{60}\.\.\.'"),
        ("\x1b[2J", DamagedData, r"found '\\x1b\[2J'"),
    ],
)
def test_a_mark_that_nobody_should_see_is_cut_and_escaped(
    tmp_path: Path, mark: str, kind: type[StsError], found: str
) -> None:
    path = tmp_path / "b.parquet"
    schema = pa.schema(list(SCHEMA.items()), metadata={"sts.format": mark})
    pq.write_table(schema.empty_table(), path)
    with pytest.raises(kind, match=found):
        parquet.read(path, "bells", 1, SCHEMA)


def test_what_stands_in_place_of_a_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "expected a file, found a named pipe")
    refused(tmp_path, "expected a file, found a folder")
    refused(Path("/dev/zero"), "expected a file, found a device")


def test_texts_are_read_as_codes_of_what_each_says_once() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"verdict": ["b", "a", "b"], "step": [4, None, 1]}), sink, 2)
    ((codes, words),) = parquet.read_coded("x", sink.getvalue(), ("verdict",))
    assert [words[code] for code in codes] == ["b", "a", "b"] and sorted(words) == ["a", "b"]
    for column in ("agent", "step"):
        with pytest.raises(DamagedData, match=f"expected a text column {column}, found none"):
            parquet.read_coded("x", sink.getvalue(), (column,))
    with pytest.raises(DamagedData, match="expected a Parquet file"):
        parquet.read_coded("x", b"PAR1", ("verdict",))


def test_bytes_as_digits_and_numbers_with_gaps_are_what_arrow_makes_of_them() -> None:
    rows = np.array([[0, 255], [16, 1]], np.uint8)
    assert arrow.digits(rows).to_pylist() == ["00ff", "1001"]
    some = arrow.of_numpy(np.arange(9), np.arange(9) % 2 == 0)
    assert some.to_pylist() == [0, None, 2, None, 4, None, 6, None, 8]


@pytest.mark.slow
def test_forty_million_rows_in_a_megabyte_take_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "b.parquet"
    schema = pa.schema([("name", pa.string())], metadata={"sts.format": "trajectories/1"})
    once = pa.array(["a"], pa.string())
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(40):
            indices = pa.array(np.zeros(10**6, np.int32))
            column = pa.DictionaryArray.from_arrays(indices, once).cast(pa.string())
            writer.write_table(pa.table([column], schema=schema))
    assert path.stat().st_size < 10**6
    code = (
        "import resource, sys; from pathlib import Path; from sts.errors import DamagedData\n"
        "from sts.storage import parquet; import pyarrow as pa\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: parquet.read(Path(sys.argv[1]), 'trajectories', 1, {'name': pa.string()})\n"
        "except DamagedData: pass\n"
        "sys.exit(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > 100_000)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 0


def test_a_column_whose_name_is_no_text_is_one_line(tmp_path: Path) -> None:
    path = made(tmp_path / "b.parquet")
    raw = path.read_bytes()
    end = raw.rindex(b"name", 0, raw.rindex(b"ARROW:schema"))
    assert raw.count(b"name") > 1
    path.write_bytes(raw[:end].replace(b"name", b"n\xe5me") + raw[end:])
    refused(path, "expected a Parquet file")
