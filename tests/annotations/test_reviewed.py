"""What waits for a reviewer, Table 1, and where people and rule differ."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any
from uuid import uuid4

import pytest

from sts.annotations import breakdown
from sts.annotations import people as store_people
from sts.annotations.differences import contradicted
from sts.annotations.events import ERROR_TYPES
from sts.annotations.reviewed import Case, Queue, Queues, reviewed, table_1
from sts.annotations.store import Store
from sts.annotations.verdicts import Verdict
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item, statuses
from tests.stores import add_person, add_reference, ask, change, claim_items, enqueue, submit

RULES = {f"c{n}": Verdict("success", 3) if n % 2 else Verdict("not_done", None) for n in range(40)}


def rules(continuations: Collection[str]) -> Mapping[str, Verdict]:
    return {one: RULES[one] for one in continuations}


class Team:
    """Ana and Bo judge, Rhea reviews; clips are called c0, c1 and so on."""

    def __init__(self, store: Store, clips: int, people: int = 0) -> None:
        self.store = store
        self.every = [
            an_item(f"c{n}", agent="human" if n < people else "random", scenario=f"s{n // 4}")
            for n in range(clips)
        ]
        enqueue(store, self.every, required=2)
        self.ana, self.bo = (add_person(store, name).id for name in ("Ana", "Bo"))
        self.rhea = add_person(store, "Rhea", ["annotator", "reviewer"]).id
        self.max = add_person(store, "Max", ["reviewer"]).id
        self.items: dict[str, str] = {}
        for person in (self.ana, self.bo):
            for claim in claim_items(store, person, suite=SUITE, count=clips):
                self.items[claim.continuation] = claim.item

    def judge(self, person: int, clip: str, verdict: str, step: int | None = None) -> None:
        sent = a_submission(self.items[clip], verdict=verdict, step=step)
        sent |= {"reason": "fog"} if verdict == "cannot_judge" else {}
        assert statuses(submit(self.store, person, [sent])) == ["saved"]

    def send(self, person: int, clip: str, kind: str, **what: Any) -> str:
        sent = {"uuid": uuid4().hex, "item": self.items[clip], "kind": kind, **what}
        return submit(self.store, person, [sent])[0].status

    def queue(self, name: str, person: int | None = None, **how: Any) -> Queue:
        return Queues(self.store, SUITE, rules).of(person or self.rhea, **how)[name]


def waiting(queue: Queue) -> list[str]:
    return [case.clip.continuation for case in queue.cases]


def test_disputes_wait_the_gravest_first_and_nothing_else_does(store: Store) -> None:
    team = Team(store, 5)
    for clip, one, other in (
        ("c0", ("success", 1), ("success", 9)),
        ("c1", ("not_done",), ("failure", 2)),
        ("c2", ("success", 2), ("not_done",)),
        ("c3", ("success", 2), ("success", 7)),
    ):
        team.judge(team.ana, clip, *one)
        team.judge(team.bo, clip, *other)
    team.judge(team.ana, "c4", "success", 3)
    queue = team.queue("disputes")
    assert waiting(queue) == ["c2", "c1", "c0"]
    assert [case.about for case in queue.cases] == ["outcome", "verdict", "mark"]
    assert (queue.done, queue.of, queue.own, queue.left) == (0, 3, 0, 0)
    assert team.send(team.max, "c2", "adjudication", verdict="success", step=2) == "saved"
    queue = team.queue("disputes")
    assert waiting(queue) == ["c1", "c0"] and (queue.done, queue.of) == (1, 3)


def test_nobody_is_given_what_they_have_judged(store: Store) -> None:
    team = Team(store, 1)
    team.judge(team.ana, "c0", "success", 1)
    team.judge(team.bo, "c0", "failure", 1)
    change(store, store_people.set_role, "Ana", "reviewer")
    for name in ("disputes", "failures"):
        queue = team.queue(name, team.ana)
        assert queue.cases == [] and queue.own == queue.of
    assert team.send(team.ana, "c0", "adjudication", verdict="not_done") == "refused"
    assert team.send(team.ana, "c0", "review", label="empty") == "refused"
    assert waiting(team.queue("disputes")) == ["c0"]


def test_what_a_reviewer_has_decided_is_somebody_elses_to_judge(store: Store) -> None:
    team = Team(store, 3)
    enqueue(store, team.every, required=4)
    for person in (team.ana, team.bo):
        team.judge(person, "c0", "failure", 1)
        team.judge(person, "c1", "not_done")
    team.send(team.rhea, "c1", "adjudication", verdict="not_done")
    given = lambda: {one.continuation for one in claim_items(store, team.rhea, suite=SUITE)}  # noqa: E731
    assert given() == {"c0", "c2"}
    assert team.send(team.rhea, "c0", "review", label="empty") == "saved"
    assert given() == {"c2"}
    for name in ("Cleo", "Dan"):
        late = add_person(store, name).id
        assert {"c0", "c1"} <= {one.continuation for one in claim_items(store, late, suite=SUITE)}


def test_what_a_reviewer_leaves_open_waits_for_another_with_the_reason(store: Store) -> None:
    team = Team(store, 2)
    for clip in ("c0", "c1"):
        team.judge(team.ana, clip, "success", 1)
        team.judge(team.bo, clip, "not_done")
    assert team.send(team.rhea, "c0", "note", text="is the ring hidden?") == "saved"
    queue = team.queue("disputes")
    assert waiting(queue) == ["c1"] and queue.left == 1
    assert sorted(waiting(team.queue("disputes", again=True))) == ["c0", "c1"]
    others = {case.clip.continuation: case for case in team.queue("disputes", team.max).cases}
    assert others["c0"].remarks == ("is the ring hidden?",) and others["c1"].remarks == ()


def test_each_reviewer_has_an_order_of_their_own_that_stays(store: Store) -> None:
    team = Team(store, 30)
    for n in range(30):
        team.judge(team.ana, f"c{n}", "failure", 1)
    of_rhea, of_max = (waiting(team.queue("failures", who)) for who in (team.rhea, team.max))
    assert of_rhea == waiting(team.queue("failures")) and sorted(of_rhea) == sorted(of_max)
    assert of_rhea != of_max and of_rhea != sorted(of_rhea)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_sample_is_drawn_from_failures_of_people_and_of_agents_apart(
    store: Store, seed: int
) -> None:
    team = Team(store, 40, people=15)
    for n in range(40):
        team.judge(team.ana, f"c{n}", *(("not_done",) if n % 5 else ("success", 1)))
    clips = ask(store, reviewed, SUITE).clips
    drawn = breakdown.sample_failures(clips, 10, seed)
    larger = breakdown.sample_failures(clips, 11, seed)
    assert {who: len(own) for who, own in drawn.items()} == {"people": 10, "agents": 10}
    assert all(larger[who][:10] == own for who, own in drawn.items())
    assert all(one.played for one in drawn["people"])
    assert not any(one.played for one in drawn["agents"])
    assert all(breakdown.is_failure(one) for own in drawn.values() for one in own)
    assert breakdown.sample_failures(clips, 10, 1 - seed) != drawn
    assert len(breakdown.sample_failures(clips, 100, seed)["people"]) == 12


def test_table_1_counts_the_latest_review_of_each_sampled_failure_once(store: Store) -> None:
    team = Team(store, 6, people=2)
    for n in range(6):
        team.judge(team.ana, f"c{n}", "failure", 1)
    store.study = store.study._replace(review_sample=2)
    samples = breakdown.sample_failures(ask(store, reviewed, SUITE).clips, 2, 0)
    first, second = (one.continuation for one in samples["agents"])
    outside = ({f"c{n}" for n in range(2, 6)} - {first, second}).pop()
    team.send(team.rhea, first, "review", label="empty")
    team.send(team.max, first, "review", label="fair")
    team.send(team.rhea, "c0", "review", label="rigidity")
    team.send(team.rhea, outside, "review", label="control")
    found = ask(store, reviewed, SUITE)
    table = breakdown.breakdown(found.clips, found.reviews, 2, 0)
    assert tuple(row.error for row in table.rows) == ERROR_TYPES
    counts = {row.error: (row.people, row.agents) for row in table.rows if row.people + row.agents}
    assert counts == {"rigidity": (1, 0), "fair": (0, 1)}
    assert table.over == {"people": (2, 2, 1, 0), "agents": (4, 2, 1, 1)}
    assert [row.source for row in table.rows] == ["player"] * 4 + ["annotator"] * 3 + ["none"]


def test_a_failure_is_what_fewer_than_half_of_its_judges_saw_done(store: Store) -> None:
    team = Team(store, 4)
    for clip, one, other in (
        ("c0", ("failure", 1), ("success", 1)),
        ("c1", ("failure", 1), ("cannot_judge",)),
        ("c2", ("cannot_judge",), ("cannot_judge",)),
        ("c3", ("not_done",), ("not_done",)),
    ):
        team.judge(team.ana, clip, *one)
        team.judge(team.bo, clip, *other)
    failures = filter(breakdown.is_failure, ask(store, reviewed, SUITE).clips)
    assert sorted(one.continuation for one in failures) == ["c1", "c3"]


def differing(team: Team, **how: Any) -> dict[str, Case]:
    return {case.clip.continuation: case for case in team.queue("differences", **how).cases}


def test_where_people_and_rule_differ_a_reviewer_decides_and_the_scenario_is_told(
    store: Store,
) -> None:
    team = Team(store, 8)
    for n in range(7):
        team.judge(team.ana, f"c{n}", "success", 2)
    team.judge(team.ana, "c7", "cannot_judge")
    assert {name: case.rule for name, case in differing(team).items()} == {
        name: ("not_done", None) for name in ("c0", "c2", "c4", "c6")
    }
    assert all(case.rule is None for case in team.queue("disputes").cases)
    team.send(team.rhea, "c0", "adjudication", verdict="success", step=2, text="it got there")
    team.send(team.rhea, "c2", "adjudication", verdict="failure", step=2)
    team.send(team.rhea, "c4", "note", text="does a wall count?")
    assert list(differing(team)) == ["c6"]
    found = ask(store, reviewed, SUITE)
    every = contradicted(found.clips, RULES, found.decided, found.notes)
    assert every == [
        ("s0", 2, 1, 1, ("it got there",)),
        ("s1", 2, 0, 0, ("does a wall count?",)),
    ]


def test_references_are_in_no_queue(store: Store) -> None:
    team = Team(store, 2)
    for n in range(2):
        team.judge(team.ana, f"c{n}", "failure", 1)
    add_reference(store, an_item("c0"), "success", 7)
    assert waiting(team.queue("failures")) == ["c1"] and list(differing(team)) == ["c1"]


def test_the_command_counts_table_1_and_names_the_rules_that_were_contradicted(
    sqlite_workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(sqlite_workspace) as store:
        team = Team(store, 2)
        for n in range(2):
            team.judge(team.ana, f"c{n}", "failure", 1)
        assert table_1(sqlite_workspace, SUITE) is None
        team.send(team.rhea, "c0", "review", label="out_of_time")
    found = table_1(sqlite_workspace, SUITE)
    assert found is not None and found.over["agents"] == (2, 2, 1, 0)
    place = ["--workspace", str(sqlite_workspace.root)]
    assert main(["annotations", "reviews", SUITE, *place, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    assert [row["error"] for row in value["errors"] if row["agents"]] == ["out_of_time"]
    assert value["over"]["agents"] == {"failures": 2, "sample": 2, "reviewed": 1, "outside": 0}
    assert value["rules"] == []
    assert main(["annotations", "reviews", SUITE, *place]) == 0
    assert "agents: 1 reviewed of 2, drawn at random from 2" in capsys.readouterr().out
    assert main(["annotations", "reviews", "other@1", *place]) != 0


def test_one_who_reviews_on_sees_at_once_what_was_judged_and_decided_since(store: Store) -> None:
    team = Team(store, 3)
    kept = Queues(store, SUITE, rules)
    for clip in ("c0", "c1"):
        team.judge(team.ana, clip, "success", 2)
        team.judge(team.bo, clip, "not_done")
    assert {*waiting(kept.of(team.rhea)["disputes"])} == {"c0", "c1"}
    team.judge(team.ana, "c2", "success", 2)
    team.judge(team.bo, "c2", "not_done")
    assert {*waiting(kept.of(team.rhea)["disputes"])} == {"c0", "c1", "c2"}
    assert team.send(team.rhea, "c1", "adjudication", verdict="not_done") == "saved"
    assert {*waiting(kept.of(team.rhea)["disputes"])} == {"c0", "c2"}
    assert kept.of(team.max)["disputes"].done == 1


def test_what_nobody_has_changed_is_not_gathered_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = Team(store, 2)
    team.judge(team.ana, "c0", "success", 2)
    team.judge(team.bo, "c0", "not_done")
    counted: list[int] = []

    def counting(continuations: Collection[str]) -> Mapping[str, Verdict]:
        counted.append(len(continuations))
        return rules(continuations)

    kept = Queues(store, SUITE, counting)
    for person in (team.rhea, team.max, team.rhea):
        kept.of(person)
    assert team.send(team.rhea, "c0", "adjudication", verdict="not_done") == "saved"
    kept.of(team.rhea)
    assert counted == [1]
    team.judge(team.ana, "c1", "success", 2)
    kept.of(team.rhea)
    assert counted == [1, 2]
    monkeypatch.setattr("sts.annotations.reviewed.time.monotonic", lambda: 1e9)
    kept.of(team.rhea)  # a rule may have labelled since
    assert counted == [1, 2, 2]
