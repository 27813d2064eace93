"""Differences between two suites: kept, added, retired and replaced scenarios, with reasons."""

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from sts.errors import ArgumentError, TamperedSuite, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.suite import Change
from sts_scenarios.draft.changelog import compare_suites
from tests.examples import scenarios
from tests.scenarios.curating import Curation

A, B, C, D, E, F, G = scenarios(7)


@pytest.fixture
def empty(tmp_path: Path) -> Workspace:
    return Workspace.open(str(tmp_path / "empty")).create()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three versions: B was retired first, C replaced twice, F added and retired again."""
    made = Workspace.open(str(tmp_path / "w")).create()
    store.freeze_scenarios(made, "own", [A, B, C])
    changes = [
        Change("retired", B.id, "", "too easy"),
        Change("replaced", C.id, D.id, "too short"),
        Change("added", F.id, "", "a corner"),
    ]
    second = dataclasses.replace(D, replaces=C.id)
    store.freeze_scenarios(made, "own", [A, second, F], changes=changes)
    changes = [
        Change("replaced", D.id, E.id, "too long"),
        Change("retired", F.id, "", "no corner"),
        Change("added", G.id, "", "a wrap"),
    ]
    store.freeze_scenarios(
        made, "own", [A, dataclasses.replace(E, replaces=D.id), G], changes=changes
    )
    taken = dataclasses.replace(G, id=C.id)  # an id means nothing in an unrelated suite
    store.freeze_scenarios(made, "other", [dataclasses.replace(A, id="z-01"), B, taken])
    return made


def test_consecutive_versions_differ_by_the_recorded_changes(workspace):
    between = compare_suites(workspace, "own@1", "own@2")
    assert between.kept == ((A.id, A.id),) and between.through == ("own@2",)
    assert set(between.changes) == set(store.load(workspace, "own@2").changes)
    assert between.format_markdown().startswith("1 scenario of own@1 is kept")


def test_changes_over_several_versions_are_combined(workspace):
    between = compare_suites(workspace, "own@1", "own@3")
    assert between.through == ("own@2", "own@3")
    assert set(between.changes) == {
        Change("retired", B.id, "", "too easy"),
        Change("replaced", C.id, E.id, "too short; too long"),
        Change("added", G.id, "", "a wrap"),
    }
    assert f"- {C.id} by {E.id}: too short; too long" in between.format_markdown()
    assert F.id not in between.format_markdown() and D.id not in between.format_markdown()
    store.freeze_scenarios(workspace, "own", [A, G], changes=[Change("retired", E.id, "", "gone")])
    between = compare_suites(workspace, "own@1", "own@4")
    assert Change("retired", C.id, "", "too short; too long; gone") in between.changes
    assert [one.id for one in between.changes] == [B.id, C.id, G.id]


def test_unrelated_suites_are_compared_by_content(workspace):
    between = compare_suites(workspace, "own@1", "other@1")
    assert between.through == () and between.kept == ((B.id, B.id), (A.id, "z-01"))
    said = between.format_markdown()
    assert "own@1 and other@1 share no version" in said and f"- {A.id}, there z-01" in said
    assert "2 scenarios are in both" in said and "1 in own@1 alone:" in said
    assert {(c.kind, c.id) for c in between.changes} == {("retired", C.id), ("added", C.id)}
    assert f"1 in other@1 alone:\n- {C.id}" in said
    packaged = compare_suites(workspace, "core@2", "babyai@2")  # neither ships its parent
    assert packaged.through == () and not packaged.kept


def test_version_without_a_changelog_is_compared_by_its_scenarios(empty):
    store.freeze_scenarios(empty, "own", [A, B, C])
    store.freeze_scenarios(empty, "own", [A, dataclasses.replace(D, replaces=C.id), E])
    changes = compare_suites(empty, "own@1", "own@2").changes
    expected = {("retired", B.id, ""), ("replaced", C.id, D.id), ("added", E.id, "")}
    assert {(c.kind, c.id, c.by) for c in changes} == expected


def test_suite_diff_prints_text_and_json(workspace, capsys):
    own = Curation(workspace.root, capsys)
    assert f"- {B.id}: too easy" in own("suite diff own@1 own@3")
    view = json.loads(own("suite diff own@1 own@3 --json"))
    assert (view["from"], view["to"], view["through"]) == ("own@1", "own@3", ["own@2", "own@3"])
    assert view["kept"] == [{"id": A.id, "was": A.id}] and len(view["changes"]) == 3
    said = own("suite diff own@3 own@1", code=2)
    assert "own@1 is older than own@3; run sts suite diff own@1 own@3" in said


def test_suites_that_cannot_be_compared_are_refused(workspace):
    with pytest.raises(ArgumentError, match="expected two different suites, found own@1 twice"):
        compare_suites(workspace, "own@1", "own@1")
    with pytest.raises(UnknownName, match="unknown suite version 'own@9'"):
        compare_suites(workspace, "own@1", "own@9")
    file = workspace.path("suites", "own", "2", "suite.json")
    file.write_text(file.read_text().replace("too easy", "too hard"))
    with pytest.raises(TamperedSuite, match="own@2 in .* has been modified since it was frozen"):
        compare_suites(workspace, "own@1", "own@3")


def test_difference_to_a_missing_parent_is_what_the_suite_records(workspace, capsys):
    whole = compare_suites(workspace, "own@1", "own@2")
    shutil.rmtree(workspace.path("suites", "own", "1"))
    between = compare_suites(workspace, "own@1", "own@2")
    assert (between.kept, between.through) == (whole.kept, whole.through)
    assert set(between.changes) == set(whole.changes)
    first, rest = between.format_markdown().split("\n\n", 1)
    assert first.startswith("own@1, the parent of own@2, is no longer shipped; ")
    assert rest.startswith("1 scenario of own@1 is kept") and f"- {B.id}: too easy" in rest
    assert between.to_json()["missing"] and not whole.to_json()["missing"]
    out = Curation(workspace.root, capsys)("suite diff babyai@1 babyai@2")
    assert out.startswith("babyai@1, the parent of babyai@2, is no longer shipped; ")
    assert "42 scenarios of babyai@1 are kept" in out and "168 added:" in out


def test_missing_parent_of_which_nothing_is_recorded_is_unknown(empty):
    store.freeze_scenarios(empty, "own", [A, B])
    store.freeze_scenarios(empty, "own", [A, C])
    shutil.rmtree(empty.path("suites", "own", "1"))
    with pytest.raises(UnknownName, match="unknown suite version 'own@1'"):
        compare_suites(empty, "own@1", "own@2")
