"""The addresses that there are, and what may be asked of each.

Streamlit has more than its pages ask for: uploads, its measurements, an interface for programs, and
whatever a later version brings. Who judges has no use for these, and nobody is to find one.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

PAGE = re.compile(r"/[a-z]*")
"""The address of a page; which there are is Streamlit's to say."""
STREAM = "/_stcore/stream"
HEALTH = "/_stcore/health"
ENTER = "/enter"
RESULTS = "/results/"
SCRIPTS = "/scripts/"
_STREAMLITS = (HEALTH, "/_stcore/host-config", "/favicon.png")
_FOLDERS = (RESULTS, SCRIPTS)
_STATIC = re.compile(r"/static/[a-z]+/\w[\w.-]*")
_READING = ("GET", "HEAD")


class Routes:
    """ASGI middleware that knows no address but those that a page asks for.

    Args:
      app: what answers them.
      more: addresses besides, such as those of signing in.
    """

    def __init__(self, app: ASGIApp, more: Collection[str] = ()) -> None:
        """Stands before `app`."""
        self._app = app
        self._single = {*_STREAMLITS, *more}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what has an answer."""
        kind, path = scope["type"], scope.get("path", "")
        if kind == "websocket" and path != STREAM:
            await send({"type": "websocket.close", "code": 4404, "reason": ""})
            return
        app = self._app
        if kind == "http" and not self._is_one(path):
            app = PlainTextResponse("There is nothing at this address.", status_code=404)
        elif kind == "http" and not _may(scope["method"], path):
            app = PlainTextResponse("This address is only read.", 405, {"Allow": "GET, HEAD"})
        await app(scope, receive, send)

    def _is_one(self, path: str) -> bool:
        return (
            path in self._single
            or PAGE.fullmatch(path) is not None
            or _STATIC.fullmatch(path) is not None
            or path.startswith(_FOLDERS)
        )


def _may(method: str, path: str) -> bool:
    return method in _READING or (method == "POST" and path == ENTER)
