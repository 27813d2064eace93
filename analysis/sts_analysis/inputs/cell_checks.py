"""Checks of the cells of a table; an error names the first bad row and what was expected there."""

import re
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd

from sts.errors import ArgumentError, DamagedData
from sts.names import MAX_NAME_CHARS, clean_name, quote
from sts.spellings import is_rounded
from sts_analysis.inputs.tables import RawTable
from sts_analysis.inputs.words import find_codes, format_value, is_coded, is_empty, map_words


def refuse_rows(
    table: RawTable, bad: np.ndarray, expected: str, column: str | None = None, remedy: str = ""
) -> None:
    """Reject the table if any row is bad, naming the first such row.

    Args:
      table: where the rows come from.
      bad: bool[rows].
      expected: what should have stood there.
      column: whose cell to quote, if one cell is to blame.
      remedy: what to do, at the end of the error.

    Raises:
      DamagedData: some row is bad.
    """
    if not bad.any():
        return
    row = int(np.argmax(bad))
    cell = "" if column is None else f", found {_cell(table.frame[column], row)}"
    name = "" if column is None else f"{column}: "
    raise DamagedData(f"{table.name_row(row)}: {name}expected {expected}{cell}{remedy}")


def require_words(table: RawTable, column: str, allowed: Sequence[str]) -> None:
    """Reject a column that holds anything but the allowed words."""
    bad = ~table.frame[column].isin(allowed).to_numpy()
    named = [word or "nothing" for word in allowed]
    refuse_rows(table, bad, f"one of {', '.join(named)}", column)


def clean_cells(table: RawTable, column: str, clean: Callable[[str], str] = clean_name) -> None:
    """Clean the texts of a column, by default as names; an empty cell stays.

    Args:
      table: where the column is replaced.
      column: its name.
      clean: returns the clean text, or raises ArgumentError for an invalid one.

    Raises:
      DamagedData: a text is invalid; names the first such row.
    """
    cells = table.frame[column]
    if clean is clean_name and is_coded(cells) and _are_plain(list(cells.cat.categories)):
        return
    errors: dict[str, ArgumentError] = {}

    def clean_text(text: str) -> str:
        try:
            return clean(text) if text else text
        except ArgumentError as error:
            errors[text] = error
            return ""

    table.frame[column] = map_words(cells, clean_text)
    if errors:
        row = int(np.argmax(cells.isin(errors).to_numpy()))
        raise DamagedData(f"{table.name_row(row)}: {column}: {errors[str(cells.iat[row])]}")


def refuse_rounded(table: RawTable, column: str) -> None:
    """Reject identifiers that a floating-point number has rounded, so that several became one."""
    cells = table.frame[column]
    names = find_codes(cells)[1]
    if not re.search(r"[eE]\+|\.0", "\n".join(names)):  # quicker than a look at each of millions
        return
    bad = cells.isin([name for name in names if is_rounded(name)]).to_numpy()
    remedy = "; floating-point numbers from 2^53 on are rounded: read the column as text"
    refuse_rows(table, bad, "an identifier that is a text or a whole number", column, remedy)


def _are_plain(names: Sequence[str]) -> bool:
    """Return True if names without outer spaces are so plain that `clean_name` returns them."""
    joined = "".join(names)
    longest = max(map(len, names), default=0)
    return joined.isascii() and joined.isprintable() and longest <= MAX_NAME_CHARS


def parse_numbers(
    table: RawTable,
    column: str,
    expected: str,
    *,
    optional: bool,
    integer: bool = False,
    least: float = -np.inf,
) -> np.ndarray:
    """Turn a column into float64[rows], NaN where it is empty.

    Raises:
      DamagedData: a cell is no finite number, not whole, below the least number, or empty although
        it may not be.
    """
    cells = table.frame[column]
    if cells.dtype == np.float64:
        values = cells.to_numpy()
    else:
        codes, words = find_codes(cells)  # most stand in many rows
        each = pd.to_numeric(pd.Series(words, dtype=object), errors="coerce")
        values = np.asarray(each, dtype=np.float64)[codes]
    empty = is_empty(cells)
    bad = (~np.isfinite(values) & ~empty) | (values < least)
    if integer:
        bad |= np.isfinite(values) & (values != np.round(values))
    if not optional:
        bad |= empty
    refuse_rows(table, bad, expected, column)
    return values


def require_one_value(
    table: RawTable, key: str, column: str, rows: np.ndarray, number: pd.Series | None = None
) -> None:
    """Reject a key that stands with two different values of a column.

    Args:
      table: where the rows come from.
      key: the column that names something.
      column: what each of these must have exactly one of.
      rows: bool[rows], the rows to look at.
      number: of each row, what tells those things apart where their names do not.
    """
    values = pd.factorize(table.frame[column])[0]
    if (values == values[0]).all():
        return
    place = np.flatnonzero(rows)
    things = pd.factorize(table.frame[key] if number is None else number)[0][place]
    first = np.empty(int(things.max(initial=-1)) + 1, np.int64)
    first[things[::-1]] = place[::-1]  # of what is written to one place the last stays
    bad = values[place] != values[first[things]]
    if bad.any():
        at = int(np.argmax(bad))
        row, above = int(place[at]), int(first[things[at]])
        raise DamagedData(
            f"{table.name_row(row)}: {key} {_cell(table.frame[key], row)} has {column} "
            f"{_cell(table.frame[column], row)} here and {_cell(table.frame[column], above)} "
            "above; expected one value"
        )


def _cell(column: pd.Series, row: int) -> str:
    return quote(format_value(column.iat[row]))
