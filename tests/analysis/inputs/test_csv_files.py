"""The fast reader of CSV returns what the exact one does, or leaves the table to it."""

import random

import numpy as np
import pandas as pd
import pytest

from sts.errors import DamagedData
from sts.storage import csv_tables
from sts.storage.csv_dialect import Dialect
from sts.storage.csv_tables import CsvTable, parse_csv
from sts_analysis.inputs import csv_files
from sts_analysis.inputs.tables import Source, select_columns


def make_frame(source: Source) -> pd.DataFrame:
    table = select_columns(source, ("a", "b", "c"))
    return table.frame.set_index(table.lines)


class LeftToExactReader(Exception):
    """Raised in place of reading rows exactly."""


def parse_header(name: str, data: bytes, dialect: Dialect) -> CsvTable:
    if b"\n" in data:
        raise LeftToExactReader
    return parse_csv(name, data, dialect)


def read_fast(data: bytes) -> pd.DataFrame | None:
    """Return the table that the fast reader reads; None if it leaves it to the exact one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "parse_csv", parse_header)
        try:
            return make_frame(csv_files.open_csv("t", data))
        except LeftToExactReader:
            return None


def read_exactly(data: bytes) -> pd.DataFrame:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_is_plain", lambda *_: False)
        return make_frame(csv_files.open_csv("t", data))


PLAIN = [
    b"a,b,c\n1,2,3\n",
    b"a,b,c\n",
    b"a,b,c\n1,2,3",
    b"\xef\xbb\xbfa,b,c\r\n1,2,3\r\n\r\n\n",
    b" a ,x,'=b\n 1 , 2,'=1+1\n'1,-2,''-3\n",
    b'"a","b","c"\n"1, 2","say ""so""",""\n"""",,"x"\r\n',
    "a,b\n\u00e9\u3000,\u2003x\n".encode(),
    b"a,b,d\n1,2,\xff\n",
    b"a,b,d\n1,2,\n,,3\n1,,\n".replace(b",,3", b"0,,3"),
]
"""Tables that the fast reader reads."""
OTHER = [
    b"\na,b\n1,2\n",
    b"a\n1\n",
    b"x,y\n1,2\n",
    b"a,b\n1,2\n\n3,4\n",
    b"a,b\n1,2\n  \n",
    b"a,b\n1,2\n,\n3,4\n",
    b"a,b,d\n1,2,\n,,\n,,4\n",
    b"a,b\n1\n",
    b"a,b\n1,2,3\n",
    b'a,b\n1,"x\ny"\n3,4\n',
    b'a,b\n1,"x"y\n',
    b'a,b\n1,x"y"\n',
    b'a,b\n1,"x\n',
    b'a,b\n1, "x, y"\n',
    b"a,b\n1,2\r3,4\n",
    b"a,b\n1,%b\n" % (b"x" * 200_000),
]
"""Tables that only the exact reader reads, or whose fault it names."""


@pytest.mark.parametrize("data", PLAIN)
def test_plain_table_is_read_fast_and_the_same(data: bytes) -> None:
    frame = read_fast(data)
    assert frame is not None
    pd.testing.assert_frame_equal(frame, read_exactly(data))


@pytest.mark.parametrize("data", OTHER)
def test_other_tables_are_left_to_the_exact_reader(data: bytes) -> None:
    assert read_fast(data) is None


def test_random_tables_are_read_the_same_or_left_to_the_exact_reader() -> None:
    draw = random.Random(0)
    cells = ["x", "'=y", " \u00e9", '"x"', '"x, ""y"" "', '""', "", ' "x"', '"x\n"', "\n", '"']
    ends = ["\n", "\n", "\n", "\n", "\r\n", "\r"]
    fast = quoted = 0
    for _ in range(1000):
        rows = range(draw.randrange(1, 4))
        body = "".join(",".join(draw.choices(cells, k=2)) + draw.choice(ends) for _ in rows)
        data = f"a,b\n{body}".encode()
        frame = read_fast(data)
        if frame is not None:
            fast, quoted = fast + 1, quoted + ('"' in body)
            pd.testing.assert_frame_equal(frame, read_exactly(data))
    assert fast > 150 and quoted > 100


def test_too_many_rows_are_refused_before_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"a,b\n" + b'1,"2"\n' * 11
    monkeypatch.setattr("pyarrow.csv.read_csv", None)
    monkeypatch.setattr(csv_tables, "MAX_ROWS", 10)
    with pytest.raises(DamagedData, match=r"^t: expected at most 10 rows, found more$"):
        read_fast(data)
    monkeypatch.undo()
    frame = read_fast(data)
    assert frame is not None and len(frame) == 11


def test_both_readers_refuse_a_column_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    for read in (read_fast, read_exactly):
        with pytest.raises(DamagedData, match="duplicate column 'a'; keep one"):
            read(b"a,a,b\n1,2,3\n")
    monkeypatch.setattr(csv_tables, "MAX_ROWS", 1)
    with pytest.raises(DamagedData, match="expected at most 1 rows, found more"):
        read_exactly(b"a,b\n1,2\n3,4\n")
    assert np.array_equal(read_exactly(b"a,b\n\n3,4\n").index, [3])
