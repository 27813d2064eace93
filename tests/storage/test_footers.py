"""A flip of any bit of a footer is said in a line, before Arrow has seen it."""

from __future__ import annotations

import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import DamagedData
from sts.storage import footers, parquet

SCHEMA = {"agent": pa.string(), "value": pa.float64()}
RAW = parquet.packed("x", "scores", 1, SCHEMA, {"agent": ["a", "b"], "value": [0.5, 1.5]})


def test_every_flipped_bit_of_a_footer_is_said_before_arrow_reads_it() -> None:
    plain = footers.unmarked(RAW)
    length = int.from_bytes(plain[-8:-4], "little") + 8
    assert plain[:-length] == RAW[: len(plain) - length] and plain[-length:] == RAW[-length:]
    footers.check("x", io.BytesIO(RAW), "a file")
    for place in range(8 * (len(RAW) - length), 8 * len(RAW)):
        changed = bytearray(RAW)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(DamagedData, match="x: expected a file: its footer"):
            footers.check("x", io.BytesIO(changed), "a file")


def test_a_flip_in_the_mark_is_said_or_leaves_a_sound_file() -> None:
    plain = footers.unmarked(RAW)
    length = int.from_bytes(plain[-8:-4], "little") + 8
    for place in range(8 * (len(plain) - length), 8 * (len(RAW) - length)):
        changed = bytearray(RAW)
        changed[place // 8] ^= 1 << place % 8
        try:
            table = parquet.unpacked("x", bytes(changed), "scores", 1, SCHEMA)
        except DamagedData:
            continue
        assert table.to_pydict() == {"agent": ["a", "b"], "value": [0.5, 1.5]}


def test_a_file_without_the_mark_is_read_and_is_like_one_with_it() -> None:
    plain = footers.unmarked(RAW)
    assert len(plain) < len(RAW) and footers.unmarked(plain) == plain
    assert parquet.unpacked("x", plain, "scores", 1, SCHEMA).num_rows == 2
    assert footers.alike(plain, RAW) and not footers.alike(plain[:-1], RAW)


def test_any_program_that_reads_parquet_reads_a_marked_file() -> None:
    assert pq.read_table(io.BytesIO(RAW)).num_rows == 2
