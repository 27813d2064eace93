"""Two people find each other on the page of live sessions, and record an episode."""

from __future__ import annotations

import time
from typing import Any

import pytest

from sts.storage.workspace import Workspace
from sts.trajectories import store as trajectories
from tests.annotator_app.served.browser import Opener, wide
from tests.annotator_app.serving import PATIENCE, Server

pytestmark = pytest.mark.browser


def list_live(server: Server) -> list[Any]:
    every = trajectories.load(Workspace.open(str(server.folder)))
    return [one for one in every if one.source.startswith("sts live ")]


def test_two_people_record_together_and_one_of_them_reloads(
    open_page: Opener, server: Server
) -> None:
    setter = open_page("setter", path="/live", ready=False)
    setter.get_by_role("button", name="Open a session").click()
    setter.get_by_text("Waiting for the other person").wait_for()
    solver = open_page("solver", path="/live", ready=False, viewport={"width": 420, "height": 900})
    solver.get_by_role("button", name="Join a session in lambda-star: carry out tasks").click()
    setter.locator(".room[data-step]:not([data-step='0'])").wait_for()
    setter.get_by_label("Your instruction or question").fill("<b>Go</b> to Good.")
    setter.keyboard.press("Enter")
    solver.get_by_text("<b>Go</b> to Good.").wait_for()
    assert wide(solver) <= 420
    solver.keyboard.press("w")
    solver.get_by_text("last action up").wait_for()

    solver.reload()
    solver.get_by_text("<b>Go</b> to Good.").wait_for()  # it returns to the session by itself

    setter.get_by_role("button", name="Success").click()
    for _ in range(2):  # the second click confirms
        setter.locator("[data-action=end]").click()
    solver.get_by_role("button", name="Done").click()
    setter.get_by_role("button", name="Done").click()
    setter.get_by_role("heading", name="Live sessions").wait_for()
    assert setter.get_by_role("button", name="Return to").count() == 0
    solver.get_by_role("heading", name="Live sessions").wait_for()
    deadline = time.monotonic() + PATIENCE
    while not (stored := list_live(server)) and time.monotonic() < deadline:
        time.sleep(0.1)  # it is stored once both have left
    (recorded,) = stored
    (instruction,) = recorded.instructions
    assert (instruction.text, instruction.mark) == ("<b>Go</b> to Good.", "success")
    assert 1 in recorded.episode.actions[:, 0] and recorded.players[0].kind == "human"
    assert "solver" not in str(recorded.players), "people have pseudonyms"
