"""Planned and judged clips of a suite, and its early closing by a study lead."""

import json
import random
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import plan
from sts.annotations.findings.plan import Plan, load_plan, load_scenario_hashes
from sts.annotations.log import events
from sts.annotations.log.closings import ClosingEvent
from sts.annotations.people import people
from sts.annotations.records import Item
from sts.annotations.vault.history import verify
from sts.errors import ArgumentError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.suite import Scenario
from tests.annotations.examples import (
    SUITE,
    a_submission,
    add_people,
    an_event,
    an_item,
    judge,
    rows,
)
from tests.stores import add_person, add_reference, change, enqueue, submit

UNABLE: dict[str, Any] = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}
REASON = "the funding ends"


@cache
def scenarios(root: Path) -> tuple[Scenario, ...]:
    """Return the suite's scenarios."""
    return frozen.load(Workspace.open(root), SUITE).scenarios


def an_item_of(workspace: Workspace, name: str, place: int = 0, **changes: Any) -> Item:
    """Return an item of the suite's scenario at a place."""
    scenario = scenarios(workspace.root)[place]
    return an_item(name, scenario=scenario.id, scenario_hash=scenario.hash, **changes)


def plan_of(workspace: Workspace) -> Plan:
    return load_plan(workspace, SUITE, load_scenario_hashes(workspace, SUITE))


def a_lead(store: AnnotationStore) -> Any:
    return add_person(store, "Lea", ["lead"])


def close(workspace: Workspace, store: AnnotationStore, lead: Any, **more: Any) -> Plan:
    hashes = load_scenario_hashes(workspace, SUITE)
    return change(store, plan.close_suite, SUITE, hashes, lead, REASON, **more)


def test_plan_counts_the_clips_that_people_must_judge(workspace, store, clock) -> None:
    assert plan_of(workspace) == Plan(0, 0, 1, None)
    enqueue(store, [an_item_of(workspace, "once"), an_item_of(workspace, "copy", clip="once")])
    enqueue(store, [an_item_of(workspace, "twice", 1)], required=2)
    enqueue(store, [an_item_of(workspace, "unable", 1)])
    enqueue(store, [an_item_of(workspace, "elsewhere", suite="other@1"), an_item("foreign")])
    silent = an_item_of(workspace, "silent", auto_resolve_rule="silence")
    enqueue(store, [silent], required=None)
    add_reference(store, an_item_of(workspace, "known"), "not_done")
    enqueue(store, [an_item_of(workspace, "known")])
    assert plan_of(workspace) == Plan(4, 0, 1, None)
    ana, bo, cy = add_people(store, "Ana", "Bo", "Cy")
    enqueue(store, [an_item_of(workspace, "turned")])
    judge(store, ana, **UNABLE)
    assert plan_of(workspace) == Plan(5, 3, 1, None)
    add_reference(store, an_item_of(workspace, "turned"), "not_done")
    (twice,) = (row.id for row in rows(store, "items") if row.continuation == "twice")
    (said,) = (row.uuid for row in rows(store, "events") if row.item == twice)
    submit(store, ana, [a_submission(twice, corrects=said)])
    submit(store, add_person(store, "Rhea", ["reviewer"]).id, [an_event("adjudication", twice)])
    assert plan_of(workspace) == Plan(4, 2, 1, None)  # "twice" needs another annotator
    judge(store, bo)
    judge(store, cy, suite="other@1")
    assert plan_of(workspace) == Plan(4, 4, 1, None)
    counts = [load_plan(workspace, SUITE, {s.hash})[:2] for s in scenarios(workspace.root)[:3]]
    assert counts == [(2, 2), (2, 2), (0, 0)]
    with pytest.raises(UnknownName, match="unknown suite version 'core@99'"):
        load_scenario_hashes(workspace, "core@99")


def test_clip_that_moves_to_a_new_rubric_version_starts_no_new_plan(workspace, store, clock):
    def add(name: str, clip: str, rubric: str) -> None:
        clock.now += 1
        enqueue(store, [an_item_of(workspace, name, clip=f"{clip}.{rubric}", rubric=rubric)])

    shown = {"c0": "first", "c1": "second"}
    for name, clip in shown.items():
        add(name, clip, "1")
    (ana,) = add_people(store, "Ana")
    clock.now += 1
    (judged,) = judge(store, ana, 1)
    (moved,) = shown.keys() - {judged}
    add(moved, shown[moved], "2")
    assert plan_of(workspace)[:3] == (2, 1, 1)
    clock.now += 1
    judge(store, ana)
    add("c2", shown[judged], "2")
    assert plan_of(workspace)[:3] == (3, 2, 2)


def test_clips_added_before_the_last_judgement_belong_to_the_plan(workspace, store, clock) -> None:
    (ana,) = add_people(store, "Ana")
    for number, name in ((1, "c0"), (1, "c1"), (2, "c2")):
        clock.now += number == 2  # at the time of the last judgement, as an import does, and later
        enqueue(store, [an_item_of(workspace, name)])
        judge(store, ana)
        assert plan_of(workspace).number == number


class Model:
    """What a person would count who writes down every change of a study as it happens."""

    def __init__(self) -> None:
        self.needs: dict[str, int] = {}
        self.judged: dict[str, int] = {}
        self.number, self.final = 0, True
        self.closed: ClosingEvent | None = None

    def count(self) -> tuple[int, int]:
        done = sum(self.judged[clip] >= need for clip, need in self.needs.items())
        return len(self.needs), done

    def add(self, clips: dict[str, int]) -> None:
        if clips:
            self.number += self.final
            self.final = False
        self.needs |= clips
        self.judged |= dict.fromkeys(clips, 0)

    def judge(self, clips: list[str]) -> None:
        for clip in clips:
            if clip in self.judged:
                self.judged[clip] += 1
        self._note_completion()

    def close(self, lead: Any, now: float) -> None:
        self.closed = ClosingEvent("closing", REASON, lead.pseudonym, now)
        self.final = True

    def reopen(self) -> None:
        self.closed = None

    def require(self, clips: dict[str, int]) -> None:
        """Raise the requirement of clips, which are anchors."""
        self.needs |= {clip: need for clip, need in clips.items() if clip in self.needs}

    def plan(self) -> Plan:
        return Plan(*self.count(), max(self.number, 1), self.closed)

    def _note_completion(self) -> None:
        planned, judged = self.count()
        self.final = self.final or planned == judged


@pytest.mark.parametrize(
    ("seed", "steps"),
    [(0, 25), *(pytest.param(seed, 60, marks=pytest.mark.slow) for seed in range(3))],
)
def test_plan_is_what_a_witness_of_every_change_counts(
    workspace, open_store, clock, seed, steps
) -> None:
    """Of the whole suite, and of one of its scenarios."""
    store = open_store(anchors=0.5)
    draws, lead = random.Random(f"plan {seed}"), a_lead(store)
    everyone = add_people(store, "Ana", "Bo", "Cy")
    (first, *_) = scenarios(workspace.root)
    whole, part = Model(), Model()
    states = set[bool]()
    for step in range(steps):
        clock.now += 1
        kind = draws.choice(["add", "judge", "judge", "judge", "close", "close", "reopen"])
        if kind == "add":
            need, places = draws.choice([1, 1, 2]), draws.choices([0, 1], k=draws.randint(1, 3))
            names = {f"c{step}-{n}": place for n, place in enumerate(places)}
            agent = draws.choice(["a", "b", "c", "d", "e"])
            new = [an_item_of(workspace, name, names[name], agent=agent) for name in names]
            enqueue(store, new, required=need)
            needs = {row.continuation: row.annotations_required for row in rows(store, "items")}
            for model, there in ((whole, [*names]), (part, [n for n in names if not names[n]])):
                model.add(dict.fromkeys(there, need))
                model.require(needs)  # of anchors
        elif kind == "judge":
            judged = judge(store, draws.choice(everyone), draws.randint(1, 4))
            assert not (judged and whole.closed)
            for model in (whole, part):
                model.judge(judged)
        else:
            planned, done = whole.count()
            allowed = whole.closed if kind == "reopen" else not whole.closed and 0 < done < planned
            if not allowed:
                with pytest.raises(ArgumentError):
                    close(workspace, store, lead, reopen=kind == "reopen")
                continue
            after = close(workspace, store, lead, reopen=kind == "reopen")
            for model in (whole, part):
                model.reopen() if kind == "reopen" else model.close(lead, clock.now)
            assert after == whole.plan()
        assert plan_of(workspace) == whole.plan(), (step, kind)
        assert load_plan(workspace, SUITE, {first.hash}) == part.plan(), (step, kind)
        states.add(whole.closed is not None)
    assert whole.number > 1 and states == {True, False}
    assert verify(store.database).findings == ()


def test_reason_of_a_closing_survives_the_erasure_of_the_lead(workspace, store, clock) -> None:
    enqueue(store, [an_item_of(workspace, f"c{n}") for n in range(2)])
    (ana,), lead = add_people(store, "Ana"), a_lead(store)
    judge(store, ana, 1)
    close(workspace, store, lead)
    change(store, people.anonymise, "Lea")
    closing = ClosingEvent("closing", REASON, lead.pseudonym, clock.now)
    assert plan_of(workspace) == Plan(2, 1, 1, closing)
    assert verify(store.database).findings == ()
    with pytest.raises(Exception, match="append-only"), store.write() as connection:
        connection.execute(text("UPDATE events SET suite = 'core@2' WHERE suite = 'core@3'"))


@pytest.fixture
def study(sqlite_workspace, sts) -> Callable[..., str]:
    """Type a command in a workspace in which one of two planned clips is judged."""
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, [an_item_of(sqlite_workspace, f"c{n}") for n in range(2)])
        (ana,), _ = add_people(store, "Ana"), a_lead(store)
        judge(store, ana, 1)
    return lambda words, code=0: sts(sqlite_workspace, f"annotations {words}", code)


def test_command_closes_and_reopens_a_study(sqlite_workspace, study) -> None:
    said = json.loads(study(f"close {SUITE} --reason ' {REASON} ' --user Lea --json"))
    counts = {"planned_clips": 2, "judged_clips": 1, "plan": 1}
    assert said == {"suite": SUITE, "closed": True, "by": "Lea", "reason": REASON} | counts
    assert study("verify").startswith("2 events of 2 people, 2 clips")
    out = study(f"close {SUITE} --reason 'more funds' --user Lea --reopen")
    judged = "1 of 2 planned clips are judged; unjudged clips are queued again"
    assert out == f"{SUITE} is reopened by Lea: {judged}\n"
    assert plan_of(sqlite_workspace).closed is None


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("core@99 --reason x --user Lea", "unknown queued suite 'core@99'"),
        ("babyai@2 --reason x --user Lea", "unknown queued suite 'babyai@2'"),
        (SUITE, "arguments are required: --reason"),
        (f"{SUITE} --reason ' '", "reason: expected one line of 1 to 500 printable characters"),
        (f"{SUITE} --reason {'x' * 501}", "reason: expected one line of 1 to 500 printable"),
        (f"{SUITE} --reason x --user Ana", "Ana is not a lead of this study"),
        (f"{SUITE} --reason x --user Bo", "unknown study lead 'Bo'; known: Lea"),
        (f"{SUITE} --reason x --user Lea --reopen", "core@3 is not closed"),
    ],
)
def test_impossible_closing_is_refused(study, words, found) -> None:
    assert found in study(f"close {words}", 2)


def test_complete_or_closed_study_is_not_closed(sqlite_workspace, study, sts) -> None:
    words = f"close {SUITE} --reason x --user Lea"
    study(words)
    assert f"{SUITE} has been closed since 20" in study(words, 2)
    study(f"{words} --reopen")
    with AnnotationStore.open(sqlite_workspace) as store:
        judge(store, 1)
    assert f"{SUITE} is complete: all 2 planned clips are judged" in study(words, 2)
    with AnnotationStore.open(sqlite_workspace) as store:
        kinds = [row.kind for row in rows(store, "events")]
    assert kinds == ["verdict", *events.SUITE_KINDS, "verdict"]


def test_nothing_is_closed_before_a_study_has_started(sqlite_workspace, sts) -> None:
    words = f"annotations close {SUITE} --reason x"
    assert "no study has started" in sts(sqlite_workspace, words, 2)
    assert not sqlite_workspace.root.exists()
