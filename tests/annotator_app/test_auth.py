"""The door: who holds a session gets in, whatever else their browser holds."""

from __future__ import annotations

import asyncio
import threading
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sts.annotations import people, schema, sessions
from sts.annotations.database import Database
from sts.annotations.sessions import EXPIRED, UNKNOWN, USED
from sts.annotations.store import Store
from sts.errors import StoreError
from sts_annotator_app.attempts import MAX_FAILURES, MAX_FAILURES_PER_ADDRESS, WINDOW_S, RateLimiter
from sts_annotator_app.auth import BrowserSessions, cookie_name
from sts_annotator_app.door import Authenticator
from sts_annotator_app.entry import UNAVAILABLE
from sts_annotator_app.routes import PAGE, build_application
from sts_annotator_app.settings import Settings
from sts_annotator_app.sign_in import SIGN_IN_FAILED, Provider
from tests.access.attempts import attempt

TOKEN, ANOTHERS, OWNERS = "a-session", "anothers", "the-key"
WAITING, SPENT, LATE = "waiting", "spent", "late"
COOKIE = cookie_name("/somewhere")
HERE = "http://study.example:8501"


class Gate(Store):
    """A study in memory: Ann's session is `TOKEN`, or its `owner`'s, and `WAITING` invites her."""

    def __init__(self, owner: str = "<i>Ann</i>") -> None:
        engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        super().__init__(Database(engine, "a study", Path("record")))
        now = self.now()
        with self.write() as connection:
            schema.metadata.create_all(connection)
            names = dict.fromkeys(("Olga", "Eve", owner))
            numbers = {name: people.add_person(connection, name, now=now).id for name in names}
            for secret, name in ((TOKEN, owner), (ANOTHERS, "Eve")):
                row = {"secret_hash": sessions.hash_token(secret), "begun": now, "seen": now}
                connection.execute(schema.sessions.insert(), row | {"annotator": numbers[name]})
            for token, used, expires in ((WAITING, None, 9), (SPENT, now, 9), (LATE, None, -9)):
                row = {"token_hash": sessions.hash_token(token), "annotator": numbers[owner]}
                row |= {"made": now, "expires": now + expires, "used": used}
                connection.execute(schema.invitations.insert(), row)

    def whose(self, answer: list[dict[str, Any]]) -> str:
        """Return the name of the person whose session an answer begins."""
        name, _, secret = header(answer, "set-cookie").partition(";")[0].partition("=")
        found = people.find_by_session(self, secret)
        assert name == COOKIE and found is not None
        return found.name


class Away(Gate):
    """Of a study whose database cannot be reached."""

    def read(self) -> AbstractContextManager[Connection]:
        raise StoreError("annotation database /secret/place is gone")


class Inside:
    """What stands behind the door."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind = {"http": "http.response.start", "websocket": "websocket.accept"}[scope["type"]]
        await send({"type": kind, "status": 200, "headers": []})


def door(gate: Gate | None = None, base: str = "", provider: Provider | None = None) -> Starlette:
    """Everything that is served, with something plain in the place of Streamlit."""
    store = gate or Gate()
    settings = Settings("", "", owner="Olga", key=OWNERS, base=base)
    opened = Authenticator(settings, BrowserSessions(lambda: store, COOKIE, base), provider)
    return build_application(Inside(), opened, {PAGE: Inside()})


def asked(*given: Any, **more: Any) -> list[dict[str, Any]]:
    """Return what `answered` does, of a request that is alone."""
    return asyncio.run(answered(*given, **more))


async def answered(
    path: str,
    cookie: str = "",
    query: str = "",
    kind: str = "http",
    scheme: str = "",
    headers: dict[str, str] | None = None,
    form: bytes | None = None,
    address: str = "192.0.2.1",
    at: Starlette | None = None,
) -> list[dict[str, Any]]:
    """Return what a request is answered with; status 200 from behind the door."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": form or b""}

    async def send(message: Any) -> None:
        sent.append(message)

    given = {"host": "study.example:8501", "origin": HERE} if headers is None else headers
    given = given | ({"cookie": cookie} if cookie else {})
    scope = {
        "type": kind,
        "method": "GET" if form is None else "POST",
        "client": (address, 1),
        "scheme": scheme or {"http": "http", "websocket": "ws"}[kind],
        "path": path,
        "query_string": query.encode("latin-1"),
        "root_path": "",
        "headers": [(k.encode(), v.encode("latin-1")) for k, v in given.items()],
    }
    await (at or door())(scope, receive, send)
    return sent


def status(*given: Any, **more: Any) -> int:
    first = asked(*given, **more)[0]
    return int(first.get("status") or first["code"])


def header(answer: list[dict[str, Any]], name: str) -> str:
    return dict(answer[0]["headers"]).get(name.encode(), b"").decode()


def text(answer: list[dict[str, Any]]) -> str:
    return answer[1]["body"].decode()


@pytest.mark.parametrize(
    "others",
    ["", "_xsrf=2|a|b; ", 'state={"a": 1, "b": "c d"}; ', "; ;=; ", "näme=ü; ", "a b=c; "],
)
def test_cookies_of_other_programs_do_not_stand_in_the_way(others: str) -> None:
    assert status("/", f"{others}{COOKIE}={TOKEN}") == 200
    assert status("/", f"{COOKIE}={TOKEN}; {others}") == 200
    assert status("/", f"{others}{COOKIE}=another") == 401


def test_two_studies_on_one_host_do_not_put_out_each_others_people() -> None:
    other = cookie_name("/elsewhere")
    assert other != COOKIE and "/" not in other
    assert status("/", f"{other}=their-token; {COOKIE}={TOKEN}") == 200
    assert status("/", f"{other}={TOKEN}") == 401
    gate = Gate()
    assert gate.whose(asked("/enter", form=f"t={WAITING}".encode(), at=door(gate))) == "<i>Ann</i>"


@pytest.mark.parametrize("path", ["/", "/annotate", "/_stcore/host-config", "/favicon.png"])
def test_pages_require_an_invitation(path: str) -> None:
    assert status(path) == 401
    assert status(path, f"{COOKIE}={TOKEN}") == 200
    assert status("/_stcore/stream", kind="websocket") == 4401


@pytest.mark.parametrize(
    "path", ["/enter/..", "//", "/_stcore/stream", "/_stcore/health/", "/annotate/", "/Annotate"]
)
def test_no_other_address_is_there_with_a_session_or_without(path: str) -> None:
    for cookie in ("", f"{COOKIE}={TOKEN}"):
        assert status(path, cookie) == 404
        if path != "/_stcore/stream":
            (closed,) = asked(path, cookie, kind="websocket")
            assert closed["type"] == "websocket.close"


@attempt(
    "Links and sessions",
    "an invitation is fetched for a preview, or told to another site by its address",
    "only its button spends it; no cache keeps it; no other site is told; the cookie is HttpOnly, "
    "SameSite and, over https, Secure",
)
def test_opening_an_invitation_shows_a_page_and_its_form_begins_the_session() -> None:
    shown = asked("/enter", query=f"t={WAITING}")
    assert shown[0]["status"] == 200 and not header(shown, "set-cookie")
    assert "&lt;i&gt;Ann&lt;/i&gt;" in text(shown) and "<i>" not in text(shown)
    assert header(shown, "cache-control") == "no-store"
    assert header(shown, "referrer-policy") == "same-origin"  # a link is told to no other site
    entered = asked("/enter", form=f"t={WAITING}".encode(), scheme="https", headers=SECURE)
    assert (entered[0]["status"], header(entered, "location")) == (303, "/")
    cookie = header(entered, "set-cookie").split("; ")
    assert cookie[0].startswith(f"{COOKIE}=") and "Path=/" in cookie
    assert {"HttpOnly", "SameSite=lax", "Secure"} <= {*cookie}
    plain = asked("/enter", form=f"t={WAITING}".encode())
    assert "Secure" not in header(plain, "set-cookie")


SECURE = {"host": "study.example", "origin": "https://study.example"}


@attempt(
    "Links and sessions",
    "a link is replayed, late, wrong, empty, or a session's secret",
    "401 and one sentence; no cookie",
)
@pytest.mark.parametrize(
    ("token", "sentence"),
    [(SPENT, USED), (LATE, EXPIRED), ("wrong", UNKNOWN), ("%ff%00", UNKNOWN), ("", UNKNOWN),
     (TOKEN, UNKNOWN)],
)  # fmt: skip
@pytest.mark.parametrize("how", ["opened", "sent"])
def test_a_link_that_lets_nobody_in_says_why_in_one_sentence(
    token: str, sentence: str, how: str
) -> None:
    given = f"t={token}"
    answer = (
        asked("/enter", query=given) if how == "opened" else asked("/enter", form=given.encode())
    )
    assert answer[0]["status"] == 401 and sentence in text(answer)
    assert not header(answer, "set-cookie")


def test_the_link_of_the_owner_opens_again_and_again() -> None:
    gate = Gate()
    for _ in range(2):
        answer = asked("/enter", query=f"t={OWNERS}", at=door(gate))
        assert answer[0]["status"] == 303 and gate.whose(answer) == "Olga"


def test_owners_link_keeps_the_session_that_they_have() -> None:
    gate = Gate("Olga")
    answer = asked("/enter", f"{COOKIE}={TOKEN}", f"t={OWNERS}", at=door(gate))
    assert (answer[0]["status"], header(answer, "location")) == (303, "/")
    assert not header(answer, "set-cookie")


@attempt(
    "Links and sessions",
    "a second person signs in on a browser in which a page of the first is still open",
    "the first one's session ends, however the second signs in; the page writes nothing",
)
@pytest.mark.parametrize("token", [OWNERS, WAITING])
def test_door_passes_on_the_session_that_the_browser_held(token: str) -> None:
    gate = Gate()
    asked("/enter", f"{COOKIE}={ANOTHERS}", form=f"t={token}".encode(), at=door(gate))
    assert people.find_by_session(gate, ANOTHERS) is None
    assert people.find_by_session(gate, TOKEN) is not None


def test_an_invitation_that_was_spent_still_opens_the_page_of_who_entered_by_it() -> None:
    answer = asked("/enter", f"{COOKIE}={TOKEN}", f"t={SPENT}")
    assert (answer[0]["status"], header(answer, "location")) == (303, "/")
    assert not header(answer, "set-cookie")
    again = asked("/enter", f"{COOKIE}={TOKEN}", form=f"t={SPENT}".encode())  # a double click
    assert again[0]["status"] == 303


class Counting(Gate):
    """Counts how often it is asked whose a session is."""

    asked = 0

    def read(self) -> AbstractContextManager[Connection]:
        self.asked += 1
        return super().read()


@attempt(
    "Links and sessions",
    "a thousand requests with wrong cookies, from one address",
    "each costs one look-up, and nothing is kept; who is in stays in, and who is invited enters",
    times=1000,
)
def test_wrong_cookies_cost_a_look_up_each_and_lock_nobody_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sts_annotator_app.auth.CACHE_S", 3600.0)  # the thousand may take a while
    gate = Counting()
    at = door(gate)
    assert status("/", f"{COOKIE}={TOKEN}", at=at) == 200
    for number in range(1000):
        assert status("/", f"{COOKIE}={number:064x}", at=at) == 401
    assert gate.asked == 1001
    assert status("/", f"{COOKIE}={TOKEN}", at=at) == 200 and gate.asked == 1001
    assert status("/enter", form=f"t={WAITING}".encode(), at=at) == 303


@attempt("Links and sessions", "another site sends the form of an invitation", "403")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_no_other_site_makes_somebody_enter_under_a_strange_name(origin: str | None) -> None:
    headers = {"host": "study.example:8501"} | ({} if origin is None else {"origin": origin})
    assert status("/enter", form=f"t={WAITING}".encode(), headers=headers) == 403


@attempt(
    "Links and sessions",
    "a form of ten megabytes is sent to the door",
    "cut after four kilobytes, and refused",
)
def test_a_form_of_ten_megabytes_is_cut_and_refused() -> None:
    assert status("/enter", form=b"x" * 10_000_000 + f"&t={WAITING}".encode()) == 401


def test_below_a_path_of_its_own_the_cookie_and_the_way_in_stay_there() -> None:
    entered = asked("/judge/enter", form=f"t={WAITING}".encode(), at=door(base="/judge"))
    assert header(entered, "location") == "/judge/"
    assert "Path=/judge;" in header(entered, "set-cookie")


@attempt(
    "Links and sessions",
    "links are guessed, again and again from one address",
    "ten a minute are answered 401, then 429; nobody else is kept out",
)
def test_who_tries_many_links_is_refused_and_nobody_else_is() -> None:
    at = door()
    for _ in range(MAX_FAILURES_PER_ADDRESS):
        assert status("/enter", query="t=guess", at=at) == 401
    refused = asked("/enter", query=f"t={WAITING}", at=at)
    assert refused[0]["status"] == 429 and header(refused, "retry-after") == "60"
    assert status("/enter", query=f"t={WAITING}", at=at, address="192.0.2.2") == 200
    assert status("/", f"{COOKIE}={TOKEN}", at=at) == 200  # who is in stays in
    assert status("/enter", query=f"t={OWNERS}", at=at) == 303


def test_previews_and_old_links_are_no_attempts() -> None:
    at = door()
    for _ in range(MAX_FAILURES_PER_ADDRESS):
        assert status("/enter", query=f"t={SPENT}", at=at) == 401
    assert status("/enter", query=f"t={WAITING}", at=at) == 200


@attempt(
    "Links and sessions",
    "links are guessed from three hundred addresses",
    "who failed lately is refused for a minute; who did not is heard",
    times=300,
)
def test_a_flood_from_many_addresses_is_limited_and_locks_nobody_out() -> None:
    now = [0.0]
    attempts = RateLimiter(clock=lambda: now[0])
    for n in range(MAX_FAILURES):
        assert attempts.allows(f"10.0.{n // 250}.{n % 250}")
        attempts.record_failure(f"10.0.{n // 250}.{n % 250}")
    assert not attempts.allows("10.0.0.7")  # it failed before
    assert attempts.allows("192.0.2.1")  # it did not
    now[0] += WINDOW_S
    assert attempts.allows("10.0.0.7")


@attempt(
    "Links and sessions",
    "links are guessed from the many IPv6 addresses of one network",
    "they count as one",
)
def test_the_many_addresses_that_one_person_has_are_counted_as_one() -> None:
    attempts = RateLimiter(clock=lambda: 0.0)
    for n in range(MAX_FAILURES_PER_ADDRESS):
        attempts.record_failure(f"2001:db8:0:1::{n:x}")
    assert not attempts.allows("2001:db8:0:1:ffff::1")
    assert attempts.allows("2001:db8:0:2::1")


STREAM: dict[str, Any] = {"path": "/_stcore/stream", "cookie": f"{COOKIE}={TOKEN}"}


@pytest.mark.parametrize(
    ("scheme", "host", "origin"),
    [("ws", "study.example:8501", HERE), ("ws", "Study.Example:8501", HERE),
     ("ws", "127.0.0.1:8501", "http://127.0.0.1:8501"), ("ws", "[::1]:80", "http://[::1]"),
     ("wss", "study.example", "https://study.example"),
     ("wss", "study.example", "https://study.example:443")],
)  # fmt: skip
def test_a_websocket_is_opened_by_a_page_of_this_server(
    scheme: str, host: str, origin: str
) -> None:
    headers = {"host": host, "origin": origin}
    assert status(**STREAM, kind="websocket", scheme=scheme, headers=headers) == 200


@attempt(
    "Addresses and other sites",
    "a websocket whose origin differs in scheme, host or port, or is forged to look alike",
    "closed at the door",
)
@pytest.mark.parametrize(
    "origin",
    [None, "", "null", "http://study.example", "http://study.example:8502", "file://",
     "https://study.example:8501", "http://localhost:8501", "http://localhost:3000",
     "http://127.0.0.1:8501", "http://study.example:8501.evil.example", "http://study.example:x",
     "http://evil.example/study.example:8501"],
)  # fmt: skip
def test_no_other_page_opens_a_websocket_not_even_another_of_this_machine(
    origin: str | None,
) -> None:
    headers = {"host": "study.example:8501"} | ({} if origin is None else {"origin": origin})
    assert status(**STREAM, kind="websocket", headers=headers) == 4403


def test_a_database_that_is_away_is_said_in_a_page_that_asks_again() -> None:
    for path, query in (("/", ""), ("/enter", f"t={WAITING}")):
        answer = asked(path, f"{COOKIE}={TOKEN}", query, at=door(Away()))
        assert answer[0]["status"] == 503 and header(answer, "refresh") == "5"
        assert UNAVAILABLE in text(answer) and "/secret" not in text(answer)
    assert status(**STREAM, kind="websocket", at=door(Away())) == 4401


class Locked(Gate):
    """Of a study whose database answers nothing until it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.free = threading.Event(), threading.Event()

    def read(self) -> AbstractContextManager[Connection]:
        self.asked.set()
        assert self.free.wait(60)
        return super().read()


@pytest.mark.parametrize("path", ["/", "/enter"])
def test_nobody_else_waits_while_the_database_says_who_somebody_is(path: str) -> None:
    locked = Locked()
    at = door(locked)

    async def side_by_side() -> list[int]:
        given: dict[str, Any] = {
            "path": path,
            "cookie": f"{COOKIE}={TOKEN}",
            "query": f"t={SPENT}",
            "at": at,
        }
        waiting = asyncio.create_task(answered(**given))
        while not locked.asked.is_set():
            await asyncio.sleep(0.01)
        other = await answered("/_stcore/health", at=at)
        assert not waiting.done()
        locked.free.set()
        return [answer[0]["status"] for answer in (other, await waiting)]

    assert asyncio.run(side_by_side()) == [200, {"/": 200, "/enter": 303}[path]]


class Signing(Provider):
    """A provider that is not asked."""

    def __init__(self) -> None:
        names = ("cookie_secret", "client_id", "client_secret", "server_metadata_url")
        super().__init__({**dict.fromkeys(names, "unused"), "redirect_uri": "https://a"})

    async def redirect(self, request: Request) -> Response:
        request.session["asked"] = True
        return RedirectResponse("https://provider.example/authorize")


def offering(base: str = "") -> Starlette:
    return door(base=base, provider=Signing())


def test_a_page_for_strangers_offers_to_sign_in_where_the_study_does() -> None:
    for answer in (
        asked("/judge/enter", at=offering("/judge")),
        asked("/judge/", at=offering("/judge")),
        asked("/judge/enter", query=f"t={SPENT}", at=offering("/judge")),
        asked("/judge/enter", query="t=nothing", at=offering("/judge")),
    ):
        assert 'href="/judge/sign-in"' in text(answer)
    assert "sign-in" not in text(asked("/enter")) + text(asked("/"))


def test_only_the_ways_to_the_provider_and_back_are_open() -> None:
    away = asked("/judge/sign-in", at=offering("/judge"))
    assert header(away, "location") == "https://provider.example/authorize"
    name, *flags = header(away, "set-cookie").replace("=", ";", 1).split(";")
    assert name == "sts_sign_in"
    assert {" path=/judge", " httponly", " samesite=lax", " secure"} <= {*flags}
    back = asked("/oauth2callback", query="code=forged&state=forged", at=offering())
    assert back[0]["status"] == 401 and SIGN_IN_FAILED in text(back)
    for path in ("/auth/login", "/auth/logout", "/sign-in/", "/oauth2callback/x"):
        assert status(path, at=offering()) == 404
    for path in ("/sign-in", "/oauth2callback"):
        assert status(path, at=offering(), kind="websocket") != 200
        assert status(path, f"{COOKIE}={TOKEN}") == 404  # where it is not offered
    assert status("/", at=offering()) == 401


@attempt(
    "Links and sessions",
    "the server is made to ask a provider of accounts again and again",
    "ten times a minute from one address",
)
def test_the_provider_is_asked_no_more_often_than_wrong_links_are_heard() -> None:
    at = offering()
    asks = [status("/sign-in", at=at) for _ in range(MAX_FAILURES_PER_ADDRESS + 1)]
    assert asks == [307] * MAX_FAILURES_PER_ADDRESS + [429]
    assert status("/sign-in", at=at, address="192.0.2.2") == 307
