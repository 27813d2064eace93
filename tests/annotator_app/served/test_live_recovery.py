"""Live sessions on the real server: lost networks and killed servers lose nothing."""

from __future__ import annotations

import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import minari
import numpy as np
import pandas as pd
import pytest

from sts.cli.main import main
from sts.live.journal import Event, read_events
from sts.live.records import get_journal_path
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Label
from tests.annotator_app.dying import DIES
from tests.annotator_app.live.test_page import (
    LAMBDA,
    ask,
    end,
    wait_for_status,
    wait_until_saved,
)
from tests.annotator_app.served.browser import Opener
from tests.annotator_app.served.test_live_page import list_live
from tests.annotator_app.serving import Server
from tests.blackhole import BlackHole
from tests.domains import keepers
from tests.waiting import wait_until
from tests.zygote import Zygote

pytestmark = pytest.mark.landing


MOVES = {"up", "right", "stay"}
CATEGORY = keepers.category("lambda-star", label=lambda *given: Label("success", 1))
"""A category with a candidate step in any recording, whatever its split."""
COLUMNS = (
    *("language_instruction", "instruction_mark", "is_person"),
    *("player_kind", "player_name"),
)


@pytest.fixture
def mortal(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server that the test may end, if it starts it again."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    with Server(folder, zygote=zygote) as served:
        yield served


def restart(server: Server) -> None:
    server.end(signal.SIGKILL)
    server.start()


def open_session(open_page: Opener, server: Server) -> tuple[Any, str]:
    """Return the page of a setter who waits for another person, and the id of the session."""
    setter = open_page("setter", at=server, path="/live", ready=False)
    setter.get_by_role("button", name="Open a session").click()
    wait_for_status(setter, "Waiting for the other person.")
    return setter, setter.url.partition("session=")[2]


def join(page: Any) -> None:
    page.get_by_role("button", name="Join a session in lambda-star: carry out tasks").click()
    page.locator(".role", has_text="You carry out the tasks").wait_for()


def read(server: Server, session: str) -> list[Event]:
    return read_events(get_journal_path(Workspace.open(str(server.folder)), session))


def count(server: Server, session: str, kind: str) -> int:
    return sum(event["kind"] == kind for event in read(server, session))


def wait_for_record(server: Server) -> Trajectory:
    (trajectory,) = wait_until(lambda: list_live(server), "the session is recorded")
    return trajectory


def wait_for_steps(page: Any, more: int = 2) -> None:
    """Wait until a page has displayed some further steps."""
    room = page.locator(".room[data-step]")
    until = int(room.get_attribute("data-step")) + more
    wait_until(lambda: int(room.get_attribute("data-step")) >= until, "the steps are shown")


def type_command(server: Server, *words: str) -> None:
    assert main([*words, "--workspace", str(server.folder)]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("every_phase", [False, True], ids=["some", "every"])
def test_session_survives_servers_killed_in_play_and_after_it_is_recorded(
    open_page: Opener, mortal: Server, monkeypatch: pytest.MonkeyPatch, every_phase: bool
) -> None:
    setter, session = open_session(open_page, mortal)
    if every_phase:
        restart(mortal)  # while it waits
        wait_until(lambda: count(mortal, session, "resumed") == 1)
    wait_for_status(setter, "Waiting for the other person.")
    solver = open_page("solver", at=mortal, path="/live", ready=False)
    join(solver)
    setter.locator(".count:not([hidden])").wait_for()
    assert count(mortal, session, "step") == 0
    if every_phase:
        restart(mortal)  # during the countdown
    wait_for_steps(setter)
    ask(setter, "Go to Good.")
    wait_until_saved(setter, 1)
    solver.keyboard.press("w")
    solver.get_by_text("last action up").wait_for()
    setter.get_by_role("button", name="Success").click()
    solver.locator(".verdict", has_text="Marked: success").wait_for()
    ask(setter, "Stay there.")
    wait_until_saved(setter, 2)
    acknowledged = read(mortal, session)
    mortal.end(signal.SIGKILL)  # while they play
    ask(setter, "Written while the server is dead.")
    monkeypatch.setenv(DIES, "1")
    mortal.start()
    solver.locator(".instruction", has_text="Written while the server is dead.").wait_for()
    wait_for_steps(solver)
    acknowledged += read(mortal, session)[len(acknowledged) :]
    end(setter)
    wait_for_status(setter, "Mark 2 instructions before you leave.")
    if every_phase:
        restart(mortal)  # after the end, before the last marks
    for text in ("Stay there.", "Written while the server is dead."):
        asked = setter.locator(".given li", has_text=text)
        asked.get_by_role("button", name="Failure").click()
    wait_for_status(setter, "The session has ended.")
    wait_until_saved(setter, 3)
    for page in (setter, solver):
        page.get_by_role("button", name="Done").click()
    wait_until(lambda: mortal.process is not None and mortal.process.poll() is not None)
    monkeypatch.delenv(DIES)
    mortal.start()

    recorded = wait_for_record(mortal)
    wait_until(lambda: count(mortal, session, "stored") == 1)
    events = read(mortal, session)
    assert events[: len(acknowledged)] == acknowledged
    kinds = [event["kind"] for event in events]
    assert kinds.count("resumed") == (3 if every_phase else 1)
    assert (kinds.count("ended"), kinds[-1]) == (1, "stored")
    steps = [event for event in events if event["kind"] == "step"]
    assert [event["t"] for event in steps] == [*range(recorded.episode.steps)]
    marks = [(told.text, told.mark) for told in recorded.instructions]
    texts = ("Go to Good.", "Stay there.", "Written while the server is dead.")
    assert marks == [*zip(texts, ("success", "failure", "failure"), strict=True)]
    assert LAMBDA.action_names.index("up") in recorded.episode.actions[:, 0]
    type_command(mortal, "trajectories", "verify")


@pytest.fixture
def network(mortal: Server) -> Iterator[BlackHole]:
    """A network in front of the server."""
    made = BlackHole(lambda: socket.create_connection(("127.0.0.1", mortal.port)))
    yield made
    made.delivers.set()
    made.listening.close()


@pytest.mark.slow
@pytest.mark.parametrize("is_used", [False, True], ids=["recorded", "curated"])
def test_session_of_people_who_are_cut_off_is_recorded_exported_and_curated(
    open_page: Opener, mortal: Server, network: BlackHole, tmp_path: Path, is_used: bool
) -> None:
    setter, session = open_session(open_page, mortal)
    solver = open_page("solver", at=mortal, path="/live", ready=False)
    solver.goto(f"http://127.0.0.1:{network.port}/live")
    join(solver)
    wait_for_steps(setter)
    ask(setter, "Go to Good.")
    solver.locator(".instruction", has_text="Go to Good.").wait_for()
    solver.keyboard.press("w")
    solver.get_by_text("last action up").wait_for()

    setter.context.set_offline(True)
    wait_for_status(setter, "The connection is lost.")
    wait_for_status(solver, "Waiting for the other person.")
    ask(setter, "Written without a network.")
    setter.context.set_offline(False)
    solver.locator(".instruction", has_text="Written without a network.").wait_for()

    network.delivers.clear()
    wait_for_status(solver, "The connection is lost.")
    wait_for_status(setter, "Waiting for the other person.")
    network.delivers.set()
    wait_for_steps(setter)
    solver.keyboard.press("d")
    solver.get_by_text("last action right").wait_for()
    for mark in ("Failure", "Success"):
        setter.locator(".given li.unmarked").first.get_by_role("button", name=mark).click()
    wait_until_saved(setter, 2)
    if is_used:  # a candidate needs some steps
        wait_for_steps(setter, 15)
    end(setter)
    for page in (setter, solver):
        page.get_by_role("button", name="Done").click()

    recorded = wait_for_record(mortal)
    presence = [
        (event["kind"], event["participant"])
        for event in read(mortal, session)
        if event["kind"] in ("joined", "left")
    ]
    joined = [("joined", 0), ("joined", 1)]
    assert presence == [*joined, ("left", 0), ("joined", 0), ("left", 1), ("joined", 1)]
    assert {LAMBDA.action_names[move] for move in recorded.episode.actions[:, 0]} == MOVES
    type_command(mortal, "trajectories", "verify")
    if is_used:
        check_exports(mortal, recorded, tmp_path)
        check_curation(open_page, mortal, recorded)


def check_curation(open_page: Opener, mortal: Server, recorded: Trajectory) -> None:
    """Mine a candidate in a recording, and accept it."""
    category = f"{__name__}:CATEGORY"
    type_command(mortal, "mine", "own", "--category", category, "--split", recorded.split)
    curator = open_page("curator", at=mortal, path="/curate", roles=("curator",), ready=False)
    curator.locator(".curate .stage:not([hidden])").wait_for()
    assert curator.text_content(".position") == "1 of 1"
    assert curator.get_attribute(".curate", "data-candidate") == "light-one-01"
    curator.keyboard.press("a")
    curator.locator(".state", has_text="accepted by curator").wait_for()


def check_exports(server: Server, recorded: Trajectory, folder: Path) -> None:
    """Export a recording of two instructions as RLDS and Minari, and check each step."""
    first, second = recorded.instructions
    texts = ["", first.text, second.text]
    steps = [first.given_at, second.given_at - first.given_at]
    counts = [*steps, recorded.episode.steps + 1 - sum(steps)]
    asked = np.repeat(texts, counts).tolist()
    marks = np.repeat(["", "success", "failure"], counts).tolist()
    rlds, dataset = folder / "rlds.parquet", folder / "live-v0"
    for out, form in ((rlds, "rlds"), (dataset, "minari")):
        type_command(server, "trajectories", "export", str(out), "--format", form)
    table = pd.read_parquet(rlds)
    (episode,) = minari.MinariDataset(dataset / "data")
    infos = {name: np.asarray(episode.infos[name]).tolist() for name in COLUMNS}
    for columns in (table[[*COLUMNS]].to_dict("list"), infos):
        decoded = {
            name: [v.decode() if isinstance(v, bytes) else v for v in column]
            for name, column in columns.items()
        }
        assert decoded["language_instruction"] == asked
        assert decoded["instruction_mark"] == marks
        assert {*decoded["is_person"]} == {True} and {*decoded["player_kind"]} == {"human"}
        assert {*decoded["player_name"]} == {recorded.players[0].name}
    moves = recorded.episode.actions[:, 0].tolist()
    assert table["action"][:-1].tolist() == episode.actions.tolist() == moves
