"""How to read a ratings table with other names of columns, or other words for verdicts."""

from __future__ import annotations

import math
import operator
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple, TypedDict, Unpack

from sts.errors import MAX_LISTED, ArgumentError, DamagedData, UnknownName
from sts.names import escape_unprintable, quote
from sts.ratings import (
    BOOLEANS,
    MARKED_VERDICTS,
    REQUIRED_COLUMNS,
    TYPES,
    USUAL_WORDS,
    VERDICTS,
    fold_word,
    normalise_verdict,
)
from sts_analysis.inputs.presets import NO_PRESET, PRESETS, Preset

Words = str | float | Sequence[str | float]
"""One verdict of a foreign table, or several."""
IGNORED = "ignore"
MEANINGS = (*VERDICTS, IGNORED)
"""Meanings of a word in a foreign table: a verdict, or that its row is left out."""
_SHOWN = 60
"""Characters of a column's name in an error."""
_RANGE = re.compile(r"(>=|<=|>|<)\s*([+-]?[0-9]+(?:\.[0-9]+)?)")
_COMPARE = MappingProxyType(
    {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
)


class TableOptions(TypedDict, total=False):
    """Further arguments of functions that read a foreign table."""

    not_done: Words  # verdicts that mean neither success nor failure by the end
    cannot_judge: Words  # verdicts that mean that an annotator could not judge
    ignore: Words  # verdicts whose rows are left out
    # names of columns, or their numbers from 1, with the verdicts of an annotator each, instead
    # of the columns `annotator` and `verdict`
    annotator_columns: Sequence[str]
    # names in the column `annotator` that are programs, whose rows count as a model's labels
    model_annotator: str | Sequence[str]
    leave_out: str | Sequence[str]  # "COLUMN=VALUE", rows to leave out
    unused: str | Sequence[str]  # columns about which nothing is asked
    keep_equal_rows: bool  # True if rows that are equal in every column are attempts of their own
    format: str  # the program that exported the table; see `presets.PRESETS`


class ColumnMapping(NamedTuple):
    """The columns, the verdicts and the rows of a foreign table.

    Attributes:
      columns: by the name of a column of the ratings table, its name in the foreign table. Other
        columns have the same name in both.
      meanings: one of `MEANINGS`, by a word that means it, as `fold_word` returns the word.
      ranges: one of `MEANINGS`, by the numbers that mean it, such as ">=4".
      annotator_columns, model_annotators, left_out, unused: see `TableOptions`.
      keeps_equal_rows: see `TableOptions`.
      format: see `TableOptions`; "" for none.
      of_command: whether errors name flags instead of parameters.
    """

    columns: Mapping[str, str] = MappingProxyType({})
    meanings: Mapping[str, str] = MappingProxyType(USUAL_WORDS)
    ranges: Mapping[str, str] = MappingProxyType({})
    annotator_columns: tuple[str, ...] = ()
    model_annotators: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    unused: tuple[str, ...] = ()
    keeps_equal_rows: bool = False
    format: str = ""
    of_command: bool = False

    @property
    def preset(self) -> Preset:
        """The usual columns and words of the program that exported the table."""
        return PRESETS.get(self.format, NO_PRESET)

    @property
    def understood(self) -> tuple[str, ...]:
        """The words that a verdict may be, for errors."""
        booleans = BOOLEANS if self.meanings == AS_WRITTEN.meanings else {}
        return tuple(dict.fromkeys((*VERDICTS, *booleans, *self.meanings, *self.ranges)))

    def list_wide(self, header: Sequence[str]) -> list[str]:
        """Return the names of the columns of annotators, which may be given by their numbers."""
        return [
            header[int(column) - 1]
            if column not in header and column.isdecimal() and 0 < int(column) <= len(header)
            else column
            for column in self.annotator_columns
        ]

    def list_left_out(self, header: Sequence[str]) -> list[tuple[str, str]]:
        """Return columns and values of rows to leave out, with those of the format."""
        kept = {*header} - {*self.unused}
        usual = ((c, v) for c, values in self.preset.left_out.items() for v in values if c in kept)
        return [*self.left_out, *usual]

    def hide_people(self, header: Sequence[str], columns: Mapping[str, str]) -> ColumnMapping:
        """Return it for a report, which states no names of people that are columns or values."""
        people = columns.get("annotator")
        return self._replace(
            annotator_columns=tuple(str(header.index(c) + 1) for c in self.list_wide(header)),
            left_out=tuple((c, "NAME" if c == people else value) for c, value in self.left_out),
        )

    def interpret(self, word: str) -> str:
        """Return which of `MEANINGS` a word has; an unknown word stays as it is.

        Numbers outside of a range of one of success and failure mean the other, unless it is given.
        """
        verdict, folded = normalise_verdict(word), fold_word(word)
        if verdict in VERDICTS or not verdict:
            return verdict
        if folded in self.meanings or not self.ranges:
            return self.meanings.get(folded, word)
        try:
            value = float(folded)
        except ValueError:
            return word
        for numbers, meaning in self.ranges.items():
            if _is_within(value, numbers):
                return meaning
        given = {*self.meanings.values(), *self.ranges.values()} & {*MARKED_VERDICTS}
        other = {"success": "failure", "failure": "success"}
        return other[given.pop()] if len(given) == 1 and value == value else word

    def name_option(self, name: str, *values: str) -> str:
        """Return how a user writes an option: `--not-done WORD`, or `not_done="WORD"`."""
        if self.of_command:
            flag = f"--{name.replace('_', '-')}"
            words = chain.from_iterable((flag, value) for value in values) if values else [flag]
            return escape_unprintable(shlex.join(words))
        if name == "column":
            pairs = dict(value.split("=", 1) for value in values)
            return f"columns={pairs!r}" if pairs else "columns"
        return f"{name}={', '.join(map(repr, values))}" if values else name


AS_WRITTEN = ColumnMapping()
"""The mapping of a table whose columns have our names, and whose verdicts may be booleans."""


def make_mapping(
    columns: Mapping[str, str] | None = None,
    success: Words = (),
    failure: Words = (),
    *,
    of_command: bool = False,
    **options: Unpack[TableOptions],
) -> ColumnMapping:
    """Return the mapping of a foreign table.

    Without words, true and 1 mean success, and false and 0 failure. Verdicts of
    `sts.ratings.VERDICTS` are always understood.

    Args:
      columns: by the name of a column of the ratings table, its name in the foreign table.
      success: words that mean success, in any letter case, or numbers, such as ">=4".
      failure: words that mean failure.
      of_command: whether errors name flags instead of parameters.
      **options: see `TableOptions`.

    Raises:
      UnknownName: a key of `columns` is not a column of the ratings table, or there is no such
        format.
      ArgumentError: a word is empty, has two meanings, or is a verdict of another meaning.
    """
    empty = ColumnMapping(of_command=of_command)
    mapping = ColumnMapping(
        {str(name): str(column) for name, column in (columns or {}).items()},
        annotator_columns=tuple(_list_values(options.get("annotator_columns", ()))),
        model_annotators=tuple(_list_values(options.get("model_annotator", ()))),
        left_out=tuple(_split_pair(empty, p) for p in _list_values(options.get("leave_out", ()))),
        unused=tuple(_list_values(options.get("unused", ()))),
        keeps_equal_rows=options.get("keep_equal_rows", False),
        format=options.get("format", ""),
        of_command=of_command,
    )
    for name in mapping.columns:
        if name not in TYPES:
            raise UnknownName("column of the ratings table", name, TYPES, most=len(TYPES))
    if mapping.format and mapping.format not in PRESETS:
        raise UnknownName(f"value of {empty.name_option('format')}", mapping.format, PRESETS)
    meanings: dict[str, str] = {}
    ranges: dict[str, str] = {}
    words_by_meaning: dict[str, Words] = {"success": success, "failure": failure}
    words_by_meaning |= {name: options[name] for name in MEANINGS if name in options}  # type: ignore[literal-required]
    for meaning, words in words_by_meaning.items():
        for word in _list_values(words):
            folded = fold_word(word)
            if not folded or (folded in VERDICTS and folded != meaning):
                raise ArgumentError(
                    f"{empty.name_option(meaning)}: expected another word than "
                    f"{', '.join(VERDICTS)}, found {quote(word)}"
                )
            known = ranges if _RANGE.fullmatch(folded) else meanings
            if (other := known.setdefault(folded, meaning)) != meaning:
                raise ArgumentError(
                    f"{empty.name_option(other)} and {empty.name_option(meaning)}: expected "
                    f"different words, found {quote(word)} in both"
                )
    _check_ranges(empty, ranges)
    # A word without a meaning of success or failure leaves those of booleans, or of the format.
    if not {*meanings.values(), *ranges.values()} & {*MARKED_VERDICTS}:
        meanings = {**(mapping.preset.meanings or AS_WRITTEN.meanings), **meanings}
    return mapping._replace(meanings=meanings, ranges=ranges)


def _list_values(values: Words) -> list[str]:
    """Return one value or several as texts."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        return [str(values)]
    return [*map(str, values)]


def _split_pair(mapping: ColumnMapping, pair: str) -> tuple[str, str]:
    column, separator, value = pair.partition("=")
    if not (separator and column):
        raise ArgumentError(
            f"{mapping.name_option('leave_out')}: expected COLUMN=VALUE, found {quote(pair)}"
        )
    return column, value


def _check_ranges(mapping: ColumnMapping, ranges: Mapping[str, str]) -> None:
    """Refuse ranges of different meanings that share a number."""
    bounds = [float(text.lstrip("<>=")) for text in ranges]
    for value in (near for b in bounds for near in (math.nextafter(b, -math.inf), b, b + 1)):
        holding = [text for text in ranges if _is_within(value, text)]
        if len({ranges[text] for text in holding}) > 1:
            first, second = (mapping.name_option(ranges[t], t) for t in (holding[0], holding[-1]))
            raise ArgumentError(f"{first} and {second}: expected ranges without common numbers")


def _is_within(value: float, numbers: str) -> bool:
    """Return True if a value is in a range such as ">=4"."""
    bound = numbers.lstrip("<>=")
    return bool(_COMPARE[numbers.removesuffix(bound)](value, float(bound)))


def find_columns(
    name: str, header: Sequence[str], columns: Iterable[str], mapping: ColumnMapping
) -> dict[str, str]:
    """Return the columns that a table has, as {our name: the table's}.

    A column to which `mapping` gives a name does not count under its own name as well. Columns
    that are read for their rows alone have the names of `name_wide` and `name_left_out`.

    Args:
      name: of the table, for errors.
      header: its columns.
      columns: the columns that such a table can have.
      mapping: how a user has described the table.

    Raises:
      UnknownName: the mapping names a column that the table does not have.
    """
    named = dict(mapping.columns)
    free = {*header} - {*named.values(), *mapping.unused}
    taken = {*named, *(free & {*columns})}
    named |= {c: theirs for c, theirs in mapping.preset.find(header).items() if c not in taken}
    free -= {*named.values()}
    further = {name_wide(n): column for n, column in enumerate(mapping.list_wide(header))}
    left_out = dict.fromkeys(column for column, _ in mapping.list_left_out(header))
    further |= {name_left_out(column): column for column in left_out}
    for column in (*named.values(), *further.values(), *mapping.unused):
        if column not in header:
            raise UnknownName(f"column of {name}", column, filter(None, header))
    used = {c: named.get(c, c) for c in columns if c in named or c in free}
    return used | further


def name_wide(number: int) -> str:
    """Return what a column with the verdicts of one annotator is called while rows are arranged."""
    return f"annotator column {number}"


def name_left_out(column: str) -> str:
    """Return what a column by which rows are left out is called while rows are arranged."""
    return f"left out by {column}"


def require_columns(
    name: str,
    header: Sequence[str],
    columns: Iterable[str],
    mapping: ColumnMapping = AS_WRITTEN,
) -> None:
    """Check that a ratings table has every required column.

    Args:
      name: of the table, for errors.
      header: the columns as found in it.
      columns: the columns that it has by our names, as `find_columns` returns them; verdicts may
        be in columns of annotators.
      mapping: how a user has described it.

    Raises:
      DamagedData: a column is missing; suggests one of a similar name for it.
    """
    known = {*columns} | ({"verdict"} if mapping.annotator_columns else set())
    missing = [column for column in REQUIRED_COLUMNS if column not in known]
    if not missing:
        return
    listed = ", ".join(escape_unprintable(column[:_SHOWN]) for column in header[:MAX_LISTED])
    more = f" and {len(header) - MAX_LISTED} more" if len(header) > MAX_LISTED else ""
    noun = "columns" if len(missing) > 1 else "a column"
    raise DamagedData(
        f"{name}: expected {noun} {', '.join(missing)}; found columns {listed}{more}"
        f"{_suggest_options(missing, header, mapping)}"
    )


def _suggest_options(missing: Sequence[str], header: Sequence[str], mapping: ColumnMapping) -> str:
    """Return "; did you mean --column agent=Agent?" for similar names, or how to name a column."""
    import difflib  # slow to import

    by_folded = {column.casefold(): column for column in header if column not in REQUIRED_COLUMNS}
    pairs = []
    for name in missing:
        for folded in difflib.get_close_matches(name, by_folded, 1):
            pairs.append(f"{name}={by_folded.pop(folded)}")
    if not pairs:
        example = mapping.name_option("column", f"{missing[0]}=COLUMN")
        return f"; state which one it is, as in {example}"
    return f"; did you mean {mapping.name_option('column', *pairs)}?"
