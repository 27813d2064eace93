"""CSV files with a change a row, of which all are made or none."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TypeVar

from sts.errors import ArgumentError, DamagedData, StsError
from sts.names import quote
from sts.storage.csv_tables import parse_csv, require_columns
from sts.storage.files import read_bytes

_MAX_BYTES = 2**24
_T = TypeVar("_T")


class CsvRow(NamedTuple):
    """A row: its file and line, for messages, and its cells by column, "" where missing."""

    location: str
    cells: dict[str, str]


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str]) -> list[CsvRow]:
    """Read the rows of a CSV file.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not CSV, or lacks a required column, has another one, or has no rows.
    """
    try:
        header, rows, lines = parse_csv(path.name, read_bytes(path, _MAX_BYTES))
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    require_columns(f"{path.name}, line 1", header, required)
    columns = (*required, *optional)
    unknown = [column for column in header if column not in columns]
    if unknown:
        raise DamagedData(
            f"{path.name}, line 1: unknown column {quote(unknown[0])}; valid columns are "
            f"{', '.join(columns)}"
        )
    if not rows:
        raise DamagedData(f"{path.name}: expected at least one row, found only a header")
    return [
        CsvRow(
            f"{path.name}, line {line}",
            dict.fromkeys(columns, "") | dict(zip(header, cells, strict=True)),
        )
        for line, cells in zip(lines, rows, strict=True)
    ]


@contextmanager
def locate_errors(row: CsvRow) -> Iterator[None]:
    """Add the file and the line of a row to an error."""
    try:
        yield
    except StsError as error:
        raise DamagedData(f"{row.location}: {error}") from None


def parse_rows(rows: Sequence[CsvRow], parse: Callable[[dict[str, str]], _T]) -> list[_T]:
    """Parse the cells of each row; raise DamagedData with the line of the first invalid one."""
    parsed = []
    for row in rows:
        with locate_errors(row):
            parsed.append(parse(row.cells))
    return parsed


def check_single(value: str | None, csv: Path | None, noun: str) -> None:
    """Raise ArgumentError unless either a value or a CSV file is given."""
    if (value is None) is (csv is None):
        raise ArgumentError(f"expected either {noun} or --csv FILE; give one of them")
