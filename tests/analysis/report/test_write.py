"""A report's folder: replaced as a whole, other files stay, foreign names do no harm."""

import os
import signal
import sys
from pathlib import Path

import pandas as pd
import pytest

from sts.errors import ArgumentError
from sts_analysis.inputs.gather import gather_table
from sts_analysis.report import results
from sts_analysis.report.core import Options, Report, Study
from sts_analysis.report.document import compute_report
from sts_analysis.report.write import write_report
from tests.analysis.variants import PROVENANCE, make_study

HOSTILE = "=HYPERLINK(1)</script><img src=x onerror=alert(1)>"


def report_of(winner: str, loser: str = "other") -> Report:
    rows = [
        {"agent": agent, "scenario": f"s{s}", "verdict": verdict}
        for s in range(12)
        for agent, verdict in ((winner, "success"), (loser, "failure"))
    ]
    study = Study(gather_table(pd.DataFrame(rows)), Options(), PROVENANCE)
    return compute_report(study)


def test_report_replaces_an_earlier_one_and_leaves_other_files(tmp_path: Path) -> None:
    study = make_study("tied")
    write_report(tmp_path / "r", compute_report(study), study)
    for name in ("paper/methods.txt", "media/a.png"):
        (tmp_path / "r" / name).parent.mkdir()
        (tmp_path / "r" / name).write_bytes(b"x")
    (tmp_path / "r" / "mine.txt").write_text("note")
    page = write_report(tmp_path / "r", report_of("a"))
    assert page == tmp_path / "r" / "report.html"
    names = {path.relative_to(tmp_path / "r").as_posix() for path in (tmp_path / "r").rglob("*")}
    assert {"mine.txt", "report.html", "appendix.html", "report.json"} <= names
    assert "tables/categories.csv" not in names and "media/a.png" not in names
    assert "paper/methods.txt" not in names
    assert results.read_report(tmp_path / "r").conclusion.best == ("a",)


@pytest.mark.parametrize("name", ["notes.txt", "report.json"])
def test_folder_with_other_files_is_refused(tmp_path: Path, name) -> None:
    (tmp_path / name).write_text("{}")
    with pytest.raises(ArgumentError, match="expected a new or empty folder"):
        write_report(tmp_path, report_of("a"))
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_names_run_nothing_in_the_pages_and_in_the_tables(tmp_path: Path) -> None:
    page = write_report(tmp_path / "r", report_of(HOSTILE))
    for file in (page, page.with_name("appendix.html")):
        text = file.read_text()
        assert "<img" not in text and "&lt;img" in text and "<script" not in text
    table = (tmp_path / "r" / "tables" / "ranking.csv").read_text()
    assert f"'{HOSTILE}" in table
    frame = pd.read_csv(tmp_path / "r" / "tables" / "ranking.csv")
    assert frame["pass_rate"].tolist() == [1.0, 0.0]


def test_killed_writer_leaves_the_old_report_or_the_new_one(tmp_path: Path) -> None:
    folder, old, new = tmp_path / "r", report_of("old"), report_of("new")
    write_report(folder, old)
    for opened in range(1, 60, 4):
        child = os.fork()
        if child == 0:
            left = [opened]

            def count(event: str, arguments: tuple[object, ...], left: list[int] = left) -> None:
                if event == "open" and arguments[1] in ("wb", "w"):
                    left[0] -= 1
                    if not left[0]:
                        os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(count)
            write_report(folder, new)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        best = results.read_report(folder).conclusion.best[0]
        assert best in ("old", "new")
        assert f"<b>{best}</b> is best" in (folder / "report.html").read_text()
        ranking = pd.read_csv(folder / "tables" / "ranking.csv")
        assert ranking["agent"][0] == best
        if status == 0:
            break
    assert best == "new"
