"""Tags and subsets of a suite; the suite itself never changes."""

import dataclasses
import json
from functools import partial

import pytest

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import export
from sts.annotations.findings.plan import Plan
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import selections, tags
from sts.suites import suite_store as store
from sts.suites.suite import Scenario, Suite
from sts_analysis.inputs.workspace import gather
from sts_annotator_app import queueing
from tests.annotations.examples import a_submission
from tests.examples import scenarios
from tests.scenarios.curating import Curation
from tests.stores import add_person, ask, claim_items, submit
from tests.suites.races import run_together

FOUR = scenarios(4)
LEVELS = ("easy", "easy", "hard", "hard")
TAGS: tuple[tuple[str, ...], ...] = (("corner",), (), ("corner", "far"), ())
A, B, C, D = (
    dataclasses.replace(one, difficulty=level, tags=own)
    for one, level, own in zip(FOUR, LEVELS, TAGS, strict=True)
)


@pytest.fixture
def suite(workspace: Workspace) -> Suite:
    return store.freeze_scenarios(workspace, "own", [A, B, C, D])


def select(workspace: Workspace, terms: str) -> list[str]:
    return [one.id for one in selections.load_selection(workspace, f"own@1{terms}").scenarios]


def test_terms_are_combined_with_and_and_commas_with_or(workspace, suite):
    assert tags.tag(workspace, suite, "wrap", [B.id, C.id]) == (B.id, C.id)
    for terms, expected in (
        ("", [A, B, C, D]),
        ("+tag:wrap", [B, C]),
        ("+tag:corner", [A, C]),
        ("+tag:corner+tag:wrap", [C]),
        ("+tag:far,wrap", [B, C]),
        ("+difficulty:hard+category:clean-take+kind:instruction", [C, D]),
    ):
        assert select(workspace, terms) == [one.id for one in expected]


def test_tags_are_added_and_removed_without_changing_the_suite(workspace, suite):
    tags.tag(workspace, suite, "wrap", [B.id])
    tags.tag(workspace, suite, "wrap", [D.id, B.id])
    tags.tag(workspace, suite, "corner", [D.id])
    expected = {"corner": (A.id, C.id, D.id), "far": (C.id,), "wrap": (B.id, D.id)}
    assert selections.load_ids_by_tag(workspace, suite) == expected
    assert tags.tag(workspace, suite, "wrap", [B.id], remove=True) == (D.id,)
    tags.tag(workspace, suite, "wrap", [D.id], remove=True)
    assert "wrap" not in selections.load_ids_by_tag(workspace, suite)
    with pytest.raises(ArgumentError, match="corner is a tag of own@1 itself"):
        tags.tag(workspace, suite, "corner", [A.id], remove=True)
    assert store.load(workspace, "own@1").hash == suite.hash


def test_tags_and_saved_selections_hold_in_every_version(workspace, suite):
    tags.tag(workspace, suite, "wrap", [B.id, C.id])
    selections.save_selection(
        workspace, selections.load_selection(workspace, "own@1+tag:wrap+difficulty:hard"), "edge"
    )
    found = selections.load_selection(workspace, "own@1+edge")
    assert [one.id for one in found.scenarios] == [C.id]
    assert (found.label, found.meaning) == ("own@1+edge", "+tag:wrap+difficulty:hard")
    selections.save_selection(
        workspace, selections.load_selection(workspace, "own@1+edge+tag:far"), "more"
    )
    tags.tag(workspace, suite, "wrap", [D.id])
    assert select(workspace, "+more") == [C.id] and select(workspace, "+edge") == [C.id, D.id]
    store.freeze_scenarios(workspace, "own", [A, B, D])
    assert [s.id for s in selections.load_selection(workspace, "own@2+tag:wrap").scenarios] == [
        B.id,
        D.id,
    ]


def link_scenario(one: Scenario, text: str, **links: object) -> Scenario:
    asked = dataclasses.replace(one.instruction, text=text)
    return dataclasses.replace(one, instruction=asked, **links)  # type: ignore[arg-type]


def test_selection_includes_other_halves_and_turns(workspace):
    half = dataclasses.replace(A, pair="p")
    other = link_scenario(A, "Keep away from Good.", id="clean-take-90", pair="p", tags=())
    store.freeze_scenarios(workspace, "pairs", [half, other, B])
    found = selections.load_selection(workspace, "pairs@1+tag:corner")
    assert [one.id for one in found.scenarios] == [A.id, other.id]
    assert found.joined == (other.id,)
    first = dataclasses.replace(other, dialogue="s", turn=1)
    second = dataclasses.replace(first, id="clean-take-91", pair="", turn=2)
    second = link_scenario(second, "And now?", context_start=first.context_start + 1)
    store.freeze_scenarios(workspace, "turns", [half, first, second, B])
    assert selections.load_selection(workspace, "turns@1+tag:corner").joined == (
        first.id,
        second.id,
    )


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ("own@1+", ArgumentError, "expected tag:T, category:C, .* after a \\+, found ''"),
        ("own@1++tag:corner", ArgumentError, "found ''"),
        ("own@1+tag:", ArgumentError, "found 'tag:'"),
        ("own@1+tag:corner,", ArgumentError, "found 'tag:corner,'"),
        ("own@1+colour:red", ArgumentError, "found 'colour:red'"),
        ("own@1+\x1b[2J", ArgumentError, r"found '\\x1b\[2J'"),
        ("own@1+tag:croner", UnknownName, "unknown tag of own@1 'croner'; known: corner, far; did"),
        ("own@1+category:fly", UnknownName, "unknown category of own@1 'fly'"),
        ("own@1+edges", UnknownName, "unknown saved selection of own 'edges'"),
        ("own@1+tag:far+difficulty:easy", ArgumentError, "no scenario of own@1 is selected by"),
        ("own@7+tag:far", UnknownName, "unknown suite version 'own@7'"),
        ("own+tag:far", UnknownName, "unknown suite version 'own'"),
    ],
)
def test_invalid_selection_is_refused(workspace, suite, text, kind, line):
    with pytest.raises(kind, match=line) as refusal:
        selections.load_selection(workspace, text)
    assert "\n" not in str(refusal.value)


def test_invalid_tag_scenario_or_name_is_refused_without_side_effects(workspace, suite):
    for word in ("", "two words", "a+b", "<b>", "x" * 49):
        with pytest.raises(ArgumentError, match="expected a tag of lower-case letters"):
            tags.tag(workspace, suite, word, [A.id])
    with pytest.raises(UnknownName, match="unknown scenario of own@1 'walk-01'"):
        tags.tag(workspace, suite, "wrap", [A.id, "walk-01"])
    with pytest.raises(ArgumentError, match="expected a subset of own@1"):
        selections.save_selection(workspace, selections.load_selection(workspace, "own@1"), "all")
    with pytest.raises(ArgumentError, match="expected a name of lower-case letters"):
        selections.save_selection(
            workspace, selections.load_selection(workspace, "own@1+tag:far"), "a/b"
        )
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
def test_hostile_tags_file_is_refused(workspace, suite, text, kind):
    workspace.path("tags").mkdir()
    workspace.path("tags", "own.json").write_text(text)
    with pytest.raises(kind):
        selections.load_selection(workspace, "own@1+tag:corner")


def test_simultaneous_tags_are_all_kept(workspace, suite):
    run_together(*(partial(tags.tag, workspace, suite, f"t{n}", [A.id]) for n in range(8)))
    assert {f"t{n}" for n in range(8)} <= {*selections.load_ids_by_tag(workspace, suite)}


def test_subset_is_run_labelled_reported_and_queued_once(workspace, suite, capsys):
    own = Curation(workspace.root, capsys)
    assert own(f"suite tag own@1 wrap {B.id} {C.id}") == f"wrap: {B.id}, {C.id}\n"
    for label, made, there in (("own@1+tag:wrap", 4, 0), ("own@1", 4, 4)):
        run = f"run {label} --agent random --agent blind --continuations 2 --json"
        rows = json.loads(own(run))
        assert [(row["new"], row["reused"]) for row in rows] == [(made, there)] * 2
    for label, count in (("own@1+tag:wrap", 4), ("own@1", 8)):
        labelled = json.loads(own(f"label {label} --json"))
        assert [row["continuations"] for row in labelled["agents"]] == [count, count]
    said = own("report own@1+tag:wrap")
    assert "This is about a part of own@1, +tag:wrap: 2 of its 4 scenarios." in said
    folder = workspace.path("reports")
    report = json.loads((folder / "own-1+tag=wrap" / "report.json").read_text())
    assert report["conclusion"]["suite"] == "own@1+tag:wrap"
    assert report["conclusion"]["planned_clips"] == 8
    selection = {
        "suite": "own@1", "filter": "+tag:wrap", "scenarios": 2, "suite_scenarios": 4, "joined": [],
    }  # fmt: skip
    assert report["provenance"]["selection"] == selection
    own("suite save own@1+tag:wrap+tag:far tag-wrap")
    own("report own@1+tag-wrap")
    assert {one.name for one in folder.iterdir()} == {"own-1+tag=wrap", "own-1+tag-wrap"}
    own("report own@1")
    report = json.loads((folder / "own-1" / "report.json").read_text())
    assert report["provenance"]["selection"] is None
    assert report["conclusion"]["planned_clips"] == 16

    part, whole = (queueing.select_suite(workspace, label) for label in ("own@1+tag:wrap", "own@1"))
    assert part is not None and whole is not None
    workspace.settings["annotation"]["overlap"] = 0
    with AnnotationStore.open(workspace) as judging:
        assert queueing.fill_queue(workspace, judging, part) == 8
        ann = add_person(judging, "ann").id
        assert len(claim_items(judging, ann, suite=part.queue, count=20)) == 8
        assert queueing.fill_queue(workspace, judging, whole) == 16
        assert ask(judging, progress.load_progress, part.queue).items == 8
        assert ask(judging, progress.load_progress, "own@1").items == 16
        claims = claim_items(judging, ann, suite="own@1", count=20)
        submit(judging, ann, [a_submission(claim, step=1) for claim in claims[:5]])
        inside = {B.id, C.id}
        table = export.export_ratings(workspace, "own@1").table.query("annotator != ''")
        plan, part_plan = (
            gather(workspace, label).suite.plan for label in ("own@1", "own@1+tag:wrap")
        )
        assert plan == Plan(16, 5, 1, None)
        assert part_plan == Plan(8, table["scenario"].isin(inside).sum(), 1, None)


def test_subset_is_shown_with_its_terms(workspace, suite, capsys):
    own = Curation(workspace.root, capsys)
    out = own("suite show own@1+tag:corner")
    assert "+tag:corner: 2 of its 4 scenarios" in out and B.id not in out
    own(f"suite tag own@1 wrap {B.id}")
    out = own("suite save own@1+tag:wrap edges")
    assert out == "own@1+edges is +tag:wrap: 1 of its 4 scenarios\n"
    out = own("suite tag own@1")
    assert "own@1+edges is +tag:wrap" in out
    assert any(line.split()[:3] == ["wrap", "workspace", "1"] for line in out.splitlines())
    assert "expected ids of scenarios behind wrap" in own("suite tag own@1 wrap", code=2)
