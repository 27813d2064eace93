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
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from sts.annotations import export
from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites import store
from sts_analysis.report.build import build
from sts_analysis.report.write import write
from sts_scenarios.labels import LabelResult
from tests.analysis.reports import validator
from tests.analysis.worlds import ratings_table

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    frame = ratings_table(
        skills={"a": 1.5, "b": -1.0, "c": 0.2},
        categories=["lift", "go", "stay", "count"],
        seed=3,
        scenarios=4,
        continuations=3,
    )
    path = tmp_path / "ratings.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    path.write_text("agent,metric,value\na,probes,3\nb,probes,1\nc,probes,2\n")
    return path


def labelled(workspace: Path) -> None:
    frame = ratings_table(
        skills={"a": 1.5, "b": -1.0},
        categories=["lift", "go"],
        seed=3,
        scenarios=4,
        continuations=3,
        automatic=True,
    )
    (workspace / "labels").mkdir(parents=True)
    frame[frame["source"] == "automatic"].to_parquet(workspace / "labels" / "core-2.parquet")


GATHERED = """
import sys
from sts_analysis.inputs.workspace import gather
from sts.storage.workspace import Workspace
gather(Workspace.open(sys.argv[1]), "core@2")
print(*{name.split(".")[1] for name in sys.modules if name.startswith("sts.")})
print("numba" in sys.modules)
"""


def test_what_a_report_of_a_suite_is_made_from_is_read_without_its_worlds(tmp_path: Path) -> None:
    labelled(tmp_path / "w")
    words = [sys.executable, "-c", GATHERED, str(tmp_path / "w")]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    below = {"entry_points", "errors", "names", "ratings", "registry", "storage"}
    *rooms, numba = done.stdout.split()
    of_parts = {"agents", "continuations", "domains", "episodes", "jobs", "numerics", "suites"}
    assert {*rooms} == below | of_parts | {"annotations"} and numba == "False"


def test_a_bare_table_gives_a_report_and_a_short_ranking(
    table: Path, scores: Path, tmp_path: Path, capsys: Captured
) -> None:
    out = tmp_path / "out"
    assert main(["report", "--table", str(table), "--scores", str(scores), "--out", str(out)]) == 0
    text = capsys.readouterr().out
    assert str(out / "report.html") in text and "a is best" in text
    assert [line.split()[-1] for line in text.splitlines()[1:4]] == ["a", "c", "b"]
    report = json.loads((out / "report.json").read_text())
    validator().validate(report)
    assert report["suite"] == "ratings.csv" and report["provenance"]["versions"]["sts"]
    assert report["correlations"][0]["spearman"] == 1
    drawn = {path.stem for path in (out / "figures").iterdir()}
    assert {"ranking", "comparisons", "correlations", "time_to_success"} <= drawn


@pytest.mark.usefixtures("one_figure")
def test_json_prints_the_report(table: Path, tmp_path: Path, capsys: Captured) -> None:
    out = str(tmp_path / "out")
    args = ["report", "--table", str(table), "--out", out, "--json", "--target", "fixed"]
    assert main([*args, "--contrast", "a", "c", "--seed", "4"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["target"] == "fixed" and report["seed"] == 4
    assert report["contrasts"][0]["a"] == "a"


@pytest.mark.usefixtures("one_figure")
def test_without_out_a_bare_table_writes_beside_the_user(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["report", "--table", "ratings.csv"]) == 0
    assert (tmp_path / "sts-report" / "report.html").exists()


@pytest.mark.usefixtures("one_figure")
def test_a_workspace_gives_a_report_of_its_labels_and_scores(
    tmp_path: Path, scores: Path, capsys: Captured
) -> None:
    workspace = tmp_path / "w"
    labelled(workspace)
    assert main(["scores", "import", str(scores), "--workspace", str(workspace)]) == 0
    assert main(["report", "core@2", "--workspace", str(workspace)]) == 0
    assert "Automatic labels, not an STS result." in capsys.readouterr().out
    folder = workspace / "reports" / "core-2"
    report = json.loads((folder / "report.json").read_text())
    assert report["labels_used"] == "automatic" and report["counts"]["continuations"] == 48
    assert report["suite"] == "core@2" and len(report["provenance"]["suite_hash"]) == 64
    assert {row["metric"] for row in report["metrics"]} == {"probes"}
    assert "Automatic labels, not an STS result" in (folder / "report.html").read_text()


def write_labels(workspace: Path, lacking: dict[str, int], verdict: str = "success") -> None:
    """Labels of core@2, one a scenario and agent but for some, as `sts label` writes them."""
    known = store.load(Workspace.open(str(workspace)), "core@2").scenarios
    rows = [
        (agent, s.id, s.category, f"{agent}/{s.id}", "rule", verdict, 1, s.horizon, s.kind)
        for agent, lacks in lacking.items()
        for s in known[lacks:]
    ]
    columns = "agent scenario category continuation annotator verdict step horizon kind".split()
    frame = pd.DataFrame(rows, columns=columns)
    (workspace / "labels").mkdir(parents=True)
    frame = frame.assign(source="automatic", sees="observation", notes="")
    frame.to_parquet(workspace / "labels" / "core-2.parquet")


@pytest.mark.usefixtures("one_figure")
def test_a_report_counts_the_scenarios_of_its_suite(tmp_path: Path, capsys: Captured) -> None:
    workspace = tmp_path / "w"
    write_labels(workspace, {"whole": 1, "most": 3, "turns": 211})
    assert main(["report", "core@2", "--workspace", str(workspace)]) == 0
    text = capsys.readouterr().out
    known = [s.id for s in store.load(Workspace.open(str(workspace)), "core@2").scenarios]
    lines = {line.split("  ")[-1].split()[0]: line for line in text.splitlines()[2:6]}
    assert "215 of 216" in lines["whole"] and "215 of 215" in lines["whole"]
    assert lines["whole"].endswith(f"(no continuation of 1 of 216 scenarios: {known[0]})")
    assert lines["most"].endswith(
        f"(no continuation of 3 of 216 scenarios: {', '.join(known[:3])})"
    )
    assert "5 of 216" in lines["turns"] and lines["turns"].endswith(
        "(not ranked: 5 of 216 scenarios)"
    )
    assert "Warning: Not every ranked agent has continued every scenario: " in text
    assert "most lacks 3 of 216 and whole lacks 1 of 216. " in text
    report = json.loads((workspace / "reports" / "core-2" / "report.json").read_text())
    assert report["counts"]["scenarios"] == 216
    missing = {entry["agent"]: entry["missing"] for entry in report["agents"]}
    assert missing == {"whole": known[:1], "most": known[:3], "turns": known[:211]}
    lacks = pd.read_csv(workspace / "reports" / "core-2" / "tables" / "missing.csv")
    assert lacks.groupby("agent")["scenario"].apply(list).to_dict() == missing


@pytest.mark.usefixtures("one_figure")
def test_ranks_of_other_scenarios_stand_apart_in_the_terminal(
    tmp_path: Path, capsys: Captured
) -> None:
    table = tmp_path / "two.csv"
    worlds = [({"a": 2.0, "b": -2.0}, ["lift"]), ({"c": 2.0, "d": -2.0}, ["go"])]
    frames = [ratings_table(skills=own, categories=names, seed=1) for own, names in worlds]
    pd.concat(frames).to_csv(table, index=False)
    assert main(["report", "--table", str(table), "--out", str(tmp_path / "out")]) == 0
    text = capsys.readouterr().out
    ranks = [line.split()[:2] for line in text.splitlines()[1:5]]
    assert sorted(ranks) == [["1:", "1"], ["1:", "2"], ["2:", "1"], ["2:", "2"]]
    assert "Warning: There are 2 rankings" in text


def test_what_no_rule_labels_has_no_pass_rate(
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


@pytest.mark.usefixtures("one_figure")
def test_human_judgements_of_a_workspace_lead_under_the_agents_present_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = tmp_path / "w"
    labelled(workspace)
    labels = pd.read_parquet(workspace / "labels" / "core-2.parquet")
    human = labels[:10].assign(source="human", annotator="ann", verdict="not_done", step=None)
    human["agent"] = "a-before-it-was-renamed"

    made_of = export.export_ratings(Workspace.open(str(workspace)), "core@2").digests

    def stored(workspace: object, suite: str, **_: object) -> export.RatingsExport:
        return export.RatingsExport(human if suite == "core@2" else human[:0], made_of)

    monkeypatch.setattr(export, "export_ratings", stored)
    assert main(["report", "core@2", "--workspace", str(workspace)]) == 0
    report = json.loads((workspace / "reports" / "core-2" / "report.json").read_text())
    validator().validate(report)
    assert report["labels_used"] == "human" and report["labels"]["human"] == 10
    assert report["human_automatic"]["judgements"] == 10
    assert {entry["agent"] for entry in report["agents"]} == {"a", "b"}
    assert report["counts"]["unjudged"] == 38


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


def refused(capsys: Captured, code: int, expected: str, *args: str) -> None:
    assert main(list(args)) == code
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err.count("\n") == 1
    assert expected in captured.err


def test_bad_arguments_are_one_line_and_exit_code_2(
    table: Path, tmp_path: Path, capsys: Captured
) -> None:
    refused(capsys, 2, "give either a suite", "report")
    refused(capsys, 2, "give either a suite", "report", "core@2", "--table", str(table))
    workspace = ("--workspace", str(tmp_path / "w"))
    known = "unknown suite 'nope@1'; known: babyai@2, core@1, core@2"
    refused(capsys, 2, known, "report", "nope@1", *workspace)
    refused(capsys, 2, "unknown suite version 'core@9'", "report", "core@9", *workspace)
    refused(capsys, 2, "no table at", "report", "--table", str(tmp_path / "none.csv"))
    refused(capsys, 2, "unknown value of --target 'x'", "report", "core@2", "--target", "x")
    refused(capsys, 2, "--seed", "report", "--table", str(table), "--seed", "-1")
    refused(
        capsys, 2, "unknown ranked agent 'zed'; known: a, b, c",
        "report", "--table", str(table), "--contrast", "a", "zed",
    )  # fmt: skip


def test_bad_tables_are_one_line_and_exit_code_1(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "t.csv"
    header = "agent,scenario,category,continuation,annotator,verdict,step,horizon\n"
    for data, expected in (
        (b"", "empty file"),
        (b"\x00\x01", "binary file"),
        (b"agent,scenario\n1,2\n", "missing column 'verdict'; expected agent, scenario, verdict"),
        (f"{header}a,s,c,k,p,maybe,1,9\n".encode(), "t.csv, line 2: verdict: expected a verdict"),
    ):
        path.write_bytes(data)
        refused(capsys, 1, expected, "report", "--table", str(path))
        refused(capsys, 1, "", "scores", "import", str(path))


def test_a_suite_without_labels_says_what_to_do(tmp_path: Path, capsys: Captured) -> None:
    refused(
        capsys,
        1,
        "run `sts label core@2` first",
        "report",
        "core@2",
        "--workspace",
        str(tmp_path),
    )


def test_damaged_labels_are_one_line(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "labels" / "core-2.parquet"
    path.parent.mkdir()
    pd.DataFrame({"agent": ["a"]}).to_parquet(path)
    arguments = ("report", "core@2", "--workspace", str(tmp_path))
    refused(capsys, 1, "core-2.parquet: missing columns 'scenario'", *arguments)
    path.write_bytes(b"PAR1")
    refused(capsys, 1, "core-2.parquet: expected a Parquet file", *arguments)


@pytest.mark.usefixtures("one_figure")
def test_a_folder_that_cannot_be_written_is_one_line(
    table: Path, tmp_path: Path, capsys: Captured
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    refused(capsys, 1, "file", "report", "--table", str(table), "--out", str(blocked / "out"))


def late(work: Callable[..., Any], seconds: float) -> Callable[..., Any]:
    """The same work, each of whose parts takes so much longer."""

    def slowly(*rest: Any, step: Callable[[], None], **names: Any) -> Any:
        def wait() -> None:
            time.sleep(seconds)
            step()

        return work(*rest, step=wait, **names)

    return slowly


def on_a_terminal(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> str:
    """What a command draws on standard error where that is a terminal."""
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


@pytest.mark.usefixtures("one_figure")
def test_a_report_that_takes_longer_than_a_second_draws_how_far_it_is(
    table: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sts_analysis.api.build", late(build, 0.4))
    monkeypatch.setattr("sts_analysis.report.write.write", late(write, 0.6))
    order = ["report", "--table", str(table), "--out", str(tmp_path / "out")]
    drawn = on_a_terminal(order, monkeypatch)
    for label, parts in (("analysing", 4), ("writing", 3)):
        assert f"{label}: 100%" in drawn and f"{parts}/{parts}" in drawn
        half = [
            line for line in drawn.split("\r") if label in line and f"{parts - 1}/{parts}" in line
        ]
        assert half and all("parts" in line for line in half)
    assert "analysing" not in capsys.readouterr().out


@pytest.mark.usefixtures("one_figure")
def test_where_there_is_no_terminal_no_bar_is_drawn(
    table: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sts_analysis.api.build", late(build, 0.3))
    assert main(["report", "--table", str(table), "--out", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""
