"""CSV tables: reading with line numbers for errors, and writing without formula injection.

Spreadsheets run a text that starts like a formula. Such texts are written with a leading
apostrophe, which spreadsheets hide and the reader removes. Numbers are not changed.

Source: OWASP, "CSV Injection".
"""

import csv
import functools
import io
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from sts.errors import DamagedData
from sts.names import quote
from sts.storage.csv_dialect import Dialect, decode_table
from sts.storage.files import read_bytes

CSV_SUFFIXES = (".csv", ".tsv")
MAX_ROWS = 5_000_000
"""Maximum number of rows: twice what 500 agents with three annotations per clip need."""
MAX_BYTES = 2**30
"""Maximum size of a table, compressed or not."""
_MAX_HEADER_BYTES = 2**18
_FORMULA = re.compile(r"'*[=+\-@\t\n\uff1d\uff0b\uff0d\uff20]")


class CsvTable(NamedTuple):
    """A table of text cells, without leading and trailing spaces.

    `lines` has the line number at which each row starts; the header is line 1.
    """

    header: list[str]
    rows: list[list[str]]
    lines: list[int]


def parse_csv(name: str, data: bytes, dialect: Dialect | None = None) -> CsvTable:
    """Parse a CSV table with one header line; skip empty lines.

    Args:
      name: of the table, for errors.
      data: the file; or, with a dialect, what `decode_table` returned with it.
      dialect: None to recognise it.

    Raises:
      DamagedData: it is empty, binary, ragged or too long; names the line.
    """
    if dialect is None:
        data, dialect = decode_table(name, data)
    text = data.decode()
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=dialect.separator, strict=True)
    rows: list[list[str]] = []
    lines: list[int] = []
    line = 1
    try:
        header = [parse_cell(cell) for cell in next(reader, [])]
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    wrong = f"expected {len(header)} cells, found {len(cells)}"
                    raise DamagedData(f"{name}, line {line}: {wrong}")
                rows.append([parse_cell(cell) for cell in cells])
                lines.append(line)
            if len(rows) > MAX_ROWS:
                raise DamagedData(f"{name}: expected at most {MAX_ROWS} rows, found more")
            line = reader.line_num + 1
    except csv.Error as error:
        raise DamagedData(f"{name}, line {line}: not readable as CSV ({error})") from None
    return CsvTable(header, rows, lines)


def read_csv(path: Path, name: str = "", *, max_bytes: int = MAX_BYTES) -> CsvTable:
    """Read a CSV table of at most `max_bytes`, called `name` in errors, by default as its file.

    Raises:
      FileNotFoundError: there is no such file.
      DamagedData: it is no regular file, is too large, or cannot be parsed; see `parse_csv`.
    """
    return parse_csv(name or path.name, read_bytes(path, max_bytes))


def read_header(path: Path) -> list[str] | None:
    """Return the header of a CSV file, read from its first lines; None if that is not possible.

    With it, a missing column is reported before slow imports.
    """
    if path.suffix.lower() not in CSV_SUFFIXES or not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(_MAX_HEADER_BYTES)
    head = head[: head.rfind(b"\n") + 1] or head  # not within a letter
    try:
        text, dialect = decode_table(path.name, head)
        return parse_csv(path.name, text.partition(b"\n")[0], dialect).header
    except DamagedData:  # reported when the whole file is read
        return None


def require_columns(name: str, header: Collection[str], required: Sequence[str]) -> None:
    """Raise DamagedData with all missing columns, if any."""
    missing = [column for column in required if column not in header]
    if missing:
        raise DamagedData(
            f"{name}: missing column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(map(repr, missing))}; expected {', '.join(required)}"
        )


def format_csv(header: Iterable[str], rows: Iterable[Iterable[object]]) -> bytes:
    """Format a table as CSV that `read_csv` can read; None and NaN become empty cells."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([_format_cell(name) for name in header])
    writer.writerows(map(_format_cell, row) for row in rows)
    return file.getvalue().encode()


def check_header(name: str, header: Sequence[str], columns: Collection[str]) -> None:
    """Raise DamagedData if one of the columns that are read occurs twice."""
    count = Counter(header)
    for column in columns:
        if count[column] > 1:
            raise DamagedData(f"{name}: duplicate column {quote(column)}; keep one")


def parse_cell(cell: str) -> str:
    """Return a cell without outer spaces, and without the apostrophe before a formula."""
    cell = cell.strip()
    return cell[1:].strip() if cell.startswith("'") and _FORMULA.match(cell) else cell


def _format_cell(value: object) -> object:
    if isinstance(value, str):
        return _escape_text(value)
    return "" if value is None or value != value else value


@functools.lru_cache(4096)
def _escape_text(value: str) -> str:
    """Normalise line breaks and escape formulas; cached, since many cells are the same."""
    text = value.replace("\r\n", "\n").replace("\r", "\n")  # a lone \r would end the row
    return f"'{text}" if _FORMULA.match(text) else text
