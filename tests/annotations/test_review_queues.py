"""Queues of a reviewer, Table 1, and clips on which people and rule differ."""

import json
from collections.abc import Collection, Mapping
from typing import Any
from uuid import uuid4

import pytest

from sts.annotations.answers.current_events import CurrentEvent
from sts.annotations.answers.review_events import ERRORS
from sts.annotations.answers.verdicts import Verdict
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings import error_analysis
from sts.annotations.findings.differences import list_disagreements
from sts.annotations.findings.judged_clips import classify_disagreement
from sts.annotations.findings.review_queues import (
    ReviewCase,
    ReviewQueue,
    ReviewQueues,
    load_error_analysis,
    load_reviews,
)
from sts.annotations.people import people as store_people
from tests.annotations.examples import SUITE, a_submission, add_people, an_item, claim, statuses
from tests.stores import add_person, add_reference, ask, change, enqueue, submit

RULES = {f"c{n}": Verdict("success", 3) if n % 2 else Verdict("not_done", None) for n in range(40)}
Said = tuple[str, int | None]
DONE, MISSED = ("success", 4), ("failure", 4)
NOT_DONE, UNABLE = ("not_done", None), ("cannot_judge", None)


def rules(continuations: Collection[str]) -> Mapping[str, Verdict]:
    return {one: RULES[one] for one in continuations}


class Team:
    """Ana and Bo judge, Rhea reviews; clips are called c0, c1 and so on."""

    def __init__(self, store: AnnotationStore, clips: int, people: int = 0) -> None:
        self.store = store
        self.every = [
            an_item(f"c{n}", agent="human" if n < people else "random", scenario=f"s{n // 4}")
            for n in range(clips)
        ]
        enqueue(store, self.every, required=2)
        self.ana, self.bo = add_people(store, "Ana", "Bo")
        self.rhea = add_person(store, "Rhea", ["annotator", "reviewer"]).id
        self.max = add_person(store, "Max", ["reviewer"]).id
        self.items: dict[str, str] = {}
        for person in (self.ana, self.bo):
            for held in claim(store, person, clips):
                self.items[held.continuation] = held.item

    def judge(self, person: int, clip: str, verdict: str, step: int | None = None) -> None:
        sent = a_submission(self.items[clip], verdict=verdict, step=step)
        sent |= {"reason": "fog"} if verdict == "cannot_judge" else {}
        assert statuses(submit(self.store, person, [sent])) == ["saved"]

    def disagree(self, clip: str, anas: Said, bos: Said) -> None:
        self.judge(self.ana, clip, *anas)
        self.judge(self.bo, clip, *bos)

    def send(self, person: int, clip: str, kind: str, **what: Any) -> str:
        sent = {"uuid": uuid4().hex, "item": self.items[clip], "kind": kind, **what}
        return submit(self.store, person, [sent])[0].status

    def queue(self, name: str, person: int | None = None, **how: Any) -> ReviewQueue:
        return ReviewQueues(self.store, SUITE, rules).for_reviewer(person or self.rhea, **how)[name]


def waiting(queue: ReviewQueue) -> list[str]:
    return [case.clip.continuation for case in queue.cases]


@pytest.mark.parametrize(
    ("judgements", "about"),
    [
        ([DONE], ""),
        ([DONE, DONE], ""),
        ([DONE, MISSED], "outcome"),
        ([DONE, NOT_DONE, NOT_DONE], "outcome"),
        ([DONE, MISSED, UNABLE], "outcome"),
        ([MISSED, NOT_DONE], "verdict"),
        ([DONE, UNABLE], "verdict"),
        ([UNABLE, UNABLE], ""),
        ([NOT_DONE, NOT_DONE], ""),
        ([DONE, ("success", 9)], ""),
        ([DONE, ("success", 10)], "mark"),
        ([DONE, ("success", 7), ("success", 10)], "mark"),
        ([MISSED, ("failure", 20)], "mark"),
    ],
)
def test_dispute_is_about_outcome_before_verdict_before_mark(judgements, about) -> None:
    remarks = [
        CurrentEvent("", "", "", "", "", n, "", "", "", "verdict", verdict, step, "", "", "", 0.0)
        for n, (verdict, step) in enumerate(judgements)
    ]
    for order in (remarks, remarks[::-1]):
        assert classify_disagreement(order, 5) == about


def test_disputes_are_queued_the_gravest_first(store) -> None:
    team = Team(store, 5)
    team.disagree("c0", ("success", 1), ("success", 9))
    team.disagree("c1", NOT_DONE, ("failure", 2))
    team.disagree("c2", ("success", 2), NOT_DONE)
    team.disagree("c3", ("success", 2), ("success", 7))
    team.judge(team.ana, "c4", "success", 3)
    queue = team.queue("disputes")
    assert waiting(queue) == ["c2", "c1", "c0"]
    assert [case.disagreement for case in queue.cases] == ["outcome", "verdict", "mark"]
    assert (queue.done, queue.all_clips, queue.own_clips, queue.skipped) == (0, 3, 0, 0)
    assert team.send(team.max, "c2", "adjudication", verdict="success", step=2) == "saved"
    queue = team.queue("disputes")
    assert waiting(queue) == ["c1", "c0"] and (queue.done, queue.all_clips) == (1, 3)


def test_reviewers_are_not_given_clips_that_they_judged(store) -> None:
    team = Team(store, 1)
    team.disagree("c0", ("success", 1), ("failure", 1))
    change(store, store_people.set_role, "Ana", "reviewer")
    for name in ("disputes", "failures"):
        queue = team.queue(name, team.ana)
        assert queue.cases == [] and queue.own_clips == queue.all_clips
    assert team.send(team.ana, "c0", "adjudication", verdict="not_done") == "rejected"
    assert team.send(team.ana, "c0", "review", error_type="empty") == "rejected"
    assert waiting(team.queue("disputes")) == ["c0"]


def test_clips_that_a_reviewer_decided_are_left_to_other_annotators(store) -> None:
    team = Team(store, 3)
    enqueue(store, team.every, required=4)
    for person in (team.ana, team.bo):
        team.judge(person, "c0", "failure", 1)
        team.judge(person, "c1", "not_done")
    team.send(team.rhea, "c1", "adjudication", verdict="not_done")
    assert {one.continuation for one in claim(store, team.rhea)} == {"c0", "c2"}
    assert team.send(team.rhea, "c0", "review", error_type="empty") == "saved"
    assert {one.continuation for one in claim(store, team.rhea)} == {"c2"}
    for late in add_people(store, "Cleo", "Dan"):
        assert {"c0", "c1"} <= {one.continuation for one in claim(store, late)}


def test_dispute_left_open_is_queued_for_another_reviewer_with_the_note(store) -> None:
    team = Team(store, 2)
    for clip in ("c0", "c1"):
        team.disagree(clip, ("success", 1), NOT_DONE)
    assert team.send(team.rhea, "c0", "note", text="is the ring hidden?") == "saved"
    queue = team.queue("disputes")
    assert waiting(queue) == ["c1"] and queue.skipped == 1
    assert sorted(waiting(team.queue("disputes", again=True))) == ["c0", "c1"]
    others = {case.clip.continuation: case for case in team.queue("disputes", team.max).cases}
    assert others["c0"].notes == ("is the ring hidden?",) and others["c1"].notes == ()


def test_each_reviewer_has_a_constant_order_of_their_own(store) -> None:
    team = Team(store, 30)
    for n in range(30):
        team.judge(team.ana, f"c{n}", "failure", 1)
    of_rhea, of_max = (waiting(team.queue("failures", who)) for who in (team.rhea, team.max))
    assert of_rhea == waiting(team.queue("failures")) and sorted(of_rhea) == sorted(of_max)
    assert of_rhea != of_max and of_rhea != sorted(of_rhea)


def test_failures_are_sampled_separately_for_people_and_agents(store) -> None:
    team = Team(store, 40, people=15)
    for n in range(40):
        team.judge(team.ana, f"c{n}", *(("not_done",) if n % 5 else ("success", 1)))
    clips = ask(store, load_reviews, SUITE).clips
    for seed in (0, 1):
        drawn = error_analysis.sample_failures(clips, 10, seed)
        larger = error_analysis.sample_failures(clips, 11, seed)
        assert {who: len(own) for who, own in drawn.items()} == {"people": 10, "agents": 10}
        assert all(larger[who][:10] == own for who, own in drawn.items())
        assert all(one.has_human_player for one in drawn["people"])
        assert not any(one.has_human_player for one in drawn["agents"])
        assert all(error_analysis.is_failure(one) for own in drawn.values() for one in own)
        assert error_analysis.sample_failures(clips, 10, 1 - seed) != drawn
        assert len(error_analysis.sample_failures(clips, 100, seed)["people"]) == 12


def test_table_1_counts_the_latest_review_of_each_sampled_failure_once(store) -> None:
    team = Team(store, 6, people=2)
    for n in range(6):
        team.judge(team.ana, f"c{n}", "failure", 1)
    store.study = store.study._replace(review_sample=2)
    samples = error_analysis.sample_failures(ask(store, load_reviews, SUITE).clips, 2, 0)
    first, second = (one.continuation for one in samples["agents"])
    outside = ({f"c{n}" for n in range(2, 6)} - {first, second}).pop()
    for person, clip, label in (
        (team.rhea, first, "empty"),
        (team.max, first, "fair"),
        (team.rhea, "c0", "rigidity"),
        (team.rhea, outside, "control"),
    ):
        team.send(person, clip, "review", error_type=label)
    found = ask(store, load_reviews, SUITE)
    table = error_analysis.count_errors(found.clips, found.reviews, 2, 0)
    assert [row.error for row in table.rows] == [*ERRORS]
    counts = {row.error: (row.people, row.agents) for row in table.rows if row.people + row.agents}
    assert counts == {"rigidity": (1, 0), "fair": (0, 1)}
    assert table.samples == {"people": (2, 2, 1, 0), "agents": (4, 2, 1, 1)}
    assert [row.source for row in table.rows] == ["player"] * 4 + ["annotator"] * 3 + ["none"]


def test_failure_is_a_clip_that_fewer_than_half_of_its_annotators_passed(store) -> None:
    team = Team(store, 4)
    team.disagree("c0", ("failure", 1), ("success", 1))
    team.disagree("c1", ("failure", 1), UNABLE)
    team.disagree("c2", UNABLE, UNABLE)
    team.disagree("c3", NOT_DONE, NOT_DONE)
    failures = filter(error_analysis.is_failure, ask(store, load_reviews, SUITE).clips)
    assert sorted(one.continuation for one in failures) == ["c1", "c3"]


def differing(team: Team, **how: Any) -> dict[str, ReviewCase]:
    return {case.clip.continuation: case for case in team.queue("differences", **how).cases}


def test_differences_of_people_and_rule_are_queued_and_counted_by_scenario(store) -> None:
    team = Team(store, 9)
    for n in (0, 1, 2, 3, 4, 5, 6, 8):
        team.judge(team.ana, f"c{n}", "success", 2)
    team.judge(team.ana, "c7", "cannot_judge")
    add_reference(store, team.every[8], "success", 7)  # in no queue
    assert {name: case.label for name, case in differing(team).items()} == {
        name: NOT_DONE for name in ("c0", "c2", "c4", "c6")
    }
    assert all(case.label is None for case in team.queue("disputes").cases)
    team.send(team.rhea, "c0", "adjudication", verdict="success", step=2, text="it got there")
    team.send(team.rhea, "c2", "adjudication", verdict="failure", step=2)
    team.send(team.rhea, "c4", "note", text="does a wall count?")
    assert list(differing(team)) == ["c6"]
    found = ask(store, load_reviews, SUITE)
    assert list_disagreements(found.clips, RULES, found.decided, found.notes) == [
        ("s0", 2, 1, 1, ("it got there",)),
        ("s1", 2, 0, 0, ("does a wall count?",)),
    ]


def test_reviews_command_prints_table_1_and_contradicted_rules(sqlite_workspace, sts) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        team = Team(store, 3)
        for n in range(3):
            team.judge(team.ana, f"c{n}", "failure", 1)
        add_reference(store, an_item("c2"), "success", 7)
        assert waiting(team.queue("failures", team.max)) in (["c0", "c1"], ["c1", "c0"])
        assert load_error_analysis(sqlite_workspace, SUITE) is None
        team.send(team.rhea, "c0", "review", error_type="out_of_time")
    found = load_error_analysis(sqlite_workspace, SUITE)
    assert found is not None and found.samples["agents"] == (2, 2, 1, 0)
    value = json.loads(sts(sqlite_workspace, f"annotations reviews {SUITE} --json"))
    assert [row["error"] for row in value["errors"] if row["agents"]] == ["out_of_time"]
    assert value["over"]["agents"] == {"failures": 2, "sample": 2, "reviewed": 1, "outside": 0}
    assert value["rules"] == []
    said = sts(sqlite_workspace, f"annotations reviews {SUITE}")
    assert "agents: 1 reviewed of 2, drawn at random from 2" in said
    assert sts(sqlite_workspace, "annotations reviews other@1", 2)


def test_queues_follow_new_judgements_and_are_rebuilt_only_for_them(store, monkeypatch) -> None:
    team, counted = Team(store, 3), list[int]()

    def count(continuations: Collection[str]) -> Mapping[str, Verdict]:
        counted.append(len(continuations))
        return rules(continuations)

    kept = ReviewQueues(store, SUITE, count)

    def disputes(person: int = team.rhea) -> set[str]:
        return {*waiting(kept.for_reviewer(person)["disputes"])}

    for clip in ("c0", "c1"):
        team.disagree(clip, ("success", 2), NOT_DONE)
    assert disputes() == disputes(team.max) == disputes() == {"c0", "c1"} and counted == [2]
    team.disagree("c2", ("success", 2), NOT_DONE)
    assert disputes() == {"c0", "c1", "c2"} and counted == [2, 3]
    assert team.send(team.rhea, "c1", "adjudication", verdict="not_done") == "saved"
    assert disputes() == {"c0", "c2"} and kept.for_reviewer(team.max)["disputes"].done == 1
    assert counted == [2, 3]
    monkeypatch.setattr("sts.annotations.findings.review_queues.time.monotonic", lambda: 1e9)
    assert disputes() and counted == [2, 3, 3]  # a rule may have labelled more by then
