"""Who may see a clip, and which of its marks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.clips import JUDGE_FIRST, NOT_FOUND, clip, items_of
from sts.annotations.store import Store
from sts.annotations.types import Annotator, Item
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.access.attempts import attempt
from tests.stores import add_person, add_reference, ask, claim_items, enqueue, submit

SUITE = "made-up@1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    common: dict[str, Any] = {
        "suite": SUITE, "scenario": "s", "category": "c", "kind": "instruction", "agent": "secret",
        "horizon": 5, "takeover": 3,
    }  # fmt: skip
    with Store.open(Workspace.open(str(tmp_path))) as opened:
        every = [Item(f"c{n}", clip=f"c{n}", scenario_hash=f"{n}", **common) for n in range(3)]
        enqueue(opened, every, required=3)
        yield opened


def judge(store: Store, who: Annotator, item: str, n: int, **more: Any) -> None:
    sent = {"uuid": f"{n:032x}", "item": item, "verdict": "success", "step": 2} | more
    assert [ack.status for ack in submit(store, who.id, [sent])] == ["saved"]


def given(store: Store, who: Annotator) -> str:
    return claim_items(store, who.id, suite=SUITE, count=3)[0].item


def refused(store: Store, who: Annotator, item: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        ask(store, clip, who, item)
    return str(caught.value)


def test_clips_are_found_by_what_they_show_when_a_rubric_judges_them(store: Store) -> None:
    ann = add_person(store, "ann")
    common: dict[str, Any] = {
        "suite": SUITE, "scenario": "s", "scenario_hash": "9", "category": "c", "horizon": 5,
        "kind": "instruction", "agent": "secret", "takeover": 3,
    }  # fmt: skip
    enqueue(store, [Item("c9", clip="ab12.3", rubric="3", **common)])
    found = ask(store, items_of)
    assert found.keys() == {"c0", "c1", "c2", "ab12"}
    claimed = {claim.item for claim in claim_items(store, ann.id, suite=SUITE, count=4)}
    assert claimed == set(found.values())


def test_an_annotator_sees_a_clip_of_their_own_with_their_own_mark_alone(store: Store) -> None:
    ann, ben = add_person(store, "ann"), add_person(store, "ben")
    item = given(store, ann)
    claim_items(store, ben.id, suite=SUITE, count=3)
    judge(store, ann, item, 1)
    judge(store, ben, item, 2, verdict="failure", step=4)
    judge(store, ann, item, 3, step=3, corrects=f"{1:032x}")
    for who, verdict, step in ((ann, "success", 3), (ben, "failure", 4)):
        (mark,) = ask(store, clip, who, item).marks
        assert (mark.by, mark.verdict, mark.step) == ("you", verdict, step)


@pytest.mark.parametrize("role", ["reviewer", "lead"])
def test_reviewers_and_leads_see_every_mark_by_pseudonyms(store: Store, role: str) -> None:
    ann, rita = add_person(store, "ann"), add_person(store, "rita", [role])
    item = given(store, ann)
    assert ask(store, clip, rita, item).marks == ()
    judge(store, ann, item, 1)
    (mark,) = ask(store, clip, rita, item).marks
    assert (mark.by, mark.step) == (ann.pseudonym, 2) and "ann" != mark.by
    shown = ask(store, clip, rita, item).continuation
    known = Item(shown, SUITE, "s", "0", "secret", "c", "instruction", 5, 3, shown)
    add_reference(store, known, "failure", 4, "by rule")
    assert ("known", "failure", 4) in [
        (m.by, m.verdict, m.step) for m in ask(store, clip, rita, item).marks
    ]


@attempt(
    "Another's clip, another's answer",
    "the address of another's clip is opened",
    "the words for one that there is not",
)
def test_what_one_may_not_see_and_what_is_not_there_are_told_in_the_same_words(
    store: Store,
) -> None:
    ann, ben = add_person(store, "ann"), add_person(store, "ben")
    item = given(store, ann)
    judge(store, ann, item, 1)
    odd = ["x" * 22, "", None, 5, ["x"], "../../etc/passwd", "<b>", "x" * 10**6]
    assert {refused(store, ben, one) for one in [item, *odd]} == {NOT_FOUND}


@attempt(
    "Another's clip, another's answer",
    "who is to judge a clip opens it at its address first",
    "nothing of it is shown",
)
def test_whoever_is_to_judge_a_clip_sees_nothing_of_it_before(store: Store) -> None:
    ann, rita = add_person(store, "ann"), add_person(store, "rita", ["annotator", "reviewer"])
    item = given(store, ann)
    claim_items(store, rita.id, suite=SUITE, count=3)
    judge(store, ann, item, 1)
    assert refused(store, rita, item) == JUDGE_FIRST
    judge(store, rita, item, 2)
    assert [mark.by for mark in ask(store, clip, rita, item).marks] == [ann.pseudonym, "you"]
