"""Write a ratings table of one row in Parquet whose metadata understates the size of a text.

    python -m tests.access.lying FILE BYTES

Run it in a separate process, so that its memory is not available to the reader.
"""

import io
import struct
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

SAID = 100
"""The size of the text in bytes according to the metadata."""


def varint(value: int, width: int = 0) -> bytes:
    """Encode a number as Thrift does, padded to `width` bytes."""
    value, out = value << 1, b""
    while value > 127 or len(out) < width - 1:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def main(file: Path, size: int) -> None:
    table = pa.table({"agent": ["x" * size], "scenario": ["s"], "verdict": ["success"]})
    sink = io.BytesIO()
    pq.write_table(table, sink, compression="zstd", use_dictionary=False, write_statistics=False)
    raw = sink.getvalue()
    length = struct.unpack("<I", raw[-8:-4])[0]
    told = pq.ParquetFile(io.BytesIO(raw)).metadata.row_group(0).column(0).total_uncompressed_size
    end = raw[-8 - length : -8]
    assert end.count(varint(told)) == 1
    end = end.replace(varint(told), varint(SAID, len(varint(told))))
    file.write_bytes(raw[: -8 - length] + end + raw[-8:])


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
