"""Serving the report that was built last, and what lies behind it, to who leads the study."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from pathlib import Path

from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator_app.auth import session_secret
from annotator_app.entry import away, refusal
from annotator_app.routes import RESULTS
from sts.annotations.types import Annotator
from sts.errors import StoreError

_FILES = re.compile(r"report\.html|evidence/(index\.html|[a-z]+\.js|scenarios/[0-9]+\.js)")
"""What of a report's folder a browser is given."""
_LEADS_ALONE = "This is for who leads the study. Whoever does can give you the role."
_NOT_BUILT = "There is no report yet. The page Report has it built."
_HEADERS = {
    # A page's own policy lets it run its scripts alone; this lets none but ours show it.
    "Content-Security-Policy": "frame-ancestors 'self'",
    "Cache-Control": "no-store",
}
_LOG = logging.getLogger(__name__)


class Results:
    """ASGI middleware that answers addresses below `RESULTS`.

    Args:
      app: answers all others.
      folder: says where the report is.
      person: says whose session a secret is of; raises StoreError while that cannot be said.
      cookie: the name of the cookie that holds the secret.
    """

    def __init__(
        self,
        app: ASGIApp,
        folder: Callable[[], Path],
        person: Callable[[str], Annotator | None],
        cookie: str,
    ) -> None:
        """Stands before `app`, behind the door."""
        self._app, self._folder, self._person, self._cookie = app, folder, person, cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with a file of the report, or says why not."""
        app = self._app
        if scope["type"] == "http" and scope["path"].startswith(RESULTS):
            try:
                app = await asyncio.to_thread(self._answer, scope)
            except StoreError as error:
                _LOG.error("annotation store: %s", error)
                app = away()
        await app(scope, receive, send)

    def _answer(self, scope: Scope) -> ASGIApp:
        person = self._person(session_secret(scope, self._cookie))
        if person is None or "lead" not in person.roles:
            return refusal(_LEADS_ALONE, 403)
        name = scope["path"].removeprefix(RESULTS)
        file = self._folder() / name
        if not _FILES.fullmatch(name) or not file.is_file():
            return refusal(_NOT_BUILT, 404)
        return FileResponse(file, headers=_HEADERS)
