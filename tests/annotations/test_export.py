"""Ratings tables: rows of judgements, references, auto-resolved clips and rubric versions."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sts.annotations.answers import progress
from sts.annotations.answers.imports import read_ratings
from sts.annotations.findings.export import export_ratings, write_csv
from sts.annotations.queue import references
from sts.annotations.records import Item
from sts.annotations.vault.history import verify
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    a_submission,
    add_people,
    an_item,
    claim,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, enqueue, submit

COLUMNS = (
    "agent scenario category continuation annotator verdict step horizon kind trajectory truth "
    "truth_step clip seconds source sees reason extra adjudicated adjudicated_step rubric order "
    "twice round place cell rubric_shown truth_source excluded"
).split()
NOT_DONE: dict[str, Any] = {"verdict": "not_done", "step": None}


def by_continuation(table: pd.DataFrame) -> dict[tuple[str, str], Any]:
    rows: Any = table.itertuples(index=False)
    return {(row.continuation, row.annotator): row for row in rows}


def cells(workspace: Workspace, columns: str) -> list[tuple[Any, ...]]:
    table = export_ratings(workspace, SUITE, names=True).table
    return [tuple(row) for row in table[columns.split()].itertuples(index=False)]


@pytest.fixture
def sound(store):
    """The store, which must verify at the end."""
    yield store
    assert verify(store.database).findings == ()


def test_table_without_a_store_is_empty_and_makes_none(sqlite_workspace) -> None:
    table = export_ratings(sqlite_workspace, SUITE).table
    assert list(table.columns) == COLUMNS and table.empty
    assert not sqlite_workspace.root.exists()


def test_each_judgement_and_each_unjudged_continuation_is_a_row(workspace, store) -> None:
    enqueue(store, some_items(3, sees="world"), required=2)
    for name, step in (("Ana", 4), ("Bo", 9)):
        number = add_person(store, name).id
        for held in claim(store, number):
            if held.continuation != "c2":
                submit(store, number, [a_submission(held, step=step, seconds=2)])
    table = export_ratings(workspace, SUITE, names=True).table
    assert list(table.columns) == COLUMNS
    rows = by_continuation(table)
    assert set(rows) == {(c, a) for c in ("c0", "c1") for a in ("Ana", "Bo")} | {("c2", "")}
    row = rows["c1", "Bo"]
    own = ("random", "s0", "go-to-good", "c1", "Bo", "success", 9, 40, "instruction")
    assert tuple(row)[:9] == own
    found = (row.truth, row.seconds, row.source, row.sees, row.extra)
    assert found == ("", 2.0, "human", "world", 0)
    unjudged = rows["c2", ""]
    assert unjudged.verdict == "" and unjudged.step is pd.NA and unjudged.seconds is pd.NA
    assert table["horizon"].dtype == np.int64 and str(table["step"].dtype) == "Int64"


def test_table_has_corrections_reasons_and_extra_judgements(workspace, store, clock) -> None:
    enqueue(store, some_items(1))
    ana, bo = add_people(store, "Ana", "Bo")
    [late] = claim(store, ana)
    clock.pass_lease()
    [taken] = claim(store, bo)
    sent = a_submission(taken)
    reason = {"verdict": "cannot_judge", "step": None, "reason": "too dark, \u201creally\u201d"}
    submit(store, bo, [sent, a_submission(taken, corrects=sent["uuid"], **reason)])
    submit(store, ana, [a_submission(late, **NOT_DONE)])
    assert cells(workspace, "annotator verdict extra reason") == [
        ("Ana", "not_done", 1, ""),
        ("Bo", "cannot_judge", 0, reason["reason"]),
    ]


def test_judged_references_carry_their_truth_in_every_suite(workspace, open_store) -> None:
    store = open_store(reference_rate=1)
    enqueue(store, some_items(1))
    enqueue(store, [an_item("other", suite="other@1", scenario="s9")])
    add_reference(store, an_item("judged"), "failure", 12)
    (ana,) = add_people(store, "Ana")
    submit(store, ana, [a_submission(*claim(store, ana, 1), step=11)])
    add_reference(store, an_item("unjudged"), "not_done")
    judged = ("judged", "Ana")
    for suite, others in (
        (SUITE, {("c0", "")}),
        ("other@1", {("other", "")}),
        (None, {("c0", ""), ("other", "")}),
        ("unknown@1", set[Any]()),
    ):
        rows = by_continuation(export_ratings(workspace, suite, names=True).table)
        assert set(rows) == {judged} | others
        row = rows[judged]
        assert (row.verdict, row.step, row.truth, row.truth_step) == ("success", 11, "failure", 12)


def test_exported_file_reads_back_unchanged(workspace, store, tmp_path) -> None:
    enqueue(store, some_items(4))
    (ana,) = add_people(store, 'Ana, the 1\u02e2\u1d57 "A"')
    first, second, *_ = claim(store, ana)
    reason = 'a comma, a "quote"\nand a line'
    submit(store, ana, [a_submission(first)])
    submit(store, ana, [a_submission(second, verdict="cannot_judge", step=None, reason=reason)])
    write_csv(tmp_path / "deep" / "r.csv", export_ratings(workspace, SUITE, names=True).table)
    found = {r.continuation: r for r in read_ratings(tmp_path / "deep" / "r.csv")}
    assert len(found) == 2
    assert found[first.continuation][2:6] == ('Ana, the 1\u02e2\u1d57 "A"', "success", 7, 40)
    assert found[second.continuation].reason == reason.replace("\n", " ")
    assert found[second.continuation].seconds == 4.5


def test_order_is_that_of_first_judging(workspace, store, clock) -> None:
    enqueue(store, some_items(3), required=2)
    for name in ("Ana", "Bo"):
        (number,) = add_people(store, name)
        claims = claim(store, number)[:: 1 if name == "Ana" else -1]
        sent = [a_submission(held) for held in claims]
        for one in (*sent, a_submission(claims[0], corrects=sent[0]["uuid"])):
            clock.now += 1
            submit(store, number, [one])
        rows = by_continuation(export_ratings(workspace, SUITE, names=True).table)
        assert [rows[held.continuation, name].order for held in claims] == [1, 2, 3]


def test_share_required_twice_is_marked(workspace, store) -> None:
    enqueue(store, some_items(200), required=None)
    table = export_ratings(workspace, SUITE).table
    assert store.study.overlap and 0 < table["twice"].mean() < 3 * store.study.overlap


def clips(settled: str) -> list[Item]:
    """Three clips, the first of which is auto-resolved by this rule."""
    return [
        replace(one, auto_resolve_rule=settled if n == 0 else "")
        for n, one in enumerate(some_items(3))
    ]


def test_auto_resolution_follows_the_setting_until_a_person_judges(workspace, sound) -> None:
    columns, settled = "continuation source annotator verdict", ("c0", "settled", "", "not_done")
    enqueue(sound, clips(""), required=None)
    (ana,) = add_people(sound, "Ana")
    (held,) = [one for one in claim(sound, ana, 9) if one.continuation == "c0"]
    enqueue(sound, clips("silence"), required=None)
    assert {one.continuation for one in claim(sound, ana, 9)} == {"c1", "c2"}
    counts = ask(sound, progress.load_progress, SUITE)
    assert (counts.items, counts.complete, counts.auto_resolved) == (3, 1, 1)
    assert counts.annotations_required == 2 and counts.judged == 0
    assert cells(workspace, columns)[0] == settled
    enqueue(sound, clips(""), required=None)
    assert "c0" in {one.continuation for one in claim(sound, ana, 9)}
    assert cells(workspace, columns)[0] == ("c0", "human", "", "")
    enqueue(sound, clips("silence"), required=None)
    assert statuses(submit(sound, ana, [a_submission(held)])) == ["extra"]
    assert cells(workspace, columns)[0] == ("c0", "human", "Ana", "success")
    assert ask(sound, progress.load_progress, SUITE).auto_resolved == 0


def by_rubric(version: str, number: int = 3) -> list[Item]:
    """Clips of two copies each, judged by a version of their category's rubric."""
    return [
        an_item(f"c{n}{copy}", clip=f"look {n}.{version}", agent=f"agent-{copy}", rubric=version)
        for n in range(number)
        for copy in "ab"
    ]


def test_judged_clips_keep_their_rubric_version_and_others_move(workspace, sound) -> None:
    def exported() -> set[tuple[str, ...]]:
        return {*cells(workspace, "continuation annotator verdict rubric")}

    enqueue(sound, by_rubric("1"))
    ana, bo = add_people(sound, "Ana", "Bo")
    first, late, _ = claim(sound, ana)
    assert statuses(submit(sound, ana, [a_submission(first)])) == ["saved"]
    assert enqueue(sound, by_rubric("2")) == 0
    assert ask(sound, progress.load_progress, SUITE)[:4] == (3, 1, 3, 1)
    waiting = {one.item for one in claim(sound, bo, 5)}
    assert len(waiting) == 2 and late.item not in waiting
    assert enqueue(sound, by_rubric("2")) == 0 == len(claim(sound, ana, 5))
    judged, old = first.continuation[:2], late.continuation[:2]
    (rest,) = {"c0", "c1", "c2"} - {judged, old}
    own = {(judged + copy, "Ana", "success", "1") for copy in "ab"}
    assert exported() == own | {(name + c, "", "", "2") for name in (old, rest) for c in "ab"}
    assert statuses(submit(sound, ana, [a_submission(late, verdict="failure")])) == ["extra"]
    own |= {(old + copy, "Ana", "failure", "1") for copy in "ab"}
    assert exported() == own | {(rest + copy, "", "", "2") for copy in "ab"}
    for item in waiting:
        submit(sound, bo, [a_submission(item, **NOT_DONE)])
    assert {row for row in exported() if row[1] == "Bo"} == {
        (name + copy, "Bo", "not_done", "2") for name in (old, rest) for copy in "ab"
    }
    assert (old + "a", "Ana", "failure", "1") in exported()


def test_rubric_version_set_back_restores_its_clips(workspace, sound) -> None:
    enqueue(sound, by_rubric("1"))
    (ana,) = add_people(sound, "Ana")
    before = {one.item for one in claim(sound, ana)}
    for version in "231":
        enqueue(sound, by_rubric(version))
    enqueue(sound, [an_item("c0a", clip="look 0")])  # names no rubric and moves nothing
    assert {one.item for one in claim(sound, ana)} == before
    assert {*cells(workspace, "rubric")} == {("1",)}


def test_all_copies_of_a_clip_move_to_a_version_but_a_reference_does_not(workspace, sound) -> None:
    enqueue(sound, by_rubric("1", 2))
    add_reference(sound, by_rubric("1", 2)[2], "success", 7)
    enqueue(sound, [one for one in by_rubric("2", 2) if one.continuation != "c0b"])
    assert [one.continuation for one in ask(sound, references.list_references)] == ["c1a"]
    assert dict(cells(workspace, "continuation rubric")) == {
        "c0a": "2",
        "c0b": "2",
        "c1a": "1",
        "c1b": "1",
    }
