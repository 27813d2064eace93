"""HTML of every page: Streamlit's own, with the address of its server."""

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
"""Content security policy: scripts of this server and of components, which Streamlit loads as
blobs; requests to this server only."""


def render_shell(base: str = "") -> Response:
    """Return the HTML response for a page; `base` is the path prefix of all addresses.

    Without the server's address, Streamlit would look for it below the page's own address and
    begin each page but the first with two failing requests.
    """
    backend = _BACKEND_SCRIPT % (f" + {json.dumps(base)}" if base else "")
    index = Path(streamlit.__file__).parent / "static" / "index.html"
    html = index.read_text(encoding="utf-8").replace("<head>", backend, 1)
    digests = (hashlib.sha256(script.encode()).digest() for script in _INLINE.findall(html))
    scripts = " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
    policy = _POLICY.format(scripts=scripts)
    headers = {"Cache-Control": "private, no-cache", "Content-Security-Policy": policy}
    return HTMLResponse(html, headers=headers)
