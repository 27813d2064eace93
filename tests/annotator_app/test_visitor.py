"""What a page says where nobody can tell whose it is."""

from __future__ import annotations

import sys
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from annotator_app import state
from annotator_app.entry import AWAY
from sts.annotations.types import Annotator
from sts.errors import StoreError


@pytest.fixture(autouse=True)
def main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives back the main module, which `AppTest` replaces and every spawned process imports."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


def script() -> None:
    import streamlit as st

    from annotator_app.pages.visitor import visitor

    person = visitor("annotator")
    st.write(f"at the page: {person and person.name}")


def test_a_page_whose_store_is_away_says_so_and_runs_anew_once_it_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def away() -> Any:
        raise StoreError("annotation database /secret/place is gone")

    monkeypatch.setattr(state, "person", away)
    page = AppTest.from_function(script).run()
    assert [one.value for one in page.error] == [AWAY] and not page.exception
    monkeypatch.setattr(state, "person", lambda: Annotator(1, "Ann"))
    page.run()
    assert not page.error and page.markdown[0].value == "at the page: Ann"


def test_a_page_whose_session_has_ended_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "person", lambda: None)
    page = AppTest.from_function(script).run()
    assert "Your session has ended" in page.error[0].value


def test_a_page_is_for_who_has_its_role(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "person", lambda: Annotator(1, "Ann", roles=("lead",)))
    page = AppTest.from_function(script).run()
    assert "for the role annotator" in page.error[0].value
    assert page.markdown[0].value == "at the page: None"
