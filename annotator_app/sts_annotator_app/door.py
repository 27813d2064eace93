"""The door: an invitation, the owner's link or an account at a provider begins a session."""

from __future__ import annotations

import asyncio
import hmac
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response

from sts.annotations import people, sessions
from sts.errors import ArgumentError
from sts_annotator_app.attempts import WINDOW, Attempts
from sts_annotator_app.auth import Sessions, is_same_origin
from sts_annotator_app.entry import offer, refusal, welcome
from sts_annotator_app.settings import Settings
from sts_annotator_app.sign_in import SIGN_IN, Provider, verified_address

OUTSIDE = "This page opens with an invitation of your own. Ask for one; unsent answers are kept."
TOO_MANY = "Too many attempts to enter came from here. Wait a minute, then try yours again."
ELSEWHERE = "This was not sent by the page of the invitation. Open the invitation itself."
_LONGEST_FORM = 4096


class Door:
    """Answers to browsers that have no session yet, by link or by an account at the provider."""

    def __init__(
        self, settings: Settings, sessions: Sessions, provider: Provider | None = None
    ) -> None:
        """Count no attempts yet."""
        self._settings, self.sessions, self.provider = settings, sessions, provider
        self.base = settings.base
        self._sign_in = f"{self.base}{SIGN_IN}" if provider else ""
        self._attempts = Attempts()
        self._entering = asyncio.Lock()  # so that a failure is counted before the next attempt
        self.outside = refusal(OUTSIDE, sign_in=self._sign_in)

    async def enter(self, request: Request) -> Response:
        """Answer a browser that opens a link, or that continues from the page it opens."""
        token = await _token(request)
        async with self._entering:
            return await asyncio.to_thread(self._enter, request, token)

    def _enter(self, request: Request, token: str) -> Response:
        store, held = self.sessions.store(), self.sessions.secret(request)
        owner, key = self._settings.owner, self._settings.key.encode()
        if key and hmac.compare_digest(key, token.encode("utf-8", "replace")):
            person = self.sessions.person(request)
            if person is not None and person.name == owner:
                return self._onwards()
            with store.write(alone=True) as connection:
                number = people.named(connection, owner).id
                secret = sessions.begin(connection, number, held, now=store.now())
            return self._let_in(request, secret)
        if not token and self.provider:
            return offer(self._sign_in)
        address = _address(request)
        if not self._attempts.allows(address):
            return _too_many()
        with store.read() as connection:
            found = sessions.invitation(connection, token, now=store.now()) if token else None
        if found is None:
            self._attempts.failed(address)
            return refusal(sessions.UNKNOWN, sign_in=self._sign_in)
        if found.refusal:
            person = self.sessions.person(request)
            if person is not None and person.id == found.annotator:  # the browser it let in
                return self._onwards()
            return refusal(found.refusal, sign_in=self._sign_in)
        if request.method != "POST":
            return welcome(found.name, token)
        if not is_same_origin(request):  # another site would have somebody work under a wrong name
            return refusal(ELSEWHERE, 403)
        try:
            with store.write(alone=True) as connection:
                secret = sessions.enter(connection, token, held, now=store.now())
        except ArgumentError as error:
            return refusal(str(error))
        return self._let_in(request, secret)

    async def sign_in(self, request: Request) -> Response:
        """Send a browser to the provider, at most as often as wrong links are answered.

        Each time has the server ask the provider.
        """
        assert self.provider
        address = _address(request)
        if not self._attempts.allows(address):
            return _too_many()
        self._attempts.failed(address)
        try:
            return await self.provider.redirect(request)
        except ArgumentError as error:
            return refusal(str(error), sign_in=self._sign_in)

    async def come_back(self, request: Request) -> Response:
        """Begin the session of a person whom the provider vouches for."""
        assert self.provider
        try:
            email = verified_address(await self.provider.claims(request))
            secret = await asyncio.to_thread(self._begin, request, email)
        except ArgumentError as error:
            return refusal(str(error), sign_in=self._sign_in)
        self._attempts.succeeded(_address(request))
        return self._let_in(request, secret)

    def _begin(self, request: Request, email: str) -> str:
        store = self.sessions.store()
        with store.write(alone=True) as connection:
            held = self.sessions.secret(request)
            return people.sign_in(connection, email, held, now=store.now())

    def _let_in(self, request: Request, secret: str) -> Response:
        response = self._onwards()
        self.sessions.keep(request, response, secret)
        return response

    def _onwards(self) -> Response:
        # A link in the address bar or in a proxy's memory would let anyone in.
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        return RedirectResponse(f"{self.base}/", 303, headers)


async def _token(request: Request) -> str:
    """Return the token of a link, or of the form on the page that it opens; "" without one."""
    if request.method != "POST":
        return request.query_params.get("t", "")
    raw = b""
    try:
        async for part in request.stream():
            raw += part
            if len(raw) > _LONGEST_FORM:
                return ""
    except ClientDisconnect:
        return ""
    return parse_qs(raw.decode("latin-1")).get("t", [""])[0]


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _too_many() -> Response:
    return refusal(TOO_MANY, 429, **{"Retry-After": f"{WINDOW:.0f}"})
