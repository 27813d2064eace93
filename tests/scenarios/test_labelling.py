"""`sts label`: every continuation of every agent, as a ratings table that says it is automatic."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.inputs.ratings import read_ratings
from scenarios import categories, mining
from scenarios.labels import COLUMNS, label_suite
from sts import agents
from sts.cli.main import main
from sts.continuations import store
from sts.continuations.takeover import continue_all
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from sts.trajectories.types import Trajectory
from tests.examples import recorded


@pytest.fixture(scope="module")
def trajectories() -> list[Trajectory]:
    return recorded(count=80, team=2, steps=40, seed=5)


@pytest.fixture
def workspace(tmp_path: Path, trajectories: list[Trajectory]) -> Workspace:
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    every = list(categories.installed().values())
    found = mining.mine(trajectories, every, per_category=2, seed=0)
    suites.freeze(workspace, "tiny", found.scenarios)
    return workspace


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


def run(workspace: Workspace) -> Suite:
    played = ("--agent", "rule", "--agent", "oracle", "--continuations", "3")
    assert sts(workspace, "run", "tiny@1", *played) == 0
    return suites.load(workspace, "tiny@1")


def test_each_continuation_is_one_row_by_the_rule_of_its_category(workspace: Workspace) -> None:
    suite = run(workspace)
    labels = label_suite(workspace, suite)
    assert list(labels.columns) == list(COLUMNS)
    assert dict(labels["agent"].value_counts()) == {
        "rule": 3 * len(suite.scenarios),
        "oracle": len(suite.scenarios),
    }
    scenarios = {s.id: s for s in suite.scenarios}
    made = {c.id: c for c in store.load(workspace, [s.hash for s in suite.scenarios])}
    assert len(labels) == len(made)
    row: Any
    for row in labels.itertuples():
        scenario, one = scenarios[row.scenario], made[row.continuation]
        rule = categories.named(row.category).label
        verdict, step = rule(one.episode, scenario.takeover, scenario.roles, scenario.parameters)
        assert (row.verdict, None if pd.isna(row.step) else row.step) == (verdict, step)
        assert (row.step is pd.NA) == (row.verdict == "not_done")
        assert (row.horizon, row.kind) == (scenario.horizon, scenario.kind)


def test_labels_say_that_they_are_automatic_and_what_the_agent_sees(workspace: Workspace) -> None:
    labels = label_suite(workspace, run(workspace))
    assert set(labels["source"]) == set(labels["annotator"]) == {"automatic"}
    sees = labels.groupby("agent")["sees"].unique()
    assert list(sees["oracle"]) == ["world"]
    assert list(sees["rule"]) == ["observation"]


def test_the_file_is_a_ratings_table_that_analysis_reads(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = run(workspace)
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("automatic labels, not judged by anyone")
    path = workspace.path("labels", "tiny-1.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(path), label_suite(workspace, suite))
    assert len(read_ratings(path)) == 4 * len(suite.scenarios)


def test_the_json_counts_each_agent_s_verdicts(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = run(workspace)
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["labels"] == "automatic"
    labels = label_suite(workspace, suite)
    for row in printed["agents"]:
        own = labels[labels["agent"] == row["agent"]]
        assert row["continuations"] == len(own)
        assert row["success"] == (own["verdict"] == "success").sum()
        assert row["success"] + row["failure"] + row["not_done"] == len(own)


def test_two_versions_of_an_agent_go_by_their_fingerprints(workspace: Workspace) -> None:
    suite = run(workspace)
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    edited = dataclasses.replace(one.identity, fingerprint="0123456789abcdef")
    store.save(workspace, [dataclasses.replace(one, identity=edited)])
    names = set(label_suite(workspace, suite)["agent"])
    assert names == {"rule", "oracle#01234567", f"oracle#{one.fingerprint[:8]}"}


def test_people_are_one_agent_together(workspace: Workspace) -> None:
    suite = run(workspace)
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    for mark in ("0" * 16, "1" * 16):
        person = dataclasses.replace(one.identity, agent="human", fingerprint=mark)
        store.save(workspace, [dataclasses.replace(one, identity=person, deterministic=False)])
    assert set(label_suite(workspace, suite)["agent"]) == {"rule", "oracle", "human"}


def test_a_label_carries_what_a_report_must_say_of_its_agent(workspace: Workspace) -> None:
    suite = run(workspace)
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    identity = dataclasses.replace(one.identity, agent="mine", fingerprint="2" * 16)
    nothing = np.full_like(one.log_probs, np.nan)
    mine = dataclasses.replace(one, identity=identity, together=2, log_probs=nothing)
    store.save(workspace, [dataclasses.replace(mine, deterministic=False)])
    notes = label_suite(workspace, suite).groupby("agent")["notes"].unique()
    assert list(notes["rule"]) == [""]
    assert list(notes["oracle"]) == ["deterministic: one continuation a scenario"]
    (said,) = notes["mine"]
    assert "batch-sensitive" in said
    assert "no log-probabilities" in said
    assert sts(workspace, "label", suite.label) == 0
    assert sts(workspace, "report", suite.label) == 0
    page = workspace.path("reports", f"{suite.name}-1", "report.html").read_text()
    assert "batch-sensitive" in page


def test_continuations_of_other_suites_are_left_out(workspace: Workspace) -> None:
    suite = run(workspace)
    part = dataclasses.replace(suite, scenarios=suite.scenarios[:1])
    assert set(label_suite(workspace, part)["scenario"]) == {suite.scenarios[0].id}


def test_a_category_without_a_rule_is_named_and_its_continuations_stay_unjudged(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = suites.load(workspace, "tiny@1").scenarios[:2]
    own = dataclasses.replace(first, id="dance-01", category="dance")
    suites.freeze(workspace, "other", [own, second])
    assert sts(workspace, "run", "other@1", "--agent", "oracle") == 0
    capsys.readouterr()
    assert sts(workspace, "label", "other@1", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["without_label"] == ["dance"]
    (row,) = printed["agents"]
    assert row["continuations"] == 2
    assert row["success"] + row["failure"] + row["not_done"] == row["unlabelled"] == 1
    labels = read_ratings(workspace.path("labels", "other-1.parquet"))
    assert labels.set_index("scenario")["verdict"]["dance-01"] == ""
    assert sts(workspace, "report", "other@1", "--json") == 0
    report = json.loads(workspace.path("reports", "other-1", "report.json").read_text())
    assert (report["counts"]["judged"], report["counts"]["continuations"]) == (1, 2)


def test_nothing_to_label_is_one_line_that_says_what_to_run(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1") == 1
    assert "sts run tiny@1 --agent NAME" in capsys.readouterr().err
    assert not workspace.path("labels").exists()
    assert sts(workspace, "label", "tiny@7") == 2


@pytest.mark.parametrize("parameters", [{}, {"direction": "north", "cells": 2}, {"direction": 1}])
def test_parameters_that_a_rule_cannot_read_are_one_error_of_ours(
    workspace: Workspace, parameters: dict[str, object]
) -> None:
    suite = suites.load(workspace, "tiny@1")
    walk = next(s for s in suite.scenarios if s.category == "walk")
    crafted = dataclasses.replace(walk, parameters=parameters)
    made = continue_all([crafted], agents.load("random"), seed=0, indices=[0])
    store.save(workspace, made)
    with pytest.raises(StsError, match="tiny@1: walk-.* 'walk' failed to label .* do not fit"):
        label_suite(workspace, dataclasses.replace(suite, scenarios=(crafted,)))
