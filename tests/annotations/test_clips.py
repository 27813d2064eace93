"""Clips by address: which people see one, and which of its marks."""

from typing import Any

import pytest

from sts.annotations.answers.clips import NOT_FOUND, NOT_JUDGED_YET, load_clip, load_items_by_clip
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.records import Annotator
from sts.errors import ArgumentError
from tests.access.attempts import attempt
from tests.annotations.examples import add_people, an_item, claim, some_items, statuses
from tests.stores import add_person, add_reference, ask, enqueue, submit


@pytest.fixture
def store(store: AnnotationStore) -> AnnotationStore:
    enqueue(store, some_items(3), required=3)
    return store


def judge(store: AnnotationStore, who: Annotator, item: str, n: int, **more: Any) -> None:
    sent = {"uuid": f"{n:032x}", "item": item, "verdict": "success", "step": 2} | more
    assert statuses(submit(store, who.id, [sent])) == ["saved"]


def given(store: AnnotationStore, who: Annotator) -> str:
    return claim(store, who.id)[0].item


def get_refusal(store: AnnotationStore, who: Annotator, item: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        ask(store, load_clip, who, item)
    return str(caught.value)


def test_clips_are_found_by_the_hash_that_pages_show(store) -> None:
    (ann,) = add_people(store, "ann")
    enqueue(store, [an_item("c9", clip="ab12.3", rubric="3")])
    found = ask(store, load_items_by_clip)
    assert found.keys() == {"c0", "c1", "c2", "ab12"}
    assert {one.item for one in claim(store, ann, 4)} == set(found.values())


def test_annotators_see_only_their_own_mark_on_their_own_clip(store) -> None:
    ann, ben = add_person(store, "ann"), add_person(store, "ben")
    item = given(store, ann)
    claim(store, ben.id)
    judge(store, ann, item, 1)
    judge(store, ben, item, 2, verdict="failure", step=4)
    judge(store, ann, item, 3, step=3, corrects=f"{1:032x}")
    for who, verdict, step in ((ann, "success", 3), (ben, "failure", 4)):
        (mark,) = ask(store, load_clip, who, item).verdicts
        assert (mark.by, mark.verdict, mark.step) == ("you", verdict, step)


@pytest.mark.parametrize("role", ["reviewer", "lead"])
def test_reviewers_and_leads_see_every_mark_by_pseudonyms(store, role) -> None:
    ann, rita = add_person(store, "ann"), add_person(store, "rita", [role])
    item = given(store, ann)
    assert ask(store, load_clip, rita, item).verdicts == ()
    judge(store, ann, item, 1)
    (mark,) = ask(store, load_clip, rita, item).verdicts
    assert (mark.by, mark.step) == (ann.pseudonym, 2) and "ann" != mark.by
    add_reference(
        store, an_item(ask(store, load_clip, rita, item).continuation), "failure", 4, "by rule"
    )
    marks = [
        (mark.by, mark.verdict, mark.step) for mark in ask(store, load_clip, rita, item).verdicts
    ]
    assert ("known by a rule", "failure", 4) in marks


@attempt(
    "Another's clip, another's answer",
    "the address of another's clip is opened",
    "the words for one that there is not",
)
def test_forbidden_and_missing_clips_give_the_same_error(store) -> None:
    ann, ben = add_person(store, "ann"), add_person(store, "ben")
    item = given(store, ann)
    judge(store, ann, item, 1)
    odd = ["x" * 22, "", None, 5, ["x"], "../../etc/passwd", "<b>", "x" * 10**6]
    assert {get_refusal(store, ben, one) for one in [item, *odd]} == {NOT_FOUND}


@attempt(
    "Another's clip, another's answer",
    "who is to judge a clip opens it at its address first",
    "nothing of it is shown",
)
def test_clip_is_hidden_from_people_who_still_have_to_judge_it(store) -> None:
    ann, rita = add_person(store, "ann"), add_person(store, "rita", ["annotator", "reviewer"])
    item = given(store, ann)
    claim(store, rita.id)
    judge(store, ann, item, 1)
    assert get_refusal(store, rita, item) == NOT_JUDGED_YET
    judge(store, rita, item, 2)
    assert [mark.by for mark in ask(store, load_clip, rita, item).verdicts] == [
        ann.pseudonym,
        "you",
    ]
