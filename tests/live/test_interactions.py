"""The table of interactions, from events written by hand and from a session that was played."""

import math

import pytest

from sts import agents
from sts.domains import load_domain
from sts.errors import DamagedData
from sts.live.game import Game
from sts.live.interactions import read_interactions, summarise_session, write_interactions
from sts.live.journal import read_events
from sts.live.openings import open_recording
from sts.live.plans import make_plan
from sts.live.types import Opening, Participant
from tests.live.examples import journal


@pytest.fixture(scope="module")
def plan():
    return make_plan("pilot", ["reader", "rule"], people=2)


def tell(t: int, at: float, text: str = "Go.", **fields) -> dict:
    return {"kind": "told", "t": t, "at": at, "text": text, "to": [0], "by": 0} | fields


def mark(t: int, at: float, instruction: int, given: str, **fields) -> dict:
    fields = {"instruction": instruction, "mark": given, "by": 0, "note": ""} | fields
    return {"kind": "marked", "t": t, "at": at, **fields}


def steps(*numbers: int, late: tuple[int, ...] = ()) -> list[dict]:
    return [
        {"kind": "step", "t": t, "at": t / 4, "late_ms": 60 if t in late else 40} for t in numbers
    ]


def end(t: int, at: float, reason: str = "finished") -> dict:
    return {"kind": "ended", "t": t, "at": at, "reason": reason}


def rows(*events, plan=None, **opened):
    return summarise_session("j", journal(*events, **opened), plan).interactions


def test_each_mark_ends_its_instruction_and_an_unmarked_one_ends_with_the_next(plan):
    prompt = next(prompt for prompt in plan.prompts if prompt.difficulty == "hard")
    first, second, third, fourth = rows(
        tell(0, 0.5, prompt=prompt.text),
        *steps(0, 1, 2),
        mark(3, 1.0, 0, "success", note="nice"),
        tell(3, 1.25, "What is it?", typed="completion"),
        *steps(3, 4),
        mark(5, 2.0, 1, "cannot_tell"),
        tell(5, 2.5),
        *steps(5, 6),
        tell(7, 3.0),
        *steps(7, 8, 9),
        end(10, 4.0),
        mark(10, 5.5, 3, "failure"),
        plan=plan,
    )
    assert (first.mark, first.start, first.end, first.latency_s) == ("success", 0, 3, 0.5)
    assert (first.kind, first.difficulty, first.note_given) == (prompt.kind, "hard", True)
    assert (first.person, first.setter_kind, first.marked_by) == ("p1", "human", "p1")
    assert (first.agent, first.fingerprint, first.agent_kind) == ("a", "f", "agent")
    assert (second.mark, second.typed, second.kind) == ("cannot_tell", "completion", "")
    assert (third.mark, third.end, third.marker_kind) == ("unmarked", 7, "")
    assert math.isnan(third.latency_s) and third.ticks == 2
    assert (fourth.mark, fourth.end, fourth.latency_s) == ("failure", 10, 2.5)
    assert [row.instruction for row in (first, second, third, fourth)] == [0, 1, 2, 3]
    assert {row.order for row in (first, second)} == {plan.cells[1].order} == {1}


def test_last_mark_of_an_instruction_counts():
    (row,) = rows(tell(0, 0.0), mark(1, 1.0, 0, "failure"), mark(2, 2.0, 0, "success"))
    assert (row.mark, row.end) == ("success", 2)


def test_session_that_was_cut_off_ends_with_its_last_event_and_is_not_scored():
    events = journal(tell(1, 0.5), *steps(0, 1, 2, 3))
    summary = summarise_session("j", events, None)
    (row,) = summary.interactions
    assert (row.end, row.mark, row.ticks) == (4, "unmarked", 3)
    assert summary.ended == "" and not summary.scored and not row.scored
    complete = summarise_session("j", [*events, end(4, 1.0)], None)
    assert complete.scored and complete.person_hours == 1 / 3600


@pytest.mark.parametrize(("reason", "scored"), [("left", True), ("abandoned", False)])
def test_agent_does_not_profit_from_people_who_leave(reason, scored):
    (row,) = rows(tell(0, 0.0), end(1, 1.0, reason))
    assert row.scored is scored


def test_steps_are_late_from_a_fifth_of_the_tick_on():
    (row,) = rows(tell(0, 0.0), *steps(0, 1, 2, late=(1,)), end(3, 1.0), tick=0.25)
    assert (row.late_ticks, row.ticks) == (1, 3)
    (row,) = rows(tell(0, 0.0), *steps(0, 1, 2, late=(1,)), end(3, 1.0))
    assert row.late_ticks == 0  # turn-based


def test_setter_that_is_a_script_is_named_as_one():
    script = {"kind": "script", "name": "s", "player": None, "role": "setter"}
    people = [script, journal()[0]["participants"][1]]
    summary = summarise_session("j", journal(tell(0, 0.0), participants=people), None)
    assert summary.people == 0 and summary.interactions[0].setter_kind == "script"


GHOST = journal()[0]["participants"][0] | {"kind": "ghost"}
BAD = [
    ([end(0, 0.0)], "expected a journal that starts with the event opened"),
    (journal(mark(0, 0.0, 0, "success")), "a mark of no instruction"),
    (
        journal(tell(0, 0.0), mark(0, 0.0, 0, "fine")),
        "an event is invalid: Invalid enum value 'fine'",
    ),
    (journal(tell(0, 0.0, by=7)), "an unknown participant"),
    (journal({"kind": "told", "t": "0"}), "an event is invalid: Expected `int`, got `str`"),
    (journal(participants=[{"kind": "ghost"}]), "expected the opening of a session"),
    (journal(participants=[GHOST]), "expected participants of the kinds human"),
    (journal(tick="fast"), "expected the opening of a session"),
]


@pytest.mark.parametrize(("events", "text"), BAD)
def test_invalid_event_is_named(events, text):
    with pytest.raises(DamagedData, match=f"^j: .*{text}|^j: {text}"):
        summarise_session("j", events, None)


def test_table_is_read_back_as_written(tmp_path):
    written = [*rows(tell(0, 0.0), mark(1, 1.0, 0, "success")), *rows(tell(0, 0.0, "Ça va ?"))]
    path = tmp_path / "interactions.parquet"
    write_interactions(path, written)
    assert list(map(str, read_interactions(path))) == list(map(str, written))
    assert path.read_bytes().count(b"interactions/1")


def test_journal_of_a_session_that_was_played_becomes_its_interactions(tmp_path):
    domain = load_domain("lambda-star")
    (state,) = domain.generate(1, seed=5, height=6, width=6, n_players=2, horizon=50)
    people = (
        Participant("human", "p-1", "setter", None),
        Participant("agent", "reader", "solver", 1, agents.fingerprint(agents.load("reader"))),
    )
    opening = Opening("0" * 24, "evaluate", "lambda-star", state, people, 0.25, 8, study="pilot")
    game = Game.start(tmp_path / "j", opening)
    game.tell(0, "Go to Good.")
    for late in (0.0, 90.0, 0.0):
        game.step({}, late_ms=late)
    game.mark(0, 0, "success")
    game.tell(0, "Stand still.")
    for _ in range(5):
        game.step({})
    summary = summarise_session("j", read_events(tmp_path / "j"), None)
    first, second = summary.interactions
    assert (first.agent, first.mark, first.start, first.end) == ("reader", "success", 0, 3)
    assert (first.late_ticks, first.ticks, second.mark, second.ticks) == (1, 3, "unmarked", 5)
    assert (summary.ended, summary.fingerprint) == ("finished", people[1].fingerprint)


def test_journal_of_a_session_that_was_played_gives_its_interactions(tmp_path):
    people = (
        Participant("script", "", "setter", None),
        Participant("agent", "reader", "solver", 0),
    )
    opening = open_recording("lambda-star", people)._replace(max_steps=5)
    game = Game.start(tmp_path / "a", opening)
    game.seat(0, "p-7")
    game.tell(0, "Go to Good.", typed="completion")
    game.step({})
    game.step({}, late_ms=200)
    game.mark(0, 0, "success", "quick")
    game.tell(0, "Stand still.")
    while not game.ended:
        game.step({})
    first, second = summarise_session("a", read_events(tmp_path / "a"), None).interactions
    assert (first.person, first.setter_kind, first.agent) == ("p-7", "script", "reader")
    assert first.fingerprint == game.participants[1].fingerprint != ""
    assert (first.start, first.end, first.ticks, first.late_ticks) == (0, 2, 2, 1)
    assert (first.mark, first.marked_by, first.note_given) == ("success", "p-7", True)
    assert (second.mark, second.start, second.end) == ("unmarked", 2, 5)
    assert first.scored and second.latency_s != second.latency_s
