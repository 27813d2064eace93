"""Serving the report that was built last, and what lies behind it, to who leads the study."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from sts_annotator_app.auth import BrowserSessions
from sts_annotator_app.entry import render_refusal

RESULTS = "/results/"
_FILES = re.compile(r"report\.html|evidence/(index\.html|[a-z]+\.js|scenarios/[0-9]+\.js)")
"""What of a report's folder a browser is given."""
_LEAD_ONLY = "This is for who leads the study. Whoever does can give you the role."
_NOT_BUILT = "There is no report yet. The page Report has it built."
_HEADERS = {
    # A page's own policy lets it run its scripts alone; this lets none but ours show it.
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Cache-Control": "no-store",
}


def serve_results(
    folder: Callable[[], Path], sessions: BrowserSessions
) -> Callable[[Request], Response]:
    """Return what answers the addresses of a report's files, or says why it does not."""

    def answer(request: Request) -> Response:
        person = sessions.find_person(request)
        if person is None or "lead" not in person.roles:
            return render_refusal(_LEAD_ONLY, 403)
        name = request.scope["path"].partition(RESULTS)[2]
        file = folder() / name
        if not _FILES.fullmatch(name) or not file.is_file():
            return render_refusal(_NOT_BUILT, 404)
        return FileResponse(file, headers=_HEADERS)

    return answer
