"""Foreign ratings tables: other names of columns, other words for verdicts, and their errors."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sts
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts_analysis.inputs import files

OURS = pd.DataFrame(
    {
        "agent": ["a", "a", "b", "b"],
        "scenario": ["s", "t", "s", "t"],
        "verdict": ["success", "failure", "failure", "success"],
        "seconds": [3.0, 4.5, 3.0, 9.0],
    }
)
NAMES = {"agent": "Model name", "scenario": "Item.ID", "verdict": "Result", "seconds": "time"}
WORDS = {"success": "Pass", "failure": "FAIL"}


def foreign() -> pd.DataFrame:
    frame = OURS.assign(verdict=OURS["verdict"].map(WORDS), comment="=1+1")
    return frame.rename(columns=NAMES)


def saved(folder: Path, frame: pd.DataFrame, ending: str) -> Path:
    path = folder / f"t.{ending}"
    if ending == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


def verdicts(cells: Any, **words: Any) -> list[str]:
    frame = pd.DataFrame({"agent": "a", "scenario": "s", "verdict": cells})
    return sts.load_ratings(frame, **words)["verdict"].tolist()


@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_mapped_table_equals_the_same_table_in_our_words(tmp_path: Path, ending: str) -> None:
    source = foreign() if ending == "frame" else saved(tmp_path, foreign(), ending)
    ratings = sts.load_ratings(source, columns=NAMES, success="pass", failure=["fail"])
    pd.testing.assert_frame_equal(ratings, sts.load_ratings(OURS))


@pytest.mark.parametrize(
    "cells",
    [
        [True, False],
        np.array([1.0, 0.0]),
        ["TRUE", "False"],
        ["1", "0.0"],
        ["Success", "0"],
        pd.array([True, False], dtype="boolean"),
    ],
)
@pytest.mark.parametrize("ending", ["csv", "parquet", "frame"])
def test_booleans_and_1_and_0_are_verdicts(cells: Any, ending: str, tmp_path: Path) -> None:
    frame = pd.DataFrame({"agent": "a", "scenario": "s", "verdict": cells})
    source = frame if ending == "frame" else saved(tmp_path, frame, ending)
    assert sts.load_ratings(source)["verdict"].tolist() == ["success", "failure"]


def test_words_replace_booleans_and_leave_our_own_verdicts() -> None:
    cells = ["0", 0.0, False, "NOT_DONE", "1"]
    expected = ["success"] * 3 + ["not_done", "failure"]
    assert verdicts(cells, success=0, failure=1) == expected
    with pytest.raises(DamagedData, match="row 5: verdict: expected a verdict, one of success, "):
        verdicts(cells, success=0)
    assert verdicts([5, 4, 2.0, "1"], success=(4, 5), failure=range(1, 4)) == [
        *("success", "success", "failure", "failure")
    ]
    assert verdicts([3, 0], success=np.int64(3), failure=np.array([0])) == ["success", "failure"]
    assert verdicts([True, False], success=True, failure=[False]) == ["success", "failure"]


def test_names_of_columns_can_be_numbers() -> None:
    frame = pd.DataFrame([["a", "s", 1]])
    ratings = sts.load_ratings(frame, columns={"agent": 0, "scenario": 1, "verdict": 2})  # type: ignore[dict-item]
    assert ratings[["agent", "scenario", "verdict"]].values.tolist() == [["a", "s", "success"]]


def test_truth_and_adjudication_are_read_in_the_same_words() -> None:
    frame = OURS.assign(
        verdict="Pass", truth=["fail", "", "", ""], adjudicated=["", "PASS", "", ""]
    )
    ratings = sts.load_ratings(frame, success="pass", failure="fail")
    assert ratings["truth"].tolist() == ["failure", "", "", ""]
    assert ratings["adjudicated"].tolist() == ["", "success", "", ""]


@pytest.mark.parametrize(
    ("words", "understood"),
    [
        ({}, "success, failure, not_done, cannot_judge, true, false, 1, 0"),
        ({"success": ["pass"]}, "success, failure, not_done, cannot_judge, pass"),
    ],
)
def test_unknown_verdict_error_names_line_words_and_options(
    tmp_path: Path, words: dict[str, Any], understood: str
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("agent,scenario,verdict\na,s,success\na,s,Passed\n")
    with pytest.raises(DamagedData) as error:
        sts.load_ratings(path, **words)
    assert str(error.value) == (
        f"t.csv, line 3: verdict: expected a verdict, one of {understood}, found 'Passed'; "
        "name other words with success, failure, not_done, cannot_judge and ignore"
    )


@pytest.mark.parametrize(
    ("header", "expected", "flags", "parameters"),
    [
        (
            "Agent,Item,Score",
            "expected columns agent, scenario, verdict; found columns Agent, Item, Score; ",
            "did you mean --column agent=Agent?",
            "did you mean columns={'agent': 'Agent'}?",
        ),
        (
            "agent,Scenario ID,verdicts",
            "expected columns scenario, verdict; found columns agent, Scenario ID, verdicts; ",
            "did you mean --column 'scenario=Scenario ID' --column verdict=verdicts?",
            "did you mean columns={'scenario': 'Scenario ID', 'verdict': 'verdicts'}?",
        ),
        (
            "agent,scenario,x",
            "expected a column verdict; found columns agent, scenario, x; ",
            "state which one it is, as in --column verdict=COLUMN",
            "state which one it is, as in columns={'verdict': 'COLUMN'}",
        ),
    ],
)
def test_missing_columns_error_lists_columns_and_suggests_similar_ones(
    tmp_path: Path,
    header: str,
    expected: str,
    flags: str,
    parameters: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{header}\na,s,success\n")
    with pytest.raises(DamagedData) as error:
        sts.load_ratings(path)
    assert str(error.value) == f"t.csv: {expected}{parameters}"
    assert main(["report", "--table", str(path)]) == 1
    assert capsys.readouterr().err == f"sts: t.csv: {expected}{flags}\n"


def test_mapped_column_does_not_count_under_its_own_name(tmp_path: Path) -> None:
    frame = OURS.assign(model=["x", "x", "y", "y"], step=[7, 8, 9, 10])
    ratings = sts.load_ratings(frame, columns={"agent": "model", "order": "step"})
    assert ratings["agent"].tolist() == ["x", "x", "y", "y"]
    assert ratings["order"].tolist() == [7, 8, 9, 10] and ratings["step"].isna().all()
    path = saved(tmp_path, frame.drop(columns="scenario"), "parquet")
    same = sts.load_ratings(path, columns={"scenario": "model", "category": "model"})
    assert same["scenario"].tolist() == same["category"].tolist() == ["x", "x", "y", "y"]


def test_mapped_columns_count_for_the_size_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = saved(tmp_path, OURS.assign(**{"x.y": "success" * 10_000}), "parquet")
    monkeypatch.setattr(files, "MAX_BYTES", 50_000)
    assert len(sts.load_ratings(path)) == 4
    with pytest.raises(DamagedData, match="expected at most 50000 bytes unpacked, found "):
        sts.load_ratings(path, columns={"verdict": "x.y"})


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("--column agent", "--column: expected NAME=COLUMN, such as agent=Agent, found 'agent'"),
        ("--column agent=A --column agent=B", "one column for 'agent', found 'A' and 'B'"),
        ("--column agnet=A", "unknown column of the ratings table 'agnet'; known: adjudicated, "),
        ("--column agent=Agnet", "unknown column of t.csv 'Agnet'; known: Agent, Item, Score; did"),
        ("--success pass --failure PASS", "expected different words, found 'PASS' in both"),
        ("--failure success", "--failure: expected another word than success, failure, not_done"),
        ("--success not_done", "--success: expected another word than success, failure, not_done"),
        ("--success=", "--success: expected another word than success, failure, not_done"),
    ],
)
@pytest.mark.parametrize("command", ["report", "power"])
def test_invalid_mapping_options_print_one_line_errors(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: str,
    options: str,
    expected: str,
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Agent,Item,Score\na,s,1\n")
    assert main([command, "--table", str(path), *options.split()]) == 2
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1 and expected in captured.err


@pytest.mark.parametrize("command", ["report", "power", "selfcheck"])
def test_mapping_options_need_a_table(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "core@2", "--success", "pass"]) == 2
    expected = "sts: --success needs --table\n"
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"columns": {"Agent": "agent"}}, UnknownName),
        ({"columns": {"agent": "nobody"}}, UnknownName),
        ({"success": "yes", "failure": ["no", "Yes"]}, ArgumentError),
    ],
)
def test_invalid_mapping_raises_from_python(options: Any, error: type[StsError]) -> None:
    with pytest.raises(error):
        sts.build_report(OURS, **options)


def test_mapping_of_a_suite_is_an_argument_error() -> None:
    with pytest.raises(ArgumentError, match="need a file or a data frame"):
        sts.load_ratings("core@2", success="pass")


def test_report_of_a_foreign_table_needs_only_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{who},q{n},{'pass' if n < k else 'fail'}" for who, k in (("x", 9), ("y", 2))
            for n in range(10)]  # fmt: skip
    path = tmp_path / "results.csv"
    path.write_text("\n".join(["Agent,Item,Score", *rows]) + "\n")
    columns = [f"--column={pair}" for pair in ("agent=Agent", "scenario=Item", "verdict=Score")]
    words = ["--success", "pass", "--failure", "fail", "--out", str(tmp_path / "out")]
    assert main(["report", "--table", str(path), *columns, *words]) == 0
    assert "x is best" in capsys.readouterr().out
