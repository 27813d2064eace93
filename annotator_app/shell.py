"""The HTML that every page begins with: Streamlit's own, told where its server is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator_app.routes import PAGE

_TOLD = "<head><script>window.__streamlit = {BACKEND_BASE_URL: location.origin%s};</script>"
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY = (
    "default-src 'none'; script-src 'self' blob: {scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may do: run the server's own scripts, and components, which Streamlit makes blobs of;
and load from and send to this server alone."""


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
        scripts = " ".join(map(_named, _INLINE.findall(self._html)))
        self._headers = {
            "Cache-Control": "private, no-cache",
            "Content-Security-Policy": _POLICY.format(scripts=scripts),
        }
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers for a page, and passes everything else on."""
        app = self._app
        if scope["type"] == "http" and PAGE.fullmatch(scope["path"]):
            app = HTMLResponse(self._html, headers=self._headers)
        await app(scope, receive, send)


def _named(script: str) -> str:
    """The name by which a policy lets a script of a page run: a hash of its text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
