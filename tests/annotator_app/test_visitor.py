"""Pages without a person, a role or consent."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import consent
from sts.annotations.records import Annotator
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from sts_annotator_app import state
from sts_annotator_app.auth.entry_pages import UNAVAILABLE
from tests.stores import add_person, ask

pytestmark = pytest.mark.usefixtures("main_module")


def script() -> None:
    import streamlit as st

    from sts_annotator_app.pages.access import require_person

    person = require_person("annotator")
    st.write(f"at the page: {person and person.name}")


def test_page_requires_a_store_a_session_and_the_role(monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Any:
        raise StoreError("annotation database /secret/place is gone")

    monkeypatch.setattr(state, "pending_consent", lambda person: None)
    monkeypatch.setattr(state, "current_person", away)
    page = AppTest.from_function(script).run()
    assert [one.value for one in page.error] == [UNAVAILABLE] and not page.exception
    monkeypatch.setattr(state, "current_person", lambda: Annotator(1, "Ann"))
    page.run()  # the store is back
    assert not page.error and page.markdown[0].value == "at the page: Ann"
    monkeypatch.setattr(state, "current_person", lambda: None)
    assert "Your session has ended" in page.run().error[0].value
    monkeypatch.setattr(state, "current_person", lambda: Annotator(1, "Ann", roles=("lead",)))
    page = AppTest.from_function(script).run()
    assert "for the role annotator" in page.error[0].value
    assert page.markdown[0].value == "at the page: None"


def test_page_requires_consent_to_the_current_text(
    workspace: Workspace, store: AnnotationStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = workspace.path("consent.md")
    file.write_text("# What you agree to\n\nNothing <b>much</b>.\n")
    ann = add_person(store, "Ann")
    store.study = store.study._replace(consent="consent.md")
    for name, value in {
        "get_store": store,
        "get_workspace": workspace,
        "current_person": ann,
    }.items():
        monkeypatch.setattr(state, name, lambda value=value: value)
    for changed in (False, True):
        page = AppTest.from_function(script).run()
        assert "What you agree to" in page.markdown[0].value
        assert page.markdown[-1].value == "at the page: None"
        page.button[0].click().run()
        assert not page.button and page.markdown[0].value == "at the page: Ann"
        if not changed:  # the page that is open asks again as well
            file.write_text("# What you agree to now\n")
            assert page.run().markdown[-1].value == "at the page: None"
    assert [one.people for one in ask(store, consent.count_consents)] == [1, 1]
    file.unlink()
    page = AppTest.from_function(script).run()
    assert "cannot be displayed" in page.error[0].value
    assert page.markdown[-1].value == "at the page: None"
