"""`sts report` and `sts scores import`: results, and one-line errors with an exit code."""

import io
import json
import os
import pty
import subprocess
import sys
import termios
import threading
import time
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sts.annotations.findings import export
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts_analysis.report import document
from sts_scenarios.rules.labels import LabelResult
from tests.analysis.variants import draw_study

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    draw_study({"a": 2.5, "b": -2.5, "c": 0.2}, scenarios=24).to_csv(path, index=False)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text("agent,metric,value\na,probes,3\nb,probes,1\nc,probes,2\n")
    return path


def write_labels(workspace: Path, lacking: dict[str, int], verdict: str = "success") -> None:
    """Write labels of core@2, one for each scenario and agent, as `sts label` does.

    Args:
      workspace: folder.
      lacking: how many scenarios each agent lacks.
      verdict: of all; "" for none.
    """
    known = store.load(Workspace.open(str(workspace)), "core@2").scenarios
    rows = [
        {
            "agent": agent,
            "scenario": s.id,
            "category": s.category,
            "continuation": f"{agent}/{s.id}",
            "annotator": "rule" if verdict else "",
            "verdict": verdict,
            "step": 1 if verdict else None,
            "horizon": s.horizon,
            "kind": s.kind,
            "source": "automatic",
            "sees": "observation",
            "notes": "",
            "trajectory": s.trajectory,
        }
        for agent, lacks in lacking.items()
        for s in known[lacks:]
    ]
    (workspace / "labels").mkdir(parents=True)
    pd.DataFrame(rows).to_parquet(workspace / "labels" / "core-2.parquet")


GATHERED = """
import sys
from sts_analysis.inputs.workspace import gather
from sts.storage.workspace import Workspace
gather(Workspace.open(sys.argv[1]), "core@2")
print(*{name.split(".")[1] for name in sys.modules if name.startswith("sts.")})
print("numba" in sys.modules)
"""


def test_suite_is_read_without_its_worlds(tmp_path: Path) -> None:
    write_labels(tmp_path / "w", {"a": 0})
    words = [sys.executable, "-c", GATHERED, str(tmp_path / "w")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    *packages, numba = done.stdout.split()
    assert "worlds" not in packages and numba == "False"


def test_table_gives_pages_json_tables_and_a_short_ranking(
    table: Path, scores: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    assert main(["report", "--table", str(table), "--scores", str(scores), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert "a is best, ahead of each of the two others." in text.splitlines()[0]
    assert str(out / "report.html") in text
    header = text.splitlines().index("rank  pass rate  95% interval  agent")
    ranking = text.splitlines()[header + 1 : header + 4]
    assert [line.split()[-1] for line in ranking] == ["a", "c", "b"]
    report = json.loads((out / "report.json").read_text())
    assert report["schema"] == "sts-report/3" and report["conclusion"]["suite"] == "ratings.csv"
    assert report["correlations"]["rows"][0]["rho"] == 1
    names = [file["name"] for file in report["provenance"]["inputs"]]
    assert names == ["ratings.csv", "scores.csv"]
    assert {path.name for path in out.iterdir()} == {
        "report.html", "appendix.html", "report.json", "report.schema.json", "tables",
    }  # fmt: skip


def test_json_is_the_file_that_is_written(table: Path, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out"
    args = ["report", "--table", str(table), "--out", str(out), "--json", "--target", "fixed"]
    assert main([*args, "--contrast", "a", "c", "--seed", "4"]) == 0
    printed = capsys.readouterr().out.encode()
    assert printed == (out / "report.json").read_bytes()
    report = json.loads(printed)
    assert report["conclusion"]["target"] == "fixed" and report["provenance"]["seed"] == 4
    assert report["comparisons"]["contrasts"][0]["first"] == "a"


def test_table_is_reported_next_to_the_user_without_out(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--table", "ratings.csv"]) == 0
    assert (tmp_path / "sts-report" / "report.html").exists()


def test_table_of_another_program_is_read_by_its_own_names(
    tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "lab.csv"
    rows = [
        f"{m},{i},{'Pass' if m == 'new' else 'fail'}" for i in range(20) for m in ("new", "old")
    ]
    path.write_text("\n".join(["Model,Item,Result", *rows]))
    words = ["report", "--table", str(path), "--out", str(tmp_path / "out")]
    assert main(words) == 1
    assert "found columns Model, Item, Result" in capsys.readouterr().err
    names = ["--column", "agent=Model", "--column", "scenario=Item", "--column", "verdict=Result"]
    assert main([*words, *names, "--success", "pass", "--failure", "fail"]) == 0
    assert "new is best, ahead of old." in capsys.readouterr().out
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert {"--column=agent=Model", "--success=pass"} <= set(report["provenance"]["arguments"])


def test_closing_a_table_is_stated_and_sets_the_bar(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "half.csv"
    draw_study({"a": 3.0, "b": -3.0}, judged=0.5).to_csv(path, index=False)
    words = ["report", "--table", str(path), "--out", str(tmp_path / "out")]
    assert main(words) == 0
    assert "Interim: " in capsys.readouterr().out
    assert main([*words, "--closed", "the funding ends"]) == 0
    text = capsys.readouterr().out
    assert "a is best, ahead of b." in text and "of what was planned: the funding ends." in text


def test_workspace_gives_a_report_of_its_labels_and_scores(
    tmp_path: Path, scores: Path, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    write_labels(workspace, {"a": 0, "b": 0})
    assert main(["scores", "import", str(scores), "--workspace", str(workspace)]) == 0
    capsys.readouterr()
    words = ["report", "core@2", "--workspace", str(workspace), "--clips", "none"]
    assert main(words) == 0
    assert capsys.readouterr().out.startswith("Rule labels: no person has judged. ")
    folder = workspace / "reports" / "core-2"
    report = json.loads((folder / "report.json").read_text())
    assert report["conclusion"]["source"] == "automatic"
    assert report["conclusion"]["units_known"] and report["conclusion"]["units"] < 216
    assert len(report["provenance"]["suite_hash"]) == 64
    assert {row["metric"] for row in report["correlations"]["scores"]} == {"probes"}


def test_agent_that_lacks_scenarios_of_its_suite_stands_below_the_table(
    tmp_path: Path, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    write_labels(workspace, {"whole": 0, "most": 3, "turns": 190})
    assert main(["report", "core@2", "--workspace", str(workspace), "--clips", "none"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (line,) = [line for line in lines if "turns (" in line]
    assert line.endswith("turns (190 of 216 scenarios missing)") and line.startswith("–")
    assert "Warning: turns is not ranked: 190 of 216 scenarios missing." in lines


def test_continuation_without_a_label_has_no_pass_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    write_labels(workspace, {"mute": 215}, verdict="")
    made = LabelResult(workspace / "labels" / "core-2.parquet", {"mute": {"": 1}})
    monkeypatch.setattr("sts_scenarios.api.label_suite", lambda *given, **more: made)
    assert main(["label", "core@2", "--workspace", str(workspace)]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if "mute" in line)
    assert line.split() == ["mute", "1", "0", "0", "0", "1", "-"]
    assert main(["label", "core@2", "--workspace", str(workspace), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["agents"][0]["pass_rate"] is None


def test_human_verdicts_count_under_the_present_names_of_agents(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "w"
    write_labels(workspace, {"a": 196, "b": 196})
    labels = pd.read_parquet(workspace / "labels" / "core-2.parquet")
    human = labels[:10].assign(source="human", annotator="ann", verdict="not_done", step=None)
    human["agent"] = "a-before-it-was-renamed"
    made_of = export.export_ratings(Workspace.open(str(workspace)), "core@2").digests

    def stored(workspace: object, suite: str, **_: object) -> export.RatingsExport:
        return export.RatingsExport(human if suite == "core@2" else human[:0], made_of)

    monkeypatch.setattr(export, "export_ratings", stored)
    words = ["report", "core@2", "--workspace", str(workspace), "--clips", "none"]
    assert main(words) == 0
    report = json.loads((workspace / "reports" / "core-2" / "report.json").read_text())
    assert report["conclusion"]["source"] == "human" and report["conclusion"]["judgements"] == 10
    assert [row["agent"] for row in report["ranking"]["rows"]] == ["a", "b"]


def test_importing_scores_twice_leaves_one_file(
    tmp_path: Path, scores: Path, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    for _ in range(2):
        assert main(["scores", "import", str(scores), "--workspace", str(workspace)]) == 0
    assert "3 scores (probes)" in capsys.readouterr().out
    (path,) = (workspace / "scores").iterdir()
    assert len(pd.read_parquet(path)) == 3


def test_importing_contradicting_scores_is_refused(
    tmp_path: Path, scores: Path, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    assert main(["scores", "import", str(scores), "--workspace", str(workspace)]) == 0
    scores.write_text("agent,metric,value\na,probes,7\n")
    assert main(["scores", "import", str(scores), "--workspace", str(workspace)]) == 1
    assert "different values of 'probes'" in capsys.readouterr().err
    assert len(list((workspace / "scores").iterdir())) == 1


def expect_error(capsys: Captured, code: int, expected: str, *args: str) -> None:
    assert main(list(args)) == code
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert expected in captured.err


def test_bad_argument_prints_a_sentence_and_exits_with_2(
    table: Path, tmp_path: Path, capsys: Captured
) -> None:
    expect_error(capsys, 2, "give either a suite", "report")
    expect_error(capsys, 2, "give either a suite", "report", "core@2", "--table", str(table))
    workspace = ("--workspace", str(tmp_path / "w"))
    known = "unknown suite 'nope@1'; known: babyai@2, babyai@3, core@2, core@3"
    expect_error(capsys, 2, known, "report", "nope@1", *workspace)
    expect_error(capsys, 2, "unknown suite version 'core@9'", "report", "core@9", *workspace)
    expect_error(capsys, 2, "no table at", "report", "--table", str(tmp_path / "none.csv"))
    expect_error(capsys, 2, "unknown value of --target 'x'", "report", "core@2", "--target", "x")
    expect_error(capsys, 2, "--seed", "report", "--table", str(table), "--seed", "-1")
    expect_error(
        capsys, 2, "unknown ranked agent 'zed'; known: a, b, c",
        "report", "--table", str(table), "--contrast", "a", "zed",
    )  # fmt: skip


def test_bad_table_prints_a_sentence_and_exits_with_1(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "t.csv"
    header = "agent,scenario,category,continuation,annotator,verdict,step,horizon\n"
    for data, expected in (
        (b"", "empty file"),
        (b"\x00\x01", "binary file"),
        (b"agent,scenario\n1,2\n", "expected a column verdict; found columns agent, scenario"),
        (f"{header}a,s,c,k,p,maybe,1,9\n".encode(), "t.csv, line 2: verdict: expected a verdict"),
    ):
        path.write_bytes(data)
        expect_error(capsys, 1, expected, "report", "--table", str(path))
        expect_error(capsys, 1, "", "scores", "import", str(path))


def test_suite_without_labels_says_what_to_do(tmp_path: Path, capsys: Captured) -> None:
    expect_error(
        capsys,
        1,
        "run `sts label core@2` first",
        "report",
        "core@2",
        "--workspace",
        str(tmp_path),
    )


def test_damaged_labels_print_a_sentence(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "labels" / "core-2.parquet"
    path.parent.mkdir()
    pd.DataFrame({"agent": ["a"]}).to_parquet(path)
    arguments = ("report", "core@2", "--workspace", str(tmp_path))
    expect_error(capsys, 1, "core-2.parquet: missing columns 'scenario'", *arguments)
    path.write_bytes(b"PAR1")
    expect_error(capsys, 1, "core-2.parquet: expected a Parquet file", *arguments)


def test_unwritable_folder_prints_a_sentence(table: Path, tmp_path: Path, capsys: Captured) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    expect_error(capsys, 1, "file", "report", "--table", str(table), "--out", str(blocked / "out"))


def on_a_terminal(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what a command draws on standard error if that is a terminal."""
    reader, writer = pty.openpty()
    termios.tcsetwinsize(writer, (24, 100))
    drawn = io.BytesIO()

    def read() -> None:
        while data := os.read(reader, 4096):
            drawn.write(data)
            if b"\0" in data:
                return

    reading = threading.Thread(target=read)
    reading.start()
    with os.fdopen(writer, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        assert main(arguments) == 0
        terminal.write("\0")
        terminal.flush()
        reading.join(timeout=10)
    os.close(reader)
    return drawn.getvalue().decode()


def slow_down(monkeypatch: pytest.MonkeyPatch) -> None:
    method = document.load_sections()["method"]
    compute = method.compute

    def compute_slowly(study: Any) -> Any:
        time.sleep(1.5)
        return compute(study)

    monkeypatch.setattr(method, "compute", compute_slowly)


def test_report_that_takes_longer_than_a_second_shows_its_progress(
    table: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_down(monkeypatch)
    words = ["report", "--table", str(table), "--out", str(tmp_path / "out")]
    drawn = on_a_terminal(words, monkeypatch)
    assert "analysing: 100%" in drawn and "sections" in drawn
    assert "analysing" not in capsys.readouterr().out


def test_no_progress_is_shown_without_a_terminal(
    table: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_down(monkeypatch)
    assert main(["report", "--table", str(table), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
