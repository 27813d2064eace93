"""What lies between two suites: kept, added, retired and replaced, and why."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, TamperedSuite, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Change
from sts_scenarios.changelog import difference
from tests.examples import scenarios

EVERY = scenarios(7)
A, B, C, D, E, F, G = EVERY


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three versions: B was retired first, C replaced twice, F added and retired again."""
    made = Workspace.open(str(tmp_path / "w")).ensure()
    store.freeze(made, "own", [A, B, C])
    second = dataclasses.replace(D, replaces=C.id)
    changes = [
        Change("retired", B.id, "", "too easy"),
        Change("replaced", C.id, D.id, "too short"),
        Change("added", F.id, "", "a corner"),
    ]
    store.freeze(made, "own", [A, second, F], changes=changes)
    third = dataclasses.replace(E, replaces=D.id)
    changes = [
        Change("replaced", D.id, E.id, "too long"),
        Change("retired", F.id, "", "no corner"),
        Change("added", G.id, "", "a wrap"),
    ]
    store.freeze(made, "own", [A, third, G], changes=changes)
    taken = dataclasses.replace(G, id=C.id)  # an id says nothing in a suite of another line
    store.freeze(made, "other", [dataclasses.replace(A, id="z-01"), B, taken])
    return made


def test_two_versions_differ_by_what_the_later_says(workspace: Workspace) -> None:
    between = difference(workspace, "own@1", "own@2")
    assert between.kept == ((A.id, A.id),) and between.through == ("own@2",)
    assert set(between.changes) == set(store.load(workspace, "own@2").changes)
    assert between.text().startswith("1 scenario of own@1 is kept")


def test_over_several_versions_only_what_is_left_of_the_changes_is_said(
    workspace: Workspace,
) -> None:
    between = difference(workspace, "own@1", "own@3")
    assert between.through == ("own@2", "own@3")
    assert set(between.changes) == {
        Change("retired", B.id, "", "too easy"),
        Change("replaced", C.id, E.id, "too short; too long"),
        Change("added", G.id, "", "a wrap"),
    }
    assert f"- {C.id} by {E.id}: too short; too long" in between.text()
    assert F.id not in between.text() and D.id not in between.text()


def test_what_was_replaced_and_then_retired_is_retired(workspace: Workspace) -> None:
    store.freeze(workspace, "own", [A, G], changes=[Change("retired", E.id, "", "gone")])
    between = difference(workspace, "own@1", "own@4")
    assert Change("retired", C.id, "", "too short; too long; gone") in between.changes
    assert [one.id for one in between.changes] == [B.id, C.id, G.id]


def test_suites_of_no_common_line_are_compared_by_content(workspace: Workspace) -> None:
    between = difference(workspace, "own@1", "other@1")
    assert between.through == ()
    assert between.kept == ((B.id, B.id), (A.id, "z-01"))
    said = between.text()
    assert "own@1 and other@1 share no version" in said and f"- {A.id}, there z-01" in said
    assert "2 scenarios are in both" in said and "1 in own@1 alone:" in said
    assert {(c.kind, c.id) for c in between.changes} == {("retired", C.id), ("added", C.id)}
    assert f"1 in other@1 alone:\n- {C.id}" in said


def test_a_version_of_before_there_were_changes_is_told_by_its_scenarios(
    tmp_path: Path,
) -> None:
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    store.freeze(workspace, "own", [A, B, C])
    store.freeze(workspace, "own", [A, dataclasses.replace(D, replaces=C.id), E])
    changes = difference(workspace, "own@1", "own@2").changes
    assert {(c.kind, c.id, c.by) for c in changes} == {
        ("retired", B.id, ""), ("replaced", C.id, D.id), ("added", E.id, ""),
    }  # fmt: skip


def test_the_command_says_it_and_gives_it_as_json(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["suite", "diff", "own@1", "own@3", "--workspace", str(workspace.root)]
    assert main(words) == 0
    assert f"- {B.id}: too easy" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    view = json.loads(capsys.readouterr().out)
    assert (view["from"], view["to"], view["through"]) == ("own@1", "own@3", ["own@2", "own@3"])
    assert view["kept"] == [{"id": A.id, "was": A.id}] and len(view["changes"]) == 3
    assert main(["suite", "diff", "own@3", "own@1", "--workspace", str(workspace.root)]) == 2
    assert "own@1 is older than own@3; run sts suite diff own@1 own@3" in capsys.readouterr().err


def test_what_cannot_be_compared_is_one_line(workspace: Workspace) -> None:
    with pytest.raises(ArgumentError, match="expected two different suites, found own@1 twice"):
        difference(workspace, "own@1", "own@1")
    with pytest.raises(UnknownName, match="unknown suite version 'own@9'"):
        difference(workspace, "own@1", "own@9")
    file = workspace.path("suites", "own", "2", "suite.json")
    file.write_text(file.read_text().replace("too easy", "too hard"))
    with pytest.raises(TamperedSuite, match="own@2 in .* has been modified since it was frozen"):
        difference(workspace, "own@1", "own@3")


def test_difference_to_a_missing_parent_is_what_the_suite_records(workspace: Workspace) -> None:
    whole = difference(workspace, "own@1", "own@2")
    shutil.rmtree(workspace.path("suites", "own", "1"))
    between = difference(workspace, "own@1", "own@2")
    assert (between.kept, between.through) == (whole.kept, whole.through)
    assert set(between.changes) == set(whole.changes)
    first, rest = between.text().split("\n\n", 1)
    assert first.startswith("own@1, the parent of own@2, is no longer shipped; ")
    assert rest.startswith("1 scenario of own@1 is kept") and f"- {B.id}: too easy" in rest
    assert between.view()["missing"] and not whole.view()["missing"]


def test_a_missing_parent_of_which_nothing_is_recorded_is_unknown(tmp_path: Path) -> None:
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    store.freeze(workspace, "own", [A, B])
    store.freeze(workspace, "own", [A, C])
    shutil.rmtree(workspace.path("suites", "own", "1"))
    with pytest.raises(UnknownName, match="unknown suite version 'own@1'"):
        difference(workspace, "own@1", "own@2")


def test_diff_of_a_packaged_suite_says_that_its_parent_is_no_longer_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["suite", "diff", "babyai@1", "babyai@2", "--workspace", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("babyai@1, the parent of babyai@2, is no longer shipped; ")
    assert "42 scenarios of babyai@1 are kept" in out and "168 added:" in out


def test_suites_whose_parents_are_gone_are_compared_by_content(tmp_path: Path) -> None:
    between = difference(Workspace.open(str(tmp_path)), "core@2", "babyai@2")
    assert between.through == () and not between.kept
