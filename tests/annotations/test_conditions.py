"""Verdicts under both conditions: scenarios on which they differ, and references from people."""

import json
import time
from types import SimpleNamespace

import pytest

from sts.annotations.answers import quality
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import conditions
from sts.annotations.findings.doubts import list_doubtful
from sts.annotations.findings.export import export_ratings
from sts.annotations.people import deal, people
from sts.annotations.queue import references
from sts.continuations import continuation_store as continuations
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, add_people, an_item, claim, rows
from tests.stores import ask, enqueue, submit


def judge_all(
    store: AnnotationStore, person: int, verdicts: dict[str, str | None], step: int = 7
) -> None:
    """Judge the clips in `verdicts`, by continuation, and all others as a success."""
    while held := claim(store, person, 1):
        verdict = verdicts.get(held[0].continuation) or "success"
        marked = step if verdict in ("success", "failure") else None
        sent = a_submission(held[0], verdict=verdict, step=marked, reason="dark")
        submit(store, person, [sent])


@pytest.fixture
def store(open_store) -> AnnotationStore:
    """A study that serves references first."""
    opened: AnnotationStore = open_store(reference_rate=1.0)
    return opened


@pytest.fixture
def team(store: AnnotationStore) -> list[int]:
    """Five people on six clips of two scenarios in one category, which one judges without texts."""
    scenarios = {f"c{n}": "s1" if n < 3 else "s2" for n in range(6)}
    enqueue(store, [an_item(name, scenario=s) for name, s in scenarios.items()], required=4)
    return add_people(store, *"abcde")


def split_team(store: AnnotationStore, team: list[int]) -> tuple[int, list[int]]:
    """Return the person who judges by the instruction alone, and the others."""
    others = [one for one in team if all(ask(store, deal.load_conditions, one).values())]
    (alone,) = {*team} - {*others}
    return alone, others


def test_scenarios_whose_clips_differ_between_conditions_are_listed(
    store: AnnotationStore, team: list[int], workspace: Workspace, sts
) -> None:
    alone, (first, second, *_) = split_team(store, team)
    judge_all(store, first, {"c1": "failure"})
    judge_all(store, second, {"c1": "failure"})
    assert ask(store, conditions.list_differing, SUITE) == [], "of one condition"
    judge_all(store, alone, {"c0": "failure"})
    (found,) = ask(store, conditions.list_differing, SUITE)
    assert found[:6] == ("s1", "go-to-good", 3, 2, (4, 6), (2, 3))
    (listed,) = json.loads(sts(workspace, f"annotations quality {SUITE} --json"))["differing"]
    assert (listed["scenario"], listed["clips"], listed["differing"]) == ("s1", 3, 2)
    shown = sts(workspace, "annotations quality")
    assert "s1        go-to-good  4 of 6" in shown and "2 of 3                2 of 3" in shown


def test_agreement_compares_only_verdicts_of_one_condition(
    store: AnnotationStore, team: list[int], workspace: Workspace, sts
) -> None:
    alone, (first, second, *_) = split_team(store, team)
    for person, failures in ((first, "c0 c1"), (second, "c0 c1"), (alone, "c2 c3 c4 c5")):
        judge_all(store, person, dict.fromkeys(failures.split(), "failure"))
    store.database.close()
    found = json.loads(sts(workspace, "annotations quality --json"))["overlap"]
    assert (found["pairs"], found["agreeing"], found["alpha"]) == (6, 6, 1.0)


def test_references_are_proposed_where_three_agree_under_both_conditions(
    store: AnnotationStore, team: list[int], clock: Clock
) -> None:
    def propose() -> conditions.Proposals:
        return ask(store, conditions.propose_references, None, store.study.marker_tolerance)

    assert propose() == ([], 3)
    alone, (first, second, third, _) = split_team(store, team)
    judge_all(store, first, {"c0": "failure"}, step=6)
    assert propose() == ([], 2)
    judge_all(store, second, {"c1": "failure"}, step=7)
    judge_all(store, third, {}, step=8)
    assert propose() == ([], 1), "three agree, all by the criterion"
    judge_all(store, alone, {"c2": "cannot_judge", "c3": "not_done"}, step=30)
    assert propose() == ([], 3), "all differ, some of them only by their markers"


def test_proposed_references_measure_only_later_annotators(
    store: AnnotationStore, team: list[int], clock: Clock, workspace: Workspace, sts, monkeypatch
) -> None:
    alone, (first, second, _, last) = split_team(store, team)
    assert "the nearest lacks 3 judgements" in sts(workspace, "references propose")
    judge_all(store, first, {"c0": "failure"}, step=6)
    judge_all(store, second, {}, step=9)
    judge_all(store, alone, {}, step=7)
    records = {row.continuation: row for row in rows(store, "items")}

    def find(workspace: Workspace, name: str) -> SimpleNamespace:
        row = records[name]._asdict() | {"id": name, "scenario_id": "", "agent": "", "sees": ""}
        return SimpleNamespace(**row)

    monkeypatch.setattr(continuations, "find_continuation", find)
    assert "5 clips; add them with --add" in sts(workspace, f"references propose {SUITE}")
    added = json.loads(sts(workspace, "references propose --add --json"))["references"]
    assert {row["continuation"] for row in added} == {f"c{n}" for n in range(1, 6)}
    assert {(row["verdict"], row["step"], row["annotators"]) for row in added} == {
        ("success", 7, 3)
    }
    pool = ask(store, references.list_references)
    assert {reference.source for reference in pool} == {"people"} and len(pool) == 5
    clock.now = time.time() + 1
    judge_all(store, last, {"c1": "failure"})
    answered = [
        ask(store, quality.measure_quality, annotator_id=n).right[:2] for n in (first, last)
    ]
    assert answered == [(0, 0), (5, 4)]
    table = export_ratings(workspace, SUITE).table
    by_number = {one.id: one.pseudonym for one in ask(store, people.list_people)}
    assert {*table.loc[table["truth_source"] == "people", "annotator"]} == {by_number[last]}


def test_doubtful_scenarios_are_listed_with_their_reasons(
    store: AnnotationStore, team: list[int]
) -> None:
    alone, (first, second, third) = split_team(store, team)[0], split_team(store, team)[1][:3]
    assert ask(store, list_doubtful, SUITE, 5) == {}
    judge_all(store, first, {"c3": "cannot_judge", "c4": "cannot_judge"})
    judge_all(store, second, {"c1": "failure"})
    said = ask(store, list_doubtful, SUITE, 5)
    assert said == {
        "s1": "annotators disagree on 1 of 3 clips",
        "s2": "annotators disagree on 2 of 3 clips; 2 of 3 clips cannot be judged",
    }
    judge_all(store, third, {})
    judge_all(store, alone, {"c0": "failure"})
    assert ask(store, list_doubtful, SUITE, 5)["s1"] == (
        "annotators disagree on 2 of 3 clips; verdicts by the instruction alone differ"
    )
