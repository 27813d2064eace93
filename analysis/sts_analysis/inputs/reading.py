"""The reading of a foreign table, which is stated before any number."""

from collections.abc import Iterable, Mapping

import msgspec

from sts.names import count_noun, escape_unprintable
from sts.storage.csv_dialect import Dialect

_LISTED = 12
"""Columns or words in a line; the others are counted."""


class Reading(msgspec.Struct, frozen=True):
    """How a foreign table was understood.

    Attributes:
      name: of the table.
      form: how it was written, such as "UTF-8, separated by commas".
      rows: without those left out.
      columns: the names of columns in the table, by our name.
      unused: the names of columns that were not used; "" for each without a name.
      verdicts: by verdict, the words that stand for it, with their numbers of rows.
      left_out: numbers of rows that were left out, by the reason.
      questions: what the user should check, each with the option that answers it.
    """

    name: str
    form: str
    rows: int
    columns: dict[str, str]
    unused: tuple[str, ...]
    verdicts: dict[str, dict[str, int]]
    left_out: dict[str, int]
    questions: tuple[str, ...]

    @property
    def is_usual(self) -> bool:
        """Return False if its separator, encoding or sheet had to be recognised."""
        separator = "\t" if self.name.endswith(".tsv") else ","
        return self.form in (str(Dialect(separator)), "Parquet", "a data frame")


def describe_reading(reading: Reading) -> dict[str, str]:
    """Return a text for each thing that was understood, by what it is about."""
    used = (
        ours if ours == theirs else f"{ours} from {theirs}"
        for ours, theirs in reading.columns.items()
    )
    unnamed = reading.unused.count("")
    unused = [name for name in reading.unused if name]
    if unnamed:
        unused.append(f"{count_noun(unnamed, 'column')} without a name")
    verdicts = (f"{v} from {_list_counts(words)}" for v, words in reading.verdicts.items())
    texts = {
        "read": f"{reading.name}: {reading.form}; {count_noun(reading.rows, 'row')}",
        "columns": _list(used),
        "not used": _list(unused),
        "verdicts": "; ".join(verdicts),
        "left out": _list_counts(reading.left_out),
    }
    return {name: escape_unprintable(text) for name, text in texts.items() if text}


def _list_counts(counts: Mapping[str, int]) -> str:
    return _list(f"{word} ({count_noun(rows, 'row')})" for word, rows in counts.items())


def _list(words: Iterable[str]) -> str:
    every = [*words]
    more = f" and {len(every) - _LISTED} more" if len(every) > _LISTED else ""
    return ", ".join(every[:_LISTED]) + more
