"""The door: a personal link sets a cookie, and everything else asks for it, websocket included."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from sts.errors import StoreError

HEALTH = "/_stcore/health"
MONTH = 30 * 86400
REMEMBERED = 10.0
"""Seconds for which a token that was let in is not looked up again: a page is many requests."""
RETRY = 5
"""Seconds after which a page that could not be served asks again."""
AWAY = (
    "The database of this study cannot be reached at the moment. This page tries again every "
    f"{RETRY} seconds; answers that were not saved are kept in this browser."
)
_PORTS = {"http": 80, "https": 443}
_LOG = logging.getLogger(__name__)


def cookie_name(place: str) -> str:
    """The cookie by which the study at `place` knows who is at a page.

    Cookies do not tell ports apart, so each workspace has one of its own: two that are served on
    one host would else put out each other's people.
    """
    return f"sts_annotator_{hashlib.sha256(place.encode()).hexdigest()[:12]}"


class Auth:
    """ASGI middleware that lets nobody in without a personal link.

    Args:
      app: what stands behind the door.
      admits: says whether a token is somebody's; asked anew every few seconds.
      cookie: the name of the cookie that holds the token.
    """

    def __init__(self, app: ASGIApp, admits: Callable[[str], bool], cookie: str) -> None:
        """Stands before `app`."""
        self._app = app
        self._admits = admits
        self._cookie = cookie
        self._admitted: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, sets the cookie at `/enter`, or refuses."""
        kind = scope["type"]
        if kind not in ("http", "websocket") or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        if kind == "websocket" and not same_origin(scope):
            await send({"type": "websocket.close", "code": 4403, "reason": ""})
            return
        try:
            answer = self._answer(scope)
        except StoreError as error:
            _LOG.error("annotation store: %s", error)
            answer = _away()
        if kind == "websocket" and answer is not self._app:
            await send({"type": "websocket.close", "code": 4401, "reason": ""})
        else:
            await answer(scope, receive, send)

    def _answer(self, scope: Scope) -> ASGIApp:
        """What answers a request: what stands behind the door, or who stands at it.

        Raises:
          StoreError: nobody can say whose token it is.
        """
        if scope["type"] == "http" and scope["path"] == "/enter":
            return self._enter(scope)
        if self._is_admitted(self._token(scope)):
            return self._app
        return _refusal("This page opens with your personal link.")

    def _enter(self, scope: Scope) -> ASGIApp:
        token = parse_qs(scope["query_string"].decode("latin-1")).get("t", [""])[0]
        if not self._is_admitted(token):
            return _refusal("This link is not valid, or no longer. Ask for a new one.")
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            self._cookie,
            token,
            max_age=MONTH,
            httponly=True,
            samesite="lax",
            secure=scope["scheme"] == "https",
        )
        # A link in the address bar or in a proxy's memory would let anyone in.
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    def _is_admitted(self, token: str) -> bool:
        now = time.monotonic()
        if self._admitted.get(token, -1.0) > now:
            return True
        if not token or not self._admits(token):
            self._admitted.pop(token, None)
            return False
        self._admitted[token] = now + REMEMBERED
        return True

    def _token(self, scope: Scope) -> str:
        header = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
        # Other programs on this host leave cookies of any form, which the standard library stumbles
        # on.
        return cookie_parser(header).get(self._cookie, "")


def same_origin(scope: Scope) -> bool:
    """Whether a websocket is opened by a page of this very server: scheme, host and port agree.

    A browser always says which page opens one. What does not say is no browser, and has no use for
    it; so it is refused as well.
    """
    headers = Headers(scope=scope)
    origins, hosts = headers.getlist("origin"), headers.getlist("host")
    if len(origins) != 1 or len(hosts) != 1:
        return False
    scheme = {"ws": "http", "wss": "https"}.get(scope["scheme"], scope["scheme"])
    origin = _address(origins[0])
    return origin is not None and origin == _address(f"{scheme}://{hosts[0]}")


def _address(url: str) -> tuple[str, str, int] | None:
    """The scheme, host and port of an address, or None where it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except (ValueError, KeyError):
        return None
    return (parts.scheme, parts.hostname, port) if parts.hostname else None


def _refusal(text: str) -> PlainTextResponse:
    return PlainTextResponse(text, status_code=401, headers={"Cache-Control": "no-store"})


def _away() -> HTMLResponse:
    page = (
        '<!doctype html><meta name="viewport" content="width=device-width"><title>One moment'
        f'</title><p style="font: 18px/1.5 sans-serif; max-width: 36em; margin: 3em">{AWAY}</p>'
    )
    headers = {"Cache-Control": "no-store", "Refresh": str(RETRY)}
    return HTMLResponse(page, status_code=503, headers=headers)
