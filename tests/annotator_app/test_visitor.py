"""What a page says where nobody can tell whose it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sts.annotations import consent
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from sts_annotator_app import state
from sts_annotator_app.entry import UNAVAILABLE
from tests.stores import add_person, ask


@pytest.fixture(autouse=True)
def main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give back the main module, which `AppTest` replaces and every spawned process imports."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture(autouse=True)
def nothing_to_agree_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "pending_consent", lambda person: None)


def script() -> None:
    import streamlit as st

    from sts_annotator_app.pages.visitor import require_person

    person = require_person("annotator")
    st.write(f"at the page: {person and person.name}")


def test_a_page_whose_store_is_away_says_so_and_runs_anew_once_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> Any:
        raise StoreError("annotation database /secret/place is gone")

    monkeypatch.setattr(state, "current_person", away)
    page = AppTest.from_function(script).run()
    assert [one.value for one in page.error] == [UNAVAILABLE] and not page.exception
    monkeypatch.setattr(state, "current_person", lambda: Annotator(1, "Ann"))
    page.run()
    assert not page.error and page.markdown[0].value == "at the page: Ann"


def test_a_page_whose_session_has_ended_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "current_person", lambda: None)
    page = AppTest.from_function(script).run()
    assert "Your session has ended" in page.error[0].value


def test_a_page_is_for_who_has_its_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "current_person", lambda: Annotator(1, "Ann", roles=("lead",)))
    page = AppTest.from_function(script).run()
    assert "for the role annotator" in page.error[0].value
    assert page.markdown[0].value == "at the page: None"


def test_nobody_works_before_they_agree_to_the_text_nor_after_it_was_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    file = workspace.path("consent.md")
    file.write_text("# What you agree to\n\nNothing <b>much</b>.\n")
    with Store.open(workspace) as opened:
        ann = add_person(opened, "Ann")
        opened.study = opened.study._replace(consent="consent.md")
        monkeypatch.undo()
        monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])
        monkeypatch.setattr(state, "store", lambda: opened)
        monkeypatch.setattr(state, "workspace", lambda: workspace)
        monkeypatch.setattr(state, "current_person", lambda: ann)
        for changed in (False, True):
            page = AppTest.from_function(script)
            page.run()
            assert "What you agree to" in page.markdown[0].value
            assert page.markdown[-1].value == "at the page: None"
            page.button[0].click().run()
            assert not page.button and page.markdown[0].value == "at the page: Ann"
            if not changed:  # the page that is open asks again as well
                file.write_text("# What you agree to now\n")
                page.run()
                assert page.markdown[-1].value == "at the page: None"
        assert [one.people for one in ask(opened, consent.counts)] == [1, 1]
        file.unlink()
        page = AppTest.from_function(script).run()
        assert "cannot be displayed" in page.error[0].value
        assert page.markdown[-1].value == "at the page: None"
