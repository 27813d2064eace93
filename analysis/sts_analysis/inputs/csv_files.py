"""CSV tables: a fast reader for those without line breaks in cells, and an exact one."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from sts.errors import DamagedData
from sts.storage import csv_tables
from sts.storage.arrow import to_numpy
from sts.storage.csv_dialect import decode_table
from sts.storage.csv_tables import parse_cell, parse_csv
from sts_analysis.inputs.tables import Cells, Source, from_arrow, open_frame

_BYTES_AT_ONCE = 2**24
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
MAX_CELL_BYTES = 2**17
"""Length of the longest cell that the exact reader takes."""


def open_csv(name: str, data: bytes) -> Source:
    """Open a CSV table with one header line, in any dialect that `decode_table` recognises.

    Raises:
      DamagedData: it is empty, binary, ragged or too long; names the line. Some faults are found
        when its columns are read.
    """
    text, dialect = decode_table(name, data)
    text = text.rstrip(b"\r\n")

    def open_exactly() -> Source:
        header, rows, lines = parse_csv(name, text, dialect)
        frame = pd.DataFrame(rows, columns=header, dtype=object)
        return open_frame(name, frame, lines, "line", str(dialect))

    head = text[: max(text.find(b"\n"), 0)]
    if not head or not _is_plain(text, ord(dialect.separator)):
        return open_exactly()
    rows = text.count(b"\n")
    if rows > csv_tables.MAX_ROWS:
        raise DamagedData(f"{name}: expected at most {csv_tables.MAX_ROWS} rows, found more")
    header = parse_csv(name, head, dialect).header

    def read(used_places: Sequence[int], other_places: Sequence[int]) -> Cells:
        columns = _read_plain(text, dialect.separator, len(header), used_places, other_places)
        if columns is None:
            return open_exactly().read(used_places, other_places)
        return columns, np.arange(2, rows + 2)

    return Source(name, header, rows, read, "line", str(dialect))


def _is_plain(text: bytes, separator: int) -> bool:
    """Return True if each row is a line, and quotes only enclose whole cells."""
    if text.count(b"\r") != text.count(b"\r\n"):
        return False
    return b'"' not in text or _has_plain_quotes(
        np.frombuffer(b"\n%b\n" % text, np.uint8), separator
    )


def _has_plain_quotes(letters: np.ndarray, separator: int) -> bool:
    """Return True if each cell with quotes is enclosed in them, without a line break in it.

    `letters` is uint8[bytes], between two line feeds. Two quotes within a cell stand for one.
    """
    quotes = np.flatnonzero(letters == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    if len(opening) != len(closing):
        return False
    doubled = np.concatenate(([False], opening[1:] == closing[:-1] + 1, [False]))
    before, after = letters[opening - 1], letters[closing + 1]
    starts = (before == separator) | (before == _LINE_FEED) | doubled[:-1]
    ends = (after == separator) | (after == _LINE_FEED) | (after == _RETURN) | doubled[1:]
    breaks = np.searchsorted(quotes, np.flatnonzero(letters == _LINE_FEED))
    return bool(starts.all() and ends.all() and not (breaks % 2).any())


def _read_plain(
    text: bytes, separator: str, width: int, used_places: Sequence[int], other_places: Sequence[int]
) -> dict[int, pd.Series] | None:
    """Read columns of a plain table, of which row n is line n + 2.

    Returns:
      The columns by their places; None if only the exact reader can read them, or name a fault.
    """
    if not used_places or width == 1:  # an empty line may be a row
        return None
    names = [*map(str, (*used_places, *other_places))]
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(text),
            pyarrow.csv.ReadOptions(
                use_threads=False,
                block_size=_BYTES_AT_ONCE,
                skip_rows=1,
                column_names=[*map(str, range(width))],
            ),
            pyarrow.csv.ParseOptions(delimiter=separator, ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.dictionary(pa.int32(), pa.string())),
                include_columns=names,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # such as a row of another number of cells
        return None
    cells = {n: table[str(n)].combine_chunks() for n in (*used_places, *other_places)}
    is_blank = np.ones(table.num_rows, bool)
    for n in used_places:
        words = cells[n].dictionary
        if (pc.max(pc.binary_length(words)).as_py() or 0) > MAX_CELL_BYTES:
            return None
        if pc.any(pc.match_substring(words, "'")).as_py():
            words = pa.array([*map(parse_cell, words.to_pylist())], words.type)
            cells[n] = pa.DictionaryArray.from_arrays(cells[n].indices, words)
        blank = pc.equal(pc.utf8_trim_whitespace(words), "").to_numpy(zero_copy_only=False)
        is_blank &= blank[to_numpy(cells[n].indices)]
    if is_blank.any():  # then rows may be empty, which depends on columns that were not read
        return None
    return {n: from_arrow(column) for n, column in cells.items()}
