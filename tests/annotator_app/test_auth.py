"""The door: who has a personal link gets in, whatever else their browser holds."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from annotator_app.auth import AWAY, Auth, cookie_name
from sts.errors import StoreError

TOKEN = "a-token"
COOKIE = cookie_name("/somewhere")
HERE = "http://study.example:8501"


def asked(
    path: str,
    cookie: str = "",
    query: str = "",
    kind: str = "http",
    scheme: str = "",
    headers: dict[str, str] | None = None,
    admits: Callable[[str], bool] = lambda token: token == TOKEN,
) -> list[dict[str, Any]]:
    """Returns what a request is answered with; status 200 from behind the door."""
    sent: list[dict[str, Any]] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200})

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "study.example:8501", "origin": HERE} if headers is None else headers
    given = given | ({"cookie": cookie} if cookie else {})
    scope = {
        "type": kind,
        "scheme": scheme or {"http": "http", "websocket": "ws"}[kind],
        "path": path,
        "query_string": query.encode("latin-1"),
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items()],
    }
    answer: Coroutine[Any, Any, None] = Auth(inside, admits, COOKIE)(scope, receive, send)
    with pytest.raises(StopIteration):  # nothing in it waits, so it needs no event loop
        answer.send(None)
    return sent


def status(*given: Any, **more: Any) -> int:
    first = asked(*given, **more)[0]
    return int(first.get("status") or first["code"])


@pytest.mark.parametrize(
    "others",
    ["", "_xsrf=2|a|b; ", 'state={"a": 1, "b": "c d"}; ', "; ;=; ", "näme=ü; ", "a b=c; "],
)
def test_cookies_of_other_programs_do_not_stand_in_the_way(others: str) -> None:
    assert status("/", f"{others}{COOKIE}={TOKEN}") == 200
    assert status("/", f"{COOKIE}={TOKEN}; {others}") == 200
    assert status("/", f"{others}{COOKIE}=another") == 401


def test_two_studies_on_one_host_do_not_put_out_each_others_people() -> None:
    other = cookie_name("/elsewhere")
    assert other != COOKIE and "/" not in other
    assert status("/", f"{other}=their-token; {COOKIE}={TOKEN}") == 200
    assert status("/", f"{other}={TOKEN}") == 401
    headers = dict(asked("/enter", query=f"t={TOKEN}")[0]["headers"])
    assert headers[b"set-cookie"].startswith(f"{COOKIE}={TOKEN};".encode())


@pytest.mark.parametrize("path", ["/", "/enter/..", "//", "/_stcore/stream", "/_stcore/health/"])
def test_nobody_is_let_in_without_a_link(path: str) -> None:
    assert status(path) == 401
    assert status(path, kind="websocket") == 4401


def test_a_link_is_let_in_and_another_is_not() -> None:
    assert status("/enter", query=f"t={TOKEN}") == 303
    assert status("/enter", query="t=%ff%00") == 401
    assert status("/enter", query="") == 401


STREAM: dict[str, Any] = {"path": "/_stcore/stream", "cookie": f"{COOKIE}={TOKEN}"}


@pytest.mark.parametrize(
    ("scheme", "host", "origin"),
    [("ws", "study.example:8501", HERE), ("ws", "Study.Example:8501", HERE),
     ("ws", "127.0.0.1:8501", "http://127.0.0.1:8501"), ("ws", "[::1]:80", "http://[::1]"),
     ("wss", "study.example", "https://study.example"),
     ("wss", "study.example", "https://study.example:443")],
)  # fmt: skip
def test_a_websocket_is_opened_by_a_page_of_this_server(
    scheme: str, host: str, origin: str
) -> None:
    headers = {"host": host, "origin": origin}
    assert status(**STREAM, kind="websocket", scheme=scheme, headers=headers) == 200


@pytest.mark.parametrize(
    "origin",
    [None, "", "null", "http://study.example", "http://study.example:8502", "file://",
     "https://study.example:8501", "http://localhost:8501", "http://localhost:3000",
     "http://127.0.0.1:8501", "http://study.example:8501.evil.example", "http://study.example:x",
     "http://evil.example/study.example:8501"],
)  # fmt: skip
def test_no_other_page_opens_a_websocket_not_even_another_of_this_machine(
    origin: str | None,
) -> None:
    headers = {"host": "study.example:8501"} | ({} if origin is None else {"origin": origin})
    assert status(**STREAM, kind="websocket", headers=headers) == 4403


def test_a_database_that_is_away_is_said_in_a_page_that_asks_again() -> None:
    def away(token: str) -> bool:
        raise StoreError("annotation database /secret/place is gone")

    for path, query in (("/", ""), ("/enter", f"t={TOKEN}")):
        start, body = asked(path, f"{COOKIE}={TOKEN}", query, admits=away)
        assert start["status"] == 503
        assert dict(start["headers"])[b"refresh"] == b"5"
        assert AWAY in body["body"].decode() and "/secret" not in body["body"].decode()
    assert status(**STREAM, kind="websocket", admits=away) == 4401
