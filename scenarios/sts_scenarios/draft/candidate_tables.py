"""Tables of candidates, a line each, whose columns are called like the flags of `sts draft add`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError, DamagedData
from sts.names import quote
from sts.storage.csv_tables import MAX_BYTES
from sts.storage.lines import map_lines, read_rows
from sts_scenarios.draft.fields import FIELDS

REQUIRED = ("trajectory", "takeover", "player", "category")
"""Fields that every new candidate states."""
TAG_SEPARATOR = ";"
_TYPES = {"trajectory": str} | FIELDS


def read_candidates(path: Path) -> dict[int, dict[str, Any]]:
    """Return the stated fields of each line of a CSV file, by the line's number.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not such a table, has an unknown column, lacks a required cell, or a number
        is not one.
    """
    rows = read_rows(path, REQUIRED, (), MAX_BYTES)
    if not rows:
        raise DamagedData(f"{path}: expected a line for each candidate, found the header alone")
    if unknown := [column for column in next(iter(rows.values())) if column not in _TYPES]:
        raise DamagedData(
            f"{path}: unknown column {quote(unknown[0])}; expected {', '.join(_TYPES)}"
        )
    return map_lines(path, rows, _parse_cells)


def _parse_cells(cells: Mapping[str, str]) -> dict[str, Any]:
    if missing := [name for name in REQUIRED if not cells[name]]:
        raise ArgumentError(f"expected a value for {', '.join(missing)}")
    return {name: _parse_value(name, cell) for name, cell in cells.items() if cell}


def _parse_value(name: str, cell: str) -> Any:
    if _TYPES[name] is list:
        return [tag.strip() for tag in cell.split(TAG_SEPARATOR) if tag.strip()]
    if _TYPES[name] is not int:
        return cell
    if not (cell.isascii() and cell.isdigit()):
        raise ArgumentError(f"{name}: expected a whole number, found {quote(cell)}")
    return int(cell)
