"""Rows of a foreign table, brought into the order of the ratings table."""

from collections import Counter

import numpy as np
import pandas as pd

from sts.errors import ArgumentError, UnknownName
from sts.ratings import MARKED_VERDICTS, VERDICTS, fold_word
from sts_analysis.inputs import tables
from sts_analysis.inputs.mapping import (
    IGNORED,
    ColumnMapping,
    name_left_out,
    name_wide,
)
from sts_analysis.inputs.presets import PRESETS, Preset

_UNKNOWN = ("", "na", "nan")
_DESCRIBES = '{"ImportId"'
"""Start of the cells in the last row that describes columns."""


def arrange_rows(
    table: tables.RawTable, mapping: ColumnMapping
) -> tuple[tables.RawTable, dict[str, int]]:
    """Leave out rows, split rows of several annotators, and mark those of programs.

    Returns:
      The table in columns of the ratings format alone, and how many rows were left out, by reason.
    """
    left_out: dict[str, int] = {}
    preset = PRESETS.get(mapping.format, Preset({}))
    if preset.repeats_header:
        table = _drop(table, _find_descriptions(table), "a description of the columns", left_out)
    for column, value in mapping.list_left_out(table.header):
        # A number, such as 1.0, is compared as it is written without its zeros.
        cells = tables.by_word(table.frame[name_left_out(column)], fold_word)
        rows = (cells == fold_word(value)).to_numpy()
        table = _drop(table, rows, f"{column} = {value}", left_out)
    wide = mapping.list_wide(table.header)
    if wide:
        table = _split_annotators(table, wide)
    if "verdict" in table.frame:
        verdicts = table.frame["verdict"]
        meaning = tables.by_word(verdicts, mapping.interpret)
        for word in sorted(verdicts[meaning == IGNORED].unique()):
            rows = (table.frame["verdict"] == word).to_numpy()
            table = _drop(table, rows, f"verdict {word}", left_out)
    helpers = {name_left_out(column) for column, _ in mapping.list_left_out(table.header)}
    frame = table.frame.drop(columns=[*helpers])
    if preset.source != "human" and "source" not in frame:
        frame["source"] = tables.coded(np.zeros(len(frame), np.int8), [preset.source])
    table = table._replace(frame=frame)
    if mapping.model_annotators:
        _mark_models(table, mapping)
    if preset.first_frame is not None and {"step", "verdict"} <= {*frame}:
        frame["step"] = _count_steps(frame, mapping, preset.first_frame)
    return table, left_out


def count_words(table: tables.RawTable, mapping: ColumnMapping) -> dict[str, dict[str, int]]:
    """Return the number of rows of each word that stands for a verdict, by its verdict."""
    counts: dict[str, dict[str, int]] = {verdict: {} for verdict in VERDICTS}
    if "verdict" in table.frame:
        for word, rows in sorted(Counter(table.frame["verdict"]).items()):
            meaning = mapping.interpret(word)
            if meaning in VERDICTS:
                counts[meaning][word] = rows
    return {verdict: words for verdict, words in counts.items() if words}


def _drop(
    table: tables.RawTable, rows: np.ndarray, reason: str, left_out: dict[str, int]
) -> tables.RawTable:
    if not rows.any():
        return table
    left_out[reason] = left_out.get(reason, 0) + int(rows.sum())
    return table.keep(~rows)


def _find_descriptions(table: tables.RawTable) -> np.ndarray:
    """Return bool[rows], the two rows below the header that describe the columns."""
    rows = np.zeros(len(table.lines), bool)
    if len(rows) > 1:
        cells = [str(table.frame[column].iat[1]) for column in table.frame]
        cells += [other.list_words()[other.codes[1]] for other in table.others.values()]
        rows[:2] = any(cell.startswith(_DESCRIBES) for cell in cells)
    return rows


def _split_annotators(table: tables.RawTable, annotators: list[str]) -> tables.RawTable:
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
        frame = frame.assign(continuation=tables.by_word(pd.Series(table.lines.astype(str))))
    table = table._replace(frame=frame.drop(columns=columns)).keep(row)
    frame = table.frame.assign(
        annotator=tables.by_word(pd.Series(name, dtype=object)),
        verdict=tables.by_word(pd.Series(verdict, dtype=object)),
    )
    return table._replace(frame=frame)


def _mark_models(table: tables.RawTable, mapping: ColumnMapping) -> None:
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
    source = frame["source"] if "source" in frame else pd.Series("human", frame.index)
    frame["source"] = tables.by_word(source.astype(object).mask(is_model, "model"))


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
    marked = tables.by_word(frame["verdict"], mapping.interpret).isin(MARKED_VERDICTS)
    return tables.by_word(cells, count).astype(object).where(marked, "")
