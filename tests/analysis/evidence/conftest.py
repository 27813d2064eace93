"""A small suite that two agents have continued, labelled by rule and judged by two people."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.cli.main import main
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import selections
from sts.suites import suite_store as suites
from sts_analysis.evidence.gather import FOLDER, open_evidence
from sts_analysis.inputs.workspace import gather
from sts_analysis.report.core import Options, Study
from sts_annotator_app.queueing import fill_queue
from tests.annotator_app.serving import quiet

AGENTS = ("random", "rule")
SUITE = "few@1"
PEOPLE = ("Ann Secret", "Bob Secret", "Cid Secret")
REASON = "</script><script>alert(1)</script> <b>too dark</b>"


@pytest.fixture(scope="session")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace; people disagree on each scenario's first continuation of each agent."""
    folder = tmp_path_factory.mktemp("few")
    workspace = Workspace.open(str(folder)).create()
    every = suites.load(workspace, "core@2").scenarios
    chosen = [one for one in every if one.category in {every[0].category, every[-1].category}]
    kept = [*chosen[:3], *chosen[-3:]]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, AGENTS, count=2, seed=0, workers=1, progress=quiet)
    file = folder / "judged.csv"
    with file.open("w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(
            ("agent", "scenario", "continuation", "annotator", "verdict", "step", "reason")
        )
        for one in kept:
            for agent in AGENTS:
                rows.writerow((agent, one.id, 0, PEOPLE[0], "success", 1, ""))
                rows.writerow((agent, one.id, 0, PEOPLE[1], "failure", 2, ""))
                rows.writerow((agent, one.id, 1, PEOPLE[2], "cannot_judge", "", REASON))
    common = ("--workspace", str(folder))
    assert main(["label", SUITE, *common]) == 0
    with AnnotationStore.open(workspace) as store:
        fill_queue(workspace, store, selections.load_selection(workspace, SUITE))
    assert main(["annotations", "import", str(file), *common]) == 0
    return folder


def write_evidence(
    workspace: Path, report: Path, *, most: int | None = None, linked: bool = False
) -> str:
    """Write the evidence of the small suite into a report's folder; return its summary."""
    place = Workspace.open(str(workspace))
    gathered = gather(place, SUITE)
    study = Study(gathered, Options(), {})
    report.mkdir(parents=True, exist_ok=True)
    with open_evidence(place, gathered, study, report, most=most, linked=linked) as (made, summary):
        made.rename(report / FOLDER)
        return summary
