"""Authentication: start a session by invitation, owner link or OpenID Connect."""

import asyncio
import hmac
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sts.annotations.people import external_ids, people, sessions
from sts.errors import ArgumentError
from sts_annotator_app.auth.browser_sessions import BrowserSessions, is_same_origin, read_body
from sts_annotator_app.auth.entry_pages import (
    render_invitation,
    render_refusal,
    render_sign_in,
    render_study_link,
)
from sts_annotator_app.auth.openid import SIGN_IN, Provider, get_verified_email
from sts_annotator_app.auth.rate_limiter import WINDOW_S, RateLimiter
from sts_annotator_app.settings import Settings

NO_SESSION = (
    "You need an invitation to open this page. Ask the study lead for one; unsent answers are kept."
)
TOO_MANY_ATTEMPTS = "Too many attempts came from your network. Wait a minute, then try again."
CROSS_ORIGIN = (
    "This request did not come from the invitation page. Open your invitation link again."
)
_MAX_FORM_BYTES = 4096


class Authenticator:
    """Endpoints for browsers without a session: invitation links and sign-in at a provider."""

    def __init__(
        self, settings: Settings, sessions: BrowserSessions, provider: Provider | None = None
    ) -> None:
        """Start without failed attempts."""
        self._settings, self.sessions, self.provider = settings, sessions, provider
        self.base = settings.base_path
        self._sign_in = f"{self.base}{SIGN_IN}" if provider else ""
        self._attempts = RateLimiter()
        self._entry_lock = asyncio.Lock()  # count a failure before the next attempt
        self.no_session_page = render_refusal(NO_SESSION, sign_in=self._sign_in)

    async def open_invitation(self, request: Request) -> Response:
        """Answer a browser that opens an invitation link or submits its page."""
        token, external_id = await _read_secrets(request)
        async with self._entry_lock:
            return await asyncio.to_thread(self._enter, request, token, external_id)

    def _enter(self, request: Request, token: str, external_id: str) -> Response:
        store, old_secret = self.sessions.store(), self.sessions.read_secret(request)
        owner, key = self._settings.administrator, self._settings.key.encode()
        if key and hmac.compare_digest(key, token.encode("utf-8", "replace")):
            person = self.sessions.find_person(request)
            if person is not None and person.name == owner:
                return self._redirect_home()
            with store.write(exclusive=True) as connection:
                number = people.get_person(connection, owner).id
                secret = sessions.start_session(connection, number, old_secret, now=store.now())
            return self._admit(request, secret)
        if not token and self.provider:
            return render_sign_in(self._sign_in)
        address = _client_address(request)
        if not self._attempts.allows(address):
            return _refuse_too_many()
        with store.read() as connection:
            invitation = (
                sessions.find_invitation(connection, token, now=store.now()) if token else None
            )
            is_study_link = external_ids.load_link(connection, token) is not None
        if is_study_link:
            return self._join(request, token, external_id)
        if invitation is None:
            self._attempts.record_failure(address)
            return render_refusal(sessions.UNKNOWN_MESSAGE, sign_in=self._sign_in)
        if invitation.refusal:
            person = self.sessions.find_person(request)
            if person is not None and person.id == invitation.annotator:  # used in this browser
                return self._redirect_home()
            return render_refusal(invitation.refusal, sign_in=self._sign_in)
        if request.method != "POST":
            return render_invitation(invitation.name, token)
        if not is_same_origin(request):  # a forged form would sign the person in as someone else
            return render_refusal(CROSS_ORIGIN, 403)
        try:
            with store.write(exclusive=True) as connection:
                secret = sessions.accept_invitation(connection, token, old_secret, now=store.now())
        except ArgumentError as error:
            return render_refusal(str(error))
        return self._admit(request, secret)

    def _join(self, request: Request, token: str, external_id: str) -> Response:
        """Answer a browser that opens the study link with an external id, or submits its page.

        A new id counts as a failed attempt, so that guessing ids is limited.
        """
        store, address = self.sessions.store(), _client_address(request)
        try:
            external_ids.validate_id(external_id)
            person = self.sessions.find_person(request)
            with store.read() as connection:
                number = external_ids.find_person_id(connection, external_id)
            if person is not None and person.id == number:
                return self._redirect_home()
            if request.method != "POST":
                return render_study_link(external_id, token)
            if not is_same_origin(request):
                return render_refusal(CROSS_ORIGIN, 403)
            with store.write(exclusive=True) as connection:
                old_secret = self.sessions.read_secret(request)
                secret, is_new = external_ids.enter(
                    connection, token, external_id, old_secret, now=store.now()
                )
        except ArgumentError as error:
            self._attempts.record_failure(address)
            return render_refusal(str(error))
        if is_new:
            self._attempts.record_failure(address)
        return self._admit(request, secret)

    async def start_sign_in(self, request: Request) -> Response:
        """Redirect a browser to the provider.

        It counts as a failed attempt, since each redirect has the server contact the provider.
        """
        assert self.provider
        address = _client_address(request)
        if not self._attempts.allows(address):
            return _refuse_too_many()
        self._attempts.record_failure(address)
        try:
            return await self.provider.redirect(request)
        except ArgumentError as error:
            return render_refusal(str(error), sign_in=self._sign_in)

    async def finish_sign_in(self, request: Request) -> Response:
        """Start the session of a person whom the provider has authenticated."""
        assert self.provider
        try:
            email = get_verified_email(await self.provider.fetch_claims(request))
            secret = await asyncio.to_thread(self._start_session, request, email)
        except ArgumentError as error:
            return render_refusal(str(error), sign_in=self._sign_in)
        self._attempts.clear_failures(_client_address(request))
        return self._admit(request, secret)

    def _start_session(self, request: Request, email: str) -> str:
        store = self.sessions.store()
        with store.write(exclusive=True) as connection:
            old_secret = self.sessions.read_secret(request)
            return people.sign_in(connection, email, old_secret, now=store.now())

    def _admit(self, request: Request, secret: str) -> Response:
        response = self._redirect_home()
        self.sessions.set_cookie(request, response, secret)
        return response

    def _redirect_home(self) -> Response:
        # A link left in the address bar or in a proxy's cache would let anyone sign in.
        headers = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
        return RedirectResponse(f"{self.base}/", 303, headers)


async def _read_secrets(request: Request) -> tuple[str, str]:
    """Return the token and the external id in a link or a submitted form; "" where missing."""
    if request.method != "POST":
        return request.query_params.get("t", ""), request.query_params.get("pid", "")
    fields = parse_qs((await read_body(request, _MAX_FORM_BYTES)).decode("latin-1"))
    return fields.get("t", [""])[0], fields.get("pid", [""])[0]


def _client_address(request: Request) -> str:
    return request.client.host if request.client else ""


def _refuse_too_many() -> Response:
    return render_refusal(TOO_MANY_ATTEMPTS, 429, **{"Retry-After": f"{WINDOW_S:.0f}"})
