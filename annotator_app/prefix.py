"""Serving everything under a path, for a proxy that keeps other things at the root."""

from __future__ import annotations

import re

from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sts.errors import ArgumentError

_BASE = re.compile(r"(/[A-Za-z0-9_~.-]*[A-Za-z0-9_~-])+")


def checked_base(path: str) -> str:
    """Returns a base path as it is kept: "" or like "/judge", without a slash at its end.

    Raises:
      ArgumentError: it is no plain path.
    """
    base = path.rstrip("/")
    if base and not _BASE.fullmatch(base):
        raise ArgumentError(f"--base-path: expected a path like /judge, found {path!r}")
    return base


class Prefix:
    """ASGI middleware that takes `base` from the beginning of each path, and serves nothing else.

    Whoever asks without the slash after it is sent on, as what a page loads lies beside it.
    """

    def __init__(self, app: ASGIApp, base: str) -> None:
        """Stands before `app`; `base` is as `checked_base` returns it."""
        self._app = app
        self._base = base

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is below the base path."""
        app, path = self._app, scope.get("path", "")
        if not self._base or scope["type"] not in ("http", "websocket"):
            pass
        elif path.startswith(f"{self._base}/"):
            rest = path[len(self._base) :]
            scope = {**scope, "path": rest, "raw_path": rest.encode()}
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 4404, "reason": ""})
            return
        elif path == self._base:
            query = scope["query_string"].decode("latin-1")
            app = RedirectResponse(f"{self._base}/{query and '?'}{query}", status_code=307)
        else:
            app = PlainTextResponse(f"This study is at {self._base}/.", status_code=404)
        await app(scope, receive, send)
