"""Files with an entry on each line, of which all are used or none."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from sts.errors import ArgumentError, DamagedData, StsError
from sts.names import count_noun
from sts.storage.csv_tables import check_header, read_csv, require_columns

_MAX_LISTED = 10
"""Maximum number of reasons in a message, and of lines refused for one of them."""
T = TypeVar("T")
U = TypeVar("U")


def read_rows(
    path: Path, required: Sequence[str], optional: Sequence[str], max_bytes: int = 2**24
) -> dict[int, dict[str, str]]:
    """Read the cells of a CSV file by line and column; those of missing optional columns are "".

    Columns may be called like flags, with dashes.

    Raises:
      ArgumentError: there is no such file.
      DamagedData: it is not CSV, or lacks a required column.
    """
    try:
        header, rows, lines = read_csv(path, max_bytes=max_bytes)
    except FileNotFoundError:
        raise ArgumentError(f"no table at {path}; check the path") from None
    header = [column.replace("-", "_") for column in header]
    check_header(path.name, header, (*required, *optional))
    require_columns(f"{path.name}, line 1", header, required)
    defaults = dict.fromkeys(optional, "")
    return {
        line: defaults | dict(zip(header, cells, strict=True))
        for line, cells in zip(lines, rows, strict=True)
    }


def map_lines(
    file: str | Path | None, entries: Mapping[int, T], function: Callable[[T], U]
) -> dict[int, U]:
    """Apply a function to the entry of each line of a file; without one, to entries of flags.

    Raises:
      DamagedData: the function refuses some lines; lists them by reason.
      StsError: without a file, as the function raises it.
    """
    mapped: dict[int, U] = {}
    refused: dict[str, list[int]] = {}
    for line, entry in entries.items():
        try:
            mapped[line] = function(entry)
        except StsError as error:
            if file is None:
                raise
            refused.setdefault(str(error), []).append(line)
    if refused:
        listed = [
            f"{'lines' if lines[1:] else 'line'} {_join(lines, ', ')}: {why}"
            for why, lines in refused.items()
        ]
        raise DamagedData(
            f"{file}: {len(entries) - len(mapped)} of {count_noun(len(entries), 'line')} refused, "
            f"so nothing was added: {_join(listed, '; ')}"
        )
    return mapped


def _join(items: Sequence[object], separator: str) -> str:
    """Join the first items, and count the others."""
    rest = len(items) - _MAX_LISTED
    joined = separator.join(map(str, items[:_MAX_LISTED]))
    return f"{joined}{separator}and {rest} more" if rest > 0 else joined
