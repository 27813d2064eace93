"""Exports of other programs are read by their format; each table here has the shape of one."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sts
from sts.cli.main import main
from sts.errors import DamagedData, MissingExtra, UnknownName
from sts_analysis.inputs.gather import gather_table
from sts_analysis.inputs.mapping import make_mapping
from sts_analysis.inputs.presets import PRESETS

LABEL_STUDIO = """\
"agent"\t"annotation_id"\t"annotator"\t"choice"\t"created_at"\t"id"\t"lead_time"\t"scenario"\t"video"
"a"\t11\t"x@example.org"\t"Success"\t"2026-03-01T10:00:00Z"\t1\t10.5\t"s"\t"/data/upload/1.mp4"
"a"\t12\t"y@example.org"\t"Failure"\t"2026-03-01T10:01:00Z"\t1\t9.25\t"s"\t"/data/upload/1.mp4"
"b"\t13\t"x@example.org"\t"Success"\t"2026-03-01T10:02:00Z"\t2\t8\t"s"\t"/data/upload/2.mp4"
"""
PROLIFIC = """\
Submission id,Participant id,Status,Started at,Completed at,Time taken,agent,scenario,clip,verdict
s1,p1,APPROVED,2026-03-01,2026-03-01,61,a,s,0,success
s2,p2,RETURNED,2026-03-01,,5,a,s,0,failure
s3,p3,AWAITING REVIEW,2026-03-01,2026-03-01,70,a,s,0,failure
"""
MTURK = """\
HITId,HITTypeId,Title,AssignmentId,WorkerId,AssignmentStatus,WorkTimeInSeconds,Input.agent,Input.scenario,Input.video,Answer.verdict,Approve,Reject
H1,T,"Judge, please",A1,W1,Approved,40,a,s,1.mp4,success,,
H1,T,"Judge, please",A2,W2,Submitted,31,a,s,1.mp4,failure,,
H1,T,"Judge, please",A3,W3,Rejected,2,a,s,1.mp4,failure,,bad
"""
QUALTRICS = """\
StartDate,EndDate,Status,Progress,Finished,ResponseId,DistributionChannel,agent,scenario,Q1
Start Date,End Date,Response Type,Progress,Finished,Response ID,Channel,agent,scenario,"Did it
succeed?"
"{""ImportId"":""startDate""}","{""ImportId"":""endDate""}","{""ImportId"":""status""}","{""ImportId"":""progress""}","{""ImportId"":""finished""}","{""ImportId"":""_recordId""}","{""ImportId"":""dc""}","{""ImportId"":""agent""}","{""ImportId"":""scenario""}","{""ImportId"":""QID1""}"
2026-03-01,2026-03-01,IP Address,100,True,R_1,anonymous,a,s,Yes
2026-03-01,2026-03-01,Survey Preview,100,True,R_2,preview,a,s,No
2026-03-01,2026-03-01,IP Address,40,False,R_3,anonymous,a,t,No
2026-03-01,2026-03-01,IP Address,100,True,R_4,anonymous,a,t,No
"""
INSPECT = """\
sample_id,eval_id,model,id,epoch,input,target,metadata_level,score_includes,total_time,error
u1,e1,lab/one,task-1,1,go,,easy,C,3.5,
u2,e1,lab/one,task-1,2,go,,easy,I,3.0,
u3,e2,lab/two,task-1,1,go,,easy,N,2.0,
u4,e2,lab/two,task-1,2,go,,easy,,2.0,timeout
"""
BORIS = """\
Observation id\tObservation date\tDescription\tscenario\tSubject\tBehavior\tBehavior type\tTime\t\
Media file name\tImage index\tComment
clip1\t2026-03-01\t\ts\ta\tsuccess\tPOINT\t0.4\tclip1.mp4\t13\t
clip2\t2026-03-01\t\ts\tb\tfailure\tPOINT\t0.1\tclip2.mp4\t2\t
clip3\t2026-03-01\t\tt\tb\tnot_done\tPOINT\t2.0\tclip3.mp4\t61\t
clip3\t2026-03-01\t\tt\tb\tlooks away\tSTOP\t2.0\tclip3.mp4\tNA\t
"""


def read(folder: Path, text: str, format: str, **options: Any) -> tuple[list[list[Any]], Any]:
    """Return the columns that matter of the rows, and what was understood."""
    path = folder / "export.csv"
    path.write_text(text, encoding="utf-8")
    gathered = gather_table(path, make_mapping(format=format, **options))
    columns = ["agent", "scenario", "continuation", "annotator", "verdict"]
    return gathered.ratings[columns].values.tolist(), gathered.reading


def test_label_studio_task_is_a_continuation(tmp_path: Path) -> None:
    rows, reading = read(tmp_path, LABEL_STUDIO, "label-studio")
    assert rows == [
        ["a", "s", 0, "x@example.org", "success"],
        ["a", "s", 0, "y@example.org", "failure"],
        ["b", "s", 1, "x@example.org", "success"],
    ]
    assert reading.columns["seconds"] == "lead_time" and reading.questions == ()


def test_prolific_submissions_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    rows, reading = read(tmp_path, PROLIFIC, "prolific", columns={"continuation": "clip"})
    assert [row[3:] for row in rows] == [["p1", "success"], ["p3", "failure"]]
    assert reading.left_out == {"Status = RETURNED": 1}


def test_mturk_hit_is_a_continuation_and_rejected_work_is_left_out(tmp_path: Path) -> None:
    rows, reading = read(tmp_path, MTURK, "mturk")
    assert rows == [["a", "s", 0, "W1", "success"], ["a", "s", 0, "W2", "failure"]]
    assert reading.left_out == {"AssignmentStatus = Rejected": 1}


def test_qualtrics_descriptions_and_previews_are_left_out(tmp_path: Path) -> None:
    options: Any = {"columns": {"verdict": "Q1"}, "success": "yes", "failure": "no"}
    rows, reading = read(tmp_path, QUALTRICS, "qualtrics", **options)
    assert [row[1:] for row in rows] == [["s", 0, "R_1", "success"], ["t", 1, "R_4", "failure"]]
    assert reading.left_out == {
        "a description of the columns": 2, "Status = Survey Preview": 1, "Finished = False": 1,
    }  # fmt: skip


def test_inspect_scores_are_labels_of_a_program(tmp_path: Path) -> None:
    rows, reading = read(tmp_path, INSPECT, "inspect")
    assert [[*row[:2], row[4]] for row in rows] == [
        ["lab/one", "task-1", "success"],
        ["lab/one", "task-1", "failure"],
        ["lab/two", "task-1", "not_done"],
        ["lab/two", "task-1", ""],
    ]
    report = sts.build_report(tmp_path / "export.csv", format="inspect")
    assert report.conclusion.source == "automatic" and report.conclusion.annotators == ()
    two = INSPECT.replace("metadata_level", "score_exact")
    with pytest.raises(DamagedData, match="expected a column verdict"):
        read(tmp_path, two, "inspect")
    assert read(tmp_path, two, "inspect", columns={"verdict": "score_includes"})[0] == rows


def test_boris_frames_count_from_1(tmp_path: Path) -> None:
    rows, reading = read(tmp_path, BORIS, "boris")
    assert [[row[0], row[4]] for row in rows] == [
        ["a", "success"], ["b", "failure"], ["b", "not_done"],
    ]  # fmt: skip
    ratings = sts.load_ratings(tmp_path / "export.csv", format="boris")
    assert ratings["step"].tolist()[:2] == [12, 1] and pd.isna(ratings["step"].tolist()[2])
    assert reading.left_out == {"Behavior type = STOP": 1}


def test_own_names_of_columns_go_before_those_of_a_format(tmp_path: Path) -> None:
    text = BORIS.replace("Description", "agent").replace("2026-03-01\t\t", "2026-03-01\tc\t")
    rows, reading = read(tmp_path, text, "boris")
    assert {row[0] for row in rows} == {"c"} and "Subject" in reading.unused


def test_format_is_repeated_and_an_unknown_one_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "export.tsv"
    path.write_text(LABEL_STUDIO)
    out = str(tmp_path / "out")
    assert main(["report", "--table", str(path), "--format", "label-studio", "--out", out]) == 0
    arguments = sts.load_report(out).provenance.arguments
    assert "--format=label-studio" in arguments
    assert main(["report", "--table", str(path), "--format", "labelbox"]) == 2
    known = f"unknown value of --format 'labelbox'; known: {', '.join(sorted(PRESETS))}"
    assert known in capsys.readouterr().err
    with pytest.raises(UnknownName, match="unknown value of format 'labelbox'"):
        sts.load_ratings(path, format="labelbox")


def make_workbook(*sheets: list[list[Any]]) -> bytes:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for n, rows in enumerate(sheets):
        sheet = book.active if n == 0 else book.create_sheet("other")
        for row in rows:
            sheet.append(row)
    data = io.BytesIO()
    book.save(data)
    return data.getvalue()


def test_excel_sheet_is_read_by_its_values(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        ["agent", "scenario", "verdict", "step"],
        ["a", 1, True, 3.0],
        [],
        ["b", 1, False, None],
    ]
    path = tmp_path / "t.xlsx"
    path.write_bytes(make_workbook(rows, [["x"]]))
    gathered = gather_table(path)
    assert gathered.ratings["verdict"].tolist() == ["success", "failure"]
    assert gathered.ratings["scenario"].tolist() == ["1", "1"]
    assert gathered.reading is not None
    assert gathered.reading.form == "Excel, sheet 'Sheet' (the first of 2)"
    rows[3][2] = "maybe"
    path.write_bytes(make_workbook(rows))
    with pytest.raises(DamagedData, match="t.xlsx, row 4: verdict: .* found 'maybe'"):
        gather_table(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(DamagedData, match="t.xlsx: expected an Excel workbook, found a damaged"):
        gather_table(path)


def test_excel_without_openpyxl_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "t.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(MissingExtra, match=r"pip install 'standardised-test-suite\[excel\]'"):
        gather_table(tmp_path / "t.xlsx")
