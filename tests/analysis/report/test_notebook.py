"""A report in a notebook: its examples run, it shows itself, its tables are data frames."""

import html
import re
from pathlib import Path

import pandas as pd
import pytest

import sts
from sts.errors import ArgumentError, StsError, UnknownName
from sts_analysis.report import notebook
from sts_analysis.report.figures import FIGURES
from sts_analysis.report.json_form import from_json, to_json
from sts_analysis.report.paper.figures import FIGURES as PAPER_FIGURES
from sts_analysis.report.tables import TABLES
from sts_analysis.report.write import write
from tests.analysis.worlds import ratings_table


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return ratings_table(
        skills={"a": 1.0, "b": 0.0, "c": -1.0},
        categories=["go", "lift"],
        seed=3,
        scenarios=2,
        continuations=2,
        references=4,
    )


@pytest.fixture(scope="module")
def report(frame: pd.DataFrame) -> notebook.NotebookReport:
    return sts.build_report(frame, pd.DataFrame({"agent": list("abc"), "metric": "m", "value": 1}))


def test_a_file_and_a_frame_give_one_report(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.to_csv(tmp_path / "t.csv", index=False)
    pd.DataFrame({"agent": list("abc"), "metric": "m", "value": [3, 1, 2]}).to_csv(
        tmp_path / "s.csv", index=False
    )
    one = sts.build_report(tmp_path / "t.csv", scores=str(tmp_path / "s.csv"), target="fixed")
    two = sts.build_report(frame, scores=pd.read_csv(tmp_path / "s.csv"), target="fixed")
    assert one.suite == "t.csv" and one.agents == two.agents and one.target == "fixed"
    assert one.correlations == two.correlations and one.correlations[0].n == 3


@pytest.mark.usefixtures("one_figure")
def test_what_was_written_is_loaded(report: notebook.NotebookReport, tmp_path: Path) -> None:
    write(tmp_path / "r", report)
    loaded = sts.load_report(tmp_path / "r")
    assert loaded == report == sts.load_report(str(tmp_path / "r" / "report.json"))
    assert from_json(to_json(loaded)) == from_json(to_json(report))
    for name, table in report.frames().items():
        written = pd.read_csv(tmp_path / "r" / "tables" / f"{name}.csv")
        assert list(written.columns) == list(table.columns) and len(written) == len(table)


def test_every_table_of_the_report_is_a_frame(report: notebook.NotebookReport) -> None:
    frames = report.frames()
    assert {"agents", "comparisons", "annotators", "metrics", "scenarios"} <= set(frames)
    assert set(frames) <= set(TABLES)
    agents = frames["agents"]
    assert agents["pass_rate"].tolist() == [entry.pass_rate for entry in report.agents]
    assert agents["interval_low"].tolist() == [
        entry.interval[0] for entry in report.agents if entry.interval
    ]


@pytest.mark.usefixtures("one_figure")
def test_it_shows_its_page_where_nothing_can_run(report: notebook.NotebookReport) -> None:
    shown = report._repr_html_()
    assert shown.startswith('<iframe sandbox="" ') and shown.count("<") == 2
    page = html.unescape(re.findall(r'srcdoc="([^"]*)"', shown)[0])
    assert page == report.page() and page.startswith("<!doctype html>")
    assert report.verdict.replace("'", "&#39;") in page


def test_its_texts_are_the_verdict_and_the_ranking(report: notebook.NotebookReport) -> None:
    assert repr(report) == f"<report of table: {report.verdict}>"
    assert "could be" in str(report) and report.verdict in str(report)


def test_arguments_that_cannot_be_used_are_named(frame: pd.DataFrame) -> None:
    with pytest.raises(UnknownName, match="unknown target 'all'; known: fixed, sampled"):
        sts.build_report(frame, target="all")
    with pytest.raises(ArgumentError, match="seed: expected 0 or more, found -1"):
        sts.build_report(frame, seed=-1)
    with pytest.raises(StsError, match="table: missing column 'verdict'"):
        sts.build_report(frame.drop(columns="verdict"))


def test_every_figure_of_page_and_paper_shows_itself_and_is_saved(
    report: notebook.NotebookReport, tmp_path: Path
) -> None:
    figures = report.figures()
    assert {"ranking", "comparisons", "correlations", "figure_3", "figure_9"} <= set(figures)
    assert set(figures) <= {*FIGURES, *PAPER_FIGURES}
    for name, one in figures.items():
        bundle = one._repr_mimebundle_()
        assert bundle["image/svg+xml"].startswith("<svg") and "\n" not in repr(one)
        assert one.name == name and one.caption.endswith(".")
    assert report.figure("ranking").save(tmp_path / "r.pdf").read_bytes().startswith(b"%PDF")
    chosen = report.figure("figure_3", agents=["b"], error="paper", columns=1)
    assert chosen.data["agent"].unique().tolist() == ["b"]


def test_a_figure_that_there_is_not_says_why(report: notebook.NotebookReport) -> None:
    with pytest.raises(UnknownName, match="unknown figure 'figure_4'; known: .*figure_3"):
        report.figure("figure_4")
    with pytest.raises(ArgumentError, match="label_sets: there is none, as nothing"):
        report.figure("label_sets")
    with pytest.raises(ArgumentError, match="figure_8 has no option 'error'; it takes columns, a"):
        report.figure("figure_8", error="paper")
    with pytest.raises(ArgumentError, match="ranking has no option 'columns'; it takes none"):
        report.figure("ranking", columns=1)


def test_every_table_of_a_paper_shows_itself(report: notebook.NotebookReport) -> None:
    made = report.tables()
    assert {"ranking", "comparisons", "categories"} <= set(made)
    for one in made.values():
        assert one._repr_markdown_() == one.markdown() and "\\toprule" in one.latex()
    assert report.table("ranking") == made["ranking"]
    assert "Standardised Test Suite" in report.methods()
