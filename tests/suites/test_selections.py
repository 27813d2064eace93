"""Tags of one's own, and parts of a suite: what is selected is the suite's, and the suite stays."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path

import pytest

from sts.annotations import views
from sts.annotations.store import Store
from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import selections, store, tags
from sts.suites.types import Scenario
from sts_annotator_app import queueing
from tests.examples import scenarios
from tests.stores import add_person, ask, claim_items

FOUR = scenarios(4)
A, B, C, D = (
    dataclasses.replace(one, difficulty=level, tags=own)
    for one, level, own in zip(
        FOUR,
        ("easy", "easy", "hard", "hard"),
        (("corner",), (), ("corner", "far"), ()),
        strict=True,
    )
)
IDS = [one.id for one in FOUR]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    made = Workspace.open(str(tmp_path / "w")).ensure()
    store.freeze(made, "own", [A, B, C, D])
    return made


def chosen(workspace: Workspace, terms: str) -> list[str]:
    return [one.id for one in selections.load(workspace, f"own@1{terms}").scenarios]


def test_terms_leave_what_they_name_and_commas_stand_between_alternatives(
    workspace: Workspace,
) -> None:
    suite = store.load(workspace, "own@1")
    assert tags.tag(workspace, suite, "wrap", [B.id, C.id]) == (B.id, C.id)
    assert chosen(workspace, "") == IDS
    assert chosen(workspace, "+tag:wrap") == [B.id, C.id]
    assert chosen(workspace, "+tag:corner") == [A.id, C.id]
    assert chosen(workspace, "+tag:corner+tag:wrap") == [C.id]
    assert chosen(workspace, "+tag:far,wrap") == [B.id, C.id]
    assert chosen(workspace, "+difficulty:hard+category:clean-take+kind:instruction") == [
        C.id, D.id,
    ]  # fmt: skip


def test_tags_are_added_and_taken_away_and_the_suite_stays_as_it_is(workspace: Workspace) -> None:
    suite = store.load(workspace, "own@1")
    tags.tag(workspace, suite, "wrap", [B.id])
    tags.tag(workspace, suite, "wrap", [D.id, B.id])
    tags.tag(workspace, suite, "corner", [D.id])
    assert selections.tagged(workspace, suite) == {
        "corner": (A.id, C.id, D.id), "far": (C.id,), "wrap": (B.id, D.id),
    }  # fmt: skip
    assert tags.tag(workspace, suite, "wrap", [B.id], remove=True) == (D.id,)
    tags.tag(workspace, suite, "wrap", [D.id], remove=True)
    assert "wrap" not in selections.tagged(workspace, suite)
    with pytest.raises(ArgumentError, match="corner is a tag of own@1 itself"):
        tags.tag(workspace, suite, "corner", [A.id], remove=True)
    assert store.load(workspace, "own@1").hash == suite.hash


def test_a_tag_holds_in_every_version_that_has_the_scenario(workspace: Workspace) -> None:
    tags.tag(workspace, store.load(workspace, "own@1"), "wrap", [B.id, C.id])
    store.freeze(workspace, "own", [A, B, D])
    assert [s.id for s in selections.load(workspace, "own@2+tag:wrap").scenarios] == [B.id]


def test_a_saved_selection_is_its_terms_in_any_version(workspace: Workspace) -> None:
    tags.tag(workspace, store.load(workspace, "own@1"), "wrap", [B.id, C.id])
    selections.save(workspace, selections.load(workspace, "own@1+tag:wrap+difficulty:hard"), "edge")
    found = selections.load(workspace, "own@1+edge")
    assert [one.id for one in found.scenarios] == [C.id]
    assert (found.label, found.meaning) == ("own@1+edge", "+tag:wrap+difficulty:hard")
    selections.save(workspace, selections.load(workspace, "own@1+edge+tag:far"), "more")
    tags.tag(workspace, store.load(workspace, "own@1"), "wrap", [D.id])
    assert chosen(workspace, "+more") == [C.id] and chosen(workspace, "+edge") == [C.id, D.id]


def linked(one: Scenario, text: str, **links: object) -> Scenario:
    asked = dataclasses.replace(one.instruction, text=text)
    return dataclasses.replace(one, instruction=asked, **links)  # type: ignore[arg-type]


def test_what_belongs_together_is_selected_together(workspace: Workspace) -> None:
    half = dataclasses.replace(A, pair="p")
    other = linked(A, "Keep away from Good.", id="clean-take-90", pair="p", tags=())
    store.freeze(workspace, "pairs", [half, other, B])
    found = selections.load(workspace, "pairs@1+tag:corner")
    assert [one.id for one in found.scenarios] == [A.id, other.id]
    assert found.joined == (other.id,)


def test_what_belongs_with_the_other_half_is_selected_too(workspace: Workspace) -> None:
    half = dataclasses.replace(A, pair="p")
    first = linked(A, "Keep away from Good.", id="clean-take-90", pair="p", tags=())
    first = dataclasses.replace(first, series="s", turn=1)
    second = dataclasses.replace(first, id="clean-take-91", pair="", turn=2)
    second = linked(second, "And now?", context_start=first.context_start + 1)
    store.freeze(workspace, "pairs", [half, first, second, B])
    found = selections.load(workspace, "pairs@1+tag:corner")
    assert found.joined == (first.id, second.id)


BAD = {
    "own@1+": (ArgumentError, "expected tag:T, category:C, .* after a \\+, found ''"),
    "own@1++tag:corner": (ArgumentError, "found ''"),
    "own@1+tag:": (ArgumentError, "found 'tag:'"),
    "own@1+tag:corner,": (ArgumentError, "found 'tag:corner,'"),
    "own@1+colour:red": (ArgumentError, "found 'colour:red'"),
    "own@1+\x1b[2J": (ArgumentError, r"found '\\x1b\[2J'"),
    "own@1+tag:croner": (
        UnknownName,
        "unknown tag of own@1 'croner'; known: corner, far; did you mean",
    ),
    "own@1+category:fly": (UnknownName, "unknown category of own@1 'fly'"),
    "own@1+edges": (UnknownName, "unknown saved selection of own 'edges'"),
    "own@1+tag:far+difficulty:easy": (ArgumentError, "no scenario of own@1 is selected by"),
    "own@7+tag:far": (UnknownName, "unknown suite version 'own@7'"),
    "own+tag:far": (UnknownName, "unknown suite version 'own'"),
}


@pytest.mark.parametrize("text", BAD)
def test_a_selection_that_is_none_is_one_line(workspace: Workspace, text: str) -> None:
    kind, line = BAD[text]
    with pytest.raises(kind, match=line) as refusal:
        selections.load(workspace, text)
    assert "\n" not in str(refusal.value)


def test_what_is_no_tag_or_no_scenario_is_one_line_and_nothing_is_kept(
    workspace: Workspace,
) -> None:
    suite = store.load(workspace, "own@1")
    for word in ("", "two words", "a+b", "<b>", "x" * 49):
        with pytest.raises(ArgumentError, match="expected a tag of lower-case letters"):
            tags.tag(workspace, suite, word, [A.id])
    with pytest.raises(UnknownName, match="unknown scenario of own@1 'walk-01'"):
        tags.tag(workspace, suite, "wrap", [A.id, "walk-01"])
    with pytest.raises(ArgumentError, match="expected a subset of own@1"):
        selections.save(workspace, selections.load(workspace, "own@1"), "all")
    with pytest.raises(ArgumentError, match="expected a name of lower-case letters"):
        selections.save(workspace, selections.load(workspace, "own@1+tag:far"), "a/b")
    assert not workspace.path("tags").exists()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("{", DamagedData),
        ("[]", DamagedData),
        ('{"version_of_format": 1}', DamagedData),
        ('{"version_of_format": 1, "name": "own", "tags": {"a": 3}, "selections": {}}', StsError),
        ('{"version_of_format": 1, "name": "b", "tags": {}, "selections": {}}', DamagedData),
        ('{"version_of_format": 2, "name": "own"}', NewerFormat),
    ],
)
def test_a_file_of_tags_that_is_none_is_one_line(
    workspace: Workspace, text: str, kind: type[Exception]
) -> None:
    workspace.path("tags").mkdir()
    workspace.path("tags", "own.json").write_text(text)
    with pytest.raises(kind):
        selections.load(workspace, "own@1+tag:corner")


def test_of_many_who_tag_at_once_nobodys_tag_is_lost(workspace: Workspace) -> None:
    suite = store.load(workspace, "own@1")
    threads = [
        threading.Thread(target=tags.tag, args=(workspace, suite, f"t{n}", [A.id]))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {f"t{n}" for n in range(8)} <= {*selections.tagged(workspace, suite)}


def said(capsys: pytest.CaptureFixture[str], workspace: Workspace, *words: str) -> str:
    assert main([*words, "--workspace", str(workspace.root)]) == 0
    return capsys.readouterr().out


def test_a_part_is_run_labelled_reported_and_queued_and_nothing_is_done_twice(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, workspace, "suite", "tag", "own@1", "wrap", B.id, C.id)
    assert out == f"wrap: {B.id}, {C.id}\n"
    run = ("--agent", "random", "--agent", "blind", "--continuations", "2", "--json")
    first = json.loads(said(capsys, workspace, "run", "own@1+tag:wrap", *run))
    assert [(row["made"], row["kept"]) for row in first] == [(4, 0), (4, 0)]
    whole = json.loads(said(capsys, workspace, "run", "own@1", *run))
    assert [(row["made"], row["kept"]) for row in whole] == [(4, 4), (4, 4)]
    part = json.loads(said(capsys, workspace, "label", "own@1+tag:wrap", "--json"))
    assert [row["continuations"] for row in part["agents"]] == [4, 4]
    assert [row["continuations"] for row in json.loads(
        said(capsys, workspace, "label", "own@1", "--json")
    )["agents"]] == [8, 8]  # fmt: skip
    out = said(capsys, workspace, "report", "own@1+tag:wrap")
    assert "This is about a part of own@1, +tag:wrap: 2 of its 4 scenarios." in out
    report = json.loads(workspace.path("reports", "own-1+tag=wrap", "report.json").read_text())
    assert report["suite"] == "own@1+tag:wrap" and report["counts"]["continuations"] == 8
    assert report["selection"] == {
        "suite": "own@1", "meaning": "+tag:wrap", "scenarios": 2, "of": 4, "joined": [],
    }  # fmt: skip
    assert {(row["tag"], row["scenarios"]) for row in report["tags"]} == {
        ("corner", 1), ("far", 1), ("wrap", 2),
    }  # fmt: skip
    said(capsys, workspace, "suite", "save", "own@1+tag:wrap+tag:far", "tag-wrap")
    said(capsys, workspace, "report", "own@1+tag-wrap")
    folders = {one.name for one in workspace.path("reports").iterdir()}
    assert folders == {"own-1+tag=wrap", "own-1+tag-wrap"}
    said(capsys, workspace, "report", "own@1")
    report = json.loads(workspace.path("reports", "own-1", "report.json").read_text())
    assert "selection" not in report and report["counts"]["continuations"] == 16

    selection = queueing.chosen(workspace, "own@1+tag:wrap")
    whole = queueing.chosen(workspace, "own@1")
    assert selection is not None and whole is not None
    with Store.open(workspace) as judging:
        assert queueing.fill(workspace, judging, selection) == 8
        ann = add_person(judging, "ann").id
        assert len(claim_items(judging, ann, suite=selection.queue, count=20)) == 8
        assert queueing.fill(workspace, judging, whole) == 16
        assert ask(judging, views.progress, selection.queue).items == 8
        assert ask(judging, views.progress, "own@1").items == 16


def test_a_part_is_shown_with_what_it_is(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    out = said(capsys, workspace, "suite", "show", "own@1+tag:corner")
    assert "+tag:corner: 2 of its 4 scenarios" in out and B.id not in out
    said(capsys, workspace, "suite", "tag", "own@1", "wrap", B.id)
    out = said(capsys, workspace, "suite", "save", "own@1+tag:wrap", "edges")
    assert out == "own@1+edges is +tag:wrap: 1 of its 4 scenarios\n"
    out = said(capsys, workspace, "suite", "tag", "own@1")
    assert "own@1+edges is +tag:wrap" in out
    assert any(line.split()[:3] == ["wrap", "workspace", "1"] for line in out.splitlines())
    assert main(["suite", "tag", "own@1", "wrap", "--workspace", str(workspace.root)]) == 2
    assert "expected ids of scenarios behind wrap" in capsys.readouterr().err
