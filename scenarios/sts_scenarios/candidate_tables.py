"""Tables of candidates, a line each, whose columns are called like the flags of `sts draft add`."""

from pathlib import Path
from typing import Any

from sts.errors import ArgumentError, DamagedData, RefusedLines, StsError
from sts.names import quote
from sts.storage.csv_tables import MAX_BYTES, parse_csv, require_columns
from sts.storage.files import read_bytes
from sts_scenarios.fields import FIELDS

REQUIRED = ("trajectory", "takeover", "player", "category")
"""Fields that every new candidate states."""
TAG_SEPARATOR = ";"
_TYPES = {"trajectory": str} | FIELDS


def read_candidates(path: Path) -> dict[int, dict[str, Any]]:
    """Return the stated fields of each line of a CSV file, by the line's number.

    Raises:
      DamagedData: it is not such a table, or has an unknown column.
      RefusedLines: a required cell is empty, or a number is not one.
    """
    table = parse_csv(str(path), read_bytes(path, MAX_BYTES))
    header = [column.replace("-", "_") for column in table.header]
    require_columns(str(path), header, REQUIRED)
    if unknown := [column for column in header if column not in _TYPES]:
        raise DamagedData(
            f"{path}: unknown column {quote(unknown[0])}; expected {', '.join(_TYPES)}"
        )
    if not table.rows:
        raise DamagedData(f"{path}: expected a line for each candidate, found the header alone")
    candidates: dict[int, dict[str, Any]] = {}
    refused: dict[int, Exception] = {}
    for line, cells in zip(table.lines, table.rows, strict=True):
        stated = {column: cell for column, cell in zip(header, cells, strict=True) if cell}
        try:
            if missing := [name for name in REQUIRED if name not in stated]:
                raise ArgumentError(f"expected a value for {', '.join(missing)}")
            candidates[line] = {name: _parse_value(name, cell) for name, cell in stated.items()}
        except StsError as error:
            refused[line] = error
    if refused:
        raise RefusedLines(str(path), refused, len(table.rows))
    return candidates


def _parse_value(name: str, cell: str) -> Any:
    if _TYPES[name] is list:
        return [tag.strip() for tag in cell.split(TAG_SEPARATOR) if tag.strip()]
    if _TYPES[name] is not int:
        return cell
    if not (cell.isascii() and cell.isdigit()):
        raise ArgumentError(f"{name}: expected a whole number, found {quote(cell)}")
    return int(cell)
