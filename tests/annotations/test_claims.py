from __future__ import annotations

import re

import pytest

from sts.annotations import queue, views
from sts.annotations import references as store_references
from sts.annotations.references import check_truth
from sts.annotations.store import Store
from sts.annotations.training import answer, standing
from sts.errors import ArgumentError, DamagedData
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    HORIZON,
    SUITE,
    Clock,
    a_submission,
    an_item,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, change, claim_items, enqueue, submit


def judge_all(store: Store, annotator: int, suite: str = SUITE) -> list[str]:
    """Judges until nothing is left; returns the continuations in the order they were met."""
    met: list[str] = []
    while claims := claim_items(store, annotator, suite=suite, count=1):
        met.append(claims[0].continuation)
        submit(store, annotator, [a_submission(claims[0])])
    return met


def test_enqueueing_again_adds_nothing(store: Store) -> None:
    assert enqueue(store, some_items(7), required=2) == 7
    assert enqueue(store, some_items(9), required=2) == 2
    assert ask(store, views.progress, SUITE)[:4] == (9, 0, 18, 0)


def test_more_items_than_one_batch_are_enqueued_once_each(store: Store) -> None:
    assert enqueue(store, iter(some_items(1203))) == 1203
    assert enqueue(store, some_items(1203) + some_items(5)) == 0
    assert ask(store, views.progress, SUITE).required == 1203


def test_a_continuation_with_another_horizon_is_refused(store: Store) -> None:
    enqueue(store, [an_item()])
    with pytest.raises(DamagedData, match="c0 was enqueued with .* 40, 20.* now comes with"):
        enqueue(store, [an_item(horizon=39)])


def test_no_judgement_required_is_refused(store: Store) -> None:
    with pytest.raises(ArgumentError, match="expected 1 to 1000 judgements"):
        enqueue(store, [an_item()], required=0)


def test_raising_what_is_required_opens_slots_and_never_closes_any(store: Store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    judge_all(store, ana.id)
    assert claim_items(store, bo.id, suite=SUITE) == []
    enqueue(store, some_items(3), required=2)
    enqueue(store, some_items(3), required=1)
    assert ask(store, views.progress, SUITE).required == 6
    assert len(judge_all(store, bo.id)) == 3


def test_a_claimed_item_is_kept_from_others_until_its_lease_ends(
    store: Store, clock: Clock
) -> None:
    enqueue(store, some_items(2))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    held = claim_items(store, ana.id, suite=SUITE)
    assert [claim.lease_until for claim in held] == [clock.now + 900] * 2
    assert claim_items(store, bo.id, suite=SUITE) == []
    clock.pass_lease()
    assert {c.item for c in claim_items(store, bo.id, suite=SUITE)} == {c.item for c in held}
    assert claim_items(store, ana.id, suite=SUITE) == []


def test_an_expired_lease_that_nobody_took_is_still_its_annotators(
    store: Store, clock: Clock
) -> None:
    enqueue(store, some_items(5))
    ana = add_person(store, "Ana")
    held = [claim.item for claim in claim_items(store, ana.id, suite=SUITE)]
    clock.pass_lease()
    assert [claim.item for claim in claim_items(store, ana.id, suite=SUITE)] == held


def test_a_reload_keeps_the_queue_and_renews_it(store: Store, clock: Clock) -> None:
    enqueue(store, some_items(50))
    ana = add_person(store, "Ana")
    first = claim_items(store, ana.id, suite=SUITE, count=4)
    clock.now += 100
    again = claim_items(store, ana.id, suite=SUITE, count=4)
    assert [c.item for c in again] == [c.item for c in first]
    assert again[0].lease_until == first[0].lease_until + 100
    submit(store, ana.id, [a_submission(first[1])])
    rest = [c.item for c in claim_items(store, ana.id, suite=SUITE, count=4)]
    assert rest[:3] == [first[0].item, first[2].item, first[3].item] and len(rest) == 4


def test_each_annotator_meets_items_in_an_order_of_their_own(store: Store) -> None:
    enqueue(store, some_items(30), required=2)
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    first, second = judge_all(store, ana.id), judge_all(store, bo.id)
    in_order = [item.continuation for item in some_items(30)]
    assert sorted(first) == sorted(second) == sorted(in_order)
    assert first != second and in_order not in (first, second)


def test_equal_seeds_give_equal_orders_and_different_seeds_differ(
    sqlite_workspace: Workspace, tmp_path: object
) -> None:
    def order(name: str, seed: int) -> list[str]:
        workspace = Workspace.open(str(sqlite_workspace.root.with_name(name)))
        workspace.settings["annotation"]["seed"] = seed
        with Store.open(workspace) as store:
            enqueue(store, some_items(20))
            return judge_all(store, add_person(store, "Ana").id)

    assert order("a", 0) == order("b", 0) != order("c", 1)


def test_what_reaches_a_browser_tells_nothing(store: Store) -> None:
    enqueue(store, some_items(20))
    ana = add_person(store, "Ana")
    claims = claim_items(store, ana.id, suite=SUITE, count=20)
    assert all(re.fullmatch(r"[0-9A-Za-z_-]{22}", claim.item) for claim in claims)
    assert len({claim.item for claim in claims}) == 20


def test_nobody_judges_what_they_played(store: Store) -> None:
    enqueue(store, [an_item("mine", players=("Ana",)), an_item("theirs")])
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    assert judge_all(store, ana.id) == ["theirs"]
    assert judge_all(store, bo.id) == ["mine"]


def test_judgements_carry_over_to_a_suite_that_keeps_the_scenario(store: Store) -> None:
    enqueue(store, some_items(4))
    ana = add_person(store, "Ana")
    judge_all(store, ana.id)
    assert enqueue(store, some_items(5, suite="core@2")) == 1
    assert ask(store, views.progress, "core@2")[:4] == (5, 4, 5, 4)
    assert judge_all(store, ana.id, "core@2") == ["c4"]
    assert ask(store, queue.suites) == ["core@1", "core@2"]


def test_claims_stay_inside_the_suite(store: Store) -> None:
    enqueue(store, [an_item("a")])
    enqueue(store, [an_item("b", suite="other@1")])
    ana = add_person(store, "Ana")
    assert judge_all(store, ana.id, "other@1") == ["b"]
    assert claim_items(store, ana.id, suite="nowhere@1") == []


def test_references_are_mixed_in_silently_and_met_once_by_each(workspace: Workspace) -> None:
    workspace.settings["annotation"]["reference_rate"] = 0.3
    with Store.open(workspace) as store:
        enqueue(store, some_items(30), required=2)
        for i in range(8):
            add_reference(store, an_item(f"r{i}"), "success", i + 1)
        for name in ("Ana", "Bo"):
            met = judge_all(store, add_person(store, name).id)
            references = [continuation for continuation in met if continuation[0] == "r"]
            assert len(met) == 30 + len(references)
            assert len(set(references)) == len(references) >= 4
            assert {continuation[0] for continuation in met[:20]} == {"c", "r"}
        assert ask(store, views.progress, SUITE).items == 30
        assert sum(reference.judged for reference in ask(store, store_references.every)) >= 8


def test_at_rate_zero_no_reference_is_served(workspace: Workspace) -> None:
    workspace.settings["annotation"]["reference_rate"] = 0
    with Store.open(workspace) as store:
        enqueue(store, some_items(20))
        add_reference(store, an_item("r"), "success", 1)
        assert "r" not in judge_all(store, add_person(store, "Ana").id)


def test_at_rate_one_every_reference_comes_first_but_those_one_played(
    workspace: Workspace, clock: Clock
) -> None:
    workspace.settings["annotation"]["reference_rate"] = 1
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, some_items(3))
        for i in range(3):
            add_reference(store, an_item(f"r{i}", players=("Ana",) * (i == 0)), "not_done")
        ana = add_person(store, "Ana")
        claims = claim_items(store, ana.id, suite=SUITE, count=3)
        assert claim_items(store, ana.id, suite=SUITE, count=3) == claims
        met = judge_all(store, ana.id)
        assert set(met[:2]) == {"r1", "r2"} and set(met[2:]) == {"c0", "c1", "c2"}


def test_no_judgement_is_waited_for_of_a_reference_that_is_enqueued_before_or_after(
    workspace: Workspace,
) -> None:
    workspace.settings["annotation"]["reference_rate"] = 0.5
    with Store.open(workspace) as store:
        enqueue(store, some_items(10), required=2)
        ana = add_person(store, "Ana").id
        (first, *_) = claim_items(store, ana, suite=SUITE, count=1)
        submit(store, ana, [a_submission(first)])
        for item in some_items(12)[2:]:
            add_reference(store, item, "failure", 2)
        enqueue(store, some_items(12), required=3)
        enqueue(store, some_items(12), required=4)
        done = int(first.continuation not in ("c0", "c1"))
        total = 2 * 4 + done
        assert ask(store, views.progress, SUITE)[:4] == (12, 10, total, 1)
        met = [judge_all(store, add_person(store, name).id) for name in ("Bo", "Cy", "Di", "Ed")]
        assert all(len(set(one)) == len(one) for one in met)
        assert ask(store, views.progress, SUITE)[:4] == (12, 12, total, total)


def test_no_clip_waits_for_ever_where_everybody_has_trained_on_it(workspace: Workspace) -> None:
    workspace.settings["annotation"].update(reference_rate=0.1, training=2, training_pass=0.0)
    with Store.open(workspace) as store:
        enqueue(store, some_items(4))
        for item in some_items(2):
            add_reference(store, item, "failure", 2)
        for name in ("Ana", "Bo"):
            person = add_person(store, name).id
            for lesson in ask(store, standing, person).lessons:
                assert change(
                    store,
                    answer,
                    person,
                    a_submission(lesson.item, verdict="failure", step=2),
                    alone=False,
                )
            judge_all(store, person)
        assert ask(store, views.progress, SUITE)[:4] == (4, 4, 2, 2)


@pytest.mark.parametrize(
    ("truth", "step", "words"),
    [
        ("passed", None, "unknown truth 'passed'; known: failure, not_done, success"),
        ("cannot_judge", None, "unknown truth"),
        ("not_done", 3, "carries no step"),
        ("success", 0, "step of 1 to 40"),
        ("success", 41, "step of 1 to 40"),
    ],
)
def test_a_truth_that_cannot_be_is_refused(truth: str, step: int | None, words: str) -> None:
    with pytest.raises(ArgumentError, match=words):
        check_truth(truth, step, HORIZON)


def test_a_truth_is_not_changed(store: Store) -> None:
    add_reference(store, an_item(), "success", 3)
    add_reference(store, an_item(), "success", 3)
    with pytest.raises(ArgumentError, match="already has the truth success at step 3"):
        add_reference(store, an_item(), "failure", 3)
    with pytest.raises(ArgumentError, match="expected a step of 1 to 40"):
        add_reference(store, an_item("c1"), "failure", 41)
    assert len(ask(store, store_references.every)) == 1


def test_a_late_judgement_takes_a_free_slot_else_is_extra(store: Store, clock: Clock) -> None:
    enqueue(store, some_items(2))
    ana, bo = add_person(store, "Ana"), add_person(store, "Bo")
    late = claim_items(store, ana.id, suite=SUITE)
    clock.pass_lease()
    taken = claim_items(store, bo.id, suite=SUITE)
    submit(store, bo.id, [a_submission(taken[0])])
    clock.pass_lease()
    by_item = {claim.item: claim for claim in late}
    sent = [a_submission(by_item[claim.item]) for claim in taken]
    assert statuses(submit(store, ana.id, sent)) == ["extra", "saved"]
    assert statuses(submit(store, bo.id, [a_submission(taken[1])])) == ["extra"]
    assert ask(store, views.progress, SUITE)[:4] == (2, 2, 2, 2)
    assert [ask(store, views.count_judged, one.id, SUITE) for one in (ana, bo)] == [2, 2]
