"""The components' scripts at addresses of their own, so that a browser fetches each once.

Streamlit sends a component's texts with every run of its page, which is with every answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator_app.routes import SCRIPTS
from sts.storage.files import content_hash

_HEADERS = {
    "Cache-Control": "private, max-age=31536000, immutable",  # another script has another address
    "X-Content-Type-Options": "nosniff",
}


def loading(script: str, name: str, base: str = "") -> str:
    """Returns a script that brings `script` from its own address and does what it does.

    Args:
      script: an ES module with a default export.
      name: of the component.
      base: the path under which everything is served, "" or like "/judge".
    """
    path = json.dumps(base + address(script, name))
    return (
        f"const {{ default: mount }} = await import(location.origin + {path});\n"
        "export default mount;\n"
    )


def address(script: str, name: str) -> str:
    """Returns where a component's script is served, below the base path."""
    return f"{SCRIPTS}{name}-{content_hash(script.encode())[:16]}.mjs"


class Scripts:
    """ASGI middleware that answers the addresses of scripts.

    Args:
      app: what answers everything else.
      script: gives the script of a component by its name, or None where there is none.
    """

    def __init__(self, app: ASGIApp, script: Callable[[str], str | None]) -> None:
        """Stands before `app`."""
        self._app, self._script = app, script

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers for a script, and passes everything else on."""
        app = self._app
        if scope["type"] == "http" and scope["path"].startswith(SCRIPTS):
            app = self._answer(scope["path"])
        await app(scope, receive, send)

    def _answer(self, path: str) -> Response:
        name = path.removeprefix(SCRIPTS).partition("-")[0]
        script = self._script(name)
        if script is None or path != address(script, name):
            return PlainTextResponse("There is no such script.", status_code=404)
        return Response(script, media_type="text/javascript", headers=_HEADERS)
