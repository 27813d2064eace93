"""Rows and columns of a foreign table that may not be what they are taken for."""

import re
from collections.abc import Iterator

import numpy as np
import pandas as pd

from sts.errors import DamagedData
from sts.names import count_noun, quote
from sts_analysis.inputs.mapping import ColumnMapping
from sts_analysis.inputs.tables import Column, RawTable
from sts_analysis.inputs.words import format_value, number_groups

_CELL = ["agent", "scenario"]
"""Columns that an attempt is of."""
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
_DISMISSED_BY = {"was_cancelled": {"true", "1"}, "finished": {"false", "0"}}
_MEDIA = re.compile(r"(?i)\.(mp4|webm|mov|ogv|avi|mkv|gif)$")
_MOST_WORDS = 50
"""Distinct words up to which a column can be a status."""


def refuse_equal_rows(table: RawTable, mapping: ColumnMapping) -> None:
    """Refuse rows that are equal in every column, if columns distinguish all other rows.

    Otherwise, as in a table of three columns, equal rows are attempts of their own.

    Raises:
      DamagedData: names the first such row and the one that it repeats.
    """
    others = {f"other column {n}": c.codes for n, c in enumerate(table.unused_columns.values())}
    marks = [column for column in _SEPARATING if column in table.frame] + [*others]
    if mapping.keeps_equal_rows or mapping.annotator_columns or not marks:
        return
    rows = pd.concat([table.frame, pd.DataFrame(others)], axis=1)
    again = rows.duplicated().to_numpy()
    if not again.any():
        return
    kept = rows[~again]
    is_distinguished = not kept.duplicated([*_CELL, *marks]).any()
    varies = kept.duplicated(_CELL).any() or not kept.duplicated(marks).any()
    if is_distinguished and varies and len(kept) > 1:
        row = int(np.argmax(again))
        first = int(np.argmax(rows[: row + 1].duplicated(keep=False)))
        raise DamagedData(
            f"{table.name_row(row)}: equal in every column to {table.unit} {table.lines[first]}, "
            f"as {count_noun(int(again.sum()), 'row')} repeat another; remove repeated rows, or "
            f"state {mapping.name_option('keep_equal_rows')} if each is an attempt of its own"
        )


def ask_about_rows(table: RawTable, mapping: ColumnMapping) -> tuple[str, ...]:
    """Return questions about columns that are not used, each with the options that answer it.

    Args:
      table: with every required column; see `require_columns`.
      mapping: how a user has described it.
    """
    judged = [*_CELL, *(column for column in ("annotator",) if column in table.frame)]
    rows = pd.DataFrame(
        {"cell": number_groups(table.frame, _CELL), "judged": number_groups(table.frame, judged)}
    )
    questions = []
    for name, column in table.unused_columns.items():
        if name not in mapping.unused and len(column.codes):
            questions += [*_ask_about_column(table, mapping, rows, name, column)][:1]
    if "media" in table.frame:
        media = table.frame["media"].astype(object)
        column = Column(*pd.factorize(media.where(media != "", None)))
        questions += _ask_about_media(table, "media", column)
    return tuple(questions)


def _ask_about_column(
    table: RawTable, mapping: ColumnMapping, rows: pd.DataFrame, name: str, column: Column
) -> Iterator[str]:
    dismiss = mapping.name_option("unused", name)
    if len(column.values) <= _MOST_WORDS:
        dismissed = _DISMISSED | _DISMISSED_BY.get(name.casefold(), set())
        words = [word for word in column.list_words() if word.casefold() in dismissed]
        if words:
            options = " ".join(mapping.name_option("leave_out", f"{name}={w}") for w in words)
            yield (
                f"Column {quote(name)} looks like a status, with rows of {', '.join(words)}: "
                f"should they count? Leave them out with {options}, or state {dismiss}."
            )
    filled = column.codes >= 0
    is_person = _PERSON.search(name) is not None
    if "annotator" not in table.frame and (is_person or _is_crossed(rows, column)):
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
            f"Column {quote(name)} has {len(column.values):,} values in {len(rows):,} rows: are "
            f"rows of one value copies, or judgements of one attempt ({what})? If neither, state "
            f"{dismiss}."
        )
    if len(column.values) and _MEDIA.search(format_value(column.values[0])):
        yield from _ask_about_media(table, name, column)


def _is_crossed(rows: pd.DataFrame, column: Column) -> bool:
    """Return True if a column never repeats within a cell, but does from one cell to the next."""
    if len(column.values) * 2 > len(rows) or (column.codes < 0).any():
        return False
    is_within = rows.assign(code=column.codes).duplicated(["cell", "code"]).any()
    return not is_within and bool(rows["cell"].duplicated().any())


def _is_repeated_thing(rows: pd.DataFrame, column: Column) -> bool:
    """Return True if a column repeats only within what one annotator judged of one agent."""
    if not rows["judged"].nunique() < len(column.values) < len(column.codes):
        return False
    pairs = rows.assign(code=column.codes)[["code", "judged"]].drop_duplicates()
    return not pairs["code"].duplicated().any()


def _ask_about_media(table: RawTable, name: str, column: Column) -> list[str]:
    """Return a question if two agents share a video."""
    pairs = pd.DataFrame({"code": column.codes, "agent": table.frame["agent"].astype(object)})
    pairs = pairs[(pairs["agent"] != "") & (pairs["code"] >= 0)].drop_duplicates()
    shared = pairs[pairs["code"].duplicated(keep=False)]
    if shared.empty:
        return []
    code = int(shared["code"].to_numpy()[0])
    agents = ", ".join(shared["agent"][shared["code"] == code])
    other = shared["code"].nunique() - 1
    more = f" (and {other} other files)" if other else ""
    return [
        f"Column {quote(name)} has {quote(column.list_words()[code])}{more} for several agents, "
        f"{agents}: correct the table, unless their attempts are the same."
    ]
