"""The HTML that every page begins with: Streamlit's own, told where its server is."""

from __future__ import annotations

import json
import re
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_PAGE = re.compile(r"/[a-z]*")
_TOLD = "<head><script>window.__streamlit = {BACKEND_BASE_URL: location.origin%s};</script>"


class Shell:
    """ASGI middleware that answers the address of a page.

    A browser that is not told looks below that address first, so that each page but the first began
    with two requests that fail.
    """

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        """Stands before `app`; `base` is the path under which everything is served."""
        told = _TOLD % (f" + {json.dumps(base)}" if base else "")
        index = Path(streamlit.__file__).parent / "static" / "index.html"
        self._html = index.read_text(encoding="utf-8").replace("<head>", told, 1)
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers for a page, and passes everything else on."""
        app = self._app
        if scope["type"] == "http" and _PAGE.fullmatch(scope["path"]):
            app = HTMLResponse(self._html, headers={"Cache-Control": "no-cache"})
        await app(scope, receive, send)
