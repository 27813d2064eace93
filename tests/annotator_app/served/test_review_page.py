"""The reviewer's page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from sts.annotations.answers import review_events, submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import items
from sts.annotations.log.events import Event
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts_scenarios.rules.labels import label_suite
from tests.annotator_app.served.browser import Opener, press, saved
from tests.annotator_app.serving import SUITE, Server
from tests.stores import add_person, ask
from tests.zygote import Zygote


def judge(store: AnnotationStore, name: str, verdicts: list[tuple[str, int | None]]) -> None:
    """Add a person who judges the first clips."""
    person = add_person(store, name).id
    with store.database.write() as connection:
        every = connection.scalars(select(items.c.id).order_by(items.c.continuation))
        for item, (verdict, step) in zip([*every], verdicts, strict=False):
            reason = "fog" if verdict == "cannot_judge" else ""
            event = Event(uuid4().hex, item, verdict=verdict, step=step, reason=reason)
            submissions.record_event(
                connection, person, event, rubric_shown=False, source="browser", now=1.0
            )


@pytest.fixture
def labelled(recorded: Path, tmp_path: Path, zygote: Zygote) -> Iterator[Server]:
    """A server on a study that has automatic labels and no judgements."""
    folder = shutil.copytree(recorded, tmp_path / "workspace")
    workspace = Workspace.open(str(folder))
    label_suite(workspace, suites.load(workspace, SUITE))
    with Server(folder, zygote=zygote) as made:
        yield made


def reviewer(open_page: Opener, server: Server, name: str) -> Any:
    page = open_page(name, server, ready=False, roles=("reviewer",))
    page.wait_for_selector(".review .stage:not([hidden]), .review .empty:not([hidden])")
    return page


def item(page: Any) -> str:
    return str(page.get_attribute(".review", "data-item"))


@pytest.mark.landing
def test_reviewer_decides_skips_and_classifies_from_the_keyboard(
    open_page: Opener, labelled: Server
) -> None:
    done, missed = ("success", 2), ("not_done", None)
    judge(labelled.store, "Ana", [done, done, done, missed, missed])
    unlike = [missed, ("failure", 3), ("cannot_judge", None), missed, missed]
    judge(labelled.store, "Bo", unlike)
    page = reviewer(open_page, labelled, "Rhea")
    assert "Annotators disagree on whether it was completed." in page.inner_text(
        ".annotator-verdicts"
    )
    assert {"P", "Q"} == {*page.locator(".annotator-verdicts b").all_inner_texts()}
    shown = page.content()
    assert not any(name in shown for name in ("Ana", "local-search", "stigmergy"))
    first = item(page)
    press(page, "t", "ArrowRight", "s", "e")
    page.keyboard.type("s, f & <b>n</b>")
    page.reload()
    page.locator(".status", has_text="Restored: Success at step 1").wait_for()
    assert item(page) == first
    press(page, "Enter")
    second = item(page)
    assert second != first
    press(page, "o")
    page.keyboard.type("is it behind the wall?")
    press(page, "Enter")
    press(page, "x", "2", "Enter")
    saved(page)
    page.locator(".empty h2", has_text="2 of 3 decided").wait_for()
    assert "You skipped 1 clip." in page.inner_text(".empty")
    assert page.get_by_role("button", name="Show skipped clips").is_visible()
    decided = ask(labelled.store, review_events.load_adjudications, SUITE)[first]
    assert (decided.verdict, decided.step, decided.text) == ("success", 1, "s, f & <b>n</b>")

    def texts(kind: str, item: str, field: str) -> list[str]:
        found = ask(labelled.store, review_events.load_by_item, kind, SUITE)[item]
        return [getattr(one, field) for one in found]

    assert texts("note", second, "text") == ["is it behind the wall?"]
    press(page, "g")
    page.locator(".remarks", has_text="is it behind the wall?").wait_for()
    press(page, "q")
    page.locator(".errors button").first.wait_for()
    assert "made no attempt" in page.inner_text(".errors")
    third = item(page)
    press(page, "3", "Enter")
    saved(page)
    assert texts("review", third, "error_type") == ["empty"]
    press(page, "b", "8", "Enter")
    saved(page)
    assert texts("review", third, "error_type") == ["fair"]
