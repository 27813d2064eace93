"""Fast reading of CSV tables that have no line breaks within cells."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sts.errors import DamagedData
from sts.storage.csv_tables import parse_csv

Select = Callable[[Sequence[str]], Mapping[str, str]]
_BYTES_AT_ONCE = 2**24
_COMMA, _LINE_FEED, _RETURN, _QUOTE = b',\n\r"'


def read_plain_csv(
    name: str, data: bytes, select: Select, most_rows: int
) -> tuple[list[str], pa.Table] | None:
    """Read columns of a CSV table; return None if only `parse_csv` can read it, or name its fault.

    Args:
      name: of the table, for errors.
      data: the file.
      select: returns the columns to read, by other names, from the header.
      most_rows: the maximum number of rows.

    Returns:
      The header, and the columns as dictionary-encoded text, each cell as written, but without
      quotes. The first row is line 2 of the file.

    Raises:
      DamagedData: there are more rows, or the header has a column twice.
    """
    text = data.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n")
    head = text[: max(text.find(b"\n"), 0)]
    if not (head.strip() and _is_plain(text)):
        return None
    if text.count(b"\n") > most_rows:
        raise DamagedData(f"{name}: expected at most {most_rows} rows, found more")
    header = parse_csv(name, head).header
    places = {column: str(header.index(column)) for column in select(header).values()}
    if not places or len(header) == 1:
        return None
    try:
        table = pyarrow.csv.read_csv(
            pa.BufferReader(text),
            pyarrow.csv.ReadOptions(
                use_threads=False,
                block_size=_BYTES_AT_ONCE,
                skip_rows=1,
                column_names=[*map(str, range(len(header)))],
            ),
            pyarrow.csv.ParseOptions(ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(places.values(), pa.dictionary(pa.int32(), pa.string())),
                include_columns=list(places.values()),
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # such as a row of another number of cells
        return None
    return header, table.rename_columns(list(places))


def _is_plain(text: bytes) -> bool:
    """Return True if text is UTF-8, and quotes only enclose whole cells of one line."""
    if b"\0" in text or text.count(b"\r") != text.count(b"\r\n"):
        return False
    ends = pa.py_buffer(np.array([0, len(text)], np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(text)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return b'"' not in text or _has_plain_quotes(np.frombuffer(b"\n%b\n" % text, np.uint8))


def _has_plain_quotes(letters: np.ndarray) -> bool:
    """Return True if each cell with quotes is enclosed in them, without a line break in it.

    `letters` is uint8[bytes], between two line feeds. Two quotes within a cell stand for one.
    """
    quotes = np.flatnonzero(letters == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    if len(opening) != len(closing):
        return False
    doubled = np.concatenate(([False], opening[1:] == closing[:-1] + 1, [False]))
    before, after = letters[opening - 1], letters[closing + 1]
    starts = (before == _COMMA) | (before == _LINE_FEED) | doubled[:-1]
    ends = (after == _COMMA) | (after == _LINE_FEED) | (after == _RETURN) | doubled[1:]
    breaks = np.searchsorted(quotes, np.flatnonzero(letters == _LINE_FEED))
    return bool(starts.all() and ends.all() and not (breaks % 2).any())
