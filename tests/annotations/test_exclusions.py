"""Annotators who judge without watching, and the exclusion of a person's judgements."""

import json
import re
from typing import Any

import pandas as pd
import pytest

from sts.annotations.answers import attention, progress, quality
from sts.annotations.answers.verdicts import load_human_verdicts
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import unjudgeable
from sts.annotations.findings.export import export_ratings
from sts.annotations.people import exclusions, members, people
from sts.annotations.vault.history import verify
from sts.errors import ArgumentError
from tests.annotations.examples import (
    HORIZON,
    SUITE,
    a_submission,
    add_people,
    an_item,
    claim,
    judge,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, change, enqueue, submit

REASON = "judged 40 clips within a minute"
DARK: dict[str, Any] = {"verdict": "cannot_judge", "step": None, "reason": "dark"}
NOT_DONE: dict[str, Any] = {"verdict": "not_done", "step": None}


def exclude(store: AnnotationStore, name: str, reason: str = REASON, **more: Any) -> Any:
    lead = people.find_person
    by = ask(store, lead, "Lea") or add_person(store, "Lea", ("lead",))
    return change(store, exclusions.set_excluded, name, by, reason, **more)


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        ({"step": 4, "watched": 4 / HORIZON, "seconds": 1.0}, 1.0),  # seen up to the marker
        ({**NOT_DONE, "watched": 1.0, "seconds": HORIZON / 8}, 1.0),  # all, at normal speed
        ({**NOT_DONE, "watched": 1.0, "seconds": HORIZON / 80}, 0.1),  # all, ten times as fast
        ({**NOT_DONE, "watched": 0.1, "seconds": 60.0}, 0.1),  # a tenth, for a minute
        ({**NOT_DONE, "watched": 0.0, "seconds": 0.0}, 0.0),
    ],
)
def test_share_watched_needs_both_the_steps_and_the_time(store, answer, share) -> None:
    enqueue(store, some_items(9))
    (ana,) = add_people(store, "Ana")
    judge(store, ana, 4, **answer)
    (few,) = ask(store, attention.list_attention)
    assert (few.annotator, few.measured, few.flagged) == ("Ana", 4, False)
    assert few.watched == pytest.approx(share)
    judge(store, ana, 1, **answer)
    (found,) = ask(store, attention.list_attention)
    assert found.flagged is (share < store.study.min_watched)


def test_a_hundred_clips_in_one_second_are_flagged_and_careful_work_is_not(open_store) -> None:
    store = open_store(min_watched=0.25)
    enqueue(store, some_items(120))
    hasty, careful = add_people(store, "Hasty", "Careful")
    judge(store, careful, 9, **NOT_DONE, watched=0.9, seconds=7)
    assert len(judge(store, hasty, 111, **NOT_DONE, watched=1.0, seconds=1 / 111)) == 111
    by_name = {found.annotator: found for found in ask(store, attention.list_attention)}
    assert by_name["Hasty"].flagged and by_name["Hasty"].measured == attention.LATEST
    assert not by_name["Careful"].flagged and by_name["Careful"].watched == pytest.approx(0.9)


def test_correction_leaves_the_share_watched_as_it_was(store) -> None:
    enqueue(store, some_items(6))
    (ana,) = add_people(store, "Ana")
    for held in claim(store, ana, 6):
        first = a_submission(held, watched=1, seconds=9)
        later = a_submission(held, corrects=first["uuid"], watched=0, seconds=0)
        submit(store, ana, [first, later])
    assert ask(store, attention.list_attention) == [("Ana", 6, 1.0, False)]


def test_export_without_excluded_rows_is_as_if_the_person_had_not_judged(
    workspace, store, clock
) -> None:
    enqueue(store, some_items(6), required=2)
    add_reference(store, an_item("r0", scenario="r"), "success", 5)
    ana, bo = add_people(store, "Ana", "Bo")
    judge(store, ana, 3)
    before = export_ratings(workspace, SUITE, names=True).table
    kept = ask(store, quality.load_outcomes), ask(store, unjudgeable.list_unjudgeable)
    done = ask(store, progress.load_progress, SUITE)
    judge(store, bo, **DARK)
    assert ask(store, progress.load_progress, SUITE).judged > done.judged
    decision = exclude(store, "Bo")
    assert (decision.name, decision.by, decision.reason) == ("Bo", "Lea", REASON)
    assert (decision.decided, decision.judgements) == (clock.now, 7)
    table = export_ratings(workspace, SUITE, names=True).table
    own = table["annotator"] == "Bo"
    assert len(table[own]) == 7 and (table["excluded"] == REASON).equals(own)
    pd.testing.assert_frame_equal(table[~own].reset_index(drop=True), before)
    assert (ask(store, quality.load_outcomes), ask(store, unjudgeable.list_unjudgeable)) == kept
    assert ask(store, progress.load_progress, SUITE) == done
    shown = ask(store, load_human_verdicts, {f"c{n}" for n in range(6)})
    assert {verdict.verdict for found in shown.values() for verdict in found} == {"success"}
    assert verify(store.database).findings == ()


def test_excluded_persons_clips_go_to_others_and_a_withdrawal_counts_them_again(
    workspace, store
) -> None:
    enqueue(store, some_items(4))
    ana, bo = add_people(store, "Ana", "Bo")
    (held,) = claim(store, bo, 1)
    met = judge(store, ana, 2)
    exclude(store, "Ana")
    assert claim(store, ana) == []
    late = submit(store, ana, [a_submission(held)])
    assert statuses(late) == ["rejected"]  # it was never assigned to Ana
    (again,) = [c for c in claim(store, bo, 9) if c.continuation == met[0]]
    submit(store, bo, [a_submission(again)])
    assert ask(store, progress.load_progress, SUITE).judged == 1
    with pytest.raises(ArgumentError, match="Ana is excluded already"):
        exclude(store, "Ana")
    exclude(store, "Ana", "the page had failed", withdraw=True)
    assert ask(store, progress.load_progress, SUITE).judged == 1  # Bo holds the other three
    assert not (export_ratings(workspace, SUITE).table["excluded"] != "").any()
    everyone = {m.person.name: m.total for m in ask(store, members.list_members)}
    assert everyone == {"Ana": 2, "Bo": 1, "Lea": 0}
    with pytest.raises(ArgumentError, match="Ana is not excluded"):
        exclude(store, "Ana", withdraw=True)
    decisions = ask(store, exclusions.list_decisions)
    assert [(d.name, d.withdrawn, d.reason) for d in decisions] == [
        ("Ana", False, REASON),
        ("Ana", True, "the page had failed"),
    ]


def test_withdrawal_fills_the_slots_that_are_still_free(store) -> None:
    enqueue(store, some_items(3))
    (ana,) = add_people(store, "Ana")
    judge(store, ana, 2)
    before = ask(store, progress.load_progress, SUITE)
    exclude(store, "Ana")
    assert ask(store, progress.load_progress, SUITE).judged == 0
    exclude(store, "Ana", withdraw=True)
    assert ask(store, progress.load_progress, SUITE) == before


def test_late_judgement_of_an_excluded_person_takes_no_slot(store) -> None:
    enqueue(store, some_items(1))
    ana, bo = add_people(store, "Ana", "Bo")
    (held,) = claim(store, ana, 1)
    exclude(store, "Ana")
    assert statuses(submit(store, ana, [a_submission(held)])) == ["extra"]
    assert [c.item for c in claim(store, bo, 1)] == [held.item]


def test_commands_exclude_a_person_by_a_lead_and_list_it(sqlite_workspace, sts) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, some_items(6))
        ana, _ = add_people(store, "Ana", "Bo")
        add_person(store, "Lea", ("lead",))
        judge(store, ana, 6, watched=0, seconds=0.01)
    flagged = sts(sqlite_workspace, "annotations quality")
    assert re.search(r"Ana +6 +0\.00 +below 0\.25", flagged)
    words = f"annotators exclude Ana --reason '{REASON}'"
    assert "Bo is not a lead" in sts(sqlite_workspace, f"{words} --user Bo", 2)
    assert "expected one line" in sts(sqlite_workspace, "annotators exclude Ana --reason ''", 2)
    assert "6 judgements" in sts(sqlite_workspace, f"{words} --user Lea")
    listed = sts(sqlite_workspace, "annotations quality")
    assert "Ana is excluded since 1" in listed or "Ana is excluded since 2" in listed
    assert f"by Lea: {REASON}" in listed
    found = json.loads(sts(sqlite_workspace, "annotations quality --pseudonyms --json"))
    (decision,) = found["exclusions"]
    assert decision["reason"] == REASON and "Ana" not in str(found) and "Lea" not in str(found)
    (measured,) = found["attention"]
    assert (measured["measured"], measured["flagged"]) == (6, True)
    out = sts(sqlite_workspace, "annotators exclude Ana --reason mistake --user Lea --withdraw")
    assert "count again" in out
