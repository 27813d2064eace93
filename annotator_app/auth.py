"""The door: an invitation begins a session; everything else asks for one, websocket included."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from annotator_app import sign_in
from annotator_app.attempts import WINDOW, Attempts
from annotator_app.entry import away, offer, refusal, welcome
from annotator_app.routes import ENTER, HEALTH
from sts.annotations.sessions import LONGEST, UNKNOWN, Invitation
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, StoreError

REMEMBERED = 10.0
"""Seconds for which a session that was let in is not looked up again: a page is many requests."""
OUTSIDE = "This page opens with an invitation of your own. Ask for one; unsent answers are kept."
TOO_MANY = "Too many attempts to enter came from here. Wait a minute, then try yours again."
ELSEWHERE = "This was not sent by the page of the invitation. Open the invitation itself."
_LONGEST_FORM = 4096
_PORTS = {"http": 80, "https": 443}
_LOG = logging.getLogger(__name__)


class Entrance(Protocol):
    """Who knows whom a study lets in; all raise StoreError while that cannot be said."""

    def owns(self, token: str) -> bool:
        """Whether it is the secret of the owner's link, which opens their page again and again."""

    def person(self, secret: str) -> Annotator | None:
        """Who holds the session with this secret."""

    def invitation(self, token: str) -> Invitation | None:
        """Whom a token invites."""

    def enter(self, token: str) -> str:
        """Spends an invitation and returns the secret of a session, or raises ArgumentError."""

    def sign_in(self, email: str) -> str:
        """Returns the secret of a session of whoever has an address, or raises ArgumentError."""


def cookie_name(place: str) -> str:
    """The cookie by which the study at `place` knows who is at a page.

    Cookies do not tell ports apart, so each workspace has one of its own: two that are served on
    one host would else put out each other's people.
    """
    return f"sts_annotator_{hashlib.sha256(place.encode()).hexdigest()[:12]}"


class Auth:
    """ASGI middleware that lets nobody in without a session.

    Args:
      app: what stands behind the door.
      entrance: says who is let in; asked anew every few seconds.
      cookie: the name of the cookie that holds the secret of a session.
      base: the path under which everything is served, "" or like "/judge".
      offers: whether people can sign in with an account of elsewhere; see `sign_in`.
    """

    def __init__(
        self, app: ASGIApp, entrance: Entrance, cookie: str, base: str = "", offers: bool = False
    ) -> None:
        """Stands before `app`."""
        self._app = app
        self._offers = offers
        self._entrance = entrance
        self._cookie = cookie
        self._base = base
        self._admitted: dict[str, float] = {}
        self._attempts = Attempts()
        self._entering = asyncio.Lock()  # so that a failure is counted before the next attempt

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on, answers at `/enter`, or refuses.

        A thread asks who is let in: the database may be locked, and nobody else waits for it.
        """
        kind = scope["type"]
        if kind not in ("http", "websocket") or scope["path"] == HEALTH:
            await self._app(scope, receive, send)
            return
        if kind == "websocket" and not same_origin(scope):
            await send({"type": "websocket.close", "code": 4403, "reason": ""})
            return
        try:
            if kind == "http" and scope["path"] == ENTER:
                token = await _token(scope, receive)
                async with self._entering:
                    answer = await asyncio.to_thread(self._enter, scope, token)
            elif kind == "http" and self._offers and scope["path"] in sign_in.ADDRESSES:
                answer = await self._sign_in(scope, receive)
            elif await self._is_admitted(session_secret(scope, self._cookie)):
                answer = self._app
            else:
                answer = self._refusal(OUTSIDE)
        except StoreError as error:
            _LOG.error("annotation store: %s", error)
            answer = away()
        if kind == "websocket" and answer is not self._app:
            await send({"type": "websocket.close", "code": 4401, "reason": ""})
        else:
            await answer(scope, receive, send)

    def _enter(self, scope: Scope, token: str) -> ASGIApp:
        """What answers who opens a link, or goes on from the page that it opens.

        Raises:
          StoreError: nobody can say whose token it is.
        """
        if self._entrance.owns(token):
            return self._let_in(scope, token)
        if not token and self._offers:
            return offer(f"{self._base}{sign_in.SIGN_IN}")
        address = _address_of(scope)
        if not self._attempts.allows(address):
            return _too_many()
        found = self._entrance.invitation(token) if token else None
        if found is None:
            self._attempts.failed(address)
            return self._refusal(UNKNOWN)
        if found.refusal:
            person = self._entrance.person(session_secret(scope, self._cookie))
            if person is not None and person.id == found.annotator:  # the browser it let in
                return self._onwards("/")
            return self._refusal(found.refusal)
        if scope["method"] != "POST":
            return welcome(found.name, token)
        if not same_origin(scope):  # another site would have somebody work under a strange name
            return refusal(ELSEWHERE, 403)
        try:
            return self._let_in(scope, self._entrance.enter(token))
        except ArgumentError as error:
            return refusal(str(error))

    async def _sign_in(self, scope: Scope, receive: Receive) -> ASGIApp:
        """What answers on the way to a provider and back.

        Each way there has the server ask the provider, so as many are heard as wrong links are.
        """
        path, address = scope["path"], _address_of(scope)
        if path == sign_in.SIGN_IN:
            return self._onwards(sign_in.login_address())
        if path == sign_in.LOGIN:
            if not self._attempts.allows(address):
                return _too_many()
            self._attempts.failed(address)
            return self._app
        came = await sign_in.answer(self._app, scope, receive)
        try:
            email = sign_in.verified_address(came.claims)
            secret = await asyncio.to_thread(self._entrance.sign_in, email)
            answer = self._let_in(scope, secret)
        except ArgumentError as error:
            answer = self._refusal(str(error))
        else:
            self._attempts.succeeded(address)
        answer.raw_headers.extend((b"set-cookie", cookie) for cookie in came.cookies)
        return answer

    def _refusal(self, sentence: str) -> Response:
        """Says why nobody comes in, and offers to sign in where that can be done."""
        return refusal(sentence, sign_in=f"{self._base}{sign_in.SIGN_IN}" if self._offers else "")

    def _let_in(self, scope: Scope, secret: str) -> Response:
        response = self._onwards("/")
        response.set_cookie(
            self._cookie,
            secret,
            max_age=int(LONGEST),
            path=self._base or "/",
            httponly=True,
            samesite="lax",
            secure=scope["scheme"] == "https",
        )
        return response

    def _onwards(self, path: str) -> Response:
        response = RedirectResponse(f"{self._base}{path}", status_code=303)
        # A link in the address bar or in a proxy's memory would let anyone in.
        response.headers["Cache-Control"] = "no-store"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    async def _is_admitted(self, secret: str) -> bool:
        now = time.monotonic()
        if self._admitted.get(secret, -1.0) > now:
            return True
        self._admitted = {one: until for one, until in self._admitted.items() if until > now}
        if not secret or await asyncio.to_thread(self._entrance.person, secret) is None:
            return False
        self._admitted[secret] = now + REMEMBERED
        return True


def _address_of(scope: Scope) -> str:
    return str((scope.get("client") or ("",))[0])


def _too_many() -> Response:
    return refusal(TOO_MANY, 429, **{"Retry-After": f"{WINDOW:.0f}"})


async def _token(scope: Scope, receive: Receive) -> str:
    """The token of a link, or of the form on the page that it opens; "" where there is none."""
    raw: bytes = scope["query_string"]
    if scope["method"] == "POST":
        raw, more = b"", True
        while more and len(raw) <= _LONGEST_FORM:
            message = await receive()
            raw += message.get("body", b"")
            more = message.get("more_body", False)
    return parse_qs(raw[:_LONGEST_FORM].decode("latin-1")).get("t", [""])[0]


def session_secret(scope: Scope, cookie: str) -> str:
    """The secret of the session that a request is of, "" where it has none."""
    header = dict(scope["headers"]).get(b"cookie", b"").decode("latin-1")
    # Other programs on this host leave cookies of any form, which the standard library stumbles on.
    return cookie_parser(header).get(cookie, "")


def same_origin(scope: Scope) -> bool:
    """Whether a page of this very server asks: scheme, host and port agree.

    A browser always says which page opens a websocket or sends a form. What does not say is no
    browser, and has no use for it; so it is refused as well.
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
