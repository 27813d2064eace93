"""The deal of categories that annotators judge by the instruction alone, on both databases."""

import math
from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations.answers import clips, quality, training
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.export import export_ratings
from sts.annotations.people import deal, people
from sts.storage.workspace import Workspace
from tests.annotations.examples import (
    SUITE,
    Clock,
    a_submission,
    add_people,
    an_item,
    claim,
    judge,
    rows,
)
from tests.stores import add_reference, ask, change, enqueue, submit

NAMES = [f"category-{n}" for n in range(10)]


def some_categories(*names: str, each: int = 3) -> list[Any]:
    return [
        an_item(f"{name}.{n}", category=name, scenario=f"{name}-{n}")
        for name in names
        for n in range(each)
    ]


def list_withheld(store: AnnotationStore, person: int) -> set[str]:
    """Return the categories that a person is dealt to judge by the instruction alone."""
    conditions = ask(store, deal.load_conditions, person)
    return {category for category, shown in conditions.items() if not shown}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.25, 0.3, 0.5])
def test_deal_has_the_exact_share_in_each_row_and_column(share: float) -> None:
    size = 20
    dealt = [
        [not deal.is_rubric_shown(k, place, share) for place in range(3, 3 + size)]
        for k in range(7, 7 + size)
    ]
    assert {*map(sum, dealt), *map(sum, zip(*dealt, strict=True))} == {round(share * size)}


@pytest.mark.parametrize("number", [2, 3, 4, 5, 9])
def test_as_many_categories_as_possible_have_both_conditions(number: int) -> None:
    places, both = range(10), 0
    for place in places:
        shown = {deal.is_rubric_shown(k, place, 0.2) for k in range(number)}
        both += len(shown) == 2
    assert both == min(10, math.floor(0.2 * 10 * number))


def test_annotators_share_out_the_categories_of_a_study(open_store) -> None:
    store = open_store(seed=5)
    enqueue(store, some_categories(*NAMES), 5)
    team = add_people(store, *"abcde")
    dealt = [list_withheld(store, person) for person in team]
    assert [len(own) for own in dealt] == [2] * 5 and set().union(*dealt) == {*NAMES}
    for person, own in zip(team, dealt, strict=True):
        judge(store, person)
        assert list_withheld(store, person) == own
    conditions = {(row.annotator, row.category): row.rubric_shown for row in rows(store, "deals")}
    expected = {
        (p, name): int(name not in own)
        for p, own in zip(team, dealt, strict=True)
        for name in NAMES
    }
    assert conditions == expected


def test_another_seed_deals_other_categories(open_store) -> None:
    orders = []
    for seed in (1, 2):
        store = open_store(seed=seed)
        change(store, deal.place_categories, {f"{seed}-{name}" for name in NAMES}, seed)
        placed = [row for row in rows(store, "categories") if row.category.startswith(f"{seed}-")]
        orders.append([row.category[2:] for row in sorted(placed, key=lambda row: row.place)])
    assert orders[0] != orders[1] and sorted(orders[0]) == sorted(orders[1])


def test_single_annotator_sees_all_texts_until_a_second_joins(store) -> None:
    enqueue(store, some_categories(*NAMES, each=1))
    (ann,) = add_people(store, "ann")
    assert list_withheld(store, ann) == set()
    claim(store, ann, 5)
    known = {row.category for row in rows(store, "deals")}
    (ben,) = add_people(store, "ben")
    assert len(known) == 5 and len(list_withheld(store, ben)) == 2
    assert not list_withheld(store, ann) & known


def test_condition_outlives_new_settings_people_and_categories(
    open_store: Callable[..., AnnotationStore],
) -> None:
    store = open_store()
    enqueue(store, some_categories(*NAMES))
    ann, _ = add_people(store, "ann", "ben")
    judge(store, ann)
    own = list_withheld(store, ann)
    assert len(own) == 2
    changed = open_store(instruction_alone=0.0, seed=9)
    enqueue(changed, some_categories("a-new-one"))
    add_people(changed, "cleo", "dan")
    assert list_withheld(changed, ann) == own
    judge(changed, ann)
    assert list_withheld(changed, ann) == own


@pytest.mark.parametrize("role", deal.SEEING_ROLES)
def test_roles_that_see_the_texts_are_not_dealt_even_when_they_end(store, role) -> None:
    enqueue(store, some_categories(*NAMES))
    ann, ben, _ = add_people(store, "ann", "ben", "cleo")
    judge(store, ben)
    assert list_withheld(store, ben) and not ask(store, deal.list_seen, ben) >= {*NAMES}
    change(store, people.set_role, "ben", role)
    assert list_withheld(store, ben) == set() and ask(store, deal.list_seen, ben) == {*NAMES}
    change(store, people.set_role, "ben", role, is_granted=False)
    assert list_withheld(store, ben) == set() and ask(store, deal.list_seen, ben) == {*NAMES}
    assert {row.rubric_shown for row in rows(store, "events") if row.annotator == ben} == {0, 1}
    assert len(list_withheld(store, ann)) == 2


def test_judgement_carries_the_stored_condition_whatever_the_browser_sends(
    store: AnnotationStore, workspace: Workspace
) -> None:
    items = some_categories(*NAMES)
    enqueue(store, items)
    ann, _ = add_people(store, "ann", "ben")
    for held in iter(lambda: claim(store, ann, 1), []):
        forged = {"rubric_shown": 1 - int(held[0].category in ask(store, deal.list_seen, ann))}
        submit(store, ann, [a_submission(held[0]) | forged])
    withheld = list_withheld(store, ann)
    table = export_ratings(workspace, SUITE).table
    shown = table.groupby("category", observed=True)["rubric_shown"].agg(["min", "max"])
    assert len(table) == len(items)
    assert {name: tuple(own) for name, own in zip(shown.index, shown.to_numpy(), strict=True)} == {
        name: (int(name not in withheld),) * 2 for name in NAMES
    }


def test_text_of_a_clip_is_for_those_who_see_its_category(store) -> None:
    enqueue(store, some_categories(*NAMES))
    ann, _ = add_people(store, "ann", "ben")
    judge(store, ann)
    person = ask(store, people.get_person, "ann")
    by_item = {row.id: row.category for row in rows(store, "items")}
    shown = {c for i, c in by_item.items() if ask(store, clips.load_clip, person, i).rubric_shown}
    assert {*NAMES} - shown == list_withheld(store, ann) != set()


def test_references_of_a_rule_come_only_from_categories_whose_texts_are_seen(
    open_store: Callable[..., AnnotationStore], clock: Clock
) -> None:
    store = open_store(reference_rate=1.0, training=4, min_gap=0)
    for item in some_categories(*NAMES, each=2):
        source = "people" if item.continuation.endswith(".1") else "rule"
        add_reference(store, item, "success", 7, source=source)
    ann, _ = add_people(store, "ann", "ben")
    withheld = list_withheld(store, ann)
    lessons = ask(store, training.load_progress, ann).items
    assert len(withheld) == 2 and not {lesson.category for lesson in lessons} & withheld
    clock.now += 1
    met = judge(store, ann)
    expected = {f"{name}.{n}" for name in NAMES for n in (0, 1) if n or name not in withheld}
    assert {*met} == expected and len(met) == 18
    assert ask(store, quality.measure_quality, annotator_id=ann).right[:2] == (18, 18)


def test_every_person_sees_a_category_with_references_if_there_is_one(open_store) -> None:
    store = open_store(training=2, reference_rate=1.0)
    enqueue(store, some_categories("untested"))
    for item in some_categories("tested", "rare", each=1):
        add_reference(store, item, "success", 7, source="rule")
    team = add_people(store, *"abcdefghij")
    dealt = [list_withheld(store, person) for person in team]
    assert all(len(own & {"tested", "rare"}) < 2 for own in dealt) and set().union(*dealt)
    for person in team:
        lessons = change(store, training.start_round, person, exclusive=False).items
        assert lessons and list_withheld(store, person) == dealt[person - team[0]]


def test_only_category_is_seen_by_all_if_it_has_references(open_store) -> None:
    store = open_store()
    enqueue(store, some_categories("only"))
    team = add_people(store, *"abcde")
    assert [len(list_withheld(store, person)) for person in team].count(1) == 1
    judge(store, team[4])
    add_reference(store, an_item("only.9", category="only"), "success", 7)
    assert [list_withheld(store, person) for person in team[:4]] == [set()] * 4


def test_accuracy_counts_no_blind_answer_on_a_rule_and_none_that_made_a_truth(store) -> None:
    items = some_categories(*NAMES)
    enqueue(store, items)
    ann, _ = add_people(store, "ann", "ben")
    judge(store, ann)
    withheld = list_withheld(store, ann)
    for n, item in enumerate(items):
        add_reference(store, item, "success", 7, source="rule" if n % 3 else "people")
    counted = ask(store, quality.measure_quality, annotator_id=ann).right.answered
    assert counted == 2 * (len(NAMES) - len(withheld)) == 16


def test_lessons_fix_that_their_texts_are_seen(open_store) -> None:
    store = open_store(training=9)
    for item in some_categories(*NAMES, each=1):
        add_reference(store, item, "success", 7)
    ann, _ = add_people(store, "ann", "ben")
    lessons = change(store, training.start_round, ann, exclusive=False).items
    assert len(lessons) == 8
    assert ask(store, deal.list_seen, ann) == {lesson.category for lesson in lessons}
