"""The door: who has a personal link gets in, whatever else their browser holds."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import pytest

from annotator_app.auth import COOKIE, Gate

TOKEN = "a-token"


def status(path: str, cookie: str = "", query: str = "", kind: str = "http") -> int:
    """Returns what a request is answered with; 200 from behind the door."""
    sent: list[dict[str, Any]] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": kind,
        "scheme": "http",
        "path": path,
        "query_string": query.encode("latin-1"),
        "headers": [(b"cookie", cookie.encode("latin-1"))] if cookie else [],
    }
    answer: Coroutine[Any, Any, None] = Gate(inside, lambda token: token == TOKEN)(
        scope, receive, send
    )
    with pytest.raises(StopIteration):  # nothing in it waits, so it needs no event loop
        answer.send(None)
    return int(sent[0].get("status") or sent[0]["code"])


@pytest.mark.parametrize(
    "others",
    ["", "_xsrf=2|a|b; ", 'state={"a": 1, "b": "c d"}; ', "; ;=; ", "näme=ü; ", "a b=c; "],
)
def test_cookies_of_other_programs_do_not_stand_in_the_way(others: str) -> None:
    assert status("/", f"{others}{COOKIE}={TOKEN}") == 200
    assert status("/", f"{COOKIE}={TOKEN}; {others}") == 200
    assert status("/", f"{others}{COOKIE}=another") == 401


@pytest.mark.parametrize("path", ["/", "/enter/..", "//", "/_stcore/stream", "/_stcore/health/"])
def test_nobody_is_let_in_without_a_link(path: str) -> None:
    assert status(path) == 401
    assert status(path, kind="websocket") == 4401


def test_a_link_is_let_in_and_another_is_not() -> None:
    assert status("/enter", query=f"t={TOKEN}") == 303
    assert status("/enter", query="t=%ff%00") == 401
    assert status("/enter", query="") == 401
