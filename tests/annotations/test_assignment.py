"""Assignment of clips: turns, balance, spacing, caps, priorities, pauses and anchors."""

from collections import Counter
from collections.abc import Iterable

import pytest
from sqlalchemy import select

from sts.annotations.answers import progress
from sts.annotations.database import schema
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue import claims, controls
from sts.annotations.queue.assignment import Balance, Candidate, batch_size, choose_next
from sts.annotations.records import Item
from sts.annotations.study import StudySettings, load_study
from sts.errors import DamagedData, UnknownName
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, add_people, an_item, claim, judge
from tests.stores import ask, change, enqueue, submit

DAY = 24 * 60 * 60


def of_agents(number: int, *agents: str, **changes: object) -> list[Item]:
    """Items of each agent, of as many scenarios as there are of one."""
    return [
        an_item(f"{agent}-{i}", agent=agent, scenario=f"s{i}", **changes)
        for i in range(number)
        for agent in agents
    ]


def ask_for(store: AnnotationStore, items: list[Item], suite: str = SUITE) -> int:
    """Enqueue items as the study requires; return how many judgements the suite then requires."""
    enqueue(store, items, required=None)
    return ask(store, progress.load_progress, suite).annotations_required


def agents(met: Iterable[str]) -> Counter[str]:
    return Counter(continuation.partition("-")[0] for continuation in met)


@pytest.fixture
def open_study(open_store):
    """Return a function that opens a study without references and with few second judgements."""
    return lambda **settings: open_store(**({"reference_rate": 0} | settings))


def test_highest_requirement_that_applies_to_a_clip_counts(open_study) -> None:
    store = open_study(
        overlap=0, annotations_per_clip_by={SUITE: 2, f"{SUITE}/ask": 3, "other@1": 9}
    )
    assert ask_for(store, [an_item("a"), an_item("b", category="ask")]) == 5
    enqueue(store, [an_item("a", suite="other@1")], required=None)
    assert ask(store, progress.load_progress, SUITE).annotations_required == 12
    asked = StudySettings(annotations_per_clip_by={"core@2": 2, "core@2/ask": 4, "core@2+abc": 3})
    assert asked.annotations_for("core@2+abc", "see") == 3
    assert asked.annotations_for("core@2+abc", "ask") == 4
    assert asked.annotations_for("core@1", "ask") == 1


def test_second_judgements_come_before_new_clips(open_study) -> None:
    store = open_study(overlap=0.2)
    double = ask_for(store, of_agents(60, "A", "B")) - 120
    assert 12 <= double <= 36
    ana, bo = add_people(store, "Ana", "Bo")
    first = judge(store, ana, 60)
    again = judge(store, bo, 60)
    number = len({*first} & {*again})
    assert 6 <= number <= 18 and len({*again[: number + 2]} & {*first}) >= number - 1
    assert ask_for(open_study(overlap=1.0), of_agents(60, "A", "B")) == 240


def test_each_person_meets_agents_in_equal_shares_and_no_fixed_turn(open_study) -> None:
    store = open_study(overlap=0)
    ask_for(store, of_agents(60, "A", "B") + of_agents(30, "C"))
    for person in add_people(store, "Ana", "Bo"):
        met = agents(judge(store, person, 50))
        assert abs(met["A"] - met["B"]) <= 5 and abs(met["A"] / 2 - met["C"]) <= 4
    ask_for(store, of_agents(100, "A", "B", suite="other@1"), "other@1")
    order = judge(store, add_people(store, "Cleo")[0], 100, "other@1")
    alternated = sum(one[0] != other[0] for one, other in zip(order, order[1:], strict=False))
    assert alternated <= 85


def test_clip_of_several_agents_counts_for_each() -> None:
    balance = Balance({"A": 4}, {"A": 10, "B": 10, "C": 10})
    clips = {
        name: Candidate(name, name, name, tuple(name)) for name in ("A", "AB", "BC", "B", "ABC")
    }
    assert choose_next([*clips.values()], balance, (), 0.9) == clips["BC"]
    balance.add("BCBC")
    assert choose_next([clips["A"], clips["BC"]], balance, (), 0.9) == clips["BC"]
    balance.add("BCBC")
    assert choose_next([clips["A"], clips["AB"], clips["ABC"]], balance, (), 0.9) == clips["ABC"]
    assert Balance({}, {}).added_spread(["A"]) == 0


def test_anchors_open_for_new_judges_when_an_agent_joins(open_study) -> None:
    store = open_study(overlap=0, anchors=0.3)
    ask_for(store, of_agents(50, "A"))
    ana, bo = add_people(store, "Ana", "Bo")
    assert len(judge(store, ana, 40)) == 40
    assert ask_for(store, of_agents(50, "A")) == 50
    number = ask_for(store, of_agents(50, "B")) - 100
    assert 4 <= number <= 20
    with store.database.read() as connection:
        rows = connection.execute(select(schema.anchors)).all()
    assert {(row.slot, row.suite, row.joined) for row in rows} == {(2, SUITE, "B")}
    assert ask_for(store, of_agents(50, "A", "B")) == 100 + number
    first = judge(store, bo, 30)
    assert 1 <= sum(one.startswith("A") for one in first) < 30
    assert len(first + judge(store, bo, 100)) == 60 + number
    assert judge(store, ana, 100) == []
    assert ask_for(store, of_agents(50, "A", "B", suite="other@1"), "other@1") == 100 + number


def test_scenario_is_spaced_while_another_is_left(open_study) -> None:
    store = open_study(min_gap=5)
    some = [an_item(f"c{i}", scenario=f"s{i % 12}") for i in range(60)]
    enqueue(store, [*some, *(an_item(f"d{i}", scenario="d") for i in range(3))])
    met = judge(store, add_people(store, "Ana")[0])
    assert len(met) == 63
    scenario = {one.continuation: one.scenario for one in some}
    seen = [scenario.get(one, "d") for one in met[:45]]
    assert all(len(set(seen[at : at + 6])) == 6 for at in range(len(seen) - 5))


def test_daily_cap_holds_for_each_person_until_the_next_day(open_study, clock) -> None:
    store = open_study(daily_limit=3)
    enqueue(store, of_agents(20, "A"))
    ana, bo = add_people(store, "Ana", "Bo")
    assert len(claim(store, ana, 9)) == 3
    assert [len(judge(store, one, 9)) for one in (ana, bo)] == [3, 3]
    clock.now += DAY
    assert len(judge(store, ana, 9)) == 3


def test_paused_category_is_not_given_out_until_it_is_resumed(open_study) -> None:
    store = open_study()
    enqueue(store, [an_item(f"a{i}", category="ask") for i in range(5)])
    enqueue(store, [an_item(f"b{i}") for i in range(5)])
    ana, bo = add_people(store, "Ana", "Bo")
    held = claim(store, ana, 10)
    change(store, controls.set_pause, f"{SUITE}/ask", author_id=ana, reason="a new guideline")
    kept = claim(store, ana, 10)
    assert kept[0] == held[0]
    assert {one.continuation[0] for one in kept[1:]} == {"b"}
    assert {one[0] for one in judge(store, bo, 9)} <= {"b"}
    (control,) = ask(store, controls.list_pauses)
    assert control[:5] == (f"{SUITE}/ask", None, 1, "a new guideline", ana)
    change(store, controls.set_pause, f"{SUITE}/ask", resume=True)
    assert len(claim(store, ana, 10)) == 10
    assert ask(store, controls.list_pauses) == []
    assert [one.value for one in ask(store, controls.list_controls)] == [1, 0]


def test_paused_suite_or_person_finishes_the_open_clip_and_gets_no_more(open_study) -> None:
    store = open_study()
    enqueue(store, of_agents(20, "A") + of_agents(5, "A", suite=f"{SUITE}+abc"))
    ana, bo, cleo = add_people(store, "Ana", "Bo", "Cleo")
    held = claim(store, ana)
    change(store, controls.set_pause, annotator_id=ana)
    assert claim(store, ana) == held[:1]
    assert held[0].item not in {one.item for one in claim(store, bo, 19)}
    submit(store, ana, [a_submission(held[0])])
    assert claim(store, ana) == []
    change(store, controls.set_pause, SUITE)
    assert len(claim(store, bo)) == 1
    assert claim(store, cleo, suite=f"{SUITE}+abc") == []
    change(store, controls.set_pause, annotator_id=ana, resume=True)
    assert claim(store, ana) == []
    change(store, controls.set_pause, SUITE, resume=True)
    assert len(claim(store, ana)) == 3


def test_highest_priority_comes_first(open_study) -> None:
    store = open_study(priority={f"{SUITE}/ask": 1}, overlap=0)
    some = ((c, i) for i in range(8) for c in ("ask", "see", "get"))
    ask_for(store, [an_item(f"{c}{i}", category=c, scenario=f"{c}{i}") for c, i in some])
    enqueue(store, [an_item("z0", suite=f"{SUITE}+late", scenario="z")], required=2)
    enqueue(store, [an_item("z0", scenario="z")], required=2)
    ana, bo = add_people(store, "Ana", "Bo")
    met = judge(store, ana, 12)
    assert {one[:3] for one in met[:8]} == {"ask"} and "ask" not in {one[:3] for one in met[8:]}
    store = open_study(
        priority={f"{SUITE}/ask": -1, f"{SUITE}/see": 2, f"{SUITE}+late": 3}, overlap=0
    )
    held = claim(store, bo, 5)
    assert held[0].continuation == "z0"
    assert {one.continuation[:3] for one in held[1:]} == {"see"}


def test_page_holds_at_most_a_tenth_of_the_open_clips(store) -> None:
    assert [batch_size(left) for left in (0, 29, 40, 199, 200, 100_000)] == [3, 3, 4, 19, 20, 20]
    enqueue(store, of_agents(70, "A"))
    assert (
        ask(store, claims.batch_size, SUITE) == 7
        and ask(store, claims.batch_size, "nowhere@1") == 3
    )
    claim(store, add_people(store, "Ana")[0], 20)
    assert ask(store, claims.batch_size, SUITE) == 5
    enqueue(store, of_agents(300, "B"))
    assert ask(store, claims.batch_size, SUITE) == 20


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("core@9", "unknown queued suite 'core@9'"),
        (f"{SUITE}/ask", f"unknown enqueued category of {SUITE} 'ask'"),
    ],
)
def test_pause_of_an_unknown_scope_is_refused(store, scope, words) -> None:
    enqueue(store, [an_item()])
    with pytest.raises(UnknownName, match=words):
        change(store, controls.set_pause, scope)
    assert ask(store, controls.list_pauses) == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("overlap", 1.5, "expected annotation.overlap between 0 and 1, found 1.5"),
        ("anchors", -0.1, "expected annotation.anchors between 0 and 1"),
        *(("reference_rate", rate, "reference_rate between 0 and 1") for rate in (-0.1, 1.1)),
        ("reference_rate", float("nan"), "reference_rate between 0 and 1"),
        ("training", -1, "annotation.training "),
        ("training_pass", 1.5, "annotation.training_pass "),
        ("daily_limit", -1, "expected annotation.daily_limit of 0 or more"),
        ("annotations_per_clip", 0, "expected annotation.annotations_per_clip of 1 to 1000"),
        (
            "annotations_per_clip_by",
            {"core@2": True},
            'annotation.annotations_per_clip_by."core@2" of 1 to 1000, found T',
        ),
        (
            "annotations_per_clip_by",
            {"core": 2},
            "annotations_per_clip_by by NAME@VERSION or NAME@VERSION/CATEGORY",
        ),
        ("priority", {"core@2": "x"}, 'annotation.priority."core@2" to be a whole number'),
        (
            "annotations_per_clip_by",
            3,
            "expected annotation.annotations_per_clip_by like {}, found 3",
        ),
        ("auto_resolve", "noise", "annotation.auto_resolve to be one of '', 'silence'"),
        ("referense_rate", 0.2, "unknown setting annotation.referense_rate; valid settings are"),
    ],
)
def test_impossible_setting_is_refused_and_makes_no_store(sqlite_workspace, name, value, words):
    workspace = Workspace(sqlite_workspace.root, {"annotation": {name: value}})
    for read in (load_study, AnnotationStore.open):
        with pytest.raises(DamagedData, match=words):
            read(workspace)
    assert not workspace.root.exists()
