"""Cacheable addresses for the components' scripts.

Streamlit would otherwise send a component's script with every run of its page.
"""

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
    """Return a short script that imports a component's ES module from its address and mounts it."""
    path = json.dumps(base + script_address(script, name))
    return (
        f"const {{ default: mount }} = await import(location.origin + {path});\n"
        "export default mount;\n"
    )


def script_address(script: str, name: str) -> str:
    """Return the path of a component's script below the base path; it contains a content hash."""
    return f"{SCRIPTS}{name}-{content_hash(script.encode())[:16]}.mjs"


def serve_scripts(find_script: Callable[[str], str | None]) -> Callable[[Request], Response]:
    """Return the endpoint for scripts; `find_script` maps a component's name to its script."""

    def answer(request: Request) -> Response:
        file = request.path_params["file"]
        name = file.partition("-")[0]
        script = find_script(name)
        if script is None or not script_address(script, name).endswith(f"/{file}"):
            return PlainTextResponse("Script not found.", status_code=404)
        return Response(script, media_type="text/javascript", headers=_HEADERS)

    return answer
