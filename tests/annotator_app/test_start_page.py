"""The page on which people open live sessions, with choices that arrive together with a click."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.live.types import Opening
from sts.storage.workspace import Workspace
from sts_annotator_app.live.rooms import Refused
from tests.annotator_app.scripted import open_page, serve
from tests.stores import add_person

pytestmark = pytest.mark.usefixtures("main_module")


class StubHall:
    """A hall that keeps what was opened, or refuses to open anything."""

    def __init__(self, refusal: str = "") -> None:
        self.opened: list[Opening] = []
        self.refusal = refusal

    def list_places(self, name: str) -> list[object]:
        return []

    def create(self, opening: Opening) -> None:
        if self.refusal:
            raise Refused(self.refusal)
        self.opened.append(opening)


@pytest.fixture
def hall(workspace: Workspace, store: AnnotationStore, monkeypatch: pytest.MonkeyPatch) -> StubHall:
    """The hall of a server, with a person at the page."""
    hall = StubHall()
    serve(
        monkeypatch,
        workspace,
        current_person=add_person(store, "Ann"),
        get_hall=hall,
        get_store=store,
        list_agents={"random": (), "reader": ()},
        list_recordable=["lambda-star"],
        mount_component=lambda **_: None,
    )
    return hall


def script() -> None:
    from sts_annotator_app.pages.live import show_page

    show_page()


def find(widgets: object, label: str) -> SimpleNamespace:
    return next(one for one in widgets if one.label == label)  # type: ignore[attr-defined]


def test_session_opens_with_the_partner_chosen_just_before_the_click(hall: StubHall) -> None:
    page = open_page(script)
    find(page.selectbox, "Together with").select("reader")
    find(page.button, "Open a session").click()
    page.run()  # once: a browser sends a choice and a click together when both are quick
    assert not page.exception
    (opening,) = hall.opened
    person, partner = opening.participants
    assert (person.kind, partner.kind, partner.name) == ("human", "agent", "reader")
    assert not [one for one in page.button if one.label == "Open a session"]


def test_session_that_is_refused_says_why_and_keeps_the_choices(hall: StubHall) -> None:
    hall.refusal = "Nobody may record now."
    page = open_page(script)
    find(page.selectbox, "Together with").select("reader")
    find(page.button, "Open a session").click()
    page.run()
    assert [one.value for one in page.toast] == ["Nobody may record now."]
    assert find(page.selectbox, "Together with").value == "reader"
