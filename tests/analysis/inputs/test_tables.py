"""Bad ratings and scores tables are refused with the place and the remedy; good ones are typed."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sts.errors import ArgumentError, DamagedData, StsError
from sts.storage import scores as saved
from sts_analysis.api import load_ratings
from sts_analysis.inputs import files, ratings, scores, tables
from tests.access.attempts import attempt

HEADER = "agent,scenario,category,continuation,annotator,verdict,step,horizon"
GOOD = ["a,s1,c,a1,ann,success,3,10", "a,s1,c,a2,ann,not_done,,10", "b,s1,c,b1,,,,10"]


def written(folder: Path, *rows: str, header: str = HEADER, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_a_good_table_is_typed(tmp_path: Path) -> None:
    frame = load_ratings(written(tmp_path, *GOOD))
    assert frame["step"].tolist()[0] == 3 and np.isnan(frame["step"].tolist()[1])
    assert frame["horizon"].dtype == np.int64
    assert set(frame["source"]) == {"human"} and set(frame["sees"]) == {"observation"}
    assert frame["verdict"].tolist() == ["success", "not_done", ""]
    assert not frame["extra"].any()


def test_csv_and_parquet_give_the_same_table(tmp_path: Path) -> None:
    path = written(tmp_path, *GOOD)
    typed = pd.read_csv(path)
    typed.to_parquet(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(load_ratings(path), load_ratings(tmp_path / "t.parquet"))


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
        load_ratings(written(tmp_path, *GOOD, row))


def test_a_quoted_line_break_does_not_shift_line_numbers(tmp_path: Path) -> None:
    rows = ['a,s1,c,x,ann,success,3,10,"a\nb"', "a,s1,c,y,ann,nope,3,10,"]
    with pytest.raises(DamagedData, match="line 4: verdict"):
        load_ratings(written(tmp_path, *rows, header=f"{HEADER},notes"))


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "a,s", header="agent,seed")
    with pytest.raises(DamagedData, match="columns scenario, verdict; found columns agent, seed"):
        load_ratings(path)


@pytest.mark.parametrize("cell", ["robot", "HUMAN"])
def test_an_unknown_source_is_refused(tmp_path: Path, cell: str) -> None:
    path = written(tmp_path, f"{GOOD[0]},{cell}", header=f"{HEADER},source")
    with pytest.raises(
        DamagedData, match="source: expected one of human, settled, automatic, model"
    ):
        load_ratings(path)


def test_an_agent_that_sees_two_things_is_refused(tmp_path: Path) -> None:
    rows = [f"{GOOD[0]},world", f"{GOOD[1]},observation"]
    with pytest.raises(DamagedData, match="agent 'a' has sees 'observation' here and 'world'"):
        load_ratings(written(tmp_path, *rows, header=f"{HEADER},sees"))


@pytest.mark.parametrize(
    ("data", "name", "error", "expected"),
    [
        (b"", "t.csv", DamagedData, "empty file"),
        (b" \n \n", "t.csv", DamagedData, "empty file"),
        (HEADER.encode(), "t.csv", DamagedData, "only a header"),
        (b"PAR1\x00\x01\xff\xfe", "t.csv", DamagedData, "binary file"),
        (b"agent\x00", "t.csv", DamagedData, "binary file"),
        (b"PAR1 damaged", "t.parquet", DamagedData, "damaged"),
        (b"agent,agent\n1,2\n", "t.csv", DamagedData, "duplicate column 'agent'"),
        (b"x", "t.xls", ArgumentError, r"found '\.xls'"),
        (b"x", "t", ArgumentError, "found no extension"),
    ],
)
def test_file_of_another_format_is_refused(
    tmp_path: Path, data: bytes, name: str, error: type[StsError], expected: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(error, match=expected):
        load_ratings(tmp_path / name)


def test_a_truncated_parquet_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.read_csv(written(tmp_path, *GOOD)).to_parquet(path)
    whole = path.read_bytes()
    for size in (len(whole) - 5, len(whole) // 2, 20):
        path.write_bytes(whole[:size])
        with pytest.raises(DamagedData, match="damaged"):
            load_ratings(path)


def test_a_file_that_does_not_exist_is_an_argument_error(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no table at"):
        load_ratings(tmp_path / "none.csv")


def test_reference_rows_need_no_agent(tmp_path: Path) -> None:
    path = written(tmp_path, *(f"{row}," for row in GOOD), header=f"{HEADER},truth")
    path.write_text(path.read_text() + ",,,ref,ann,success,2,10,failure\n")
    assert load_ratings(path)["truth"].tolist()[-1] == "failure"


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


def test_an_index_from_0_names_a_continuation_of_its_agent_and_scenario(tmp_path: Path) -> None:
    rows = [
        f"{agent},{scenario},c,{index},ann,success,3,{horizon}"
        for agent in ("a", "b")
        for scenario, horizon in (("s1", 10), ("s2", 20))
        for index in (0, 1)
    ]
    frame = load_ratings(written(tmp_path, *rows))
    assert frame["continuation"].tolist() == list(range(8))
    twice = [*rows, "b,s2,c,1,ben,failure,3,20"]
    assert load_ratings(written(tmp_path, *twice))["continuation"].tolist()[-1] == 7


def test_columns_that_a_table_has_no_use_for_may_be_absent_or_empty(tmp_path: Path) -> None:
    alone = written(tmp_path, "a,s1,success", "a,s1,failure", header="agent,scenario,verdict")
    frame = load_ratings(alone)
    assert frame["continuation"].nunique() == 2
    assert frame["horizon"].isna().all() and (frame["category"] == "").all()
    empty = written(tmp_path, "a,s1,,,,success,,", "a,s1,,,,failure,,")
    pd.testing.assert_frame_equal(frame, load_ratings(empty), check_dtype=False)


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        (
            "agent,scenario,annotator,verdict",
            ["a,s,ann,success", "a,s,ben,success"],
            "line 2: expected a column continuation, because several have judged this agent in",
        ),
        (
            "agent,scenario,verdict,source",
            ["a,s,success,human", "a,s,success,automatic"],
            "line 2: expected a column continuation",
        ),
        (
            "agent,scenario,continuation,verdict",
            ["a,s,0,success", "a,s,0,success"],
            "line 3: annotator: expected one row per continuation and annotator",
        ),
        ("agent,scenario,category,verdict", ["a,s,c,success", "a,t,,success"], "line 3: category"),
        ("agent,scenario,horizon,verdict", ["a,s,9,success", "a,t,,success"], "line 3: horizon"),
        (
            "agent,scenario,trajectory,verdict",
            ["a,s,t1,success", "b,s,t2,success"],
            "line 3: scenario 's' has trajectory 't2' here and 't1' above; expected one value",
        ),
        (
            "agent,scenario,trajectory,verdict",
            ["a,s,t1,success", "a,t,,success"],
            "line 3: trajectory: expected a name, found ''",
        ),
    ],
)
def test_ambiguous_table_is_refused_and_not_guessed(
    tmp_path: Path, header: str, rows: list[str], expected: str
) -> None:
    with pytest.raises(DamagedData, match=expected):
        load_ratings(written(tmp_path, *rows, header=header))


def test_verdicts_are_read_in_any_letter_case(tmp_path: Path) -> None:
    rows = ["a,s1,c,0,ann, Success ,3,10", "a,s1,c,1,ann,NOT_DONE,,10", "a,s1,c,2,,,,10"]
    frame = load_ratings(written(tmp_path, *rows))
    assert frame["verdict"].tolist() == ["success", "not_done", ""]


@pytest.mark.parametrize("number", ["2147483648", "1e300", "9" * 40])
def test_a_horizon_that_no_store_holds_is_refused(tmp_path: Path, number: str) -> None:
    with pytest.raises(DamagedData, match="line 2: horizon: expected 1 to 2147483647 steps"):
        load_ratings(written(tmp_path, f"a,s,c,0,ann,success,3,{number}"))
    with pytest.raises(DamagedData, match="line 2: step: "):
        header = "agent,scenario,verdict,step"
        load_ratings(written(tmp_path, f"a,s,success,{number}", header=header))


@pytest.mark.parametrize("column", range(5))
@pytest.mark.parametrize("name", ["a\N{RIGHT-TO-LEFT OVERRIDE}b", "x" * 5000])
def test_a_name_that_cannot_be_shown_is_refused_with_its_line(
    tmp_path: Path, column: int, name: str
) -> None:
    cells = GOOD[1].split(",")
    cells[column] = name
    column_name = HEADER.split(",")[column]
    with pytest.raises(DamagedData, match=f"line 3: {column_name}: expected a name of 1 to") as e:
        load_ratings(written(tmp_path, GOOD[0], ",".join(cells)))
    assert str(e.value).isprintable() and len(str(e.value)) < 300


def test_the_first_of_several_invalid_names_is_refused(tmp_path: Path) -> None:
    rows = ["b,s,success", "z\x1b[0m,s,success", "a\x1b[0m,s,success"]
    expected = r"t\.csv, line 3: agent: .* found 'z\\x1b\[0m'"
    with pytest.raises(DamagedData, match=expected):
        load_ratings(written(tmp_path, *rows, header="agent,scenario,verdict"))


def test_a_name_that_is_a_formula_stays_text(tmp_path: Path) -> None:
    names = ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2"]
    rows = [f"{name},s,success" for name in [*names, "'=1+1"]]
    path = written(tmp_path, *rows, header="agent,scenario,verdict")
    assert load_ratings(path)["agent"].tolist() == [*names, "=1+1"]


def test_typed_numbers_and_their_texts_give_the_same_table(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "agent": [1, 2, 2],
            "scenario": [0.5, 7.0, 7.0],
            "verdict": [True, False, False],
            "continuation": pd.array([3, 10, 9], dtype="Int64"),
            "step": [4.0, np.nan, 2.0],
            "horizon": np.array([10, 10, 20], np.uint8),
            "seconds": [0.1, 1e-9, np.nan],
            "order": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    frame.to_parquet(tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    table = load_ratings(tmp_path / "t.csv")
    assert table["agent"].tolist() == ["1", "2", "2"]
    source = tables.open_frame("t", frame)
    numeric = tables.select_columns(source, numeric=ratings.NUMBERS)
    typed = load_ratings(tmp_path / "t.parquet")
    pd.testing.assert_frame_equal(typed, ratings.check_ratings(numeric))
    pd.testing.assert_frame_equal(typed, ratings.check_ratings(tables.from_frame("t", frame)))
    columns = [*ratings.NUMBERS, "continuation", "verdict"]
    pd.testing.assert_frame_equal(typed[columns], table[columns])
    for column, cell, found in (("step", 0.5, "0.5"), ("order", 0, "0"), ("seconds", -1, "-1")):
        wrong = frame.astype({"order": float}).assign(**{column: [1.0, cell, 1.0]})
        wrong.to_parquet(tmp_path / "w.parquet")
        with pytest.raises(DamagedData, match=rf"w\.parquet, row 2: {column}: .*found '{found}'"):
            load_ratings(tmp_path / "w.parquet")


def test_a_lone_surrogate_in_a_data_frame_is_refused_with_its_row() -> None:
    frame = pd.DataFrame({"agent": ["a", "b\ud83d", "c"]}, dtype=object)
    with pytest.raises(DamagedData, match=r"t, row 2: agent: expected text in Unicode, found 'b"):
        tables.from_frame("t", frame)


def test_a_note_is_shown_without_what_turns_it(tmp_path: Path) -> None:
    row = f"{GOOD[0]},\N{RIGHT-TO-LEFT OVERRIDE}said"
    frame = load_ratings(written(tmp_path, row, header=f"{HEADER},notes"))
    assert frame["notes"].tolist() == ["said"]


def test_two_spellings_of_an_agent_are_one(tmp_path: Path) -> None:
    rows = ["e\u0301,s,success", "\u00e9,s,success"]
    frame = load_ratings(written(tmp_path, *rows, header="agent,scenario,verdict"))
    assert set(frame["agent"]) == {"\u00e9"}


@attempt(
    "Files from elsewhere",
    "a table in Parquet of more rows than are read",
    "refused before it is unpacked",
)
def test_a_small_file_of_40_million_rows_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10_000, np.int8)), pa.array(["a"]))
    schema = pa.schema({"agent": word.type, "scenario": word.type, "verdict": word.type})
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(4):
            writer.write_table(pa.table([word] * 3, schema=schema))
    monkeypatch.setattr(files, "MAX_ROWS", 39_999)
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    with pytest.raises(DamagedData, match="expected at most 39999 rows, found 40000"):
        load_ratings(path)


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"agent": ["a"], "scenario": ["s"], "verdict": ["x" * 200_000]})
    frame.to_parquet(path)
    with pytest.raises(DamagedData, match="expected cells of at most 131072 bytes, found 200000"):
        load_ratings(path)
    monkeypatch.setattr(files, "MAX_BYTES", 100_000)
    with pytest.raises(DamagedData, match="expected at most 100000 bytes unpacked, found 200"):
        load_ratings(path)


def test_a_text_in_many_rows_is_held_once(tmp_path: Path) -> None:
    rows = 300
    notes = pa.DictionaryArray.from_arrays(pa.array([0] * rows), pa.array(["x" * 100_000]))
    plain = {"agent": ["a"] * rows, "scenario": ["s"] * rows, "verdict": ["success"] * rows}
    pq.write_table(pa.table(plain | {"notes": notes}), tmp_path / "t.parquet", store_schema=False)
    cells = files.read_table(tmp_path / "t.parquet", ("notes",)).frame["notes"]
    assert len(set(map(id, cells))) == 1


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_pipe_or_folder_in_place_of_a_table_gives_one_line(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for read in (load_ratings, scores.read_scores):
        with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
            read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    with pytest.raises(DamagedData, match="expected a file, found a folder"):
        load_ratings(tmp_path / name)


def test_a_score_says_what_its_agent_saw(tmp_path: Path) -> None:
    header = "agent,metric,value,sees"
    frame = scores.read_scores(written(tmp_path, "a,m,1,rehearsal", "b,m,1,", header=header))
    assert frame["sees"].tolist() == ["rehearsal", "observation"]
    with pytest.raises(DamagedData, match="line 2: sees: expected one of observation, world"):
        scores.read_scores(written(tmp_path, "a,m,1,everything", header=header))


def test_scores_of_before_they_said_what_was_seen_are_refused_by_their_version(
    tmp_path: Path,
) -> None:
    path = tmp_path / "old.parquet"
    table = pa.table({"agent": ["a"], "metric": ["lambda-star"], "value": [0.35]})
    pq.write_table(table.replace_schema_metadata({"sts.format": "scores/1"}), path)
    with pytest.raises(DamagedData, match="scores format 1; this version reads 3"):
        scores.read_scores(path)
    saved.write_scores(path, [{"agent": "a", "metric": "m", "value": 0.35, "sees": "rehearsal"}])
    for read in (scores.read_scores, scores.read_saved):
        assert read(path)["sees"].tolist() == ["rehearsal"]
