"""Fast reading of CSV tables that have no line breaks within cells."""

from collections.abc import Callable, Collection, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.csv

from sts.errors import DamagedData
from sts.storage.csv_dialect import Dialect
from sts.storage.csv_tables import parse_csv

Select = Callable[[Sequence[str]], Collection[int]]
_BYTES_AT_ONCE = 2**24
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'


def read_plain_csv(
    name: str, data: bytes, dialect: Dialect, select: Select, most_rows: int
) -> tuple[list[str], pa.Table] | None:
    """Read columns of a CSV table; return None if only `parse_csv` can read it, or name its fault.

    Args:
      name: of the table, for errors.
      data: the file, in UTF-8.
      dialect: with its separator.
      select: returns the places of the columns to read, from the header.
      most_rows: the maximum number of rows.

    Returns:
      The header, and the columns as dictionary-encoded text, named by their places, each cell as
      written, but without quotes. The first row is line 2 of the file.

    Raises:
      DamagedData: there are more rows.
    """
    text = data.rstrip(b"\r\n")
    head = text[: max(text.find(b"\n"), 0)]
    if not (head.strip() and _is_plain(text, ord(dialect.separator))):
        return None
    if text.count(b"\n") > most_rows:
        raise DamagedData(f"{name}: expected at most {most_rows} rows, found more")
    header = parse_csv(name, head, dialect).header
    places = [*map(str, select(header))]
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
            pyarrow.csv.ParseOptions(delimiter=dialect.separator, ignore_empty_lines=False),
            pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(places, pa.dictionary(pa.int32(), pa.string())),
                include_columns=places,
                null_values=[],
                strings_can_be_null=False,
            ),
        )
    except pa.ArrowInvalid:  # such as a row of another number of cells
        return None
    return header, table


def _is_plain(text: bytes, separator: int) -> bool:
    """Return True if text is UTF-8, and quotes only enclose whole cells of one line."""
    if b"\0" in text or text.count(b"\r") != text.count(b"\r\n"):
        return False
    ends = pa.py_buffer(np.array([0, len(text)], np.int64))
    whole = pa.Array.from_buffers(pa.large_string(), 1, [None, ends, pa.py_buffer(text)])
    try:
        whole.validate(full=True)
    except pa.ArrowInvalid:
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
