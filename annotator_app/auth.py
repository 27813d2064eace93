"""The door: a personal link sets a cookie, and everything else asks for it, websocket included."""

from __future__ import annotations

import time
from collections.abc import Callable
from urllib.parse import parse_qs

from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

COOKIE = "sts_annotator"
HEALTH = "/_stcore/health"
MONTH = 30 * 86400
REMEMBERED = 10.0
"""Seconds for which a token that was let in is not looked up again: a page is many requests."""


class Gate:
    """ASGI middleware that lets nobody in without a personal link.

    Args:
      app: what stands behind the door.
      admits: says whether a token is somebody's; asked anew every few seconds.
    """

    def __init__(self, app: ASGIApp, admits: Callable[[str], bool]) -> None:
        """Stands before `app`."""
        self._app = app
        self._admits = admits
        self._known: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, sets the cookie at `/enter`, or refuses."""
        if scope["type"] not in ("http", "websocket") or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
        elif scope["type"] == "http" and scope["path"] == "/enter":
            await self._enter(scope)(scope, receive, send)
        elif self._is_known(_cookie(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4401, "reason": ""})
        else:
            await _refusal("This page opens with your personal link.")(scope, receive, send)

    def _enter(self, scope: Scope) -> ASGIApp:
        token = parse_qs(scope["query_string"].decode("latin-1")).get("t", [""])[0]
        if not self._is_known(token):
            return _refusal("This link is not valid, or no longer. Ask for a new one.")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            COOKIE,
            token,
            max_age=MONTH,
            httponly=True,
            samesite="lax",
            secure=scope["scheme"] == "https",
        )
        # A link in the address bar or in a proxy's memory would let anyone in.
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _is_known(self, token: str) -> bool:
        now = time.monotonic()
        if self._known.get(token, -1.0) > now:
            return True
        if not token or not self._admits(token):
            self._known.pop(token, None)
            return False
        self._known[token] = now + REMEMBERED
        return True


def _cookie(scope: Scope) -> str:
    header = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
    # Other programs on this host leave cookies of any form, which the standard library stumbles on.
    return cookie_parser(header).get(COOKIE, "")


def _refusal(text: str) -> PlainTextResponse:
    return PlainTextResponse(text, status_code=401, headers={"Cache-Control": "no-store"})
