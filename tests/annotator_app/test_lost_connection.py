"""A server that dies between Enter and its acknowledgement."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.annotator_app.conftest import Server
from tests.annotator_app.test_player_page import item, press, saved, status

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]


@pytest.fixture
def mortal(recorded: Path, tmp_path: Path) -> Iterator[Server]:
    made = Server(shutil.copytree(recorded, tmp_path / "workspace"))
    made.start()
    yield made
    made.close()


def test_what_was_answered_while_the_server_was_dead_is_kept_once(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = open_page("survivor", at=mortal)
    press(page, "n", "Enter")
    saved(page)
    given = []
    mortal.end(signal.SIGKILL)
    for _ in range(2):
        given.append(item(page))
        press(page, "End", "s", "Enter")
    assert "2 unsaved" in page.text_content(".progress")
    page.locator(".status", has_text="Connection lost").wait_for()
    assert "will be sent when the connection returns" in status(page)
    given.append(item(page))
    assert page.locator("[role=dialog]").count() == 0
    page.click("[data-action=not_done]")  # the page is not blocked meanwhile
    press(page, "Enter")
    assert "3 unsaved" in page.text_content(".empty p")

    mortal.start()
    page.wait_for_selector(".player .stage:not([hidden])")
    saved(page)
    kept = mortal.judgements("survivor")
    assert [one.item for one in reversed(kept)][1:] == given
    assert len(kept) == 4
    press(page, "n", "Enter")
    saved(page)
    assert len(mortal.judgements("survivor")) == 5


def test_an_answer_lost_between_enter_and_the_socket_is_sent_by_the_next_page(
    open_page: Callable[..., Any], mortal: Server
) -> None:
    page = open_page("reopener", at=mortal)
    first = item(page)
    mortal.end(signal.SIGKILL)
    press(page, "n", "Enter")
    mortal.start()
    page.reload()
    page.wait_for_selector(".player .stage:not([hidden])")
    saved(page)
    assert [one.item for one in mortal.judgements("reopener")] == [first]
    assert item(page) != first
