"""The check of live sessions finds what is damaged or missing, and nothing else."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sts.continuations import continuation_store as continuations
from sts.live.game import Game
from sts.live.journal import Journal, read_events
from sts.live.journal_checks import check
from sts.live.openings import open_recording, open_scenario
from sts.live.records import get_journal_path, make_live_continuation, store_live_trajectory
from sts.live.types import Opening, Participant, Turn
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario
from tests.examples import scenarios

ALONE = (Participant("human", "p-1", "player", 0),)


def play(workspace: Workspace, opening: Opening, scenario: Scenario | None = None) -> Game:
    """Play a session to its end; its journal stays open."""
    game = Game.start(get_journal_path(workspace, opening.id), opening, scenario=scenario)
    while not game.ended:
        game.step({} if game.is_forced(0) else {0: Turn(3, 0)})
    return game


def store(workspace: Workspace, game: Game) -> None:
    store_live_trajectory(workspace, game)
    game.close()


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    return Workspace.open(tmp_path).create()


@pytest.fixture
def path(workspace) -> Iterator[Path]:
    """Return the journal of a session whose record is stored."""
    opening = open_recording("lambda-star", ALONE)._replace(max_steps=4)
    store(workspace, play(workspace, opening))
    yield get_journal_path(workspace, opening.id)


def test_stored_sessions_of_each_activity_have_no_findings(workspace, path):
    (scenario,) = scenarios(1)
    game = play(workspace, open_scenario(scenario, "p-1"), scenario)
    continuation = make_live_continuation(game)
    continuations.save(workspace, [continuation])
    game.note_stored(continuation.id)
    game.close()
    left = Game.start(
        get_journal_path(workspace, "2" * 24),
        open_scenario(scenario, "p-2")._replace(id="2" * 24),
        scenario=scenario,
    )
    left.step({})
    left.end("left")
    left.note_stored("")
    left.close()
    assert check(workspace) == ({"plans": 0, "sessions": 3}, ())
    for part in workspace.path("continuations").glob("*/*.parquet"):
        part.unlink()
    (line,) = check(workspace).findings
    assert f"unknown continuation '{continuation.id}'" in line


def test_session_that_is_played_or_waits_for_marks_has_no_findings(workspace):
    opening = open_recording("lambda-star", ALONE)._replace(max_steps=4)
    game = play(workspace, opening)
    assert check(workspace).findings == ()
    game.close()  # as the end of its server does
    (line,) = check(workspace).findings
    assert "its record is not stored; start the server" in line and opening.id in line


def rewrite(path: Path, change) -> None:
    """Write a journal whose chain holds, with other events."""
    events = change([dict(event) for event in read_events(path)])
    path.unlink()
    journal = Journal(path, new=True)
    for event in events:
        journal.append(**event)
    journal.close()


CHANGES = {
    "event 3 was altered": lambda path: edit(path, b'"t":1', b'"t":2'),
    "expected the session": lambda path: path.rename(path.with_name(f"{1:024x}.jsonl")),
    "starts with the event opened": lambda path: path.write_bytes(b""),
    "unknown trajectory": lambda path: remove_records(path),
    "is not stored": lambda path: rewrite(path, lambda events: events[:-1]),
    "has other actions": lambda path: rewrite(path, lambda events: [events[0], *events[2:]]),
    "expected the opening": lambda path: rewrite_opening(path, state="?"),
    "unknown live study": lambda path: rewrite_opening(path, study="gone"),
}


@pytest.mark.parametrize("text", CHANGES)
def test_damaged_session_is_reported_in_one_line(workspace, path, text):
    CHANGES[text](path)
    (line,) = check(workspace).findings
    assert text in line and "\n" not in line and "live/sessions/" in line


def edit(path: Path, old: bytes, new: bytes) -> None:
    path.write_bytes(path.read_bytes().replace(old, new, 1))


def remove_records(path: Path) -> None:
    for file in path.parents[2].glob("trajectories/*"):
        file.unlink()


def rewrite_opening(path: Path, **fields) -> None:
    rewrite(path, lambda events: [events[0] | fields, *events[1:]])


def test_erased_session_and_one_that_broke_off_have_no_findings(workspace, path):
    rewrite(path, lambda events: events[:3])
    assert check(workspace).findings == ()
    remove_records(path)
    rewrite(path, erase)
    assert check(workspace) == ({"plans": 0, "sessions": 1}, ())


def erase(events: list[dict]) -> list[dict]:
    """Return the events of a session whose person was forgotten."""
    opened = events[0] | {"format": "erased-journal/1", "state": ""}
    ended = {"kind": "ended", "at": 1.0, "t": 2, "reason": "finished"}
    steps = [{"kind": "step", "at": 0.5, "t": t, "late_ms": 0} for t in range(2)]
    return [opened, *steps, ended, {"kind": "erased", "at": 1.0, "date": "2026-11-27"}]
