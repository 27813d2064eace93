"""`sts label`: every continuation of every agent, as a ratings table that says it is automatic."""

import dataclasses
import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import sts
from sts import agents
from sts.annotations.answers.verdicts import load_automatic_labels
from sts.continuations import continuation_store as store
from sts.continuations import label_table, labels
from sts.continuations.continuation import Continuation
from sts.continuations.index import open_index
from sts.continuations.label_table import SCHEMA
from sts.continuations.labels import Label
from sts.continuations.takeover import continue_all
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from sts_analysis.api import load_ratings
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.labels import label_suite
from tests.examples import recorded
from tests.faults.writes import kill_at_each_write
from tests.mined import mine
from tests.scenarios.curating import Curation, run_commands
from tests.scenarios.test_mining import EVERY


@pytest.fixture(scope="module")
def continued_workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace in which two agents have continued a suite."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("whole") / "w")).create()
    found = mine(recorded(count=80, steps=40, seed=5), EVERY, per_category=2, seed=0)
    suites.freeze_scenarios(workspace, "tiny", found.scenarios)
    run_commands(workspace.root, "run tiny@1 --agent rule --agent oracle --continuations 3")
    return workspace


@pytest.fixture
def run(
    continued_workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Curation:
    return Curation(Path(shutil.copytree(continued_workspace.root, tmp_path / "w")), capsys)


@pytest.fixture
def workspace(run: Curation) -> Workspace:
    return run.workspace


@pytest.fixture
def suite(workspace: Workspace) -> Suite:
    return suites.load(workspace, "tiny@1")


@pytest.fixture
def oracle(workspace: Workspace, suite: Suite) -> Continuation:
    """Return the oracle's continuation of the first scenario."""
    every = store.load(workspace, [suite.scenarios[0].hash])
    return next(c for c in every if c.agent == "oracle")


def table(workspace: Workspace, suite: Suite, own: Sequence[Category] = ()) -> pd.DataFrame:
    """Label a suite and return the table."""
    return pd.read_parquet(label_suite(workspace, suite, own).path).astype({"step": "Int64"})


def test_each_continuation_is_labelled_by_the_rule_of_its_category(workspace, suite):
    labels = table(workspace, suite)
    assert list(labels.columns) == list(SCHEMA)
    count = len(suite.scenarios)
    assert dict(labels["agent"].value_counts()) == {"rule": 3 * count, "oracle": count}
    assert set(labels["source"]) == set(labels["annotator"]) == {"automatic"}
    sees = labels.groupby("agent")["sees"].unique()
    assert list(sees["oracle"]) == ["world"] and list(sees["rule"]) == ["observation"]
    scenarios = {s.id: s for s in suite.scenarios}
    made = {c.id: c for c in store.load(workspace, [s.hash for s in suite.scenarios])}
    assert len(labels) == len(made)
    row: Any
    for row in labels.itertuples():
        scenario, one = scenarios[row.scenario], made[row.continuation]
        rule = categories.load_category(row.category).label
        verdict, step = rule(one.episode, scenario.context, scenario.players, scenario.parameters)
        assert (row.verdict, None if pd.isna(row.step) else row.step) == (verdict, step)
        assert (row.step is pd.NA) == (row.verdict == "not_done")
        own = (scenario.horizon, scenario.kind, scenario.trajectory)
        assert (row.horizon, row.kind, row.trajectory) == own


def test_label_writes_a_ratings_table_and_counts_verdicts(run, suite):
    assert run("label tiny@1").startswith("automatic labels, not judged by anyone")
    path = run.workspace.path("labels", "tiny-1.parquet")
    labels = pd.read_parquet(path)
    assert len(labels) == len(load_ratings(path)) == 4 * len(suite.scenarios)
    printed = json.loads(run("label tiny@1 --json"))
    assert printed["labels"] == "automatic"
    for row in printed["agents"]:
        own = labels[labels["agent"] == row["agent"]]
        assert row["continuations"] == len(own)
        assert row["success"] == (own["verdict"] == "success").sum()
        assert row["success"] + row["failure"] + row["not_done"] == len(own)


def test_agent_versions_are_distinguished_and_people_are_one_agent(workspace, suite, oracle):
    edited = dataclasses.replace(oracle.identity, fingerprint="0123456789abcdef")
    store.save(workspace, [dataclasses.replace(oracle, identity=edited)])
    for mark in ("0" * 16, "1" * 16):
        person = dataclasses.replace(oracle.identity, agent="human", fingerprint=mark)
        store.save(workspace, [dataclasses.replace(oracle, identity=person, deterministic=False)])
    two = {"oracle#01234567", f"oracle#{oracle.fingerprint[:8]}"}
    assert set(table(workspace, suite)["agent"]) == {"rule", "human", *two}


def test_notes_on_an_agent_reach_its_labels_and_the_report(run, suite, oracle):
    identity = dataclasses.replace(oracle.identity, agent="mine", fingerprint="2" * 16)
    nothing = np.full_like(oracle.log_probs, np.nan)
    mine = dataclasses.replace(oracle, identity=identity, together=2, log_probs=nothing)
    store.save(run.workspace, [dataclasses.replace(mine, deterministic=False)])
    notes = table(run.workspace, suite).groupby("agent")["notes"].unique()
    assert list(notes["rule"]) == [""]
    assert list(notes["oracle"]) == ["deterministic: one continuation a scenario"]
    (said,) = notes["mine"]
    assert "batch-sensitive" in said and "no log-probabilities" in said
    run("label tiny@1")
    run("report tiny@1")
    page = run.workspace.path("reports", "tiny-1", "report.html").read_text()
    assert "batch-sensitive" in page


def test_continuations_of_other_suites_are_left_out(workspace, suite):
    part = dataclasses.replace(suite, scenarios=suite.scenarios[:1])
    assert set(table(workspace, part)["scenario"]) == {suite.scenarios[0].id}


def test_scenario_without_a_rule_is_named_and_left_unlabelled(run, suite):
    shutil.rmtree(run.workspace.path("continuations"))
    first, second = suite.scenarios[:2]
    own = dataclasses.replace(first, id="dance-01", category="dance")
    suites.freeze_scenarios(run.workspace, "other", [own, second])
    run("run other@1 --agent oracle")
    printed = json.loads(run("label other@1 --json"))
    assert printed["without_rule"] == ["dance-01"]
    assert "no rule for dance-01: for people to judge with sts annotate other@1" in run(
        "label other@1"
    )
    (row,) = printed["agents"]
    assert row["continuations"] == 2
    assert row["success"] + row["failure"] + row["not_done"] == row["unlabelled"] == 1
    labels = load_ratings(run.workspace.path("labels", "other-1.parquet"))
    assert labels.set_index("scenario")["verdict"]["dance-01"] == ""
    run("report other@1 --json")
    report = json.loads(run.workspace.path("reports", "other-1", "report.json").read_text())
    conclusion = report["conclusion"]
    assert (conclusion["judged_clips"], conclusion["planned_clips"]) == (1, 2)


def test_suite_without_continuations_is_refused_with_the_command_to_run(run):
    shutil.rmtree(run.workspace.path("continuations"))
    assert "sts run tiny@1 --agent NAME" in run("label tiny@1", code=1)
    assert not run.workspace.path("labels").exists()
    run("label tiny@7", code=2)


def test_scenario_with_parameters_of_no_category_is_left_unlabelled(workspace, suite):
    shadow = next(s for s in suite.scenarios if s.category == "shadow-evil")
    crafted = dataclasses.replace(shadow, parameters={"cells": 1})
    store.save(workspace, continue_all([crafted], agents.load("random"), seed=0, indices=[0]))
    made = table(workspace, dataclasses.replace(suite, scenarios=(crafted,)))
    assert list(made["verdict"]) == [""]


def read_labels(workspace: Workspace) -> dict[str, bytes]:
    """Return what every file of labels holds."""
    return {name: workspace.store.get(name) for name in workspace.store.list("labels")}


def test_only_new_continuations_are_labelled_again(run, suite, monkeypatch):
    first = label_suite(run.workspace, suite)
    before = read_labels(run.workspace)
    monkeypatch.setattr("sts.continuations.parts.decode_part", None)  # no continuation is read
    assert label_suite(run.workspace, suite) == first
    monkeypatch.undo()
    run("run tiny@1 --agent random --continuations 1")
    again = label_suite(run.workspace, suite)
    assert again.counts.items() > first.counts.items() and "random" in again.counts
    name = label_table.table_name("tiny@1")
    assert {*before.items()} - {*read_labels(run.workspace).items()} == {(name, before[name])}


def test_ratings_of_a_suite_name_the_trajectory_of_each_scenario(run, suite):
    run("label tiny@1")
    ratings = sts.load_ratings("tiny@1", workspace=run.workspace)
    known = ratings.drop_duplicates("scenario").set_index("scenario")["trajectory"]
    assert known.to_dict() == {s.id: s.trajectory for s in suite.scenarios}


def test_label_replaces_a_table_of_an_earlier_format(workspace, suite):
    label_suite(workspace, suite)
    name = label_table.table_name("tiny@1")
    current, path = workspace.store.get(name), workspace.path(name)
    stored = pq.read_table(path)
    marked = stored.schema.metadata | {b"sts.format": b"ratings/1"}
    pq.write_table(stored.drop_columns("trajectory").replace_schema_metadata(marked), path)
    with pytest.raises(DamagedData, match="ratings format 1; this version reads 2: run sts label"):
        load_automatic_labels(workspace, [], open_index(workspace.store))
    label_suite(workspace, suite)
    assert workspace.store.get(name) == current


OWN = """
from pathlib import Path
from sts_scenarios.rules.category import Category, Label

def label(episode, takeover, players, parameters):
    return Label({}, 1)

def nothing(*given):
    return None

ASKS = ("{{text}}",)
SHADOW = Category("shadow-evil", "instruction", "lambda-star", 5, ASKS, nothing, label, nothing)
"""
Shadowed = Callable[[str, str], tuple[set[str], set[str]]]


@pytest.fixture
def shadowed(workspace: Workspace, suite: Suite, tmp_path: Path, monkeypatch) -> Shadowed:
    """Return a custom rule's verdicts on shadow-evil, and the sets of labels that are stored."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def shadowed(module: str, verdict: str) -> tuple[set[str], set[str]]:
        (tmp_path / f"{module}.py").write_text(OWN.format(verdict))
        made = table(workspace, suite, [categories.load_category(f"{module}:SHADOW")])
        sets = {name.split("/")[1] for name in read_labels(workspace)}
        return {*made["verdict"][made["category"] == "shadow-evil"]}, sets

    return shadowed


def test_edited_rule_relabels_everything(workspace, suite, shadowed):
    first, sets = shadowed("rules_so", "'success'")
    second, more = shadowed("rules_otherwise", "'failure'")
    assert (first, second) == ({"success"}, {"failure"})
    assert len(more - sets) == 1

    def packaged(version: str) -> set[str]:
        one = categories.load_category(suite.scenarios[0].category)
        table(workspace, suite, [dataclasses.replace(one, version=version)])
        return {name.split("/")[1] for name in read_labels(workspace)}

    once = packaged("1")
    assert packaged("1") == once and len(packaged("2") - once) == 1


def test_rule_that_reads_a_file_is_applied_each_time(shadowed, tmp_path):
    word, line = tmp_path / "word", f"Path({str(tmp_path / 'word')!r}).read_text()"
    word.write_text("success")
    first, sets = shadowed("rules_by_a_file", line)
    word.write_text("failure")
    assert (first, shadowed("rules_by_a_file", line)) == ({"success"}, ({"failure"}, sets))


def test_stored_labels_that_contradict_the_rule_are_refused_and_kept(workspace, suite):
    label_suite(workspace, suite)
    name = next(n for n in read_labels(workspace) if not label_table.is_table(n))
    part = workspace.path(name)
    labels.write_labels(workspace.store, name, [], overwrite=True)
    altered = part.read_bytes()
    made = store.read_part(workspace, f"continuations/{name.split('/', 2)[2]}")
    said = [Label(one.content_hash, "success", 1) for one in made]
    with pytest.raises(DamagedData, match="already exists with other content"):
        labels.write_labels(workspace.store, name, said)
    assert part.read_bytes() == altered
    workspace.path(label_table.table_name(suite.label)).unlink()
    with pytest.raises(DamagedData, match="labels of the continuations in the part of that name"):
        label_suite(workspace, suite)


def test_label_of_a_continuation_is_read_from_its_own_part_alone(workspace, suite):
    labelled = table(workspace, suite).set_index("continuation")["verdict"]
    index = open_index(workspace.store)
    one = store.load(workspace, {s.hash for s in suite.scenarios})[0]
    (part,) = index.group_by_part(index.rows_with_prefix(one.id))
    others = [n for n in read_labels(workspace) if n.count("/") == 3 and part[14:] not in n]
    for name in others:
        workspace.path(name).write_bytes(b"")
    (said,) = load_automatic_labels(workspace, [one], index)[one.id]
    assert others and said.verdict == labelled[one.id]


def test_labelling_killed_at_any_write_resumes_to_the_same_rows(workspace, suite):
    root = workspace.root.parent

    def copy(name):
        shutil.copytree(workspace.root, root / name)

    def label(name):
        return label_suite(Workspace.open(str(root / name)), suite).path

    def read_parts(name):
        files = (root / name / "labels").glob("*/*/*.parquet")
        return {str(file.relative_to(root / name)): file.read_bytes() for file in files}

    copy("whole")
    table, whole, halves = label("whole").read_bytes(), read_parts("whole"), []
    for name, killed in kill_at_each_write(label, copy):
        half = read_parts(name)
        assert half.items() <= whole.items(), name
        if killed:
            assert not (root / name / "labels" / "tiny-1.parquet").exists()
            halves.append(len(half))
            assert label(name).read_bytes() == table, name
            assert read_parts(name) == whole, name
    parts = len(list(workspace.path("continuations").glob("*/*.parquet")))
    assert halves == [n // 2 for n in range(2 * (parts + 1))]
