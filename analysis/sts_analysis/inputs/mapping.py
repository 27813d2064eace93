"""How to read a ratings table with other names of columns, or other words for verdicts."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from sts.errors import MAX_LISTED, ArgumentError, DamagedData, UnknownName
from sts.names import escape_unprintable, quote
from sts.ratings import MARKED_VERDICTS, REQUIRED_COLUMNS, TYPES, VERDICTS, normalise_verdict

Words = str | float | Sequence[str | float]
"""One verdict of a foreign table, or several."""
_BOOLEANS = MappingProxyType({"true": "1", "false": "0"})
_SHOWN = 60
"""Characters of a column's name in an error."""
_WHOLE_NUMBER = re.compile(r"([+-]?[0-9]+)\.0+")


class ColumnMapping(NamedTuple):
    """The columns and the verdicts of a foreign table.

    Attributes:
      columns: by the name of a column of the ratings table, its name in the foreign table. Other
        columns have the same name in both.
      words: "success" or "failure", by a word that means it, as `fold_word` returns the word.
    """

    columns: Mapping[str, str] = MappingProxyType({})
    words: Mapping[str, str] = MappingProxyType({"1": "success", "0": "failure"})

    @property
    def understood(self) -> tuple[str, ...]:
        """The words that a verdict may be, for errors."""
        booleans = _BOOLEANS if self.words == AS_WRITTEN.words else {}
        return tuple(dict.fromkeys((*VERDICTS, *booleans, *self.words)))


AS_WRITTEN = ColumnMapping()
"""The mapping of a table whose columns have our names, and whose verdicts may be booleans."""


def make_mapping(
    columns: Mapping[str, str] | None = None, success: Words = (), failure: Words = ()
) -> ColumnMapping:
    """Return the mapping of a foreign table.

    Without words, true and 1 mean success, and false and 0 failure. Verdicts of
    `sts.ratings.VERDICTS` are always understood.

    Args:
      columns: by the name of a column of the ratings table, its name in the foreign table.
      success: words that mean success, in any letter case.
      failure: words that mean failure.

    Raises:
      UnknownName: a key of `columns` is not a column of the ratings table.
      ArgumentError: a word is empty, means both, or is a verdict of another meaning.
    """
    by_name = {str(name): str(column) for name, column in (columns or {}).items()}
    for name in by_name:
        if name not in TYPES:
            raise UnknownName("column of the ratings table", name, TYPES, most=len(TYPES))
    words: dict[str, str] = {}
    for verdict, given in zip(MARKED_VERDICTS, (success, failure), strict=True):
        for word in (
            (given,) if isinstance(given, str) or not isinstance(given, Iterable) else given
        ):
            folded = fold_word(str(word))
            if not folded or (folded in VERDICTS and folded != verdict):
                raise ArgumentError(
                    f"--{verdict}: expected another word than {', '.join(VERDICTS)}, "
                    f"found {quote(str(word))}"
                )
            if words.setdefault(folded, verdict) != verdict:
                raise ArgumentError(
                    f"--success and --failure: expected different words, found {quote(str(word))} "
                    "in both"
                )
    return ColumnMapping(by_name, words or AS_WRITTEN.words)


def parse_mapping(args: argparse.Namespace) -> ColumnMapping:
    """Return the mapping that `--column`, `--success` and `--failure` describe.

    Raises:
      ArgumentError: see `make_mapping`; or a `--column` has no `=`, two are of the same column, or
        there is no `--table`.
    """
    if args.table is None and (args.column or args.success or args.failure):
        raise ArgumentError("--column, --success and --failure need --table")
    columns: dict[str, str] = {}
    for option in args.column:
        name, separator, column = option.partition("=")
        if not (separator and name and column):
            raise ArgumentError(
                f"--column: expected NAME=COLUMN, such as agent=Agent, found {quote(option)}"
            )
        if name in columns:
            raise ArgumentError(
                f"--column: expected one column for {quote(name)}, found {quote(columns[name])} "
                f"and {quote(column)}"
            )
        columns[name] = column
    return make_mapping(columns, args.success, args.failure)


def fold_word(word: str) -> str:
    """Return the form of a verdict in which it is compared: 1 for True, TRUE and 1.0."""
    folded = normalise_verdict(word)
    number = _WHOLE_NUMBER.fullmatch(folded)
    return number[1] if number else _BOOLEANS.get(folded, folded)


def find_columns(
    name: str, header: Sequence[str], columns: Iterable[str], mapping: Mapping[str, str]
) -> dict[str, str]:
    """Return the columns that a table has, as {our name: the table's}.

    A column to which `mapping` gives a name does not count under its own name as well.

    Args:
      name: of the table, for errors.
      header: its columns.
      columns: the columns that such a table can have.
      mapping: as `ColumnMapping.columns`.

    Raises:
      UnknownName: the mapping names a column that the table does not have.
    """
    for column in mapping.values():
        if column not in header:
            raise UnknownName(f"column of {name}", column, header)
    free = {*header} - {*mapping.values()}
    return {
        column: mapping.get(column, column)
        for column in columns
        if column in mapping or column in free
    }


def require_columns(name: str, header: Sequence[str], columns: Iterable[str]) -> None:
    """Check that a ratings table has every required column.

    Args:
      name: of the table, for errors.
      header: the columns as found in it.
      columns: the columns that it has by our names, as `find_columns` returns them.

    Raises:
      DamagedData: a column is missing; suggests one of a similar name for it.
    """
    missing = [column for column in REQUIRED_COLUMNS if column not in columns]
    if not missing:
        return
    listed = ", ".join(escape_unprintable(column[:_SHOWN]) for column in header[:MAX_LISTED])
    more = f" and {len(header) - MAX_LISTED} more" if len(header) > MAX_LISTED else ""
    noun = "columns" if len(missing) > 1 else "a column"
    raise DamagedData(
        f"{name}: expected {noun} {', '.join(missing)}; found columns {listed}{more}"
        f"{_suggest_options(missing, header)}"
    )


def _suggest_options(missing: Sequence[str], header: Sequence[str]) -> str:
    """Return "; did you mean --column agent=Agent?" for similar names, or how to name a column."""
    import difflib  # slow to import

    by_folded = {column.casefold(): column for column in header if column not in REQUIRED_COLUMNS}
    options = []
    for name in missing:
        for folded in difflib.get_close_matches(name, by_folded, 1):
            options += ["--column", f"{name}={by_folded.pop(folded)}"]
    if not options:
        return f"; state which one it is, as in --column {missing[0]}=COLUMN"
    return f"; did you mean {escape_unprintable(shlex.join(options))}?"
