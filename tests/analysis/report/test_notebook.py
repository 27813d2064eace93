"""A report in Python: sections as attributes, tables as frames, and its page in a notebook."""

from pathlib import Path

import pandas as pd
import pytest

import sts
from tests.analysis.variants import FOUR, draw_study


@pytest.fixture(scope="module")
def report():
    return sts.build_report(draw_study(FOUR, per_trajectory=4))


def test_sections_are_attributes_and_unknown_ones_are_errors(report) -> None:
    assert report.conclusion.state == "final"
    assert [row.agent for row in report.ranking.rows][-1] == "random"
    assert report.score is None
    with pytest.raises(AttributeError):
        report.verdict  # noqa: B018


def test_frames_are_the_tables_that_are_written(report, tmp_path: Path) -> None:
    page = report.save(tmp_path / "r")
    frames = report.frames()
    for name, frame in frames.items():
        pd.testing.assert_frame_equal(frame, pd.read_csv(page.parent / "tables" / f"{name}.csv"))
    rates = {row.agent: row.pass_rate for row in report.ranking.rows}
    assert dict(
        zip(frames["ranking"]["agent"], frames["ranking"]["pass_rate"], strict=True)
    ) == pytest.approx(rates)


def test_loaded_report_equals_the_saved_one(report, tmp_path: Path) -> None:
    report.save(tmp_path / "r")
    loaded = sts.load_report(tmp_path / "r")
    assert loaded.results == report.results and loaded.page() == report.page()
    assert loaded.headline == report.headline


def test_notebook_shows_the_page_in_a_frame_that_runs_nothing(report) -> None:
    shown = report._repr_html_()
    assert shown.startswith('<iframe sandbox=""') and "srcdoc=" in shown
    assert "&lt;h1&gt;" in shown and "<h1>" not in shown
    assert repr(report) == f"<report of table: {report.headline}>"


def test_terminal_shows_the_same_sentence_every_agent_and_the_first_step(report) -> None:
    text = str(report)
    assert report.headline in text.splitlines()[0]
    assert all(agent in text for agent in FOUR)
    assert f"Next: {report.next_steps.steps[0].verb}" in text
