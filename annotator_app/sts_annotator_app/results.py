"""Endpoint that serves the latest report and its clips to the study lead."""

import re
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, Response

from sts_annotator_app.auth.browser_sessions import BrowserSessions
from sts_annotator_app.auth.entry_pages import render_refusal

RESULTS = "/results/"
_FILES = re.compile(
    r"(report|appendix)\.html|report\.json|tables/[a-z_]+\.csv|media/[A-Za-z0-9_.-]+"
    r"|evidence/(index\.html|[a-z]+\.js|scenarios/[0-9]+\.js)"
)
"""Files of a report's folder that may be served."""
_LEAD_ONLY = "Only the study lead can see this page. Ask the lead for the role."
_NOT_BUILT = "No report yet. Build it on the Report page."
_HEADERS = {
    # The report's own policy restricts its scripts; this one restricts who may embed it.
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Cache-Control": "no-store",
}


def serve_results(
    folder: Callable[[], Path], sessions: BrowserSessions
) -> Callable[[Request], Response]:
    """Return the endpoint for a report's files; people without the role lead get an error page."""

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
