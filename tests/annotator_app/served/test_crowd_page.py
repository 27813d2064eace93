"""A participant of a crowd platform, from the study link to the return link."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts.annotations.people import external_ids
from tests.annotator_app.served.browser import next_one, press
from tests.annotator_app.serving import Server
from tests.stores import ask, change
from tests.waiting import PATIENCE
from tests.zygote import Zygote

PID = "5f1c0ffee"
RETURN = "https://platform.example/complete?cc=C0DE"
SETTINGS = f'[annotation]\nclips_per_person = 2\ncompletion = "{RETURN}"'


@pytest.fixture
def crowd(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    file = folder / "workspace.toml"
    file.write_text(file.read_text().replace("[annotation]", SETTINGS))
    with Server(folder, zygote=zygote) as server:
        yield server


@pytest.mark.landing
def test_participant_joins_judges_what_was_asked_for_and_gets_the_return_link(
    crowd: Server, chromium: Any
) -> None:
    token = change(crowd.store, external_ids.open_link, 5)
    context = chromium.new_context()
    context.set_default_timeout(1000 * PATIENCE)
    page = context.new_page()
    page.goto(crowd.url(f"/enter?t={token}&pid={PID}"))
    assert PID in page.text_content("body")
    page.click("text=Start")
    for _ in range(2):
        next_one(page)
        page.wait_for_selector(".player[data-item]")
        press(page, "n", "Enter")
    assert page.get_by_role("link", name="Guide").count()
    assert not page.get_by_role("link", name="Live").count(), "strangers only judge"
    link = page.locator(".empty a:not([hidden])")
    link.wait_for()
    assert link.get_attribute("href") == RETURN and PID not in page.url
    (name,) = ask(crowd.store, external_ids.load_external_ids)
    assert len(crowd.judgements(name)) == 2
    assert PID not in (crowd.folder / "server.log").read_text()
    page.goto(crowd.url(f"/enter?t={token}&pid={PID}"))  # the platform's link once more
    link.wait_for()
    assert len(ask(crowd.store, external_ids.load_external_ids)) == 1
    page.goto(crowd.url("/live"))
    page.get_by_role("link", name="Guide").wait_for()
    assert not page.get_by_text("Open a session").count()
    context.close()
