"""Training on references: what it says, when it is passed, and that none of it is a judgement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations import training, views
from sts.annotations.store import Store
from sts.annotations.training import answer, standing
from sts.annotations.types import Annotator, Item
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from tests.stores import add_person, add_reference, ask, change, claim_items, enqueue, submit

SUITE = "made-up@1"
Opened = Callable[..., Store]


@pytest.fixture
def opened(tmp_path: Any) -> Any:
    stores = []

    def made(references: int, **settings: float) -> Store:
        workspace = Workspace.open(str(tmp_path)).ensure()
        lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
        file = workspace.path("workspace.toml")
        file.write_text(f"{file.read_text().partition('[annotation]')[0]}[annotation]\n{lines}")
        store = Store.open(Workspace.open(str(tmp_path)))
        stores.append(store)
        enqueue(store, (item(f"c{n}") for n in range(30)))
        for n in range(references):
            truth, step = ("success", 4) if n % 2 else ("not_done", None)
            add_reference(store, item(f"r{n}"), truth, step, note=f"Note {n}.")
        return store

    yield made
    for store in stores:
        store.close()


def item(name: str) -> Item:
    common: dict[str, Any] = {
        "suite": SUITE,
        "scenario": "s",
        "category": "c",
        "kind": "instruction",
    }
    return Item(name, clip=name, agent="a", scenario_hash=name, horizon=9, takeover=3, **common)


def sent(
    one: training.Lesson, n: int, verdict: str = "", step: int | None = None
) -> dict[str, Any]:
    """The right answer to a lesson, or another."""
    verdict, step = (verdict, step) if verdict else (one.truth, one.step)
    return {"uuid": f"{n:032x}", "item": one.item, "verdict": verdict, "step": step, "reason": "x"}


def test_a_round_is_passed_by_the_share_that_the_lead_asks_for(opened: Opened) -> None:
    store = opened(9, training=5, training_pass=0.8)
    ann = add_person(store, "ann")
    for n in range(5):
        now = ask(store, standing, ann.id)
        assert (now.needed, now.answered, len(now.lessons)) == (True, n, 5 - n)
        wrong = "cannot_judge" if n == 2 else ""
        said = change(store, answer, ann.id, sent(now.lessons[0], n, wrong), alone=False)
        assert said and said.message.startswith("Not correct" if wrong else "Correct")
        words = said.message
    assert "passed" in words and not ask(store, standing, ann.id).needed
    assert ask(store, views.history, ann.id) == [], "nothing of it is a judgement"
    assert ask(store, views.count_judged, ann.id) == 0


def test_another_round_has_other_episodes_until_the_pool_is_empty(opened: Opened) -> None:
    store = opened(5, training=2, training_pass=1.0)
    ann = add_person(store, "ann")
    met: list[str] = []
    for n in range(5):
        now = ask(store, standing, ann.id)
        assert now.rounds == n // 2
        met.append(now.lessons[0].item)
        last = change(store, answer, ann.id, sent(now.lessons[0], n, "failure", 1), alone=False)
        assert last and ("Another round follows" in last.message) == (n in (1, 3))
    assert len(set(met)) == 5
    assert last and "no episodes left to train on" in last.message
    after = ask(store, standing, ann.id)
    assert after.needed and after.lessons == ()


def test_what_is_said_of_a_mark_says_how_far_off_it_is(opened: Opened) -> None:
    store = opened(30, training=20, training_pass=0.1)
    ann = add_person(store, "ann")
    marked = [one for one in ask(store, standing, ann.id).lessons if one.truth == "success"]
    for n, (step, words) in enumerate(
        [(4, "Correct: success at step 4."), (5, "Your marker is 1 step late"),
         (2, "Your marker is 2 steps early; it belongs at step 4."), (None, "yours was not done.")]
    ):  # fmt: skip
        wrong = ("success", step) if step else ("not_done", None)
        said = change(store, answer, ann.id, sent(marked[n], n, *wrong), alone=False)
        assert said and words in said.message and "Note" in said.message
        assert (said.truth, said.step) == ("success", 4)


def test_an_answer_that_comes_twice_is_kept_once_and_said_again(opened: Opened) -> None:
    store = opened(4, training=2)
    ann = add_person(store, "ann")
    one = ask(store, standing, ann.id).lessons[0]
    first = change(store, answer, ann.id, sent(one, 1), alone=False)
    again = change(store, answer, ann.id, sent(one, 1), alone=False)
    assert first and again and first.message == again.message
    assert ask(store, standing, ann.id).answered == 1


@pytest.mark.parametrize(
    "forged",
    [None, 5, [], {}, {"uuid": 5}, {"item": "x" * 22}, {"verdict": "fine"}, {"step": 99},
     {"kind": "review", "label": "control"}, {"verdict": "success", "step": True}],
)  # fmt: skip
def test_what_is_no_answer_to_a_lesson_leaves_nothing(opened: Opened, forged: Any) -> None:
    store = opened(4, training=2)
    ann, ben = add_person(store, "ann"), add_person(store, "ben")
    one = sent(ask(store, standing, ann.id).lessons[0], 1)
    assert (
        change(
            store,
            answer,
            ann.id,
            one | forged if isinstance(forged, dict) and forged else forged,
            alone=False,
        )
        is None
    )
    assert ask(store, standing, ann.id).answered == ask(store, standing, ben.id).answered == 0


def test_who_has_judged_before_is_not_trained_and_who_trained_does_not_meet_it_again(
    opened: Opened,
) -> None:
    store = opened(4, training=4, training_pass=0.0, reference_rate=1.0)
    old, new = add_person(store, "old"), add_person(store, "new")
    claim = claim_items(store, old.id, suite=SUITE, count=1)[0]
    submit(store, old.id, [{"uuid": "f" * 32, "item": claim.item, "verdict": "not_done"}])
    assert not ask(store, standing, old.id).needed
    trained = _trained(store, new)
    met = {one.item for one in claim_items(store, new.id, suite=SUITE, count=20)}
    assert len(met) == 20 and not met & trained


def _trained(store: Store, person: Annotator) -> set[str]:
    met = set()
    while (now := ask(store, standing, person.id)).needed:
        met.add(now.lessons[0].item)
        assert change(store, answer, person.id, sent(now.lessons[0], len(met)), alone=False)
    return met


def test_without_references_nobody_is_trained_and_the_lead_is_told(opened: Opened) -> None:
    store = opened(0, training=5)
    assert not ask(store, standing, add_person(store, "ann").id).needed
    assert "add some with sts references add" in ask(store, training.lack)


def test_a_study_that_asks_for_nothing_trains_nobody(opened: Opened) -> None:
    store = opened(3)
    assert not ask(store, standing, add_person(store, "ann").id).needed
    assert ask(store, training.lack) == ""


@pytest.mark.parametrize(("name", "value"), [("training", -1), ("training_pass", 1.5)])
def test_a_setting_that_cannot_be_is_refused_by_name(
    opened: Opened, name: str, value: float
) -> None:
    with pytest.raises(DamagedData, match=f"annotation.{name} "):
        opened(0, **{name: value})
