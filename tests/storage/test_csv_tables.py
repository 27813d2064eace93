"""CSV tables: formulas are escaped, and cells read back unchanged."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.errors import DamagedData
from sts.storage import csv_tables
from sts.storage.csv_tables import format_csv, parse_csv
from tests.access.attempts import attempt

FORMULAS = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "\uff1d1", "'=1"]


@attempt(
    "Markup and formulas",
    "cells that a spreadsheet would run, in any CSV that is written",
    "written behind an apostrophe, and read back without it",
)
@pytest.mark.parametrize("text", FORMULAS)
def test_formula_is_written_behind_an_apostrophe(text) -> None:
    rows = list(csv.reader(io.StringIO(format_csv([text], [[text]]).decode(), newline="")))
    assert [cell for row in rows for cell in row] == ["'" + text.replace("\r", "\n")] * 2


def test_cells_are_written_on_their_own_line_and_missing_ones_empty() -> None:
    written = format_csv(["a"], [["b\r=1"], ["c\r\nd"]])
    assert parse_csv("t", written).rows == [["b\n=1"], ["c\nd"]]
    assert b"\r" not in written
    written = format_csv(["n", "x", "missing", "nan"], [[-5, -0.25, None, float("nan")]])
    assert written == b"n,x,missing,nan\n-5,-0.25,,\n"
    assert parse_csv("t", b'a,b\n,\n"x\ny",1\n\n2,3\n').lines == [3, 6]  # empty rows are skipped


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"])), min_size=1))
def test_cells_read_back_as_written(cells) -> None:
    cells = [*cells, "=1", "''=1", "'", "plain"]
    header = [f"c{i}" for i in range(len(cells))]
    assert parse_csv("t", format_csv(header, [cells])) == (header, [cells], [2])


def test_too_many_rows_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(csv_tables, "MAX_ROWS", 3)
    assert len(parse_csv("t", b"a\n1\n2\n3\n").rows) == 3
    with pytest.raises(DamagedData, match="t: expected at most 3 rows, found more"):
        parse_csv("t", b"a\n1\n2\n3\n4\n")
