"""Who may see a clip, and which of its marks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.clips import HIDDEN, WAITING, clip, items_of
from sts.annotations.store import Store
from sts.annotations.types import Annotator, Item
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from tests.access.attempts import attempt

SUITE = "made-up@1"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    common: dict[str, Any] = {
        "suite": SUITE, "scenario": "s", "category": "c", "kind": "instruction", "agent": "secret",
        "horizon": 5, "takeover": 3,
    }  # fmt: skip
    with Store.open(Workspace.open(str(tmp_path))) as opened:
        every = [Item(f"c{n}", clip=f"c{n}", scenario_hash=f"{n}", **common) for n in range(3)]
        opened.enqueue(every, required=3)
        yield opened


def judge(store: Store, who: Annotator, item: str, n: int, **more: Any) -> None:
    sent = {"uuid": f"{n:032x}", "item": item, "verdict": "success", "step": 2} | more
    assert [ack.status for ack in store.submit(who.id, [sent])] == ["saved"]


def given(store: Store, who: Annotator) -> str:
    return store.claim(who.id, suite=SUITE, count=3)[0].item


def refused(store: Store, who: Annotator, item: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        clip(store, who, item)
    return str(caught.value)


def test_clips_are_found_by_what_they_show_when_a_rubric_judges_them(store: Store) -> None:
    ann = store.add_annotator("ann")
    common: dict[str, Any] = {
        "suite": SUITE, "scenario": "s", "scenario_hash": "9", "category": "c", "horizon": 5,
        "kind": "instruction", "agent": "secret", "takeover": 3,
    }  # fmt: skip
    store.enqueue([Item("c9", clip="ab12.3", rubric="3", **common)])
    found = items_of(store)
    assert found.keys() == {"c0", "c1", "c2", "ab12"}
    claimed = {claim.item for claim in store.claim(ann.id, suite=SUITE, count=4)}
    assert claimed == set(found.values())


def test_an_annotator_sees_a_clip_of_their_own_with_their_own_mark_alone(store: Store) -> None:
    ann, ben = store.add_annotator("ann"), store.add_annotator("ben")
    item = given(store, ann)
    store.claim(ben.id, suite=SUITE, count=3)
    judge(store, ann, item, 1)
    judge(store, ben, item, 2, verdict="failure", step=4)
    judge(store, ann, item, 3, step=3, corrects=f"{1:032x}")
    for who, verdict, step in ((ann, "success", 3), (ben, "failure", 4)):
        (mark,) = clip(store, who, item).marks
        assert (mark.by, mark.verdict, mark.step) == ("you", verdict, step)


@pytest.mark.parametrize("role", ["reviewer", "lead"])
def test_reviewers_and_leads_see_every_mark_by_pseudonyms(store: Store, role: str) -> None:
    ann, rita = store.add_annotator("ann"), store.add_annotator("rita", [role])
    item = given(store, ann)
    assert clip(store, rita, item).marks == ()
    judge(store, ann, item, 1)
    (mark,) = clip(store, rita, item).marks
    assert (mark.by, mark.step) == (ann.pseudonym, 2) and "ann" != mark.by
    store.add_reference(Item(
        clip(store, rita, item).continuation, SUITE, "s", "0", "secret", "c", "instruction", 5, 3,
        clip(store, rita, item).continuation,
    ), "failure", 4, "by rule")  # fmt: skip
    assert ("known", "failure", 4) in [
        (m.by, m.verdict, m.step) for m in clip(store, rita, item).marks
    ]


@attempt(
    "Another's clip, another's answer",
    "the address of another's clip is opened",
    "the words for one that there is not",
)
def test_what_one_may_not_see_and_what_is_not_there_are_told_in_the_same_words(
    store: Store,
) -> None:
    ann, ben = store.add_annotator("ann"), store.add_annotator("ben")
    item = given(store, ann)
    judge(store, ann, item, 1)
    odd = ["x" * 22, "", None, 5, ["x"], "../../etc/passwd", "<b>", "x" * 10**6]
    assert {refused(store, ben, one) for one in [item, *odd]} == {HIDDEN}


@attempt(
    "Another's clip, another's answer",
    "who is to judge a clip opens it at its address first",
    "nothing of it is shown",
)
def test_whoever_is_to_judge_a_clip_sees_nothing_of_it_before(store: Store) -> None:
    ann, rita = store.add_annotator("ann"), store.add_annotator("rita", ["annotator", "reviewer"])
    item = given(store, ann)
    store.claim(rita.id, suite=SUITE, count=3)
    judge(store, ann, item, 1)
    assert refused(store, rita, item) == WAITING
    judge(store, rita, item, 2)
    assert [mark.by for mark in clip(store, rita, item).marks] == [ann.pseudonym, "you"]
