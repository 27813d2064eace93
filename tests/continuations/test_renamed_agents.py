"""An agent whose code is renamed gets a new fingerprint, and its clips keep their verdicts."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.selections import Selection
from sts_annotator_app import queueing
from tests.annotations.examples import a_submission
from tests.examples import in_this_process, scenarios
from tests.stores import add_person, claim_items, submit

SOURCE = """
import numpy as np
from sts.agents import Agent, PolicyOutput

class Wanderer(Agent):
    name = "wanderer"

    def act(self, observation, instructions, memory, draws):
        even = np.ones((*observation.cell.shape, 9))
        return PolicyOutput(even), memory
"""


def test_verdicts_survive_a_rename_in_the_agent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_this_process(monkeypatch)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("STS_DATABASE_URL", raising=False)
    workspace = Workspace.open(str(tmp_path / "w")).create()
    suite = suites.freeze_scenarios(workspace, "own", scenarios(3), description="")

    def run_agent(source: str) -> str:
        (tmp_path / "wandering.py").write_text(source)
        sys.modules.pop("wandering", None)
        importlib.invalidate_caches()
        done = run(
            workspace,
            suite.scenarios,
            ["wandering:Wanderer"],
            count=2,
            seed=0,
            workers=1,
            progress=lambda done, total: None,
        )
        assert sum(done.new.values()) == 6
        return done.fingerprints["wandering:Wanderer"]

    before = run_agent(SOURCE)
    with AnnotationStore.open(workspace) as store:
        queueing.fill_queue(workspace, store, Selection(suite, suite.scenarios))
        ana = add_person(store, "Ana").id
        claims = claim_items(store, ana, suite=suite.label, count=6)
        submit(store, ana, [a_submission(claim) for claim in claims])
    judged = export_ratings(workspace, suite.label).table
    assert len(judged) == 6 and (judged["verdict"] == "success").all()

    assert run_agent(SOURCE.replace("even", "uniform")) != before
    table = export_ratings(workspace, suite.label).table
    columns = ["scenario", "clip", "annotator", "verdict", "step"]
    expected = judged[columns].sort_values(columns)
    again = table[columns].drop_duplicates().sort_values(columns)
    assert again.values.tolist() == expected.values.tolist()
    assert not set(table["continuation"]) <= set(judged["continuation"])
