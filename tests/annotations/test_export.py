from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sts.annotations.export import load_ratings, write_csv
from sts.annotations.imports import read_csv
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, an_item, some_items
from tests.stores import add_person, add_reference, claim_items, enqueue, submit

COLUMNS = (
    "agent scenario category continuation annotator verdict step horizon kind truth truth_step "
    "clip seconds source sees reason extra adjudicated adjudicated_step rubric order twice"
).split()


def by_continuation(table: pd.DataFrame) -> dict[tuple[str, str], Any]:
    rows: Any = table.itertuples(index=False)
    return {(row.continuation, row.annotator): row for row in rows}


def test_without_a_store_the_table_is_empty_and_none_is_made(sqlite_workspace: Workspace) -> None:
    table = load_ratings(sqlite_workspace, SUITE)
    assert list(table.columns) == COLUMNS and table.empty
    assert not sqlite_workspace.root.exists()


def test_every_judgement_is_one_row_and_what_nobody_judged_one_more(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(3, sees="world"), required=2)
        for name, step in (("Ana", 4), ("Bo", 9)):
            number = add_person(store, name).id
            for claim in claim_items(store, number, suite=SUITE):
                if claim.continuation != "c2":
                    submit(store, number, [a_submission(claim, step=step, seconds=2)])
    table = load_ratings(workspace, SUITE, names=True)
    assert list(table.columns) == COLUMNS
    rows = by_continuation(table)
    assert set(rows) == {(c, a) for c in ("c0", "c1") for a in ("Ana", "Bo")} | {("c2", "")}
    row = rows["c1", "Bo"]
    assert tuple(row)[:9] == (
        *("random", "s0", "go-to-good", "c1", "Bo", "success", 9, 40),
        "instruction",
    )
    assert (row.truth, row.seconds, row.source, row.sees, row.extra) == (
        "",
        2.0,
        "human",
        "world",
        0,
    )
    unjudged = rows["c2", ""]
    assert unjudged.verdict == "" and unjudged.step is pd.NA and unjudged.seconds is pd.NA
    assert table["horizon"].dtype == np.int64 and str(table["step"].dtype) == "Int64"


def test_corrections_are_applied_and_reasons_and_extras_kept(
    workspace: Workspace, clock: Clock
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, some_items(1))
        ana, bo = add_person(store, "Ana").id, add_person(store, "Bo").id
        [late] = claim_items(store, ana, suite=SUITE)
        clock.pass_lease()
        [taken] = claim_items(store, bo, suite=SUITE)
        sent = a_submission(taken)
        reason = {"verdict": "cannot_judge", "step": None, "reason": "too dark, \u201creally\u201d"}
        submit(store, bo, [sent, a_submission(taken, corrects=sent["uuid"], **reason)])
        submit(store, ana, [a_submission(late, verdict="not_done", step=None)])
    rows = by_continuation(load_ratings(workspace, SUITE, names=True))
    assert [(r.annotator, r.verdict, r.extra) for r in rows.values()] == [
        ("Ana", "not_done", 1),
        ("Bo", "cannot_judge", 0),
    ]
    assert rows["c0", "Bo"].reason == "too dark, \u201creally\u201d"


def test_references_carry_their_truth_in_every_suite_once_judged(workspace: Workspace) -> None:
    workspace.settings["annotation"]["reference_rate"] = 1
    with Store.open(workspace) as store:
        enqueue(store, some_items(1))
        enqueue(store, [an_item("other", suite="other@1", scenario="s9")])
        add_reference(store, an_item("judged"), "failure", 12)
        ana = add_person(store, "Ana").id
        [claim] = claim_items(store, ana, suite=SUITE, count=1)
        submit(store, ana, [a_submission(claim, step=11)])
        add_reference(store, an_item("unjudged"), "not_done")
    for suite, item in ((SUITE, "c0"), ("other@1", "other")):
        rows = by_continuation(load_ratings(workspace, suite, names=True))
        assert set(rows) == {("judged", "Ana"), (item, "")}
        row = rows["judged", "Ana"]
        assert (row.verdict, row.step, row.truth, row.truth_step) == ("success", 11, "failure", 12)
    assert set(by_continuation(load_ratings(workspace, names=True))) == {
        ("judged", "Ana"),
        ("c0", ""),
        ("other", ""),
    }
    nobody = load_ratings(workspace, "nobody@1", names=True)
    assert set(by_continuation(nobody)) == {("judged", "Ana")}


def test_an_exported_file_reads_back_as_it_was(sqlite_workspace: Workspace, tmp_path: Path) -> None:
    with Store.open(sqlite_workspace) as store:
        enqueue(store, some_items(4))
        ana = add_person(store, 'Ana, the 1\u02e2\u1d57 "A"').id
        first, second, *_ = claim_items(store, ana, suite=SUITE)
        reason = 'a comma, a "quote"\nand a line'
        submit(store, ana, [a_submission(first)])
        submit(store, ana, [a_submission(second, verdict="cannot_judge", step=None, reason=reason)])
    table = load_ratings(sqlite_workspace, SUITE, names=True)
    write_csv(tmp_path / "deep" / "ratings.csv", table)
    found = {r.continuation: r for r in read_csv(tmp_path / "deep" / "ratings.csv")}
    assert len(found) == 2
    assert found[first.continuation][2:6] == ('Ana, the 1\u02e2\u1d57 "A"', "success", 7, 40)
    assert found[second.continuation].reason == reason.replace("\n", " ")
    assert found[second.continuation].seconds == 4.5


def test_the_order_is_that_of_first_judging_and_a_correction_keeps_it(
    workspace: Workspace, clock: Clock
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, some_items(3), required=2)
        sent = {}
        for name in ("Ana", "Bo"):
            number = add_person(store, name).id
            claims = claim_items(store, number, suite=SUITE)
            for claim in reversed(claims) if name == "Bo" else claims:
                clock.now += 1
                sent[name, claim.continuation] = a_submission(claim)
                submit(store, number, [sent[name, claim.continuation]])
            if name == "Ana":
                clock.now += 1
                first = a_submission(claims[0], corrects=sent[name, claims[0].continuation]["uuid"])
                submit(store, number, [first])
                ana = [claim.continuation for claim in claims]
            else:
                bo = [claim.continuation for claim in reversed(claims)]
    rows = by_continuation(load_ratings(workspace, SUITE, names=True))
    for name, order in (("Ana", ana), ("Bo", bo)):
        assert [rows[one, name].order for one in order] == [1, 2, 3]


def test_the_share_judged_twice_by_design_is_marked(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(200), required=None)
        asked = store.study.twice
    table = load_ratings(workspace, SUITE)
    assert asked and 0 < table["twice"].mean() < 3 * asked
