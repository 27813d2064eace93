"""Parquet files: what they may hold is checked before they are unpacked, down to each bit."""

import hashlib
import io
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import DamagedData, NewerFormat, StsError
from sts.storage import arrow, footers, parquet, scores
from tests.access.attempts import attempt

SCHEMA = {"name": pa.string(), "step": pa.int32(), "moves": pa.list_(pa.int8())}


def write_example(path: Path, rows: int = 4, name: str = "a", actions: int = 3) -> Path:
    columns = {"name": [name] * rows, "step": range(rows), "moves": [[0] * actions] * rows}
    parquet.write_table(path, "bells", 1, SCHEMA, columns)
    return path


def assert_refused(path: Path, found: str) -> None:
    with pytest.raises(DamagedData, match=found) as error:
        parquet.read_table(path, "bells", 1, SCHEMA)
    assert str(error.value).startswith(str(path)) and str(error.value).isprintable()


def test_table_is_read_back_as_written(tmp_path) -> None:
    table = parquet.read_table(write_example(tmp_path / "b.parquet"), "bells", 1, SCHEMA)
    assert table.schema.types == list(SCHEMA.values())
    assert table.column("name").to_pylist() == ["a"] * 4
    assert [list(actions) for actions in arrow.split_list_column(table, "moves")] == [[0, 0, 0]] * 4


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
        ("MAX_LIST_VALUES", -3, "column moves has 12 values"),
        ("MAX_BYTES", 3, r"column name has 4 values of \d+ bytes"),
    ],
)
def test_file_that_claims_too_many_rows_or_values_is_not_unpacked(
    tmp_path, monkeypatch, limit, value, found
) -> None:
    path = write_example(tmp_path / "b.parquet")
    monkeypatch.delattr(pq.ParquetFile, "read")
    home = arrow if limit in ("MAX_LIST_VALUES", "MAX_BYTES") else parquet
    monkeypatch.setattr(home, limit, value)
    if limit == "MAX_LIST_VALUES":
        monkeypatch.setattr(parquet, "MAX_ROWS", 4)
    assert_refused(path, found)


@attempt(
    "Files from elsewhere",
    "a file of ours in which one text is repeated a million times",
    "refused before it is repeated",
    times=2,
)
def test_text_repeated_a_million_times_is_not_expanded_in_memory(tmp_path) -> None:
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
            parquet.read_table(path, "bells", 1, {name: kind})


def test_rows_or_numbers_that_cannot_be_read_are_not_written(tmp_path, monkeypatch) -> None:
    path = tmp_path / "b.parquet"
    for number in (2**31, -(2**31) - 1, 2**70):
        with pytest.raises(DamagedData, match="column step: expected int32") as error:
            parquet.write_table(path, "bells", 1, {"step": pa.int32()}, {"step": [number]})
        assert "\n" not in str(error.value)
    monkeypatch.setattr(parquet, "MAX_ROWS", 3)
    with pytest.raises(StsError, match="expected at most 3 rows in a file, found 4"):
        write_example(path)
    assert not list(tmp_path.iterdir())


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
def test_strange_format_mark_is_shortened_and_escaped(tmp_path, mark, kind, found) -> None:
    path = tmp_path / "b.parquet"
    schema = pa.schema(list(SCHEMA.items()), metadata={"sts.format": mark})
    pq.write_table(schema.empty_table(), path)
    with pytest.raises(kind, match=found):
        parquet.read_table(path, "bells", 1, SCHEMA)


def test_pipe_folder_or_device_in_place_of_a_file_is_named(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path / "pipe", "expected a file, found a named pipe")
    assert_refused(tmp_path, "expected a file, found a folder")
    assert_refused(Path("/dev/zero"), "expected a file, found a device")


def test_coded_texts_are_read_with_their_distinct_words() -> None:
    sink = io.BytesIO()
    pq.write_table(pa.table({"verdict": ["b", "a", "b"], "step": [4, None, 1]}), sink, 2)
    ((codes, words),) = parquet.read_coded("x", sink.getvalue(), ("verdict",))
    assert [words[code] for code in codes] == ["b", "a", "b"] and sorted(words) == ["a", "b"]
    for column in ("agent", "step"):
        with pytest.raises(DamagedData, match=f"expected a text column {column}, found none"):
            parquet.read_coded("x", sink.getvalue(), (column,))
    with pytest.raises(DamagedData, match="expected a Parquet file"):
        parquet.read_coded("x", b"PAR1", ("verdict",))


def test_bytes_become_digits_and_masked_numbers_become_nulls() -> None:
    rows = np.array([[0, 255], [16, 1]], np.uint8)
    assert arrow.to_hex_texts(rows).to_pylist() == ["00ff", "1001"]
    some = arrow.from_numpy(np.arange(9), np.arange(9) % 2 == 0)
    assert some.to_pylist() == [0, None, 2, None, 4, None, 6, None, 8]


@pytest.mark.slow
def test_forty_million_rows_in_a_megabyte_are_refused_without_memory(tmp_path) -> None:
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
        "try: parquet.read_table(Path(sys.argv[1]), 'trajectories', 1, {'name': pa.string()})\n"
        "except DamagedData: pass\n"
        "sys.exit(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > 100_000)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(path)]).returncode == 0


def test_column_name_that_is_not_text_is_refused(tmp_path) -> None:
    path = write_example(tmp_path / "b.parquet")
    raw = path.read_bytes()
    end = raw.rindex(b"name", 0, raw.rindex(b"ARROW:schema"))
    assert raw.count(b"name") > 1
    path.write_bytes(raw[:end].replace(b"name", b"n\xe5me") + raw[end:])
    assert_refused(path, "expected a Parquet file")


PAIR = {"agent": pa.string(), "value": pa.float64()}
RAW = parquet.encode_table("x", "scores", 1, PAIR, {"agent": ["a", "b"], "value": [0.5, 1.5]})
FOOTER = int.from_bytes(RAW[-8:-4], "little") + 8
MARK = len(b"sts.footer.sha256:") + hashlib.sha256().digest_size
PLAIN = RAW[: -FOOTER - MARK] + RAW[-FOOTER:]


def flipped(place: int) -> bytes:
    """Return the file with one bit flipped, counted from the end of its data."""
    changed = bytearray(RAW)
    place += 8 * (len(RAW) - FOOTER)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


def test_every_flipped_bit_of_a_footer_is_found_before_arrow_reads_it() -> None:
    footers.check_digest("x", io.BytesIO(RAW), "a file")
    for place in range(8 * FOOTER):
        with pytest.raises(DamagedData, match="x: expected a file: the checksum of its footer"):
            footers.check_digest("x", io.BytesIO(flipped(place)), "a file")


def test_flipped_bit_of_the_checksum_is_found_or_leaves_a_sound_file() -> None:
    for place in range(-8 * MARK, 0):
        try:
            table = parquet.decode_table("x", flipped(place), "scores", 1, PAIR)
        except DamagedData:
            continue
        assert table.to_pydict() == {"agent": ["a", "b"], "value": [0.5, 1.5]}


def test_files_with_and_without_a_checksum_are_read_by_all_programs() -> None:
    assert footers.add_digest(PLAIN) == RAW
    assert parquet.decode_table("x", PLAIN, "scores", 1, PAIR).num_rows == 2
    assert pq.read_table(io.BytesIO(RAW)).num_rows == 2


ROW = {"agent": "a", "metric": "m", "value": 1.0}


def test_score_reads_back_and_its_missing_fields_are_unknown(tmp_path) -> None:
    scores.write_scores(tmp_path / "s.parquet", [ROW | {"n": 5, "sees": "rehearsal"}, ROW])
    first, second = scores.read_score_rows(tmp_path / "s.parquet")
    assert (first["n"], first["sees"], first["fingerprint"]) == (5, "rehearsal", "")
    assert math.isnan(second["n"]) and math.isnan(second["standard_error"])
    assert second["sees"] == "" and pa.types.is_string(scores.SCHEMA["sees"])


@pytest.mark.parametrize(("version", "error"), [(2, DamagedData), (4, NewerFormat)])
def test_scores_of_another_version_are_refused(tmp_path, version, error) -> None:
    path = tmp_path / "s.parquet"
    schema = {name: scores.SCHEMA[name] for name in ("agent", "metric", "value")}
    parquet.write_table(path, "scores", version, schema, {name: [ROW[name]] for name in schema})
    with pytest.raises(error, match=f"scores format {version}; this version reads"):
        scores.read_score_rows(path)
    mark = pq.read_schema(path).metadata[b"sts.format"].decode()
    with pytest.raises(DamagedData, match=f"scores format {version}; this version reads 3"):
        scores.check_format("s.parquet", mark)
    scores.check_format("s.parquet", "")  # another program's need no mark
