"""Pages that run without a browser, with what they read from the server set by a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sts.storage.workspace import Workspace
from sts_annotator_app import settings, state
from sts_annotator_app.settings import Settings


def serve(
    monkeypatch: pytest.MonkeyPatch, workspace: Workspace, suite: str = "", **answers: Any
) -> None:
    """Have the functions of `state` of these names answer so, and the workspace be served."""
    for name, value in {"get_workspace": workspace, **answers}.items():
        monkeypatch.setattr(state, name, lambda *_, value=value: value)
    monkeypatch.setattr(settings, "_published", [Settings(str(workspace.root), suite, suite)])


def open_page(script: Callable[[], None]) -> AppTest:
    """Run a page whose module `script` imports."""
    page = AppTest.from_function(script, default_timeout=60).run()
    assert not page.exception
    return page
