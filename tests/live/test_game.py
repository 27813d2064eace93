"""A live session: people and agents in one world, rebuilt from its journal after any loss."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts import agents
from sts.domains import load_domain
from sts.errors import ArgumentError, DamagedData, StsError
from sts.live.game import Game
from sts.live.journal import read_events
from sts.live.types import Opening, Participant, Turn
from tests.examples import scenarios

WORLD = load_domain("lambda-star")
(STATE,) = WORLD.generate(1, seed=5, height=6, width=6, n_players=3, horizon=50)
STEPS = 12
PEOPLE = (
    Participant("human", "p-1", "setter", None),
    Participant("agent", "reader", "solver", 0, agents.fingerprint(agents.load("reader"))),
    Participant("human", "p-2", "player", 1),
)


def make_opening(participants=PEOPLE, **changes) -> Opening:
    fields = {"tick": 0.25, "max_steps": STEPS} | changes
    return Opening("0" * 24, "record", "lambda-star", STATE, tuple(participants), **fields)


def play(game: Game, events: list[tuple]) -> None:
    """Do what is drawn: step with a turn or without, tell and mark."""
    for kind, value in events:
        if game.ended:
            return
        if kind == "step":
            game.step({} if value is None else {1: Turn(value, 0)})
        elif kind == "tell":
            game.tell(0, value)
        elif game.told:
            game.mark(0, len(game.told) - 1, value)


def describe(game: Game) -> list:
    arrays = [array.tolist() for step in game.steps for array in step[:3]]
    scenes = [scene.tolist() for scene in game.scenes]
    return [game.time, game.told, game.participants, game.ended, arrays, scenes, game.look(1)]


EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("step"), st.one_of(st.none(), st.integers(0, 8))),
        st.tuples(st.just("tell"), st.sampled_from(["Go to Good.", "Stand still.", "Ça va ?"])),
        st.tuples(st.just("mark"), st.sampled_from(["success", "failure", "cannot_tell"])),
    ),
    max_size=20,
)


@given(before=EVENTS, after=EVENTS)
@settings(max_examples=20, deadline=None)
def test_session_that_lost_its_process_goes_on_as_if_nothing_had_happened(
    tmp_path_factory, before, after
):
    folder = tmp_path_factory.mktemp("sessions")
    whole = Game.start(folder / "whole.jsonl", make_opening())
    play(whole, [*before, *after])
    game = Game.start(folder / "lost.jsonl", make_opening())
    play(game, before)
    game.close()  # as the end of its process does
    resumed = Game.resume(folder / "lost.jsonl")
    assert describe(resumed) == describe(game)
    play(resumed, after)
    assert describe(resumed) == describe(whole)
    for one, other in zip(resumed.steps, whole.steps, strict=True):
        np.testing.assert_array_equal(one.log_probs, other.log_probs)


def test_agent_hears_what_the_setter_says_and_others_do_not(tmp_path):
    people = [*PEOPLE[:2], Participant("agent", "reader", "player", 1)]
    game = Game.start(tmp_path / "a", make_opening(people))
    silent = Game.start(tmp_path / "b", make_opening(people))
    game.tell(0, "Stand still.")
    for _ in range(6):
        game.step({})
        silent.step({})
    moves = np.array([step.actions for step in game.steps])
    unasked = np.array([step.actions for step in silent.steps])
    assert (moves[:, 0] == WORLD.noop).all() and not (unasked[:, 0] == WORLD.noop).all()
    assert not (moves[:, 1] == WORLD.noop).all()
    assert game.told[0].player == 0


def test_journal_states_who_was_late_and_what_was_done(tmp_path):
    game = Game.start(tmp_path / "a", make_opening(), clock=iter(range(100, 200)).__next__)
    game.step({1: Turn(3, 0)})
    game.step({}, late_ms=12.7)
    events = read_events(tmp_path / "a")
    assert [event["kind"] for event in events] == ["opened", "step", "step"]
    assert [event["missed"] for event in events[1:]] == [[], [1]]
    assert [event["actions"][1] for event in events[1:]] == [3, WORLD.noop]
    assert [event["late_ms"] for event in events[1:]] == [0, 13]
    assert events[0]["participants"][0] == PEOPLE[0]._asdict()
    assert [event["at"] for event in events] == [1, 2, 3]


def test_session_ends_after_its_last_step_and_is_not_resumed(tmp_path):
    game = Game.start(tmp_path / "a", make_opening(max_steps=2))
    game.tell(0, "Go to Good.")
    game.step({})
    game.step({})
    assert game.ended == "finished"
    with pytest.raises(ArgumentError, match="has ended"):
        game.step({})
    with pytest.raises(ArgumentError, match="has ended"):
        game.tell(0, "More.")
    game.mark(0, 0, "failure", "too slow")
    game.close()
    later = Game.resume(tmp_path / "a")
    assert later.ended == "finished" and later.told[0].mark == "failure"
    assert "resumed" not in [event["kind"] for event in read_events(tmp_path / "a")]


def test_session_whose_process_ended_after_the_last_step_takes_no_other(tmp_path):
    game = Game.start(tmp_path / "a", make_opening(max_steps=2))
    game.step({})
    game.step({})
    game.close()
    lines = (tmp_path / "a").read_bytes().splitlines(keepends=True)
    (tmp_path / "a").write_bytes(b"".join(lines[:-1]))  # before it noted the end
    later = Game.resume(tmp_path / "a")
    assert later.ended == "finished" and later.time == 2
    assert [event["kind"] for event in read_events(tmp_path / "a")][-1] == "ended"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda game: game.tell(1, "Me."), "Only the setter"),
        (lambda game: game.tell(0, " \n "), "has 1 to 500"),
        (lambda game: game.tell(0, "x" * 501), "has 1 to 500"),
        (lambda game: game.tell(0, "Go.", typed="other"), "free or completion"),
        (lambda game: game.mark(0, 0, "success"), "does not exist"),
        (lambda game: game.mark(0, -1, "success"), "does not exist"),
        (lambda game: game.step({1: Turn(9, 0)}), "expected a move"),
        (lambda game: game.step({1: Turn(True, 0)}), "expected a move"),
        (lambda game: game.step({1: Turn(0, 99)}), "expected a move"),
        (lambda game: game.step({1: Turn(0, "yes")}), "expected a move"),
        (lambda game: game.swap(), "both play"),
    ],
)
def test_refused_message_changes_nothing(tmp_path, act, words):
    game = Game.start(tmp_path / "a", make_opening())
    before = describe(game)
    with pytest.raises(ArgumentError, match=words):
        act(game)
    assert describe(game) == before and len(read_events(tmp_path / "a")) == 1


def test_instruction_of_several_lines_becomes_one_and_keeps_every_language(tmp_path):
    game = Game.start(tmp_path / "a", make_opening())
    game.tell(0, "<b>Go</b>\nto Good.")
    game.tell(0, "می\N{ZERO WIDTH NON-JOINER}رود")
    assert [told.text for told in game.told][0] == "<b>Go</b> to Good."
    assert game.told[1].text.startswith("می")


def test_message_that_is_sent_again_gives_no_second_instruction(tmp_path):
    game = Game.start(tmp_path / "a", make_opening())
    for _ in range(2):
        game.tell(0, "Go to Good.", key="k1")
    game.close()
    later = Game.resume(tmp_path / "a")
    later.tell(0, "Go to Good.", key="k1")
    later.tell(0, "Go to Good.", key="k2")
    assert [told.key for told in later.told] == ["k1", "k2"]


def test_free_place_is_taken_once_and_stays_taken_after_a_restart(tmp_path):
    people = [Participant("human", "a", "setter", 0), Participant("human", "", "solver", 1)]
    game = Game.start(tmp_path / "a", make_opening(people))
    with pytest.raises(ArgumentError, match="is taken"):
        game.seat(1, "a")
    game.seat(1, "b")
    game.close()
    later = Game.resume(tmp_path / "a")
    assert [p.name for p in later.participants] == ["a", "b"]
    for place, name in ((1, "c"), (0, "c")):
        with pytest.raises(ArgumentError, match="is taken"):
            later.seat(place, name)


def test_two_people_swap_roles_and_only_the_setter_asks(tmp_path):
    people = [Participant("human", "a", "setter", 0), Participant("human", "b", "solver", 1)]
    game = Game.start(tmp_path / "a", make_opening(people))
    game.tell(0, "Come here.")
    game.swap()
    with pytest.raises(ArgumentError, match="Only the setter"):
        game.tell(0, "Again.")
    game.tell(1, "Now you.")
    with pytest.raises(ArgumentError, match="Only the person who gave"):
        game.mark(1, 0, "success")
    game.mark(0, 0, "success")
    assert [(told.by, told.player, told.mark) for told in game.told] == [
        (0, 1, "success"),
        (1, 0, ""),
    ]


def test_person_continues_a_scenario_as_an_agent_would_from_the_takeover(tmp_path):
    (played,) = scenarios(1)
    takeover, horizon, player = played.context, played.horizon, played.players[0]
    game = start_scenario(tmp_path / "a", played)
    while not game.ended:
        assert game.is_forced(player) == (game.time < takeover)
        game.step({player: Turn(game.time % 9, 1)})
    actions = np.array([step.actions for step in game.steps])
    np.testing.assert_array_equal(actions[:takeover], played.recording.actions[:takeover])
    assert actions[takeover:, player].tolist() == [
        t % 9 for t in range(takeover, takeover + horizon)
    ]
    others = [p for p in range(actions.shape[1]) if p != player]
    assert (actions[takeover:, others] == WORLD.noop).all()
    game.close()
    later = Game.resume(tmp_path / "a", find_scenario=lambda hash: played)
    assert describe(later) == describe(game) and later.ended == "finished"


def start_scenario(path: Path, played) -> Game:
    person = Participant("human", "p-1", "solver", played.players[0])
    length = played.context + played.horizon
    recording = played.recording
    opening = Opening(
        "1" * 24,
        "scenario",
        recording.domain,
        recording.state,
        (person,),
        0.25,
        length,
        scenario=played.hash,
    )
    return Game.start(path, opening, scenario=played)


class Crashing(agents.Agent):
    name = "crashing"
    version = "1"

    def act(self, observation, instructions, memory, draws):
        raise ZeroDivisionError("nothing left")


def test_agent_that_crashes_ends_the_session_with_its_name_and_loses_no_step(tmp_path):
    people = [Participant("human", "a", "setter", None), Participant("agent", "c", "solver", 0)]
    game = Game.start(tmp_path / "a", make_opening(people), load_agent=lambda name: Crashing())
    with pytest.raises(StsError, match="agent 'crashing' failed at step 0: ZeroDivisionError"):
        game.step({})
    game.end("agent failed", "crashing")
    assert read_events(tmp_path / "a")[-1]["reason"] == "agent failed"
    assert game.time == 0


def test_changed_agent_and_altered_journal_are_refused(tmp_path):
    changed = PEOPLE[1]._replace(fingerprint="0" * 16)
    with pytest.raises(ArgumentError, match="has changed since"):
        Game(make_opening([PEOPLE[0], changed]))
    path: Path = tmp_path / "a"
    Game.start(path, make_opening()).close()
    path.write_bytes(path.read_bytes().replace(b'"p-1"', b'"p-9"'))
    with pytest.raises(DamagedData, match="altered"):
        Game.resume(path)


@pytest.mark.parametrize(
    "participants",
    [
        [Participant("human", "a", "setter", 3)],
        [Participant("human", "a", "setter", 0), Participant("human", "b", "solver", 0)],
        [Participant("robot", "a", "setter", 0)],
        [Participant("human", "a", "king", 0)],
        [Participant("agent", "reader", "solver", None)],
    ],
)
def test_participants_that_do_not_fit_are_refused(participants):
    with pytest.raises(ArgumentError, match="expected participants"):
        Game(make_opening(participants))


def test_steps_do_not_wait_for_the_disk_but_words_and_marks_do(tmp_path, monkeypatch):
    game = Game.start(tmp_path / "journal", make_opening())
    synced: list[int] = []
    monkeypatch.setattr("os.fdatasync", lambda file: synced.append(game.time))
    for _ in range(3):
        game.step({})
    assert synced == [] and len(read_events(tmp_path / "journal")) == 4
    game.tell(0, "Go to Good.")
    game.step({})
    game.mark(0, 0, "success")
    assert synced == [3, 4]
