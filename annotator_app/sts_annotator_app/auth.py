"""Sessions of browsers: the cookie that holds one, and the middleware that asks for it."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable

from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from sts.annotations import people
from sts.annotations.sessions import LONGEST
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import StoreError

CACHE_S = 10.0
"""Seconds for which a session that was let in is not looked up again: a page is many requests."""
_PORTS = {"http": ":80", "https": ":443"}
_LOG = logging.getLogger(__name__)


def cookie_name(place: str) -> str:
    """Return the name of the cookie of the study at `place`.

    Cookies do not distinguish ports, so each workspace has one of its own: two that are served on
    one host would otherwise sign out each other's people.
    """
    return f"sts_annotator_{hashlib.sha256(place.encode()).hexdigest()[:12]}"


class BrowserSessions:
    """The sessions that browsers hold, each as a secret in a cookie."""

    def __init__(self, store: Callable[[], Store], cookie: str, base: str = "") -> None:
        """Remember none yet."""
        self.store, self._cookie, self._path = store, cookie, base or "/"
        self._admitted: dict[str, float] = {}

    def read_secret(self, connection: HTTPConnection) -> str:
        """Return the secret of the session that a request comes with, or ""."""
        return connection.cookies.get(self._cookie, "")

    def find_person(self, connection: HTTPConnection) -> Annotator | None:
        """Return the person whose session a request comes with."""
        return people.find_by_session(self.store(), self.read_secret(connection))

    async def admit(self, connection: HTTPConnection) -> bool:
        """Return True if a request comes with a session.

        A thread asks the database: it may be locked, and no other request waits for it.
        """
        now, secret = time.monotonic(), self.read_secret(connection)
        if self._admitted.get(secret, -1.0) > now:
            return True
        self._admitted = {known: until for known, until in self._admitted.items() if until > now}
        if not secret or await asyncio.to_thread(self.find_person, connection) is None:
            return False
        self._admitted[secret] = now + CACHE_S
        return True

    def set_cookie(self, request: Request, response: Response, secret: str) -> None:
        """Have a browser keep a session."""
        response.set_cookie(
            self._cookie,
            secret,
            max_age=int(LONGEST),
            path=self._path,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )


class RequireSession:
    """ASGI middleware that passes on what comes with a session; a websocket of our page, too.

    Requests without one get the answer `outside`.
    """

    def __init__(self, app: ASGIApp, sessions: BrowserSessions, outside: Response) -> None:
        """Guard `app`."""
        self._app, self._sessions, self._outside = app, sessions, outside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        connection = HTTPConnection(scope)
        if scope["type"] == "http":
            admitted = await self._sessions.admit(connection)
            app = self._app if admitted else self._outside
        else:
            app = await self._guard_websocket(connection)
        await app(scope, receive, send)

    async def _guard_websocket(self, connection: HTTPConnection) -> ASGIApp:
        if not is_same_origin(connection):
            return WebSocketClose(4403)
        try:
            return self._app if await self._sessions.admit(connection) else WebSocketClose(4401)
        except StoreError as error:
            _LOG.error("annotation store: %s", error)
            return WebSocketClose(4401)


def is_same_origin(connection: HTTPConnection) -> bool:
    """Return True if a page of this very server asks: scheme, host and port agree.

    A browser always states which page opens a websocket or sends a form. What does not is refused.
    """
    origins, hosts = (connection.headers.getlist(name) for name in ("origin", "host"))
    if len(origins) != 1 or len(hosts) != 1:
        return False
    scheme = connection.scope["scheme"].replace("ws", "http")
    return _normalise_origin(origins[0]) == _normalise_origin(f"{scheme}://{hosts[0]}")


def _normalise_origin(origin: str) -> str:
    """Return an origin in small letters, without the port that its scheme implies."""
    origin = origin.lower()
    return origin.removesuffix(_PORTS.get(origin.partition("://")[0], "\0"))
