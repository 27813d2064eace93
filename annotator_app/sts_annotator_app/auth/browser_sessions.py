"""Browser sessions: their cookie, the middleware that requires one, and the owner's link."""

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable

from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people
from sts.annotations.people.sessions import MAX_SESSION_S
from sts.annotations.records import Annotator
from sts.errors import StoreError
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

CACHE_S = 10.0
"""Time for which a valid session is not looked up again: a page makes many requests."""
KEY_FILE = ".annotate-key"
_PORTS = {"http": ":80", "https": ":443"}
_LOG = logging.getLogger(__name__)


def cookie_name(workspace_path: str) -> str:
    """Return the name of the session cookie of the workspace at `workspace_path`.

    Cookies do not distinguish ports: with a shared name, two workspaces served on one host would
    sign out each other's people.
    """
    return f"sts_annotator_{hashlib.sha256(workspace_path.encode()).hexdigest()[:12]}"


class BrowserSessions:
    """Sessions of browsers, each identified by a secret in a cookie."""

    def __init__(self, store: Callable[[], AnnotationStore], cookie: str, base: str = "") -> None:
        """Read sessions from `store` and from `cookie`, set for the path `base`."""
        self.store, self._cookie, self._path = store, cookie, base or "/"
        self._admitted: dict[str, float] = {}

    def read_secret(self, connection: HTTPConnection) -> str:
        """Return the session secret in the cookie of a request, or ""."""
        return connection.cookies.get(self._cookie, "")

    def find_person(self, connection: HTTPConnection) -> Annotator | None:
        """Return the person whose session a request belongs to."""
        return people.find_by_session(self.store(), self.read_secret(connection))

    async def admit(self, connection: HTTPConnection) -> bool:
        """Return True if a request has a valid session.

        The lookup runs in a thread, so that a locked database does not block other requests.
        """
        now, secret = time.monotonic(), self.read_secret(connection)
        if self._admitted.get(secret, -1.0) > now:
            return True
        self._admitted = {key: until for key, until in self._admitted.items() if until > now}
        if not secret or await asyncio.to_thread(self.find_person, connection) is None:
            return False
        self._admitted[secret] = now + CACHE_S
        return True

    def set_cookie(self, request: Request, response: Response, secret: str) -> None:
        """Store a session secret in the browser."""
        response.set_cookie(
            self._cookie,
            secret,
            max_age=int(MAX_SESSION_S),
            path=self._path,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )


class RequireSession:
    """ASGI middleware that passes on requests with a session, and websockets of our own pages.

    Requests without a session get the response `outside`.
    """

    def __init__(self, app: ASGIApp, sessions: BrowserSessions, outside: Response) -> None:
        """Guard `app`."""
        self._app, self._sessions, self._outside = app, sessions, outside

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or reject it."""
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
    """Return True if the `Origin` header is this server: scheme, host and port agree.

    Browsers always send it with websockets and forms, so requests without one are rejected.
    """
    origins, hosts = (connection.headers.getlist(name) for name in ("origin", "host"))
    if len(origins) != 1 or len(hosts) != 1:
        return False
    scheme = connection.scope["scheme"].replace("ws", "http")
    return _normalise_origin(origins[0]) == _normalise_origin(f"{scheme}://{hosts[0]}")


async def read_body(request: Request, limit: int) -> bytes:
    """Return the body of a request; b"" if it has over `limit` bytes, or the browser left."""
    raw = b""
    try:
        async for part in request.stream():
            raw += part
            if len(raw) > limit:
                return b""
    except ClientDisconnect:
        return b""
    return raw


def _normalise_origin(origin: str) -> str:
    """Return an origin in lower case, without the default port of its scheme."""
    origin = origin.lower()
    return origin.removesuffix(_PORTS.get(origin.partition("://")[0], "\0"))


def derive_owner_key(workspace: Workspace, owner: str) -> str:
    """Return the secret of the owner's link, stable across restarts so that bookmarks work.

    It is derived from a key file that only the user can read, and is valid only on a server that
    was started with `--user` on this workspace.
    """
    file = workspace.path(KEY_FILE)
    if not file.exists():
        write_atomically(file, secrets.token_hex().encode(), mode=0o600)
    return hmac.digest(file.read_bytes(), owner.encode(), "sha256").hex()
