"""A flip of any bit of a footer is said in a line, before Arrow has seen it."""

from __future__ import annotations

import hashlib
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import DamagedData
from sts.storage import footers, parquet

SCHEMA = {"agent": pa.string(), "value": pa.float64()}
RAW = parquet.packed("x", "scores", 1, SCHEMA, {"agent": ["a", "b"], "value": [0.5, 1.5]})
FOOTER = int.from_bytes(RAW[-8:-4], "little") + 8
MARK = len(b"sts.footer.sha256:") + hashlib.sha256().digest_size
PLAIN = RAW[: -FOOTER - MARK] + RAW[-FOOTER:]


def test_every_flipped_bit_of_a_footer_is_said_before_arrow_reads_it() -> None:
    footers.check_digest("x", io.BytesIO(RAW), "a file")
    for place in range(8 * (len(RAW) - FOOTER), 8 * len(RAW)):
        changed = bytearray(RAW)
        changed[place // 8] ^= 1 << place % 8
        with pytest.raises(DamagedData, match="x: expected a file: the checksum of its footer"):
            footers.check_digest("x", io.BytesIO(changed), "a file")


def test_a_flip_in_the_mark_is_said_or_leaves_a_sound_file() -> None:
    for place in range(8 * (len(RAW) - FOOTER - MARK), 8 * (len(RAW) - FOOTER)):
        changed = bytearray(RAW)
        changed[place // 8] ^= 1 << place % 8
        try:
            table = parquet.unpacked("x", bytes(changed), "scores", 1, SCHEMA)
        except DamagedData:
            continue
        assert table.to_pydict() == {"agent": ["a", "b"], "value": [0.5, 1.5]}


def test_a_file_of_another_program_is_read_without_the_mark() -> None:
    assert footers.add_digest(PLAIN) == RAW
    assert parquet.unpacked("x", PLAIN, "scores", 1, SCHEMA).num_rows == 2


def test_any_program_that_reads_parquet_reads_a_marked_file() -> None:
    assert pq.read_table(io.BytesIO(RAW)).num_rows == 2
