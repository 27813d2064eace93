"""Tables of other programs: what is understood of them is stated, and their rows are arranged."""

import io
import json
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
import pytest

import sts
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, StsError, StsWarning, UnknownName
from sts_analysis.inputs import csv_files, tables
from sts_analysis.inputs.gather import gather_table
from sts_analysis.inputs.mapping import make_mapping
from sts_analysis.inputs.reading import describe_reading

Captured = pytest.CaptureFixture[str]


def write_table(folder: Path, text: str, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def lab_rows(scenarios: int = 8) -> list[str]:
    return [
        f"{m},{n},{who},{m}-{n},{'Pass' if m == 'new' or n % 4 == 0 else 'Fail'}"
        for n in range(scenarios)
        for m in ("new", "old")
        for who in ("Ann Lee", "ben@example.org")
    ]


HEADER = "agent,scenario,annotator,continuation,verdict"


def test_reading_of_a_table_is_stated_before_any_number(tmp_path: Path, capsys: Captured) -> None:
    rows = [f"{row};x;".replace(",", ";") for row in lab_rows()]
    rows[3] = rows[3].replace("Pass", "n/a").replace("Fail", "n/a")
    path = write_table(tmp_path, "\n".join([f"{HEADER};colour;".replace(",", ";"), *rows]))
    out = tmp_path / "out"
    words = ["--success", "pass", "--failure", "fail", "--ignore", "N/A", "--out", str(out)]
    assert main(["report", "--table", str(path), *words, "--paper"]) == 0
    captured = capsys.readouterr()
    assert captured.err == "sts: warning: t.csv was read as UTF-8, separated by semicolons\n"
    expected = [
        "  read: t.csv: UTF-8, separated by semicolons; 31 rows",
        "  columns: agent, scenario, continuation, annotator, verdict",
        "  not used: colour, 1 column without a name",
        "  verdicts: success from Pass (19 rows); failure from Fail (12 rows)",
        "  left out: verdict n/a (1 row)",
    ]
    assert captured.out.splitlines()[1:6] == expected
    stated = (out / "paper" / "repeat.md").read_text()
    assert all(f"- {line.strip()}" in stated for line in expected)
    reading = json.loads((out / "report.json").read_text())["provenance"]["reading"]
    assert reading["unused"] == ["colour", ""] and reading["left_out"] == {"verdict n/a": 1}
    assert "separated by semicolons" in (out / "appendix.html").read_text()


def test_names_of_people_are_in_no_file_of_a_report(tmp_path: Path, capsys: Captured) -> None:
    path = write_table(tmp_path, "\n".join([HEADER, *lab_rows()]))
    words = ["report", "--table", str(path), "--success", "pass", "--failure", "fail", "--paper"]
    path.write_text(f"{path.read_text()}\nnew,0,Zed Roe,new-0,Fail\n")
    words += ["--leave-out", "annotator=Zed Roe", "--same", "Ann Lee=ANN LEE"]
    hidden, shown = tmp_path / "hidden", tmp_path / "shown"
    assert main([*words, "--out", str(hidden)]) == 0
    texts = [file.read_bytes() for file in hidden.rglob("*") if file.is_file()]
    texts.append(capsys.readouterr().out.encode())
    names = (b"Ann Lee", b"example.org", b"Zed", b"zed roe")
    assert not any(name in text for name in names for text in texts)
    assert any(b"annotator-2" in text for text in texts)
    assert main([*words, "--real-names", "--out", str(shown)]) == 0
    assert "Ann Lee" in (shown / "report.json").read_text()
    assert "shows real names" in capsys.readouterr().err


def test_pseudonyms_of_a_study_are_kept() -> None:
    frame = pd.read_csv(io.StringIO("\n".join([HEADER, *lab_rows()])))
    frame["annotator"] = frame["annotator"].replace("Ann Lee", "annotator-0a1b2c")
    report = sts.build_report(frame, success="pass", failure="fail")
    assert report.conclusion.annotators == ("annotator-0a1b2c", "annotator-1")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"not_done": "Not finished", "cannot_judge": ["Unsure"]}, ["not_done", "cannot_judge"]),
        ({"ignore": ["unsure", "not finished"]}, []),
    ],
)
def test_words_of_all_verdicts_can_be_named(words: Any, expected: list[str]) -> None:
    frame = pd.DataFrame({"agent": "a", "scenario": ["s", "t", "u"]})
    frame["verdict"] = ["Pass", "Not finished", "Unsure"]
    assert sts.load_ratings(frame, success="pass", **words)["verdict"].tolist() == [
        "success",
        *expected,
    ]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ({"success": ">=4"}, ["failure", "failure", "success", "success"]),
        ({"success": ">3", "failure": "<2"}, None),
        (
            {"success": ">= 4", "failure": "<=2", "not_done": 3},
            ["failure", "not_done", "success", "success"],
        ),
        ({"failure": "<3.5"}, ["failure", "failure", "success", "success"]),
    ],
)
@pytest.mark.parametrize("kind", [int, float, str])
def test_scale_is_read_by_its_numbers(words: Any, expected: list[str] | None, kind: type) -> None:
    frame = pd.DataFrame({"agent": "a", "scenario": ["s", "t", "u", "v"]})
    frame["verdict"] = np.array([2, 3, 4, 5]).astype(kind)
    if expected is None:
        with pytest.raises(DamagedData, match="row 1: verdict: expected .*>3, <2, found '2'"):
            sts.load_ratings(frame, **words)
    else:
        assert sts.load_ratings(frame, **words)["verdict"].tolist() == expected


def test_ranges_with_a_common_number_are_refused() -> None:
    for first, second in ((">=3", "<=3"), (">2", "<5"), (">=1", ">4")):
        with pytest.raises(ArgumentError, match="expected ranges without common numbers"):
            make_mapping(success=first, failure=second)
    assert make_mapping(success=">3", failure="<=3").interpret("3.0") == "failure"


@pytest.mark.parametrize(
    ("name", "warning"),
    [("t.tsv", ""), ("t.csv", "sts: warning: t.csv was read as UTF-8, separated by tabs\n")],
)
def test_tabs_of_a_tsv_file_need_no_warning(
    name: str, warning: str, tmp_path: Path, capsys: Captured
) -> None:
    path = write_table(tmp_path, "\n".join([HEADER, *lab_rows()]).replace(",", "\t"), name=name)
    words = ["--success", "pass", "--failure", "fail", "--out", str(tmp_path / "out")]
    assert main(["report", "--table", str(path), *words]) == 0
    assert capsys.readouterr().err == warning


def test_columns_of_annotators_become_rows(tmp_path: Path) -> None:
    path = write_table(tmp_path, "agent,scenario,Ann,Ben\na,s,1,0\na,s,1,\nb,s,,\n")
    for columns in (["Ann", "Ben"], ["3", "4"]):
        ratings = sts.load_ratings(path, annotator_columns=columns)
        cells = ratings[["continuation", "annotator", "verdict"]].values.tolist()
        assert cells == [
            [0, "Ann", "success"], [0, "Ben", "failure"], [1, "Ann", "success"], [2, "", ""],
        ]  # fmt: skip
    with pytest.raises(UnknownName, match="unknown column of t.csv 'Cleo'"):
        sts.load_ratings(path, annotator_columns=["Ann", "Cleo"])


def test_columns_of_annotators_are_repeated_by_number(tmp_path: Path, capsys: Captured) -> None:
    rows = [f"{a},{n},{int(a == 'x')},{int(n > 2)}" for a in ("x", "y") for n in range(8)]
    path = write_table(tmp_path, "\n".join(["agent,scenario,Ann Lee,Ben Roe", *rows]))
    words = ["--annotator-columns", "Ann Lee,Ben Roe", "--out", str(tmp_path / "o"), "--json"]
    assert main(["report", "--table", str(path), *words]) == 0
    text = capsys.readouterr().out
    assert "--annotator-columns=3,4" in json.loads(text)["provenance"]["arguments"]
    assert "Ann Lee" not in text and "Ben Roe" not in text


def test_rows_of_a_program_never_count_as_a_person() -> None:
    frame = pd.DataFrame({"agent": "a", "scenario": ["s", "s", "t"], "continuation": [0, 0, 1]})
    frame = frame.assign(annotator=["ann", "gpt", "gpt"], verdict=[True, False, True])
    ratings = sts.load_ratings(frame, model_annotator="gpt")
    assert ratings["source"].tolist() == ["human", "model", "model"]
    report = sts.build_report(frame, model_annotator=["gpt"])
    assert report.conclusion.judgements == 1 and "gpt" not in report.conclusion.annotators
    with pytest.raises(UnknownName, match="unknown annotator of table 'gtp'; .* did you mean gpt"):
        sts.load_ratings(frame, model_annotator="gtp")
    with pytest.raises(ArgumentError, match="model_annotator: table has no column annotator"):
        sts.load_ratings(frame.drop(columns=["annotator"]), model_annotator="gpt")


def test_rows_can_be_left_out_by_a_column(tmp_path: Path) -> None:
    path = write_table(tmp_path, "agent,scenario,verdict,Status\na,s,1,ok\na,s,x,Spam\na,t,0,ok\n")
    gathered = gather_table(path, make_mapping(leave_out="Status=spam"))
    assert gathered.ratings["verdict"].tolist() == ["success", "failure"]
    assert gathered.reading is not None
    assert gathered.reading.left_out == {"Status = spam": 1}
    assert gathered.reading.questions == ()
    with pytest.raises(DamagedData, match="expected at least one row, found all left out: 2 by"):
        gather_table(
            pd.DataFrame({"agent": ["a", "b"], "scenario": "s", "verdict": 1, "x": 7.0}),
            make_mapping(leave_out=["x=7"]),
        )
    with pytest.raises(UnknownName, match="unknown column of t.csv 'State'"):
        sts.load_ratings(path, leave_out="State=x")
    with pytest.raises(ArgumentError, match="leave_out: expected COLUMN=VALUE, found 'State'"):
        sts.load_ratings(path, leave_out="State")


def test_unused_columns_may_lack_or_share_a_name(tmp_path: Path) -> None:
    path = write_table(tmp_path, "agent,scenario,verdict,x,x,,\na,s,1,1,2,,\n", "t.tsv")
    assert len(sts.load_ratings(path)) == 1
    path.write_text("agent\tscenario\tverdict\tverdict\na\ts\t1\t0\n")
    with pytest.raises(DamagedData, match="t.tsv: duplicate column 'verdict'; keep one"):
        sts.load_ratings(path)


def test_column_that_is_called_like_one_of_ours_can_be_unused() -> None:
    frame = pd.DataFrame({"agent": ["a"], "scenario": "s", "verdict": 1, "source": "web"})
    with pytest.raises(DamagedData, match="source: expected one of human"):
        sts.load_ratings(frame)
    assert sts.load_ratings(frame, unused="source")["source"].tolist() == ["human"]


def test_export_of_this_project_survives_pandas(tmp_path: Path) -> None:
    header = f"{HEADER},step,horizon,extra,order,twice,rubric_shown,adjudicated,adjudicated_step"
    rows = [
        "a,s,ann,c1,success,3,9,0,1,1,1,success,2",
        "a,s,,c2,,,9,,,,,,",
        "a,t,ann,c3,not_done,,9,0,2,0,0,,",
    ]
    path = write_table(tmp_path, "\n".join([header, *rows]))  # fmt: skip
    again = tmp_path / "again.csv"
    pd.read_csv(path).to_csv(again, index=False)
    assert "1.0" in again.read_text()
    pd.testing.assert_frame_equal(sts.load_ratings(path), sts.load_ratings(again))


def test_many_columns_are_counted_and_very_many_cells_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"c{n}" for n in range(500)]
    frame = pd.DataFrame(0, index=range(40), columns=names)
    frame = frame.assign(agent="a", scenario=range(40), verdict=1)
    gathered = gather_table(write_table(tmp_path, frame.to_csv(index=False)))
    assert gathered.reading is not None
    assert describe_reading(gathered.reading)["not used"].endswith("c11 and 488 more")
    monkeypatch.setattr(tables, "MOST_OTHER_CELLS", 500)
    monkeypatch.setattr(csv_files, "from_arrow", read := mock.Mock(wraps=tables.from_arrow))
    again = gather_table(tmp_path / "t.csv")
    assert read.call_count == 3
    pd.testing.assert_frame_equal(again.ratings, gathered.ratings)


class Polars:
    """A frame of another library."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def to_pandas(self) -> Any:
        if self.frame is None:
            raise ModuleNotFoundError("pyarrow")
        return self.frame


def test_frame_of_another_library_is_read() -> None:
    frame = pd.DataFrame({"agent": ["a"], "scenario": "s", "verdict": 1})
    pd.testing.assert_frame_equal(sts.load_ratings(Polars(frame)), sts.load_ratings(frame))
    scores = pd.DataFrame({"agent": ["a"], "metric": "m", "value": 1.0})
    assert sts.build_report(Polars(frame), Polars(scores)).conclusion.judgements == 1


@pytest.mark.parametrize(
    ("source", "found"),
    [
        (7, "found int"),
        ([{"agent": "a"}], "found list"),
        (pd.DataFrame, "found type"),
        (Polars(None), "found Polars, which pandas cannot take over: pyarrow"),
        (Polars(3), "found Polars, a column of a table"),
    ],
)
def test_other_objects_than_tables_are_refused_by_their_parameter(source: Any, found: str) -> None:
    with pytest.raises(StsError, match=f"source: expected a data frame or the path .*, {found}"):
        sts.build_report(source)
    frame = pd.DataFrame({"agent": ["a"], "scenario": "s", "verdict": 1})
    with pytest.raises(StsError, match=f"scores: expected a data frame or the path .*, {found}"):
        sts.build_report(frame, source)


def test_missing_media_are_a_warning_for_their_clips(tmp_path: Path) -> None:
    (tmp_path / "a.mp4").write_bytes(b"")
    rows = "a,s,1,a.mp4\na,t,1,b.mp4\nb,s,1,c.mp4\na,t,0,b.mp4\n"
    path = write_table(tmp_path, f"agent,scenario,verdict,media\n{rows}")
    with pytest.warns(StsWarning, match="t.csv, line 3: media: 'b.mp4' does not exist, nor do 1"):
        ratings = sts.load_ratings(path)
    assert ratings["media"].tolist() == ["a.mp4", "", "", ""]
