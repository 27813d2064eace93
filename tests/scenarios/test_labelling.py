"""`sts label`: every continuation of every agent, as a ratings table that says it is automatic."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts import agents
from sts.annotations.verdicts import automatic
from sts.cli.main import main
from sts.continuations import label_table, labels, store
from sts.continuations.label_table import SCHEMA
from sts.continuations.labels import Label
from sts.continuations.takeover import continue_all
from sts.errors import DamagedData, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from sts_analysis.inputs.ratings import read_ratings
from sts_scenarios import categories, mining
from sts_scenarios.category import Category
from sts_scenarios.labels import label_suite
from tests.examples import recorded

CATEGORIES = (
    *("count-others", "keep-beside", "last-move", "return-to-first"),
    *("shadow-evil", "when-evil", "where-is-good", "where-was-evil"),
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace in which two agents have continued a suite."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("whole") / "w")).ensure()
    every = [categories.named(name) for name in CATEGORIES]
    trajectories = recorded(count=80, team=2, steps=40, seed=5)
    found = mining.mine(trajectories, every, per_category=2, seed=0)
    suites.freeze(workspace, "tiny", found.scenarios)
    played = ("--agent", "rule", "--agent", "oracle", "--continuations", "3")
    assert sts(workspace, "run", "tiny@1", *played) == 0
    return workspace


@pytest.fixture
def workspace(whole: Workspace, tmp_path: Path) -> Workspace:
    shutil.copytree(whole.root, tmp_path / "w")
    return Workspace.open(str(tmp_path / "w"))


@pytest.fixture
def suite(workspace: Workspace) -> Suite:
    return suites.load(workspace, "tiny@1")


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


def table(workspace: Workspace, suite: Suite, own: Sequence[Category] = ()) -> pd.DataFrame:
    """Labels a suite and returns the table."""
    labels = pd.read_parquet(label_suite(workspace, suite, own).path)
    return labels.astype({"step": "Int64"})


def test_each_continuation_is_one_row_by_the_rule_of_its_category(
    workspace: Workspace, suite: Suite
) -> None:
    labels = table(workspace, suite)
    assert list(labels.columns) == list(SCHEMA)
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


def test_labels_say_that_they_are_automatic_and_what_the_agent_sees(
    workspace: Workspace, suite: Suite
) -> None:
    labels = table(workspace, suite)
    assert set(labels["source"]) == set(labels["annotator"]) == {"automatic"}
    sees = labels.groupby("agent")["sees"].unique()
    assert list(sees["oracle"]) == ["world"]
    assert list(sees["rule"]) == ["observation"]


def test_the_file_is_a_ratings_table_that_analysis_reads(
    workspace: Workspace, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("automatic labels, not judged by anyone")
    path = workspace.path("labels", "tiny-1.parquet")
    assert len(pd.read_parquet(path)) == 4 * len(suite.scenarios)
    assert len(read_ratings(path)) == 4 * len(suite.scenarios)


def test_the_json_counts_each_agent_s_verdicts(
    workspace: Workspace, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["labels"] == "automatic"
    labels = table(workspace, suite)
    for row in printed["agents"]:
        own = labels[labels["agent"] == row["agent"]]
        assert row["continuations"] == len(own)
        assert row["success"] == (own["verdict"] == "success").sum()
        assert row["success"] + row["failure"] + row["not_done"] == len(own)


def test_two_versions_of_an_agent_go_by_their_fingerprints(
    workspace: Workspace, suite: Suite
) -> None:
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    edited = dataclasses.replace(one.identity, fingerprint="0123456789abcdef")
    store.save(workspace, [dataclasses.replace(one, identity=edited)])
    names = set(table(workspace, suite)["agent"])
    assert names == {"rule", "oracle#01234567", f"oracle#{one.fingerprint[:8]}"}


def test_people_are_one_agent_together(workspace: Workspace, suite: Suite) -> None:
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    for mark in ("0" * 16, "1" * 16):
        person = dataclasses.replace(one.identity, agent="human", fingerprint=mark)
        store.save(workspace, [dataclasses.replace(one, identity=person, deterministic=False)])
    assert set(table(workspace, suite)["agent"]) == {"rule", "oracle", "human"}


def test_a_label_carries_what_a_report_must_say_of_its_agent(
    workspace: Workspace, suite: Suite
) -> None:
    (one,) = [c for c in store.load(workspace, [suite.scenarios[0].hash]) if c.agent == "oracle"]
    identity = dataclasses.replace(one.identity, agent="mine", fingerprint="2" * 16)
    nothing = np.full_like(one.log_probs, np.nan)
    mine = dataclasses.replace(one, identity=identity, together=2, log_probs=nothing)
    store.save(workspace, [dataclasses.replace(mine, deterministic=False)])
    notes = table(workspace, suite).groupby("agent")["notes"].unique()
    assert list(notes["rule"]) == [""]
    assert list(notes["oracle"]) == ["deterministic: one continuation a scenario"]
    (said,) = notes["mine"]
    assert "batch-sensitive" in said
    assert "no log-probabilities" in said
    assert sts(workspace, "label", suite.label) == 0
    assert sts(workspace, "report", suite.label) == 0
    page = workspace.path("reports", f"{suite.name}-1", "report.html").read_text()
    assert "batch-sensitive" in page


def test_continuations_of_other_suites_are_left_out(workspace: Workspace, suite: Suite) -> None:
    part = dataclasses.replace(suite, scenarios=suite.scenarios[:1])
    assert set(table(workspace, part)["scenario"]) == {suite.scenarios[0].id}


def test_a_category_without_a_rule_is_named_and_its_continuations_stay_unjudged(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(workspace.path("continuations"))
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
    shutil.rmtree(workspace.path("continuations"))
    capsys.readouterr()
    assert sts(workspace, "label", "tiny@1") == 1
    assert "sts run tiny@1 --agent NAME" in capsys.readouterr().err
    assert not workspace.path("labels").exists()
    assert sts(workspace, "label", "tiny@7") == 2


@pytest.mark.parametrize("parameters", [{}, {"steps": "four"}, {"cells": 1}])
def test_parameters_that_a_rule_cannot_read_are_one_error_of_ours(
    workspace: Workspace, suite: Suite, parameters: dict[str, object]
) -> None:
    suite = suites.load(workspace, "tiny@1")
    shadow = next(s for s in suite.scenarios if s.category == "shadow-evil")
    crafted = dataclasses.replace(shadow, parameters=parameters)
    made = continue_all([crafted], agents.load("random"), seed=0, indices=[0])
    store.save(workspace, made)
    with pytest.raises(
        StsError, match="tiny@1: shadow-.* 'shadow-evil' failed to label .* do not fit"
    ):
        label_suite(workspace, dataclasses.replace(suite, scenarios=(crafted,)))


def written(workspace: Workspace) -> dict[str, bytes]:
    """Return what every file of labels holds."""
    every = workspace.store.list("labels")
    return {name: workspace.store.get(name) for name in every}


def test_a_suite_labelled_before_is_not_labelled_again_and_what_is_new_is(
    workspace: Workspace, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = label_suite(workspace, suite)
    before = written(workspace)
    monkeypatch.setattr("sts.continuations.parts.decode_part", None)  # no continuation is read
    assert label_suite(workspace, suite) == first
    monkeypatch.undo()
    assert sts(workspace, "run", "tiny@1", "--agent", "random", "--continuations", "1") == 0
    again = label_suite(workspace, suite)
    assert again.counts.items() > first.counts.items() and "random" in again.counts
    assert {*before.items()} - {*written(workspace).items()} == {
        (label_table.name_of("tiny@1"), before[label_table.name_of("tiny@1")])
    }


OWN = """
from pathlib import Path
from sts_scenarios.category import Category, Label

def label(episode, takeover, roles, parameters):
    return Label({}, 1)

def nothing(*given):
    return None

SHADOW = Category("shadow-evil", "instruction", "lambda-star", 5, ("Go.",), nothing, label, nothing)
"""


@pytest.fixture
def shadowed(
    workspace: Workspace, suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], tuple[set[str], set[str]]]:
    """Return what one's own rule says of shadow-evil, and the sets of labels that are there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))

    def shadowed(module: str, verdict: str) -> tuple[set[str], set[str]]:
        (tmp_path / f"{module}.py").write_text(OWN.format(verdict))
        made = table(workspace, suite, [categories.named(f"{module}:SHADOW")])
        sets = {name.split("/")[1] for name in written(workspace)}
        return {*made["verdict"][made["category"] == "shadow-evil"]}, sets

    return shadowed


def test_an_edited_rule_labels_all_anew(
    shadowed: Callable[[str, str], tuple[set[str], set[str]]],
) -> None:
    first, sets = shadowed("rules_so", "'success'")
    second, more = shadowed("rules_otherwise", "'failure'")
    assert (first, second) == ({"success"}, {"failure"})
    assert len(more - sets) == 1


def test_packaged_rule_of_another_version_labels_all_again(
    workspace: Workspace, suite: Suite
) -> None:
    def sets(version: str) -> set[str]:
        one = categories.named(suite.scenarios[0].category)
        table(workspace, suite, [dataclasses.replace(one, version=version)])
        return {name.split("/")[1] for name in written(workspace)}

    first = sets("1")
    assert sets("1") == first and len(sets("2") - first) == 1


def test_a_rule_whose_code_does_not_say_all_is_asked_each_time(
    shadowed: Callable[[str, str], tuple[set[str], set[str]]], tmp_path: Path
) -> None:
    word, line = tmp_path / "word", f"Path({str(tmp_path / 'word')!r}).read_text()"
    word.write_text("success")
    first, sets = shadowed("rules_by_a_file", line)
    word.write_text("failure")
    second, more = shadowed("rules_by_a_file", line)
    assert (first, second) == ({"success"}, {"failure"})
    assert more == sets


def test_labels_that_disagree_with_what_a_rule_says_are_refused_and_stay(
    workspace: Workspace, suite: Suite
) -> None:
    label_suite(workspace, suite)
    name = next(n for n in written(workspace) if not label_table.is_table(n))
    part = workspace.path(name)
    labels.write_labels(workspace.store, name, [], anew=True)
    altered = part.read_bytes()
    made = store.read_part(workspace, f"continuations/{name.split('/', 2)[2]}")
    said = [Label(one.content_hash, "success", 1) for one in made]
    with pytest.raises(DamagedData, match="already exists with other content"):
        labels.write_labels(workspace.store, name, said)
    assert part.read_bytes() == altered
    workspace.path(label_table.name_of(suite.label)).unlink()
    with pytest.raises(DamagedData, match="labels of the continuations in the part of that name"):
        label_suite(workspace, suite)


def test_what_a_rule_says_of_a_continuation_is_read_without_the_parts_of_others(
    workspace: Workspace, suite: Suite
) -> None:
    labelled = table(workspace, suite).set_index("continuation")["verdict"]
    index, hashes = store.opened(workspace), {s.hash for s in suite.scenarios}
    one = store.load(workspace, hashes)[0]
    (part,) = index.by_part(index.beginning(one.id))
    others = [n for n in written(workspace) if n.count("/") == 3 and part[14:] not in n]
    for name in others:
        workspace.path(name).write_bytes(b"")
    (said,) = automatic(workspace, [one], index)[one.id]
    assert others and said.verdict == labelled[one.id]


KILLED_AT_EVERY_WRITE = """
import os, shutil, signal, sys
from pathlib import Path
from sts_scenarios.labels import label_suite
from sts.storage.workspace import Workspace
from sts.suites import store
from tests.faults.writes import dying

root = Path(sys.argv[1])
suite = store.load(Workspace.open(str(root / "w")), "tiny@1")

def do(name):
    return label_suite(Workspace.open(str(root / name)), suite)

def parts(name):
    files = (root / name / "labels").glob("*/*/*.parquet")
    return {str(file.relative_to(root / name)): file.read_bytes() for file in files}

shutil.copytree(root / "w", root / "whole")
table = do("whole").path.read_bytes()
whole, moment, halves = parts("whole"), 0, []
while True:
    moment += 1
    shutil.copytree(root / "w", root / str(moment))
    child = os.fork()
    if not child:
        dying(moment)
        do(str(moment))
        os._exit(0)
    _, status = os.waitpid(child, 0)
    half = parts(str(moment))
    assert half.items() <= whole.items(), moment
    if status == 0:
        break
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert not (root / str(moment) / "labels" / "tiny-1.parquet").exists()
    halves.append(len(half))
    assert do(str(moment)).path.read_bytes() == table, moment
    assert parts(str(moment)) == whole, moment
print(*halves)
"""


def test_labelling_that_is_killed_at_any_write_is_resumed_to_the_same_rows(
    workspace: Workspace, suite: Suite
) -> None:
    words = [sys.executable, "-c", KILLED_AT_EVERY_WRITE, str(workspace.root.parent)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    parts = len(list(workspace.path("continuations").glob("*/*.parquet")))
    assert done.stdout.split() == [str(n // 2) for n in range(2 * (parts + 1))]
