"""Rows of a foreign table, brought into the order of the ratings table."""

from collections import Counter

import numpy as np
import pandas as pd

from sts.errors import ArgumentError, UnknownName
from sts.ratings import MARKED_VERDICTS, VERDICTS, fold_word
from sts_analysis.inputs.mapping import IGNORED, ColumnMapping, name_left_out, name_wide
from sts_analysis.inputs.tables import RawTable
from sts_analysis.inputs.words import map_words

_UNKNOWN = ("", "na", "nan")
_DESCRIBES = '{"ImportId"'
"""Start of the cells in the last row that describes columns."""


def arrange_rows(table: RawTable, mapping: ColumnMapping) -> tuple[RawTable, dict[str, int]]:
    """Leave out rows, split rows of several annotators, and mark those of programs.

    Args:
      table: with every required column; see `require_columns`.
      mapping: how a user has described it.

    Returns:
      The table in columns of the ratings format alone, and how many rows were left out, by reason.
    """
    left_out: dict[str, int] = {}

    def leave_out(table: RawTable, rows: np.ndarray, reason: str) -> RawTable:
        if not rows.any():
            return table
        left_out[reason] = left_out.get(reason, 0) + int(rows.sum())
        return table.keep(~rows)

    preset, pairs = mapping.preset, mapping.list_left_out(table.header)
    if preset.repeats_header:
        table = leave_out(table, _find_descriptions(table), "a description of the columns")
    for column, value in pairs:
        # A number, such as 1.0, is compared as it is written without its zeros.
        shown = "NAME" if column == table.columns.get("annotator") else value
        cells = map_words(table.frame[name_left_out(column)], fold_word)
        table = leave_out(table, (cells == fold_word(value)).to_numpy(), f"{column} = {shown}")
    table = table._replace(frame=table.frame.drop(columns=[*{name_left_out(c) for c, _ in pairs}]))
    if mapping.annotator_columns:
        table = _split_annotators(table, mapping.list_wide(table.header))
    for word in table.frame["verdict"].unique():
        if mapping.interpret(word) == IGNORED:
            table = leave_out(table, (table.frame["verdict"] == word).to_numpy(), f"verdict {word}")
    frame = table.frame
    if preset.source != "human" and "source" not in frame:
        frame["source"] = preset.source
    if mapping.model_annotators:
        _mark_models(table, mapping)
    if preset.first_frame is not None and "step" in frame:
        frame["step"] = _count_steps(frame, mapping, preset.first_frame)
    return table, left_out


def count_words(table: RawTable, mapping: ColumnMapping) -> dict[str, dict[str, int]]:
    """Return the number of rows of each word that stands for a verdict, by its verdict."""
    counts: dict[str, dict[str, int]] = {verdict: {} for verdict in VERDICTS}
    for word, rows in sorted(Counter(table.frame["verdict"]).items()):
        if (verdict := mapping.interpret(word)) in VERDICTS:
            counts[verdict][word] = rows
    return {verdict: words for verdict, words in counts.items() if words}


def _find_descriptions(table: RawTable) -> np.ndarray:
    """Return bool[rows], the two rows below the header that describe the columns."""
    rows = np.zeros(len(table.lines), bool)
    if len(rows) > 1:
        cells = [str(table.frame[column].iat[1]) for column in table.frame]
        cells += [other.list_words()[other.codes[1]] for other in table.unused_columns.values()]
        rows[:2] = any(cell.startswith(_DESCRIBES) for cell in cells)
    return rows


def _split_annotators(table: RawTable, annotators: list[str]) -> RawTable:
    """Return the table with a row for each verdict; a row without any stays one.

    Without a column `continuation`, a row as found is one.
    """
    columns = [name_wide(n) for n in range(len(annotators))]
    frame = table.frame
    words = np.column_stack([frame[column].astype(object) for column in columns])
    is_kept = words != ""
    is_kept[:, 0] |= ~is_kept.any(axis=1)
    row, annotator = np.nonzero(is_kept)
    verdict = words[row, annotator]
    name = np.where(verdict == "", "", np.array(annotators, object)[annotator])
    if "continuation" not in frame:
        frame = frame.assign(continuation=map_words(pd.Series(table.lines.astype(str))))
    table = table._replace(frame=frame.drop(columns=columns)).keep(row)
    return table._replace(frame=table.frame.assign(annotator=name, verdict=verdict))


def _mark_models(table: RawTable, mapping: ColumnMapping) -> None:
    """Make programs in the column of annotators the source of their rows."""
    frame = table.frame
    if "annotator" not in frame:
        raise ArgumentError(
            f"{mapping.name_option('model_annotator')}: {table.name} has no column annotator"
        )
    known = frame["annotator"].unique()
    for name in mapping.model_annotators:
        if name not in known:
            raise UnknownName(f"annotator of {table.name}", name, filter(None, known))
    is_model = frame["annotator"].isin(mapping.model_annotators)
    source = frame["source"].astype(object) if "source" in frame else "human"
    frame["source"] = np.where(is_model, "model", source)


def _count_steps(frame: pd.DataFrame, mapping: ColumnMapping, first_frame: int) -> pd.Series:
    """Return the steps of marks on frames; a verdict without a mark has none."""

    def count(cell: str) -> str:
        try:
            return str(int(float(cell)) - first_frame)
        except (ValueError, OverflowError):
            return "" if cell.casefold() in _UNKNOWN else cell

    cells = frame["step"]
    if cells.dtype == np.float64:
        cells = cells.map(str)
    marked = map_words(frame["verdict"], mapping.interpret).isin(MARKED_VERDICTS)
    return map_words(cells, count).astype(object).where(marked, "")
