"""Bad ratings and scores tables are refused with the place and the remedy; good ones are typed."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import ratings, scores, tables
from sts.errors import ArgumentError, DamagedData, StsError

HEADER = "agent,scenario,category,continuation,annotator,verdict,step,horizon"
GOOD = ["a,s1,c,a1,ann,success,3,10", "a,s1,c,a2,ann,not_done,,10", "b,s1,c,b1,,,,10"]


def written(folder: Path, *rows: str, header: str = HEADER, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_good_table_is_typed(tmp_path: Path) -> None:
    frame = ratings.read_ratings(written(tmp_path, *GOOD))
    assert frame["step"].tolist()[0] == 3 and np.isnan(frame["step"].tolist()[1])
    assert frame["horizon"].dtype == np.int64
    assert set(frame["source"]) == {"human"} and set(frame["sees"]) == {"observation"}
    assert frame["verdict"].tolist() == ["success", "not_done", ""]
    assert not frame["extra"].any()


def test_csv_and_parquet_give_the_same_table(tmp_path: Path) -> None:
    path = written(tmp_path, *GOOD)
    typed = pd.read_csv(path)
    typed.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(
        ratings.read_ratings(path), ratings.read_ratings(tmp_path / "t.parquet")
    )


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("a,s1,c,x,ann,sucess,3,10", r"t\.csv, line 5: verdict: .*success.*found 'sucess'"),
        ("a,s1,c,x,ann,success,11,10", r"line 5: step: .*1 to its horizon, found '11'"),
        ("a,s1,c,x,ann,failure,0,10", r"line 5: step: .*found '0'"),
        ("a,s1,c,x,ann,success,2.5,10", r"line 5: step: expected a whole step, found '2\.5'"),
        ("a,s1,c,x,ann,not_done,4,10", r"line 5: step: .*not_done.*found '4'"),
        ("a,s1,c,x,ann,success,4,", r"line 5: horizon: .*found ''"),
        ("a,s1,c,x,ann,success,4,0", r"line 5: horizon: .*found '0'"),
        ("a,s1,c,a1,ann,failure,4,10", r"line 5: annotator: .*one row per continuation"),
        ("b,s1,c,a1,bob,failure,4,10", r"line 5: continuation 'a1' has agent 'b' here and 'a'"),
        ("a,s2,c,a1,bob,failure,4,10", r"line 5: continuation 'a1' has scenario 's2'"),
        ("a,s1,c,a1,bob,failure,4,12", r"line 5: continuation 'a1' has horizon '12'"),
        ("a,s1,d,x,ann,failure,4,10", r"line 5: scenario 's1' has category 'd' here and 'c'"),
        (",s1,c,x,ann,failure,4,10", r"line 5: agent: expected a name"),
        ("a,s1,c,x,,failure,4,10", r"line 5: annotator: expected a name"),
        ("a,s1,c,x,ann,failure,4", r"line 5: expected 8 cells, found 7"),
        ('a,s1,c,x,"ann"x,failure,4,10', r"line 5: not readable as CSV"),
    ],
)
def test_a_bad_row_is_named_with_its_line(tmp_path: Path, row: str, expected: str) -> None:
    with pytest.raises(DamagedData, match=expected):
        ratings.read_ratings(written(tmp_path, *GOOD, row))


def test_a_quoted_line_break_does_not_shift_line_numbers(tmp_path: Path) -> None:
    rows = ['"a\nb",s1,c,x,ann,success,3,10', "a,s1,c,y,ann,nope,3,10"]
    with pytest.raises(DamagedData, match="line 4: verdict"):
        ratings.read_ratings(written(tmp_path, *rows))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a,s", header="agent,scenario")
    with pytest.raises(DamagedData, match="missing columns 'category', 'continuation'"):
        ratings.read_ratings(path)


@pytest.mark.parametrize("cell", ["robot", "HUMAN"])
def test_an_unknown_source_is_refused(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"{GOOD[0]},{cell}", header=f"{HEADER},source")
    with pytest.raises(DamagedData, match="source: expected one of human, automatic, model"):
        ratings.read_ratings(path)


def test_an_agent_that_sees_two_things_is_refused(tmp_path: Path) -> None:
    rows = [f"{GOOD[0]},world", f"{GOOD[1]},observation"]
    with pytest.raises(DamagedData, match="agent 'a' has sees 'observation' here and 'world'"):
        ratings.read_ratings(written(tmp_path, *rows, header=f"{HEADER},sees"))


@pytest.mark.parametrize(
    ("data", "name", "error", "expected"),
    [
        (b"", "t.csv", DamagedData, "empty file"),
        (b" \n \n", "t.csv", DamagedData, "empty file"),
        (HEADER.encode(), "t.csv", DamagedData, "only a header"),
        (b"PAR1\x00\x01\xff\xfe", "t.csv", DamagedData, "binary file"),
        (b"agent\x00", "t.csv", DamagedData, "binary file"),
        (b"PAR1 damaged", "t.parquet", DamagedData, "damaged"),
        (b"a,a\n1,2\n", "t.csv", DamagedData, "column 'a' stands twice"),
        (b"x", "t.xlsx", ArgumentError, r"found '\.xlsx'"),
        (b"x", "t", ArgumentError, "found no extension"),
    ],
)
def test_a_file_that_is_no_table_is_refused(
    tmp_path: Path, data: bytes, name: str, error: type[StsError], expected: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=expected):
        ratings.read_ratings(tmp_path / name)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.read_csv(written(tmp_path, *GOOD)).to_parquet(path)
    whole = path.read_bytes()
    for size in (len(whole) - 5, len(whole) // 2, 20):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedData, match="damaged"):
            ratings.read_ratings(path)


def test_a_file_that_does_not_exist_is_an_argument_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no table at"):
        ratings.read_ratings(tmp_path / "none.csv")


def test_reference_rows_need_no_agent(tmp_path: Path) -> None:
    path = written(tmp_path, *(f"{row}," for row in GOOD), header=f"{HEADER},truth")
    path.write_text(path.read_text() + ",,,ref,ann,success,2,10,failure\n")
    assert ratings.read_ratings(path)["truth"].tolist()[-1] == "failure"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("a,m,fast,", "line 3: value: expected a finite number, found 'fast'"),
        ("a,m,nan,", "line 3: value"),
        ("a,m,inf,", "line 3: value"),
        ("a,m,1,-1", "line 3: standard_error"),
        ("a,k,2,", "line 3: metric: expected one value per agent and metric"),
        ("a,,2,", "line 3: metric: expected a name"),
        ("a,pass_rate,2,", "line 3: metric: expected another name"),
    ],
)
def test_a_bad_score_is_named_with_its_line(tmp_path: Path, row: str, expected: str) -> None:
    header = "agent,metric,value,standard_error"
    with pytest.raises(DamagedData, match=expected):
        scores.read_scores(written(tmp_path, "a,k,1,0.5", row, header=header))


def test_scores_that_contradict_each_other_are_refused() -> None:
    def table(value: str) -> pd.DataFrame:
        frame = pd.DataFrame({"agent": ["a"], "metric": ["m"], "value": [value]})
        return scores.check_scores(tables.from_frame("x", frame))

    assert len(scores.merge_scores([("one", table("1")), ("two", table("1"))])) == 1
    with pytest.raises(DamagedData, match="two and one give 'a' different values of 'm'"):
        scores.merge_scores([("one", table("1")), ("two", table("2"))])
    assert scores.override_scores(table("1"), table("2"))["value"].tolist() == [2.0]
