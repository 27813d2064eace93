"""Training on references: its feedback, its pass mark, and that it counts as no judgement."""

from collections.abc import Callable
from typing import Any

import pytest

from sts.annotations.answers import progress, training
from sts.annotations.answers.training import load_progress, save_answer
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue import balance
from tests.annotations.examples import add_people, claim, some_items
from tests.annotations.examples import an_item as item
from tests.stores import add_reference, ask, change, enqueue, submit

Opened = Callable[..., AnnotationStore]


@pytest.fixture
def open_study(open_store) -> Opened:
    """Open a study with thirty clips, references and settings of its training."""

    def make(references: int, **settings: float) -> AnnotationStore:
        store = open_store(**settings)
        enqueue(store, some_items(30))
        for n in range(references):
            truth, step = ("success", 4) if n % 2 else ("not_done", None)
            add_reference(store, item(f"r{n}"), truth, step, note=f"Note {n}.")
        return store

    return make


def send(
    store: AnnotationStore,
    person: int,
    lesson: training.TrainingItem,
    n: int,
    verdict: str = "",
    step: Any = None,
) -> Any:
    """Answer a lesson, correctly unless a verdict is given; return the feedback."""
    verdict, step = (verdict, step) if verdict else (lesson.truth, lesson.step)
    sent = {"uuid": f"{n:032x}", "item": lesson.item, "verdict": verdict, "step": step}
    return change(store, save_answer, person, sent | {"reason": "x"}, exclusive=False)


def test_round_is_passed_at_the_required_share(open_study) -> None:
    store = open_study(9, training=5, training_pass=0.8)
    (ann,) = add_people(store, "ann")
    for n in range(5):
        now = ask(store, load_progress, ann)
        assert (now.needed, now.answered, len(now.items)) == (True, n, 5 - n)
        wrong = "cannot_judge" if n == 2 else ""
        feedback = send(store, ann, now.items[0], n, wrong)
        assert feedback.message.startswith("Not correct" if wrong else "Correct")
    assert "passed" in feedback.message and not ask(store, load_progress, ann).needed
    assert ask(store, progress.load_recent_judgements, ann) == [], "none of it is a judgement"
    assert ask(store, balance.count_judged, ann) == 0


def test_new_round_has_new_episodes_until_the_pool_is_empty(open_study) -> None:
    store = open_study(5, training=2, training_pass=1.0)
    (ann,) = add_people(store, "ann")
    met: list[str] = []
    for n in range(5):
        now = ask(store, load_progress, ann)
        assert now.rounds == n // 2
        met.append(now.items[0].item)
        last = send(store, ann, now.items[0], n, "failure", 1)
        assert ("Another round follows" in last.message) == (n in (1, 3))
    assert len(set(met)) == 5
    assert "no episodes left to train on" in last.message
    after = ask(store, load_progress, ann)
    assert after.needed and after.items == ()


def test_feedback_gives_the_distance_of_a_mark_and_is_repeated(open_study) -> None:
    store = open_study(30, training=20, training_pass=0.1)
    (ann,) = add_people(store, "ann")
    marked = [one for one in ask(store, load_progress, ann).items if one.truth == "success"]
    for n, (step, words) in enumerate(
        [(4, "Correct: success at step 4."), (5, "Your marker is 1 step late"),
         (2, "Your marker is 2 steps early; it belongs at step 4."), (None, "yours was not done.")]
    ):  # fmt: skip
        wrong = ("success", step) if step else ("not_done", None)
        first, again = (send(store, ann, marked[n], n, *wrong) for _ in range(2))
        assert words in first.message and "Note" in first.message
        assert (first.truth, first.step) == ("success", 4)
        assert again.message == first.message and ask(store, load_progress, ann).answered == n + 1


@pytest.mark.parametrize(
    "forged",
    [None, 5, [], {}, {"uuid": 5}, {"item": "x" * 22}, {"verdict": "fine"}, {"step": 99},
     {"kind": "review", "label": "control"}, {"verdict": "success", "step": True}],
)  # fmt: skip
def test_invalid_answer_to_a_lesson_is_not_kept(open_study, forged) -> None:
    store = open_study(4, training=2)
    ann, ben = add_people(store, "ann", "ben")
    lesson = ask(store, load_progress, ann).items[0]
    good = {"uuid": "1" * 32, "item": lesson.item, "verdict": lesson.truth, "step": lesson.step}
    sent = good | forged if isinstance(forged, dict) and forged else forged
    assert change(store, save_answer, ann, sent, exclusive=False) is None
    assert ask(store, load_progress, ann).answered == ask(store, load_progress, ben).answered == 0


def test_people_who_judged_need_no_training_and_lessons_are_not_judged(open_study) -> None:
    store = open_study(4, training=4, training_pass=0.0, reference_rate=1.0)
    old, new = add_people(store, "old", "new")
    held = claim(store, old, 1)[0]
    submit(store, old, [{"uuid": "f" * 32, "item": held.item, "verdict": "not_done"}])
    assert not ask(store, load_progress, old).needed
    trained = set()
    while (now := ask(store, load_progress, new)).needed:
        trained.add(now.items[0].item)
        assert send(store, new, now.items[0], len(trained))
    met = {one.item for one in claim(store, new, 20)}
    assert len(met) == 20 and trained and not met & trained


@pytest.mark.parametrize(
    ("references", "settings", "lack"),
    [(0, {"training": 5}, "add some with sts references add"), (3, {}, "")],
)
def test_training_needs_references_and_a_setting(open_study, references, settings, lack) -> None:
    store = open_study(references, **settings)
    assert not ask(store, load_progress, add_people(store, "ann")[0]).needed
    found = ask(store, training.describe_missing_references)
    assert lack in found and bool(lack) == bool(found)
