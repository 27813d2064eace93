"""Weights & Biases gets a report's numbers, page and tables; without it one line says how."""

import sys
import types
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, MissingExtra, Unavailable
from sts_analysis.report.document import compute_report
from sts_analysis.report.text import to_plain
from sts_analysis.report.tracking import list_scalars, log_report
from tests.analysis.variants import make_study


class Run:
    """What `wandb.init` returns, as far as it is used here; it keeps what it is given."""

    def __init__(self) -> None:
        self.id, self.summary, self.rows, self.ended = "r1", {}, [], False  # type: ignore[var-annotated]

    def __enter__(self) -> "Run":
        return self

    def __exit__(self, *_: object) -> None:
        self.ended = True

    def log(self, row: dict[str, Any]) -> None:
        self.rows.append(row)


@pytest.fixture
def wandb(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A stand-in with the names and arguments of wandb 0.31, which a run offline was tried with."""
    module: Any = types.ModuleType("wandb")
    module.run = Run()
    module.errors = types.SimpleNamespace(Error=type("Error", (Exception,), {}))

    def init(*, project: str, name: str, job_type: str, config: dict[str, Any]) -> Run:
        module.given = {"project": project, "name": name, "job_type": job_type, "config": config}
        return module.run

    module.init = init
    module.Html = lambda data, inject: ("html", data, inject)
    module.Table = lambda dataframe: ("table", dataframe)
    monkeypatch.setitem(sys.modules, "wandb", module)
    return module


def test_numbers_page_and_tables_are_logged_once_and_the_run_ends(wandb: Any) -> None:
    report = compute_report(make_study("rule"))
    assert log_report(report, "agents") == "r1"
    assert wandb.given["project"] == "agents" and wandb.given["config"]["target"] == "sampled"
    assert wandb.run.summary == list_scalars(report) and wandb.run.ended
    (row,) = wandb.run.rows
    kind, page, inject = row["report"]
    assert kind == "html" and page.startswith("<!doctype html>") and not inject
    _, frame = row["table/ranking"]
    assert frame["pass_rate"].tolist() == [entry.pass_rate for entry in report.ranking.rows]


def test_scalars_are_known_numbers_and_the_one_sentence() -> None:
    report = compute_report(make_study("rule"))
    found = list_scalars(report)
    assert found["conclusion"] == to_plain(report.conclusion.headline)
    best = report.ranking.rows[0]
    assert found["pass_rate/reader"] == best.pass_rate
    assert (found["pass_rate/reader/low"], found["pass_rate/reader/high"]) == best.interval
    assert found["rank/reader"] == 1 and "rank/oracle" not in found
    assert not [
        key for key in list_scalars(compute_report(make_study("interim"))) if "rank/" in key
    ]


def test_error_of_wandb_is_passed_on_in_a_sentence(
    wandb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: Any) -> Run:
        raise wandb.errors.Error("api_key not configured\n(no-tty)")

    monkeypatch.setattr(wandb, "init", refuse)
    with pytest.raises(Unavailable, match=r"could not log the report: api_key not .* \(no-tty\)$"):
        log_report(compute_report(make_study("one agent")), "agents")
    with pytest.raises(ArgumentError, match="expected a project's name .* found 'a/b'"):
        log_report(compute_report(make_study("one agent")), "a/b")


def test_missing_extra_is_named_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(MissingExtra, match=r"pip install 'standardised-test-suite\[wandb\]'"):
        log_report(compute_report(make_study("one agent")), "agents")
    words = ["report", "--table", str(tmp_path / "t.csv"), "--wandb", "agents"]
    assert main([*words, "--out", str(tmp_path / "r")]) == 1
    assert "needs the extra wandb" in capsys.readouterr().err and not (tmp_path / "r").exists()


def test_command_logs_what_it_has_written(wandb: Any, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text("agent,scenario,verdict\na,s,success\nb,s,failure\n")
    words = ["report", "--table", str(table), "--out", str(tmp_path / "r"), "--wandb", "agents"]
    assert main(words) == 0
    assert wandb.given["name"] == "t.csv" and (tmp_path / "r" / "report.html").exists()
