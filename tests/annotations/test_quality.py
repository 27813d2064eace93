"""Quality of annotators: accuracy over time, flags, pauses, hours and agreement."""

import json

import pytest
from scipy.stats import beta

from sts.annotations.answers import progress, quality
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import active_time, unjudgeable
from sts.annotations.queue import controls
from tests.annotations.examples import (
    SUITE,
    Clock,
    a_submission,
    add_people,
    an_event,
    an_item,
    claim,
    rows,
    statuses,
)
from tests.stores import add_person, add_reference, ask, change, enqueue, submit


@pytest.fixture
def with_references(open_store):
    """Open a study in which every clip served is a reference while there are any."""

    def make(number: int, **settings: object) -> AnnotationStore:
        store: AnnotationStore = open_store(reference_rate=1.0, **settings)
        enqueue(store, [an_item("c0")])
        for i in range(number):
            add_reference(store, an_item(f"r{i:02}", scenario=f"r{i}"), "success", 5)
        return store

    return make


def answer(store: AnnotationStore, who: int, clock: Clock, signs: str) -> int:
    """Judge references, correctly for each + and wrongly for each -; return how many were given."""
    for number, sign in enumerate(signs):
        held = claim(store, who, 1)
        if not held:
            return number
        clock.now += 1
        wrong = {} if sign == "+" else {"verdict": "not_done", "step": None}
        submit(store, who, [a_submission(held[0], **wrong)])
    return len(signs)


def test_accuracy_is_reported_in_blocks_of_twenty(with_references, clock) -> None:
    store = with_references(50)
    ana, _ = add_people(store, "Ana", "Bo")
    answer(store, ana, clock, "+" * 20 + "-+" * 10 + "-+++")
    (found,) = ask(store, quality.list_qualities)
    assert found.annotator == "Ana" and found.right[:3] == (44, 33, 0.75)
    assert [one[:2] for one in found.blocks] == [(20, 20), (20, 10), (4, 3)]
    assert found.latest[:3] == (20, 11, 0.55)
    interval = tuple(beta(11.5, 9.5).ppf(one) for one in (0.025, 0.975))
    assert found.latest.interval == pytest.approx(interval)


@pytest.mark.parametrize(
    ("signs", "flagged"), [("+" * 13 + "-" * 7, False), ("-" * 8 + "+" * 12, True)]
)
def test_annotator_is_flagged_when_the_whole_interval_is_below_the_bar(
    with_references, clock, signs, flagged
) -> None:
    store = with_references(20)
    answer(store, add_people(store, "Ana")[0], clock, signs)
    (found,) = ask(store, quality.list_qualities)
    assert found.latest.share is not None and found.latest.share < store.study.min_accuracy
    assert found.flagged is flagged and ask(store, controls.list_pauses) == []


def test_corrected_answer_counts_once_as_corrected(with_references) -> None:
    store = with_references(3)
    (ana,) = add_people(store, "Ana")
    (held,) = claim(store, ana, 1)
    first = a_submission(held, verdict="not_done", step=None)
    submit(store, ana, [first, a_submission(held, corrects=first["uuid"])])
    assert [one.right[:2] for one in ask(store, quality.list_qualities)] == [(1, 1)]


def test_pause_below_the_bar_lasts_until_resumed_and_restarts_the_count(with_references, clock):
    store = with_references(30, pause_low_accuracy=True)
    (ana,) = add_people(store, "Ana")
    assert answer(store, ana, clock, "-" * 20) < 5
    (control,) = ask(store, controls.list_pauses)
    assert (control.person, control.value, control.author_id) == (ana, 1, None)
    assert "references right, which is below 80%" in control.reason
    assert claim(store, ana) == []
    clock.now += 1
    change(store, controls.set_pause, annotator_id=ana, resume=True)
    assert answer(store, ana, clock, "-" + "+" * 8) == 9
    assert [one.value for one in ask(store, controls.list_pauses)] == []
    assert not ask(store, quality.list_qualities)[0].flagged


def test_note_is_no_answer_and_sets_no_time(with_references, clock) -> None:
    store = with_references(1)
    (ana,) = add_people(store, "Ana")
    (held,) = claim(store, ana, 1)
    assert statuses(submit(store, ana, [an_event("note", held.item)])) == ["saved"]
    for resume in (False, True):
        clock.now += 1
        change(store, controls.set_pause, annotator_id=ana, resume=resume)
    clock.now += 1
    submit(store, ana, [a_submission(held)])
    assert [one.latest.answered for one in ask(store, quality.list_qualities)] == [1]


def test_people_are_listed_by_name_or_by_pseudonym(workspace, with_references, clock, sts) -> None:
    store = with_references(2)
    ana = add_person(store, "Ana")
    answer(store, ana.id, clock, "+")
    submit(store, ana.id, [{"uuid": "no"}])
    for command in ("annotations quality", "annotations rejected"):
        plain, coded = sts(workspace, command), sts(workspace, f"{command} --pseudonyms")
        assert "Ana" in plain and ana.pseudonym not in plain
        assert "Ana" not in coded and ana.pseudonym in coded


def test_hours_are_shared_among_a_clips_agents_and_untimed_ones_estimated(store) -> None:
    enqueue(store, [an_item("a", clip="x", agent="A"), an_item("b", clip="x", agent="B")])
    enqueue(store, [an_item("c", agent="A"), an_item("d", agent="A")])
    (ana,) = add_people(store, "Ana")
    seconds = {"a": 3600, "c": 7200, "d": None}
    for held in claim(store, ana, 9):
        submit(store, ana, [a_submission(held, seconds=seconds[held.continuation])])
    assert ask(store, active_time.load_active_time) == [
        (SUITE, "A", 2.5, 2.5, 1.0),
        (SUITE, "B", 0.5, 0.5, 0.0),
    ]


def test_unjudgeable_clips_are_listed_by_scenario(workspace, store, sts) -> None:
    enqueue(store, [an_item(f"c{i}", scenario=f"s{i // 2}") for i in range(4)], required=2)
    for who in add_people(store, "Ana", "Bo"):
        for held in claim(store, who, 9):
            dark = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}
            own = dark if held.continuation in ("c0", "c1", "c2") else {}
            submit(store, who, [a_submission(held, **own)])
    found = ask(store, unjudgeable.list_unjudgeable, SUITE)
    assert [one[:4] for one in found] == [("s0", "go-to-good", 2, 2), ("s1", "go-to-good", 1, 2)]
    assert found[0].reasons == (("too dark", 4),)
    listed = sts(workspace, "annotations quality")
    assert "s0        go-to-good  2 of 2               too dark (4)" in listed


def test_agreement_is_computed_on_all_clips_that_two_have_judged(
    sqlite_workspace, clock, sts
) -> None:
    words = "annotations quality"
    assert "no reference has been judged yet" in sts(sqlite_workspace, words)
    assert not sqlite_workspace.root.exists()
    sqlite_workspace.settings["annotation"].update({"overlap": 0.5, "reference_rate": 0})
    with AnnotationStore.open(sqlite_workspace, clock=clock) as store:
        enqueue(store, [an_item(f"c{i}", scenario=f"s{i}") for i in range(20)], required=None)
        double = ask(store, progress.load_progress, SUITE).annotations_required - 20
        more = [an_item(f"d{i}", scenario=f"t{i}") for i in range(2)]
        enqueue(store, more, required=2)  # for no overlap, but by two all the same
        double += len(more)
        for name in ("Ana", "Bo"):
            who = add_person(store, name).id
            for held in claim(store, who, 30):
                bad = int(held.continuation[1:]) % 2 or (name, held.continuation) == ("Bo", "c0")
                own = {"verdict": "not_done", "step": None} if bad else {}
                submit(store, who, [a_submission(held, **own)])
    found = json.loads(sts(sqlite_workspace, f"{words} --json {SUITE}"))
    assert found["overlap"]["shared"] == double and 0.5 < found["overlap"]["alpha"] <= 1
    assert f"who saw the same texts ({double} so far): alpha" in sts(sqlite_workspace, words)


@pytest.mark.parametrize("reference_first", [True, False])
def test_clip_that_looks_like_a_reference_is_never_queued(store, reference_first) -> None:
    known = an_item("known", clip="ab12")  # a reference states no rubric
    alike, other = an_item("alike", clip="ab12.2", rubric="2"), an_item("c1", clip="cd34")
    (ana,) = add_people(store, "Ana")
    if reference_first:
        add_reference(store, known, "success", 3)
        enqueue(store, [alike, other])
    else:
        enqueue(store, [alike, other])
        add_reference(store, known, "success", 3)
    assert ask(store, progress.load_progress, SUITE).annotations_required == 1
    assert {held.continuation for held in claim(store, ana, 9)} >= {"c1"}
    assert len(rows(store, "items")) == 2 == len(rows(store, "copies")) - 1
