"""Who judges what: turns, balance, spacing, caps, priorities, pauses and anchors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from sqlalchemy import select

from sts.annotations import claims, controls, schema, views
from sts.annotations.assignment import Balance, Candidate, batch_size, choose_next
from sts.annotations.store import Store
from sts.annotations.study import Study, load_study
from sts.annotations.types import Item
from sts.errors import ArgumentError, DamagedData, UnknownName
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, an_item
from tests.stores import add_person, ask, change, claim_items, enqueue, submit

DAY = 24 * 60 * 60


def of_agents(number: int, *agents: str, **changes: object) -> list[Item]:
    """Items of each agent, of as many scenarios as there are of one."""
    return [
        an_item(f"{agent}-{i}", agent=agent, scenario=f"s{i}", **changes)
        for i in range(number)
        for agent in agents
    ]


def opened(workspace: Workspace, clock: Clock, **settings: object) -> Store:
    workspace.settings["annotation"].update({"reference_rate": 0} | settings)
    return Store.open(workspace, clock=clock)


def judged(store: Store, who: int, number: int, suite: str = SUITE) -> list[str]:
    """Judges so many, one after the other; returns their continuations."""
    out = []
    for _ in range(number):
        for claim in claim_items(store, who, suite=suite, count=1)[:1]:
            submit(store, who, [a_submission(claim)])
            out.append(claim.continuation)
    return out


def agents(met: Iterable[str]) -> Counter[str]:
    return Counter(continuation.partition("-")[0] for continuation in met)


def test_the_highest_number_that_applies_to_a_clip_is_required(
    workspace: Workspace, clock: Clock
) -> None:
    by = {SUITE: 2, f"{SUITE}/ask": 3, "other@1": 9}
    with opened(workspace, clock, twice=0, required_by=by) as store:
        enqueue(store, [an_item("a"), an_item("b", category="ask")], required=None)
        assert ask(store, views.progress, SUITE).required == 5
        enqueue(store, [an_item("a", suite="other@1")], required=None)
        assert ask(store, views.progress, SUITE).required == 12


def test_a_share_is_judged_twice_and_before_all_others(workspace: Workspace, clock: Clock) -> None:
    with opened(workspace, clock, twice=0.2) as store:
        enqueue(store, of_agents(60, "A", "B"), required=None)
        double = ask(store, views.progress, SUITE).required - 120
        assert 12 <= double <= 36
        ana, bo = add_person(store, "Ana").id, add_person(store, "Bo").id
        half = judged(store, ana, double // 2)
        assert set(judged(store, bo, double // 2)) == set(half)
        rest = judged(store, ana, double - double // 2)
        assert set(judged(store, ana, 30)).isdisjoint(half + rest)
        again = judged(store, bo, double)
        assert set(again[: double - double // 2]) == set(rest)


def test_what_is_asked_for_later_comes_in_its_turn(workspace: Workspace, clock: Clock) -> None:
    with opened(workspace, clock, twice=0) as store:
        enqueue(store, of_agents(20, "A"), required=None)
    with opened(workspace, clock, twice=1.0) as store:
        enqueue(store, of_agents(20, "A"), required=None)
        assert ask(store, views.progress, SUITE).required == 40


def test_each_agent_is_met_by_each_person_in_the_same_share(
    workspace: Workspace, clock: Clock
) -> None:
    with opened(workspace, clock, twice=0) as store:
        enqueue(store, of_agents(60, "A", "B") + of_agents(30, "C"), required=None)
        for name in ("Ana", "Bo"):
            met = agents(judged(store, add_person(store, name).id, 50))
            assert abs(met["A"] - met["B"]) <= 5 and abs(met["A"] / 2 - met["C"]) <= 4


def test_who_comes_next_cannot_be_told_from_who_was_met(workspace: Workspace, clock: Clock) -> None:
    with opened(workspace, clock, twice=0) as store:
        enqueue(store, of_agents(100, "A", "B"), required=None)
        met = judged(store, add_person(store, "Ana").id, 100)
        alternated = sum(one[0] != other[0] for one, other in zip(met, met[1:], strict=False))
        assert alternated <= 85


def test_a_clip_of_several_agents_counts_for_each() -> None:
    balance = Balance({"A": 4}, {"A": 10, "B": 10, "C": 10})
    clips = {
        name: Candidate(name, name, name, tuple(name), 0) for name in ("A", "AB", "BC", "B", "ABC")
    }
    assert choose_next([*clips.values()], balance, (), 0.9) == clips["BC"]
    balance.add("BCBC")
    assert choose_next([clips["A"], clips["BC"]], balance, (), 0.9) == clips["BC"]
    balance.add("BCBC")
    assert choose_next([clips["A"], clips["AB"], clips["ABC"]], balance, (), 0.9) == clips["ABC"]
    assert Balance({}, {}).added_spread(["A"]) == 0


def test_anchors_are_opened_when_an_agent_joins_for_those_who_have_not_judged_them(
    workspace: Workspace, clock: Clock
) -> None:
    with opened(workspace, clock, twice=0, anchors=0.3) as store:
        enqueue(store, of_agents(50, "A"), required=None)
        ana, bo = add_person(store, "Ana").id, add_person(store, "Bo").id
        assert len(judged(store, ana, 40)) == 40
        enqueue(store, of_agents(50, "A"), required=None)
        assert ask(store, views.progress, SUITE).required == 50
        enqueue(store, of_agents(50, "B"), required=None)
        number = ask(store, views.progress, SUITE).required - 100
        assert 4 <= number <= 20
        with store.database.read() as connection:
            rows = connection.execute(select(schema.anchors)).all()
        assert {(row.slot, row.suite, row.joined) for row in rows} == {(2, SUITE, "B")}
        enqueue(store, of_agents(50, "A", "B"), required=None)
        assert ask(store, views.progress, SUITE).required == 100 + number
        first = judged(store, bo, 30)
        assert 1 <= sum(one.startswith("A") for one in first) < 30
        rest = judged(store, bo, 100)
        assert len(first + rest) == 60 + number
        assert judged(store, ana, 100) == []
        enqueue(store, of_agents(50, "A", "B", suite="other@1"), required=None)
        assert ask(store, views.progress, "other@1").required == 100 + number


def test_one_scenario_does_not_come_again_soon_but_where_nothing_else_is_left(
    workspace: Workspace, clock: Clock
) -> None:
    with opened(workspace, clock, spacing=5) as store:
        some = [an_item(f"c{i}", scenario=f"s{i % 12}") for i in range(60)]
        enqueue(store, [*some, *(an_item(f"d{i}", scenario="d") for i in range(3))])
        met = judged(store, add_person(store, "Ana").id, 63)
        assert len(met) == 63
        scenario = {one.continuation: one.scenario for one in some}
        seen = [scenario.get(one, "d") for one in met[:45]]
        assert all(len(set(seen[at : at + 6])) == 6 for at in range(len(seen) - 5))


def test_a_days_cap_holds_and_ends_with_the_day(workspace: Workspace, clock: Clock) -> None:
    with opened(workspace, clock, cap=3) as store:
        enqueue(store, of_agents(20, "A"))
        ana = add_person(store, "Ana").id
        assert len(claim_items(store, ana, suite=SUITE, count=9)) == 3
        assert len(judged(store, ana, 9)) == 3
        assert len(judged(store, add_person(store, "Bo").id, 9)) == 3
        clock.now += DAY
        assert len(judged(store, ana, 9)) == 3


def test_a_paused_category_is_given_to_nobody_until_it_is_resumed(
    workspace: Workspace, clock: Clock
) -> None:
    with opened(workspace, clock) as store:
        enqueue(store, [an_item(f"a{i}", category="ask") for i in range(5)])
        enqueue(store, [an_item(f"b{i}") for i in range(5)])
        ana = add_person(store, "Ana").id
        held = claim_items(store, ana, suite=SUITE, count=10)
        change(store, controls.pause, f"{SUITE}/ask", by=ana, reason="a new guideline")
        kept = claim_items(store, ana, suite=SUITE, count=10)
        assert kept[0] == held[0]
        assert {one.continuation[0] for one in kept[1:]} == {"b"}
        assert {one[0] for one in judged(store, add_person(store, "Bo").id, 9)} <= {"b"}
        (control,) = ask(store, controls.paused)
        assert control[:5] == (f"{SUITE}/ask", None, 1, "a new guideline", ana)
        change(store, controls.pause, f"{SUITE}/ask", resume=True)
        assert len(claim_items(store, ana, suite=SUITE, count=10)) == 10
        assert ask(store, controls.paused) == []
        assert [one.value for one in ask(store, controls.list_controls)] == [1, 0]


def test_a_paused_suite_or_person_finishes_what_is_on_the_screen_and_gets_no_more(
    workspace: Workspace, clock: Clock
) -> None:
    with opened(workspace, clock) as store:
        enqueue(store, of_agents(20, "A") + of_agents(5, "A", suite=f"{SUITE}+abc"))
        ana, bo = add_person(store, "Ana").id, add_person(store, "Bo").id
        held = claim_items(store, ana, suite=SUITE)
        change(store, controls.pause, person=ana)
        assert claim_items(store, ana, suite=SUITE) == held[:1]
        assert {one.item for one in claim_items(store, bo, suite=SUITE, count=19)}.isdisjoint(
            held[:1][0]
        )
        submit(store, ana, [a_submission(held[0])])
        assert claim_items(store, ana, suite=SUITE) == []
        change(store, controls.pause, SUITE)
        assert len(claim_items(store, bo, suite=SUITE)) == 1
        assert claim_items(store, add_person(store, "Cleo").id, suite=f"{SUITE}+abc") == []
        change(store, controls.pause, person=ana, resume=True)
        assert claim_items(store, ana, suite=SUITE) == []
        change(store, controls.pause, SUITE, resume=True)
        assert len(claim_items(store, ana, suite=SUITE)) == 3


def test_highest_priority_of_the_study_comes_first(workspace: Workspace, clock: Clock) -> None:
    said = {f"{SUITE}/ask": 1}
    with opened(workspace, clock, priority=said, twice=0) as store:
        items = [
            an_item(f"{c}{i}", category=c, scenario=f"{c}{i}") for i in range(8) for c in CATEGORIES
        ]
        enqueue(store, items, required=None)
        enqueue(store, [an_item("z0", suite=f"{SUITE}+late", scenario="z")], required=2)
        enqueue(store, [an_item("z0", scenario="z")], required=2)
        met = judged(store, add_person(store, "Ana").id, 12)
        assert {one[:3] for one in met[:8]} == {"ask"} and "ask" not in {one[:3] for one in met[8:]}
    said = {f"{SUITE}/ask": -1, f"{SUITE}/see": 2, f"{SUITE}+late": 3}
    with opened(workspace, clock, priority=said, twice=0) as store:
        held = claim_items(store, add_person(store, "Bo").id, suite=SUITE, count=5)
        assert held[0].continuation == "z0"
        assert {one.continuation[:3] for one in held[1:]} == {"see"}


CATEGORIES = ("ask", "see", "get")


def test_never_more_than_a_tenth_of_what_is_left_waits_at_a_page(store: Store) -> None:
    assert [batch_size(left) for left in (0, 29, 40, 199, 200, 100_000)] == [3, 3, 4, 19, 20, 20]
    enqueue(store, of_agents(70, "A"))
    assert ask(store, claims.ahead, SUITE) == 7 and ask(store, claims.ahead, "nowhere@1") == 3
    claim_items(store, add_person(store, "Ana").id, suite=SUITE, count=20)
    assert ask(store, claims.ahead, SUITE) == 5
    enqueue(store, of_agents(300, "B"))
    assert ask(store, claims.ahead, SUITE) == 20


def test_a_control_of_nothing_that_is_there_is_refused(store: Store) -> None:
    enqueue(store, [an_item()])
    for scope, words in (
        ("core@9", "unknown enqueued suite 'core@9'"),
        (f"{SUITE}/ask", f"unknown enqueued category of {SUITE} 'ask'"),
    ):
        with pytest.raises(UnknownName, match=words):
            change(store, controls.pause, scope)
    with pytest.raises(UnknownName, match="unknown annotator number '7'"):
        change(store, controls.pause, person=7)
    with pytest.raises(ArgumentError, match="expected either a suite or category, or a person"):
        change(store, controls.pause)
    assert ask(store, controls.paused) == []


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"twice": 1.5}, "expected annotation.twice between 0 and 1, found 1.5"),
        ({"anchors": -0.1}, "expected annotation.anchors between 0 and 1"),
        ({"cap": -1}, "expected annotation.cap of 0 or more"),
        ({"required": 0}, "expected annotation.required of 1 to 1000"),
        (
            {"required_by": {"core@2": True}},
            'annotation.required_by."core@2" of 1 to 1000, found T',
        ),
        ({"required_by": {"core": 2}}, "required_by by NAME@VERSION or NAME@VERSION/CATEGORY"),
        ({"priority": {"core@2": "x"}}, 'annotation.priority."core@2" to be a whole number'),
        ({"required_by": 3}, "expected annotation.required_by like {}, found 3"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(
    sqlite_workspace: Workspace, setting: dict[str, object], words: str
) -> None:
    with pytest.raises(DamagedData, match=words):
        load_study(Workspace(sqlite_workspace.root, {"annotation": setting}))


def test_a_part_of_a_suite_is_asked_what_the_whole_is() -> None:
    asked = Study(required_by={"core@2": 2, "core@2/ask": 4, "core@2+abc": 3})
    assert asked.required_for("core@2+abc", "see") == 3
    assert asked.required_for("core@2+abc", "ask") == 4
    assert asked.required_for("core@1", "ask") == 1
