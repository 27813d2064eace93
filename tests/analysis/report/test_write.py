"""A report's folder: replaced as a whole, what is not the report's stays, its CSV is safe."""

import csv
import functools
import inspect
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sts.errors import ArgumentError
from sts_analysis.inputs.scores import check_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import from_frame, read_table
from sts_analysis.report import write
from sts_analysis.report.figures import FIGURES
from sts_analysis.report.json_form import to_json
from sts_analysis.report.schema import Report
from sts_analysis.report.tables import TABLES
from tests.analysis.reports import report_of

FORMULA = "=HYPERLINK(1)"

KILLED_AT_EVERY_FILE = """
import csv, json, os, signal, sys
from pathlib import Path
from sts_analysis.report import write
from sts_analysis.report.figures import Drawn
from sts_analysis.report.json_form import from_json

{ranking_of}

folder = Path(sys.argv[1]) / "report"
old, new = (from_json(json.loads(line)) for line in sys.stdin)
drawn = Drawn(dict(ranking="<svg></svg>"), dict())
write.draw = lambda report: drawn
os.fsync = lambda handle: None  # no power fails here
write.write(folder, old)
for file in range(1, 200, 2):
    child = os.fork()
    if child == 0:
        left = file
        def count(event, arguments):
            global left
            if event == "open" and arguments[1] in ("wb", "w"):
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        write.write(folder, new)
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    print(*ranking_of(folder), flush=True)
    if ended == 0:
        break
"""


@functools.cache
def a_report(winner: str, loser: str = "c", **more: Any) -> Report:
    """A report in which every scenario is passed by one of two agents."""
    rows = [
        {
            "agent": agent,
            "scenario": f"s{s}",
            "verdict": "success" if agent == winner else "failure",
        }
        | more
        for s in range(4)
        for agent in (winner, loser)
        for _ in range(2)
    ]
    return report_of(pd.DataFrame(rows), suite=Subject("t"))


def ranking_of(folder: Path) -> tuple[str, str, str]:
    """Who is first by the three files."""
    page = (folder / "report.html").read_text()
    with (folder / "tables" / "agents.csv").open() as file:
        first = next(csv.DictReader(file))["agent"]
    text = (folder / "report.json").read_text()
    return (
        "a" if '<th scope="row">a</th>' in page else "b",
        first,
        "a" if '"agent": "a"' in text else "b",
    )


@pytest.mark.landing
def test_killed_at_any_file_a_report_tells_one_ranking_throughout(tmp_path: Path) -> None:
    script = KILLED_AT_EVERY_FILE.format(ranking_of=inspect.getsource(ranking_of))
    reports = "\n".join(json.dumps(to_json(a_report(winner))) for winner in "ab")
    command = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(__file__).parents[3]
    run = subprocess.run(
        command, input=reports, capture_output=True, text=True, timeout=600, cwd=root
    )
    assert run.returncode == 0, run.stderr
    states = run.stdout.splitlines()
    assert len(states) > 3 and states[-1] == "b b b"
    assert set(states[:-1]) == {"a a a"}
    assert [path.name for path in tmp_path.iterdir()] == ["report"]


@pytest.mark.usefixtures("one_figure")
def test_what_is_not_the_reports_stays_in_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write.write(folder, a_report("a"))
    (folder / "notes.txt").write_text("mine")
    (folder / "tables" / "mine.csv").write_text("mine")
    (folder / "slides").mkdir()
    write.write(folder, a_report("b"))
    assert (folder / "notes.txt").read_text() == (folder / "tables" / "mine.csv").read_text()
    assert (folder / "slides").is_dir() and ranking_of(folder) == ("b", "b", "b")


@pytest.mark.usefixtures("one_figure")
def test_a_table_that_the_new_report_has_not_goes(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write.write(folder, a_report("a", kind="question", category="c"))
    assert (folder / "tables" / "groups.csv").exists()
    write.write(folder, a_report("a"))
    assert not (folder / "tables" / "groups.csv").exists()


@pytest.mark.parametrize("name", ["notes.txt", "report.json", "report.html"])
def test_a_folder_of_other_things_is_refused_and_left_as_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"schema": "theirs/1"}')
    expected = f"expected a new or empty folder .* found '{name}' in .*: name another, such as"
    with pytest.raises(ArgumentError, match=expected):
        write.write(tmp_path, a_report("a"))
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (tmp_path / name).read_text() == '{"schema": "theirs/1"}'


def test_every_file_of_a_report_is_one_that_the_next_may_replace(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write.write(folder, a_report("a", kind="question", category="c"))
    tables = {path.stem for path in (folder / "tables").iterdir()}
    figures = {path.stem for path in (folder / "figures").iterdir()}
    assert tables <= set(TABLES) and figures <= set(FIGURES)


@pytest.mark.usefixtures("one_figure")
def test_no_cell_of_a_reports_tables_is_run_by_a_spreadsheet(tmp_path: Path) -> None:
    names = {"category": "+cmd", "notes": "@said", "annotator": "-ann"}
    report = a_report(FORMULA, "-loser", **names)
    assert report.comparisons[0].interval is not None
    write.write(tmp_path / "report", report)
    files = (tmp_path / "report" / "tables").glob("*.csv")
    texts = (io.StringIO(file.read_bytes().decode(), newline="") for file in files)
    cells = [cell for text in texts for row in csv.reader(text) for cell in row]
    assert f"'{FORMULA}" in cells and "'-loser" in cells and "'+cmd" in cells and "'-ann" in cells
    assert not [cell for cell in cells if cell[:1] in ("=", "+", "@", "\t", "\r")]
    assert all(float(cell) < 0 for cell in cells if cell.startswith("-"))


@pytest.mark.usefixtures("one_figure")
def test_what_our_tables_hold_reads_back_under_its_name(tmp_path: Path) -> None:
    report = a_report(FORMULA)
    write.write(tmp_path / "report", report)
    path = tmp_path / "report" / "tables" / "agents.csv"
    assert read_table(path, ("agent",)).frame.agent.tolist() == [FORMULA, "c"]
    scores = pd.DataFrame({"agent": [FORMULA], "metric": ["m"], "value": ["-1"]})
    assert check_scores(from_frame("s", scores)).value.tolist() == [-1.0]
