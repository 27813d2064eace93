"""Queue, claims and leases: what is enqueued, who is given it, and references among it."""

import re
from dataclasses import replace

import pytest

from sts.annotations.answers import progress
from sts.annotations.answers.training import load_progress, save_answer
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue import balance, queue, references
from sts.annotations.queue.references import check_truth
from sts.annotations.queue.rounds import RoundOrder
from sts.errors import ArgumentError, DamagedData
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    HORIZON,
    SUITE,
    a_submission,
    add_people,
    an_item,
    claim,
    judge,
    rows,
    some_items,
    statuses,
)
from tests.stores import add_person, add_reference, ask, change, enqueue, submit


def test_item_enqueued_again_adds_nothing(store) -> None:
    assert enqueue(store, iter(some_items(1203)), required=2) == 1203  # more than one batch
    assert enqueue(store, some_items(1205), required=2) == 2
    assert ask(store, progress.load_progress, SUITE)[:4] == (1205, 0, 2410, 0)


def test_impossible_items_and_truths_are_refused(store) -> None:
    enqueue(store, [an_item()])
    add_reference(store, an_item(), "success", 3)
    add_reference(store, an_item(), "success", 3)
    with pytest.raises(DamagedData, match="c0 was enqueued with .* 40, 20.* now comes with"):
        enqueue(store, [an_item(horizon=39)])
    with pytest.raises(ArgumentError, match="already has the truth success at step 3"):
        add_reference(store, an_item(), "failure", 3)
    with pytest.raises(ArgumentError, match="expected a step of 1 to 40"):
        add_reference(store, an_item("c1"), "failure", 41)
    assert len(ask(store, references.list_references)) == 1
    for truth, step, words in (
        ("passed", None, "unknown verdict 'passed'; known: failure, not_done, success"),
        ("cannot_judge", None, "unknown verdict"),
        ("not_done", 3, "has no step"),
        ("success", 0, "step of 1 to 40"),
    ):
        with pytest.raises(ArgumentError, match=words):
            check_truth(truth, step, HORIZON)


def test_raised_requirement_opens_slots_and_a_lowered_one_closes_none(store) -> None:
    enqueue(store, some_items(3))
    ana, bo = add_people(store, "Ana", "Bo")
    judge(store, ana)
    assert claim(store, bo) == []
    enqueue(store, some_items(3), required=2)
    enqueue(store, some_items(3), required=1)
    assert ask(store, progress.load_progress, SUITE).annotations_required == 6
    assert len(judge(store, bo)) == 3


def test_reload_keeps_the_queue_and_renews_its_leases(store, clock) -> None:
    enqueue(store, some_items(50))
    (ana,) = add_people(store, "Ana")
    first = claim(store, ana, 4)
    leases = {one.lease_until for one in rows(store, "slots") if one.annotator == ana}
    assert leases == {clock.now + 900}
    clock.now += 100
    again = claim(store, ana, 4)
    assert [one.item for one in again] == [one.item for one in first]
    renewed = {one.lease_until for one in rows(store, "slots") if one.annotator == ana}
    assert renewed == {clock.now + 900}
    submit(store, ana, [a_submission(first[1])])
    rest = [one.item for one in claim(store, ana, 4)]
    assert rest[:3] == [first[0].item, first[2].item, first[3].item] and len(rest) == 4


def test_lapsed_lease_stays_with_its_annotator_until_another_takes_it(store, clock) -> None:
    enqueue(store, some_items(2))
    ana, bo = add_people(store, "Ana", "Bo")
    held = {one.item: one for one in claim(store, ana)}
    assert claim(store, bo) == []
    clock.pass_lease()
    assert {one.item for one in claim(store, ana)} == {*held}
    clock.pass_lease()
    taken = claim(store, bo)
    assert {one.item for one in taken} == {*held} and claim(store, ana) == []
    submit(store, bo, [a_submission(taken[0])])
    clock.pass_lease()
    late = [a_submission(held[one.item]) for one in taken]
    assert statuses(submit(store, ana, late)) == ["extra", "saved"]
    assert statuses(submit(store, bo, [a_submission(taken[1])])) == ["extra"]
    assert ask(store, progress.load_progress, SUITE)[:4] == (2, 2, 2, 2)
    assert [ask(store, balance.count_judged, one, SUITE) for one in (ana, bo)] == [2, 2]


def test_annotators_meet_items_in_a_shuffled_order_under_random_ids(store) -> None:
    enqueue(store, some_items(30), required=2)
    ana, bo = add_people(store, "Ana", "Bo")
    ids = [one.item for one in claim(store, ana, 30)]
    assert len({*ids}) == 30 and all(re.fullmatch(r"[0-9A-Za-z_-]{22}", id) for id in ids)
    first, second = judge(store, ana), judge(store, bo)
    in_order = [item.continuation for item in some_items(30)]
    assert sorted(first) == sorted(second) == sorted(in_order)
    assert in_order not in (first, second)


def test_equal_seeds_give_equal_orders_and_different_seeds_differ(sqlite_workspace) -> None:
    def order(name: str, seed: int) -> list[str]:
        workspace = Workspace.open(str(sqlite_workspace.root.with_name(name)))
        workspace.settings["annotation"]["seed"] = seed
        with AnnotationStore.open(workspace) as store:
            order = RoundOrder({one.scenario: "get" for one in some_items(200)}, seed)
            places = [order.find_place("A", 0, one.scenario) for one in some_items(200)[::10]]
            some = zip(some_items(20), places, strict=True)
            enqueue(store, [replace(item, place=place) for item, place in some])
            return judge(store, add_people(store, "Ana")[0])

    assert order("a", 0) == order("b", 0) != order("c", 1)


def test_players_do_not_judge_their_own_continuations(store) -> None:
    enqueue(store, [an_item("mine", players=("annotator-0000aa",)), an_item("theirs")])
    ana, bo = add_people(store, "annotator-0000aa", "Bo")  # the name is also the pseudonym
    assert (judge(store, ana), judge(store, bo)) == (["theirs"], ["mine"])


def test_claims_stay_in_their_suite_and_judgements_count_in_each(store) -> None:
    enqueue(store, some_items(4))
    enqueue(store, [an_item("b", suite="other@1")])
    (ana,) = add_people(store, "Ana")
    assert judge(store, ana, suite="other@1") == ["b"] and len(judge(store, ana)) == 4
    assert claim(store, ana, suite="nowhere@1") == []
    assert enqueue(store, some_items(5, suite="core@2")) == 1
    assert ask(store, progress.load_progress, "core@2")[:4] == (5, 4, 5, 4)
    assert judge(store, ana, suite="core@2") == ["c4"]
    assert ask(store, queue.list_suites) == ["core@2", "core@3", "other@1"]


def test_references_are_mixed_in_and_met_once_by_each_annotator(open_store) -> None:
    store = open_store(reference_rate=0.3)
    enqueue(store, some_items(30), required=2)
    for i in range(8):
        add_reference(store, an_item(f"r{i}"), "success", i + 1)
    for person in add_people(store, "Ana", "Bo"):
        met = judge(store, person)
        own = [continuation for continuation in met if continuation[0] == "r"]
        assert len(met) == 30 + len(own) and len(set(own)) == len(own) >= 4
        assert {continuation[0] for continuation in met[:20]} == {"c", "r"}
    assert ask(store, progress.load_progress, SUITE).items == 30
    assert sum(one.judged for one in ask(store, references.list_references)) >= 8


def test_reference_rate_one_serves_references_first_and_zero_none(open_store) -> None:
    store = open_store(reference_rate=1)
    enqueue(store, some_items(3))
    for i in range(3):
        players = ("annotator-0000aa",) * (i == 0)
        add_reference(store, an_item(f"r{i}", players=players), "not_done")
    ana, bo = add_people(store, "annotator-0000aa", "Bo")
    assert claim(store, ana) == claim(store, ana)
    met = judge(store, ana)
    assert set(met[:2]) == {"r1", "r2"} and set(met[2:]) == {"c0", "c1", "c2"}
    enqueue(store, some_items(3), required=2)
    assert len(judge(open_store(reference_rate=0), bo)) == 3


def test_reference_clips_are_never_queued_for_annotation(open_store) -> None:
    store = open_store(reference_rate=0.5)
    enqueue(store, some_items(10), required=2)
    (first,) = judge(store, add_people(store, "Ana")[0], count=1)
    for item in some_items(12)[2:]:
        add_reference(store, item, "failure", 2)
    enqueue(store, some_items(12), required=3)
    enqueue(store, some_items(12), required=4)
    total = 2 * 4 + int(first not in ("c0", "c1"))
    assert ask(store, progress.load_progress, SUITE)[:4] == (12, 10, total, 1)
    met = [judge(store, person) for person in add_people(store, "Bo", "Cy", "Di", "Ed")]
    assert all(len(set(one)) == len(one) for one in met)
    assert ask(store, progress.load_progress, SUITE)[:4] == (12, 12, total, total)


def test_clip_is_complete_when_all_annotators_trained_on_it(open_store) -> None:
    store = open_store(reference_rate=0.1, training=2, training_pass=0.0)
    enqueue(store, some_items(4))
    for item in some_items(2):
        add_reference(store, item, "failure", 2)
    for name in ("Ana", "Bo"):
        person = add_person(store, name).id
        for lesson in ask(store, load_progress, person).items:
            sent = a_submission(lesson.item, verdict="failure", step=2)
            assert change(store, save_answer, person, sent, exclusive=False)
        judge(store, person)
    assert ask(store, progress.load_progress, SUITE)[:4] == (4, 4, 2, 2)


def test_reference_is_never_extra(open_store) -> None:
    store = open_store(reference_rate=1)
    add_reference(store, an_item("r"), "success", 3)
    for person in add_people(store, "Ana", "Bo"):
        [held] = claim(store, person)
        assert statuses(submit(store, person, [a_submission(held)])) == ["saved"]
