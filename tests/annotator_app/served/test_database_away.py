"""A database that is away, on the page of somebody who comes and of somebody who is there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sts_annotator_app.entry import UNAVAILABLE
from tests.annotations.conftest import cluster as cluster
from tests.annotator_app.served.test_player_page import item, press, saved
from tests.annotator_app.serving import Server
from tests.clusters import Cluster
from tests.stores import add_person

pytestmark = [
    pytest.mark.browser,
    pytest.mark.postgresql,
]


def test_a_database_that_is_away_is_said_and_everything_goes_on_when_it_is_back(
    open_page: Callable[..., Any],
    recorded: Path,
    tmp_path: Path,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    direct = cluster.emptied()
    here, away = Path(direct.partition("host=")[2]), tmp_path / "s"
    away.symlink_to(here)
    monkeypatch.setenv("STS_DATABASE_URL", f"postgresql://sts@/postgres?host={away}")
    server = Server(shutil.copytree(recorded, tmp_path / "workspace"))
    server.start()
    try:
        page = open_page("stayer", at=server)
        late = str(add_person(server.store, "late").token)
        away.unlink()
        cluster.end_connections()
        first = item(page)
        press(page, "n", "Enter")
        page.locator(".status", has_text="cannot save at the moment").wait_for()
        newcomer = page.context.browser.new_context().new_page()
        answer = newcomer.goto(server.url(f"/enter?t={late}"))
        assert answer.status == 503 and UNAVAILABLE in newcomer.inner_text("body")

        away.symlink_to(here)
        newcomer.get_by_role("button", name="Sign in as late").click(timeout=180_000)
        newcomer.wait_for_selector(".player .stage:not([hidden])", timeout=180_000)
        saved(page)
        assert [one.item for one in server.judgements("stayer")] == [first]
        newcomer.context.close()
    finally:
        server.close()
