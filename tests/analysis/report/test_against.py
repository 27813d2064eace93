"""A report of one version beside another: each part, the difference, and who is told apart."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Scenario
from sts_analysis.inputs.workspace import gather
from sts_analysis.report.build import build
from sts_analysis.report.schema import Report
from tests.analysis.reports import sure, validator
from tests.examples import scenarios

(FIRST,) = scenarios(1)
AGENTS = {"good": 0.9, "fair": 0.5, "poor": 0.1}


def asked(number: int) -> Scenario:
    """One of many scenarios that differ in their words alone."""
    words = dataclasses.replace(FIRST.instruction, text=f"Go to Good, {number}.")
    return dataclasses.replace(FIRST, id=f"clean-take-{number:02d}", instruction=words)


EVERY = [asked(number) for number in range(1, 21)]
OLD, NEW = EVERY[:16], EVERY[2:]
EASY = {s.id for s in EVERY[16:]}


def label(workspace: Workspace, suite: str, every: list[Scenario], equal: bool = False) -> None:
    """Labels as `sts label` writes them; what is equally easy for all is passed by all."""
    rows = []
    for s in every:
        for agent, skill in AGENTS.items():
            rng = np.random.default_rng([*map(ord, s.id + agent)])
            chance = 0.5 if equal else 0.95 if s.id in EASY else skill
            for n in range(6):
                verdict = "success" if rng.random() < chance else "not_done"
                rows.append((agent, s.id, s.category, f"{agent}/{s.hash[:9]}/{n}", verdict))
    columns = ["agent", "scenario", "category", "continuation", "verdict"]
    frame = pd.DataFrame(rows, columns=columns).assign(
        annotator="automatic", step=None, horizon=8, kind="instruction", source="automatic",
        sees="observation", notes="",
    )  # fmt: skip
    frame.loc[frame["verdict"] == "success", "step"] = 3
    path = workspace.path("labels", f"{suite.replace('@', '-')}.parquet")
    path.parent.mkdir(exist_ok=True)
    frame.to_parquet(path)


@pytest.fixture(scope="module")
def frozen(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Two versions of a suite with their labels."""
    made = Workspace.open(str(tmp_path_factory.mktemp("frozen") / "w")).create()
    store.freeze(made, "own", OLD)
    store.freeze(made, "own", NEW)
    label(made, "own@1", OLD)
    label(made, "own@2", NEW)
    return made


@pytest.fixture
def workspace(frozen: Workspace, tmp_path: Path) -> Workspace:
    """The same, to change."""
    return Workspace.open(str(shutil.copytree(frozen.root, tmp_path / "w")))


def report(workspace: Workspace, suite: str, against: str | None = None) -> Report:
    made = gather(workspace, suite, against)
    return build(made.ratings, made.scores, suite=made.suite, other=made.other)


def test_both_scores_are_those_of_each_versions_own_report(workspace: Workspace) -> None:
    beside = sure(report(workspace, "own@2", "own@1").against)
    for label, part in (("own@1", "old"), ("own@2", "new")):
        alone = {entry.agent: entry for entry in report(workspace, label).agents}
        for entry in beside.agents:
            share = getattr(entry, part)
            assert share.pass_rate == pytest.approx(alone[entry.agent].pass_rate)
            assert share.interval == pytest.approx(alone[entry.agent].interval)
    assert (len(beside.kept), len(beside.added), len(beside.retired)) == (14, 4, 2)
    assert beside.suite == "own@1" and beside.kept[0] == EVERY[2].id
    for entry in beside.agents:
        assert [s.scenarios for s in (entry.kept, entry.added, entry.retired)] == [14, 4, 2]
        low, high = sure(entry.interval)
        assert low < sure(entry.difference) < high
        whole = sure(entry.kept.pass_rate) * 14 + sure(entry.added.pass_rate) * 4
        assert sure(entry.new.pass_rate) == pytest.approx(whole / 18)
    poor = next(entry for entry in beside.agents if entry.agent == "poor")
    assert sure(poor.interval)[0] > 0, "the easy ones lift the poor agent, and it is seen"


def test_a_suite_says_which_world_each_scenario_is_of(workspace: Workspace) -> None:
    worlds = gather(workspace, "own@2").suite.worlds
    assert worlds == {one.id: one.world for one in NEW}


def test_what_both_hold_has_the_value_of_this_report(workspace: Workspace) -> None:
    label(workspace, "own@1", OLD, equal=True)
    beside = sure(report(workspace, "own@2", "own@1").against)
    alone = {entry.agent: entry for entry in report(workspace, "own@2").agents}
    for entry in beside.agents:
        whole = sure(entry.kept.pass_rate) * 14 + sure(entry.retired.pass_rate) * 2
        assert sure(entry.old.pass_rate) == pytest.approx(whole / 16)
        assert entry.new.pass_rate == pytest.approx(alone[entry.agent].pass_rate)


def test_a_version_that_no_longer_separates_its_best_is_said_so(workspace: Workspace) -> None:
    made = report(workspace, "own@2", "own@1")
    assert sure(made.against).first == sure(made.against).first_before == ("good",)
    assert not any("separates its best" in line for line in made.warnings)
    store.freeze(workspace, "own", [*OLD[:3], *EVERY[16:]])
    label(workspace, "own@3", [*OLD[:3], *EVERY[16:]], equal=True)
    label(workspace, "own@1", OLD)
    made = report(workspace, "own@3", "own@2")
    beside = sure(made.against)
    assert len(beside.first) == 3
    (said,) = (line for line in made.warnings if "separates its best" in line)
    assert said.startswith("own@3 no longer separates its best: ") and "in own@2 only" in said


def test_an_id_that_means_something_else_there_is_written_after_its_suite(
    workspace: Workspace,
) -> None:
    other = [dataclasses.replace(EVERY[19], id=EVERY[3].id), EVERY[2]]
    store.freeze(workspace, "other", other)
    label(workspace, "other@1", other)
    beside = sure(report(workspace, "own@1", "other@1").against)
    assert beside.kept == (EVERY[2].id,)
    assert beside.retired == (f"other@1/{EVERY[3].id}",) and EVERY[3].id in beside.added


def test_an_agent_of_one_version_alone_has_no_difference(workspace: Workspace) -> None:
    AGENTS["new"] = 0.5
    try:
        label(workspace, "own@2", NEW)
    finally:
        del AGENTS["new"]
    made = report(workspace, "own@2", "own@1")
    entry = next(e for e in sure(made.against).agents if e.agent == "new")
    assert entry.old.scenarios == 14 and entry.retired.pass_rate is None
    assert entry.retired.scenarios == 0 and entry.difference is not None


@pytest.mark.usefixtures("one_figure")
def test_the_command_prints_it_and_writes_it(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["report", "own@2", "--compare-to", "own@1", "--workspace", str(workspace.root)]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert (
        "Against own@1, the change in points:" in said
        and "same (14)  added (4)  retired (2)" in said
    )
    folder = workspace.path("reports", "own-2")
    content = json.loads((folder / "report.json").read_text())
    validator().validate(content)
    assert content["against"]["suite"] == "own@1"
    page = (folder / "report.html").read_text()
    assert '<section id="against">' in page and "keeps 14 scenarios of own@1" in page
    table = pd.read_csv(folder / "tables" / "against.csv")
    assert list(table["agent"]) == [entry["agent"] for entry in content["against"]["agents"]]
    assert main(["report", "own@2", "--workspace", str(workspace.root)]) == 0
    assert "against" not in json.loads((folder / "report.json").read_text())
    assert not (folder / "tables" / "against.csv").exists()


def test_what_cannot_be_compared_is_one_line(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ArgumentError, match="expected another suite than own@2"):
        gather(workspace, "own@2", "own@2")
    with pytest.raises(UnknownName, match="unknown suite version 'own@7'"):
        gather(workspace, "own@2", "own@7")
    workspace.path("labels", "own-1.parquet").unlink()
    with pytest.raises(DamagedData, match="own@1: expected labels or judgements"):
        gather(workspace, "own@2", "own@1")
    assert main(["report", "--table", "t.csv", "--compare-to", "own@1"]) == 2
    assert "--compare-to cannot be combined with --table" in capsys.readouterr().err
