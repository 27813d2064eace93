"""The components' scripts at addresses of their own, so that a browser fetches each once.

Streamlit sends a component's texts with every run of its page, which is with every answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from sts.storage.files import content_hash

SCRIPTS = "/scripts/"
_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # another script has another address
    "X-Content-Type-Options": "nosniff",
}


def build_loader(script: str, name: str, base: str = "") -> str:
    """Return a script that brings the component's ES module from its own address and mounts it."""
    path = json.dumps(base + script_address(script, name))
    return (
        f"const {{ default: mount }} = await import(location.origin + {path});\n"
        "export default mount;\n"
    )


def script_address(script: str, name: str) -> str:
    """Return where a component's script is served, below the base path."""
    return f"{SCRIPTS}{name}-{content_hash(script.encode())[:16]}.mjs"


def serve_scripts(script: Callable[[str], str | None]) -> Callable[[Request], Response]:
    """Return what answers the addresses of scripts; `script` gives one by its component's name."""

    def answer(request: Request) -> Response:
        file = request.path_params["file"]
        name = file.partition("-")[0]
        text = script(name)
        if text is None or not script_address(text, name).endswith(f"/{file}"):
            return PlainTextResponse("There is no such script.", status_code=404)
        return Response(text, media_type="text/javascript", headers=_HEADERS)

    return answer
