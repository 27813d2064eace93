"""CSV files with a change a row, of which all are made or none."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sts.errors import ArgumentError, DamagedData, StsError
from sts.storage.csv_tables import check_header, parse_csv, require_columns
from sts.storage.files import read_bytes

_MAX_BYTES = 2**24


class Row(NamedTuple):
    """A row's file and line for messages, "" outside of files, and its cells or a later value."""

    location: str
    value: Any


def read_rows(path: Path, required: Sequence[str], optional: Sequence[str]) -> list[Row]:
    """Read the cells of a CSV file by column; those of missing optional columns are "".

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not CSV, or lacks a required column.
    """
    try:
        header, rows, lines = parse_csv(path.name, read_bytes(path, _MAX_BYTES))
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    check_header(path.name, header, (*required, *optional))
    require_columns(f"{path.name}, line 1", header, required)
    defaults = dict.fromkeys(optional, "")
    return [
        Row(f"{path.name}, line {line}", defaults | dict(zip(header, cells, strict=True)))
        for line, cells in zip(lines, rows, strict=True)
    ]


def map_rows(rows: Iterable[Row], function: Callable[[Any], object]) -> list[Row]:
    """Apply a function to the value of each row; add the file and line to its errors."""
    mapped = []
    for location, value in rows:
        try:
            mapped.append(Row(location, function(value)))
        except StsError as error:
            if not location:
                raise
            raise DamagedData(f"{location}: {error}") from None
    return mapped
