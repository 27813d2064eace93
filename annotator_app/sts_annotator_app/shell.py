"""The HTML that every page begins with: Streamlit's own, told where its server is."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse, Response

_BACKEND_SCRIPT = (
    "<head><script>window.__streamlit = {BACKEND_BASE_URL: location.origin%s};</script>"
)
_INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
_POLICY = (
    "default-src 'none'; script-src 'self' blob: {scripts}; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self'; frame-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""What a page may do: run the server's own scripts, and components, which Streamlit makes blobs of;
and load from and send to this server alone."""


def render_shell(base: str = "") -> Response:
    """Return the answer for the address of a page; `base` is the path that all are served under.

    A browser that is not told looks below that address first, so that each page but the first began
    with two requests that fail.
    """
    told = _BACKEND_SCRIPT % (f" + {json.dumps(base)}" if base else "")
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    html = index.read_text(encoding="utf-8").replace("<head>", told, 1)
    policy = _POLICY.format(scripts=" ".join(map(_hash_script, _INLINE.findall(html))))
    headers = {"Cache-Control": "private, no-cache", "Content-Security-Policy": policy}
    return HTMLResponse(html, headers=headers)


def _hash_script(script: str) -> str:
    """The name by which a policy lets a script of a page run: a hash of its text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
