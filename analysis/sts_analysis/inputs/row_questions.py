"""Rows and columns of a foreign table that may not be what they are taken for."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from sts.errors import DamagedData
from sts.names import count_noun, quote
from sts_analysis.inputs.mapping import ColumnMapping
from sts_analysis.inputs.tables import OtherColumn, RawTable, is_empty

_SEPARATING = ("continuation", "clip", "media", "order", "seconds")
"""Columns of ours that distinguish attempts which are equal otherwise."""
_PERSON = re.compile(
    r"(?i)(annotator|rater|coder|judge|evaluator|labell?er|worker|participant|reviewer|observer)"
)
_ATTEMPT = re.compile(
    r"(?i)(^|[^a-z])(uu|gu)?id$|Id$|ID$|key|hash|video|clip|episode|media|file|url"
)
_DISMISSED = {
    *("rejected", "preview", "survey preview", "survey test", "spam", "returned", "timed-out"),
    *("timed out", "screened out", "incomplete", "draft", "cancelled", "canceled", "skipped"),
    *("abandoned", "deleted", "invalid", "expired"),
}
_DISMISSED_BY = {"was_cancelled": ("true", "1"), "finished": ("false", "0")}
_MEDIA = re.compile(r"(?i)\.(mp4|webm|mov|ogv|avi|mkv|gif)$")
_MOST_WORDS = 50
"""Distinct words up to which a column can be a status."""


class _Rows(NamedTuple):
    """Numbers that equal rows have in common.

    Attributes:
      cell: uint64[rows], of agent and scenario.
      judged: uint64[rows], of agent, scenario and annotator.
    """

    cell: np.ndarray
    judged: np.ndarray


def refuse_equal_rows(table: RawTable, mapping: ColumnMapping) -> None:
    """Refuse rows that are equal in every column, if columns distinguish all other rows.

    Otherwise, as in a table of three columns, equal rows are attempts of their own.

    Raises:
      DamagedData: names the first such row and the one that it repeats.
    """
    if mapping.keeps_equal_rows or mapping.annotator_columns or table.frame.empty:
        return
    own = {column: pd.factorize(table.frame[column])[0] for column in table.frame}
    others = [other.codes for other in table.others.values()]
    count = len(table.lines)
    number = _join(count, *own.values(), *others)
    again = pd.Series(number).duplicated().to_numpy()
    if not again.any():
        return
    cell = _join(count, *(own[column] for column in ("agent", "scenario") if column in own))
    mark = _join(count, *(own[column] for column in _SEPARATING if column in own), *others)
    rows = pd.DataFrame({"cell": cell, "mark": mark})[~again]
    is_distinguished = not rows.duplicated().any()
    varies = rows["cell"].duplicated().any() or not rows["mark"].duplicated().any()
    if is_distinguished and varies and len(rows) > 1:
        row = int(np.argmax(again))
        first = int(np.argmax(number == number[row]))
        raise DamagedData(
            f"{table.place(row)}: equal in every column to {table.unit} {table.lines[first]}, as "
            f"{count_noun(int(again.sum()), 'row')} repeat another; remove repeated rows, or state "
            f"{mapping.name_option('keep_equal_rows')} if each is an attempt of its own"
        )


def _join(rows: int, *columns: np.ndarray) -> np.ndarray:
    """Return uint64[rows], a hash of the numbers in each row."""
    number = np.zeros(rows, np.uint64)
    for codes in columns:
        number = pd.util.hash_array(number + codes.astype(np.uint64))
    return number


def ask_about_rows(table: RawTable, mapping: ColumnMapping) -> tuple[str, ...]:
    """Return questions about columns that are not used, each with the options that answer it."""
    rows = _number_rows(table)
    questions = []
    for name, column in table.others.items():
        if name not in mapping.unused and len(column.codes):
            questions += [*_ask_about_column(table, mapping, rows, name, column)][:1]
    if "media" in table.frame:
        media = table.frame["media"]
        codes = pd.factorize(media)[0]
        codes[is_empty(media)] = -1
        questions += _ask_about_media(table, "media", codes, media)
    return tuple(questions)


def _ask_about_column(
    table: RawTable, mapping: ColumnMapping, rows: _Rows, name: str, column: OtherColumn
) -> Iterator[str]:
    dismiss = mapping.name_option("unused", name)
    if len(column.words) <= _MOST_WORDS:
        words = [word for word in column.list_words() if _is_dismissed(name, word)]
        if words:
            options = " ".join(mapping.name_option("leave_out", f"{name}={w}") for w in words)
            yield (
                f"Column {quote(name)} looks like a status, with rows of {', '.join(words)}: "
                f"should they count? Leave them out with {options}, or state {dismiss}."
            )
    filled = column.codes >= 0
    is_person = _PERSON.search(name) is not None
    if "annotator" not in table.frame and (is_person or _is_crossed(rows.cell, column)):
        who = mapping.name_option("column", f"annotator={name}")
        what = mapping.name_option("column", f"continuation={name}")
        yield (
            f"Column {quote(name)} repeats from one agent and scenario to the next: does it name "
            f"annotators ({who}, with the column of the judged attempt as continuation), or "
            f"attempts ({what})? If neither, state {dismiss}."
        )
    is_asked = filled.all() and not mapping.keeps_equal_rows
    if is_asked and _ATTEMPT.search(name) and _is_repeated_thing(rows, column):
        what = mapping.name_option("column", f"continuation={name}")
        yield (
            f"Column {quote(name)} has {len(column.words):,} values in {len(column.codes):,} rows: "
            f"are rows of one value copies, or judgements of one attempt ({what})? If neither, "
            f"state {dismiss}."
        )
    if len(column.words) and _MEDIA.search(str(column.list_words()[0])):
        cells = pd.Series(np.array([*column.list_words(), ""], object)[column.codes])
        yield from _ask_about_media(table, name, column.codes, cells)


def _is_dismissed(name: str, word: str) -> bool:
    folded = word.casefold()
    return folded in _DISMISSED or folded in _DISMISSED_BY.get(name.casefold(), ())


def _is_crossed(cell: np.ndarray, column: OtherColumn) -> bool:
    """Return True if a column never repeats within a cell, but does from one cell to the next."""
    rows = len(cell)
    if len(column.words) * 2 > rows or (column.codes < 0).any():
        return False
    within = pd.DataFrame({"cell": cell, "code": column.codes}).duplicated().any()
    return not within and bool(pd.Series(cell).duplicated().any())


def _is_repeated_thing(rows: _Rows, column: OtherColumn) -> bool:
    """Return True if a column repeats only within what one annotator judged of one agent."""
    if not len(np.unique(rows.judged)) < len(column.words) < len(column.codes):
        return False
    pairs = pd.DataFrame({"code": column.codes, "judged": rows.judged}).drop_duplicates()
    return not pairs["code"].duplicated().any()


def _ask_about_media(table: RawTable, name: str, codes: np.ndarray, words: pd.Series) -> list[str]:
    """Return a question if two agents share a video."""
    if "agent" not in table.frame:
        return []
    pairs = pd.DataFrame({"code": codes, "agent": table.frame["agent"].astype(object)})
    pairs = pairs[(pairs["agent"] != "").to_numpy() & (codes >= 0)].drop_duplicates()
    shared = pairs[pairs["code"].duplicated(keep=False)]
    if shared.empty:
        return []
    code = shared["code"].iat[0]
    agents = ", ".join(shared["agent"][shared["code"] == code])
    other = shared["code"].nunique() - 1
    more = f" (and {other} other files)" if other else ""
    word = str(words.iat[int(np.argmax(codes == code))])
    return [
        f"Column {quote(name)} has {quote(word)}{more} for several agents, {agents}: correct the "
        "table, unless their attempts are the same."
    ]


def _number_rows(table: RawTable) -> _Rows:
    def number(*columns: str) -> np.ndarray:
        given = [pd.factorize(table.frame[c])[0] for c in columns if c in table.frame]
        return _join(len(table.lines), *given)

    return _Rows(number("agent", "scenario"), number("agent", "scenario", "annotator"))
