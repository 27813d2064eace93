"""Sessions, invitations, sign-in and rate limits, without Streamlit."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from sts.annotations.database import schema
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.database import Database
from sts.annotations.people import external_ids, people, sessions
from sts.annotations.people.sessions import EXPIRED_MESSAGE, UNKNOWN_MESSAGE, USED_MESSAGE
from sts.annotations.study import DEFAULT_STUDY
from sts.errors import StoreError
from sts_annotator_app.auth.browser_sessions import BrowserSessions, cookie_name
from sts_annotator_app.auth.entrances import Authenticator
from sts_annotator_app.auth.entry_pages import UNAVAILABLE
from sts_annotator_app.auth.openid import SIGN_IN_FAILED, Provider
from sts_annotator_app.auth.rate_limiter import (
    MAX_FAILURES,
    MAX_FAILURES_PER_ADDRESS,
    WINDOW_S,
    RateLimiter,
)
from sts_annotator_app.settings import Settings
from sts_annotator_app.shell.routes import PAGE, build_application
from tests.access.attempts import attempt

TOKEN, ANOTHERS, OWNERS = "a-session", "anothers", "the-key"
WAITING, SPENT, LATE = "waiting", "spent", "late"
COOKIE = cookie_name("/somewhere")
IN = f"{COOKIE}={TOKEN}"
HERE = "http://study.example:8501"


class Gate(AnnotationStore):
    """A study in memory: Ann's session is `TOKEN`, or its `owner`'s, and `WAITING` invites her."""

    def __init__(self, owner: str = "<i>Ann</i>") -> None:
        engine = create_engine(
            "sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False}
        )
        database = Database(engine, "a study", Path("record"))
        super().__init__(database, study=DEFAULT_STUDY, clock=time.time)
        now = self.now()
        with self.write() as connection:
            schema.metadata.create_all(connection)
            names = dict.fromkeys(("Olga", "Eve", owner))
            numbers = {name: people.add_person(connection, name, now=now).id for name in names}
            for secret, name in ((TOKEN, owner), (ANOTHERS, "Eve")):
                row = {"secret_hash": sessions.hash_token(secret), "started": now, "last_seen": now}
                connection.execute(schema.sessions.insert(), row | {"annotator": numbers[name]})
            for token, used, expires in (
                (WAITING, None, 3600),
                (SPENT, now, 3600),
                (LATE, None, -9),
            ):
                row = {"token_hash": sessions.hash_token(token), "annotator": numbers[owner]}
                row |= {"created": now, "expires": now + expires, "used": used}
                connection.execute(schema.invitations.insert(), row)

    def whose(self, answer: list[dict[str, Any]]) -> str:
        """Return the name of the person whose session an answer begins."""
        name, _, secret = header(answer, "set-cookie").partition(";")[0].partition("=")
        found = people.find_by_session(self, secret)
        assert name == COOKIE and found is not None
        return found.name


class Away(Gate):
    """A study whose database cannot be reached."""

    def read(self) -> AbstractContextManager[Connection]:
        raise StoreError("annotation database /secret/place is gone")


class Inside:
    """A plain application in the place of Streamlit."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        kind = {"http": "http.response.start", "websocket": "websocket.accept"}[scope["type"]]
        await send({"type": kind, "status": 200, "headers": []})


def door(gate: Gate | None = None, base: str = "", provider: Provider | None = None) -> Starlette:
    """Return everything that is served, with `Inside` in the place of Streamlit."""
    store = gate or Gate()
    settings = Settings("", "", administrator="Olga", key=OWNERS, base_path=base)
    opened = Authenticator(settings, BrowserSessions(lambda: store, COOKIE, base), provider)
    return build_application(Inside(), opened, {PAGE: Inside()})


def send_request(*given: Any, **more: Any) -> list[dict[str, Any]]:
    """Return the messages that answer a request; status 200 is from behind the door."""
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
    first = send_request(*given, **more)[0]
    return int(first.get("status") or first["code"])


def header(answer: list[dict[str, Any]], name: str) -> str:
    return dict(answer[0]["headers"]).get(name.encode(), b"").decode()


def text(answer: list[dict[str, Any]]) -> str:
    return answer[1]["body"].decode()


def send_form(token: str, path: str = "/enter", **more: Any) -> list[dict[str, Any]]:
    """Press the button of an invitation."""
    return send_request(path, form=f"t={token}".encode(), **more)


@pytest.mark.parametrize(
    "others",
    ["", "_xsrf=2|a|b; ", 'state={"a": 1, "b": "c d"}; ', "; ;=; ", "näme=ü; ", "a b=c; "],
)
def test_cookies_of_other_programs_do_not_interfere(others: str) -> None:
    assert status("/", f"{others}{IN}") == 200
    assert status("/", f"{IN}; {others}") == 200
    assert status("/", f"{others}{COOKIE}=another") == 401


def test_studies_on_one_host_keep_separate_sessions() -> None:
    other = cookie_name("/elsewhere")
    assert other != COOKIE and "/" not in other
    assert status("/", f"{other}=their-token; {IN}") == 200
    assert status("/", f"{other}={TOKEN}") == 401
    gate = Gate()
    assert gate.whose(send_form(WAITING, at=door(gate))) == "<i>Ann</i>"


@attempt(
    "Links and sessions",
    "an invitation is fetched for a preview, or passed to another site by its address",
    "only its button spends it; no cache keeps it; no other site receives it; the cookie is "
    "HttpOnly, SameSite and, over https, Secure",
)
def test_invitation_opens_a_page_whose_form_starts_the_session() -> None:
    shown = send_request("/enter", query=f"t={WAITING}")
    assert shown[0]["status"] == 200 and not header(shown, "set-cookie")
    assert "&lt;i&gt;Ann&lt;/i&gt;" in text(shown) and "<i>" not in text(shown)
    assert header(shown, "cache-control") == "no-store"
    assert header(shown, "referrer-policy") == "same-origin"
    secure = {"host": "study.example", "origin": "https://study.example"}
    entered = send_form(WAITING, scheme="https", headers=secure)
    assert (entered[0]["status"], header(entered, "location")) == (303, "/")
    cookie = header(entered, "set-cookie").split("; ")
    assert cookie[0].startswith(f"{COOKIE}=") and "Path=/" in cookie
    assert {"HttpOnly", "SameSite=lax", "Secure"} <= {*cookie}
    assert "Secure" not in header(send_form(WAITING), "set-cookie")


@attempt(
    "Links and sessions",
    "a link is replayed, late, wrong, empty, or a session's secret",
    "401 and one sentence; no cookie",
)
@pytest.mark.parametrize(
    ("token", "sentence"),
    [
        *((SPENT, USED_MESSAGE), (LATE, EXPIRED_MESSAGE), ("wrong", UNKNOWN_MESSAGE)),
        *(("%ff%00", UNKNOWN_MESSAGE), ("", UNKNOWN_MESSAGE), (TOKEN, UNKNOWN_MESSAGE)),
    ],
)
@pytest.mark.parametrize("how", ["opened", "sent"])
def test_invalid_link_explains_why_in_one_sentence(token: str, sentence: str, how: str) -> None:
    answer = send_request("/enter", query=f"t={token}") if how == "opened" else send_form(token)
    assert answer[0]["status"] == 401 and sentence in text(answer)
    assert not header(answer, "set-cookie")


def test_owners_link_opens_repeatedly_and_keeps_an_existing_session() -> None:
    gate = Gate()
    for _ in range(2):
        answer = send_request("/enter", query=f"t={OWNERS}", at=door(gate))
        assert answer[0]["status"] == 303 and gate.whose(answer) == "Olga"
    answer = send_request("/enter", IN, f"t={OWNERS}", at=door(Gate("Olga")))
    assert (answer[0]["status"], header(answer, "location")) == (303, "/")
    assert not header(answer, "set-cookie")


@attempt(
    "Links and sessions",
    "a second person signs in on a browser in which a page of the first is still open",
    "the first one's session ends, however the second signs in; the page writes nothing",
)
@pytest.mark.parametrize("token", [OWNERS, WAITING])
def test_signing_in_ends_the_session_that_the_browser_held(token: str) -> None:
    gate = Gate()
    send_form(token, cookie=f"{COOKIE}={ANOTHERS}", at=door(gate))
    assert people.find_by_session(gate, ANOTHERS) is None
    assert people.find_by_session(gate, TOKEN) is not None


def test_spent_invitation_still_opens_its_owners_page() -> None:
    answer = send_request("/enter", IN, f"t={SPENT}")
    assert (answer[0]["status"], header(answer, "location")) == (303, "/")
    assert not header(answer, "set-cookie")
    assert send_form(SPENT, cookie=IN)[0]["status"] == 303  # a double click


class Counting(Gate):
    """Counts its look-ups of sessions."""

    asked = 0

    def read(self) -> AbstractContextManager[Connection]:
        self.asked += 1
        return super().read()


@pytest.mark.landing
@attempt(
    "Links and sessions",
    "a thousand requests with wrong cookies, from one address",
    "each costs one look-up, and nothing is kept; sessions continue, and invitations still open",
    times=1000,
)
def test_wrong_cookies_cost_one_lookup_each_and_lock_no_person_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "sts_annotator_app.auth.browser_sessions.CACHE_S", 3600.0
    )  # the thousand may take a while
    gate = Counting()
    at = door(gate)
    assert status("/", IN, at=at) == 200
    for number in range(1000):
        assert status("/", f"{COOKIE}={number:064x}", at=at) == 401
    assert gate.asked == 1001
    assert status("/", IN, at=at) == 200 and gate.asked == 1001
    assert send_form(WAITING, at=at)[0]["status"] == 303


@attempt("Links and sessions", "another site sends the form of an invitation", "403")
@pytest.mark.parametrize("origin", ["https://evil.example", "null", None])
def test_form_of_another_site_is_refused(origin: str | None) -> None:
    headers = {"host": "study.example:8501"} | ({} if origin is None else {"origin": origin})
    assert send_form(WAITING, headers=headers)[0]["status"] == 403


@attempt(
    "Links and sessions",
    "a form of ten megabytes is sent to the door",
    "cut after four kilobytes, and refused",
)
def test_oversized_form_is_cut_and_refused() -> None:
    assert status("/enter", form=b"x" * 10_000_000 + f"&t={WAITING}".encode()) == 401


def test_cookie_and_redirect_stay_below_the_base_path() -> None:
    entered = send_form(WAITING, "/judge/enter", at=door(base="/judge"))
    assert header(entered, "location") == "/judge/"
    assert "Path=/judge;" in header(entered, "set-cookie")


@attempt(
    "Links and sessions",
    "links are guessed, again and again from one address",
    "ten a minute are answered 401, then 429; other addresses and sessions are unaffected",
)
def test_guessed_links_are_limited_by_address_and_spent_ones_do_not_count() -> None:
    at = door()
    for _ in range(MAX_FAILURES_PER_ADDRESS):
        assert status("/enter", query=f"t={SPENT}", at=at) == 401
    for _ in range(MAX_FAILURES_PER_ADDRESS):
        assert status("/enter", query="t=guess", at=at) == 401
    refused = send_request("/enter", query=f"t={WAITING}", at=at)
    assert refused[0]["status"] == 429 and header(refused, "retry-after") == "60"
    assert status("/enter", query=f"t={WAITING}", at=at, address="192.0.2.2") == 200
    assert status("/", IN, at=at) == 200
    assert status("/enter", query=f"t={OWNERS}", at=at) == 303


@attempt(
    "Links and sessions",
    "links are guessed from three hundred addresses",
    "an address that failed recently is refused for a minute; others are answered",
    times=300,
)
def test_flood_from_many_addresses_is_limited_and_locks_no_other_address_out() -> None:
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
def test_addresses_of_one_ipv6_network_count_as_one() -> None:
    attempts = RateLimiter(clock=lambda: 0.0)
    for n in range(MAX_FAILURES_PER_ADDRESS):
        attempts.record_failure(f"2001:db8:0:1::{n:x}")
    assert not attempts.allows("2001:db8:0:1:ffff::1")
    assert attempts.allows("2001:db8:0:2::1")


STREAM: dict[str, Any] = {"path": "/_stcore/stream", "cookie": IN, "kind": "websocket"}


@pytest.mark.parametrize(
    ("scheme", "host", "origin"),
    [
        ("ws", "study.example:8501", HERE),
        ("ws", "Study.Example:8501", HERE),
        ("ws", "127.0.0.1:8501", "http://127.0.0.1:8501"),
        ("ws", "[::1]:80", "http://[::1]"),
        ("wss", "study.example", "https://study.example"),
        ("wss", "study.example", "https://study.example:443"),
    ],
)
def test_websocket_opens_for_a_page_of_this_server(scheme: str, host: str, origin: str) -> None:
    assert status(**STREAM, scheme=scheme, headers={"host": host, "origin": origin}) == 200


@attempt(
    "Addresses and other sites",
    "a websocket whose origin differs in scheme, host or port, or is forged to look alike",
    "closed at the door",
)
@pytest.mark.parametrize(
    "origin",
    [
        *(None, "", "null", "file://", "http://study.example", "http://study.example:8502"),
        *("https://study.example:8501", "http://localhost:8501", "http://localhost:3000"),
        *("http://127.0.0.1:8501", "http://study.example:8501.evil.example"),
        *("http://study.example:x", "http://evil.example/study.example:8501"),
    ],
)
def test_websocket_is_closed_to_every_other_origin(origin: str | None) -> None:
    headers = {"host": "study.example:8501"} | ({} if origin is None else {"origin": origin})
    assert status(**STREAM, headers=headers) == 4403


def test_missing_database_is_reported_on_a_page_that_reloads() -> None:
    for path, query in (("/", ""), ("/enter", f"t={WAITING}")):
        answer = send_request(path, IN, query, at=door(Away()))
        assert answer[0]["status"] == 503 and header(answer, "refresh") == "5"
        assert UNAVAILABLE in text(answer) and "/secret" not in text(answer)
    assert status(**STREAM, at=door(Away())) == 4401


class Locked(Gate):
    """A study whose database does not answer until it is freed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked, self.free = threading.Event(), threading.Event()

    def read(self) -> AbstractContextManager[Connection]:
        self.asked.set()
        assert self.free.wait(60)
        return super().read()


@pytest.mark.parametrize(("path", "expected"), [("/", 200), ("/enter", 303)])
def test_slow_session_lookup_does_not_block_other_requests(path: str, expected: int) -> None:
    locked = Locked()
    at = door(locked)

    async def side_by_side() -> list[int]:
        waiting = asyncio.create_task(answered(path, IN, f"t={SPENT}", at=at))
        await asyncio.to_thread(locked.asked.wait, 60)
        other = await answered("/_stcore/health", at=at)
        assert not waiting.done()
        locked.free.set()
        return [answer[0]["status"] for answer in (other, await waiting)]

    assert asyncio.run(side_by_side()) == [200, expected]


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


def test_pages_for_strangers_offer_sign_in_only_if_the_study_does() -> None:
    for path, query in (("enter", ""), ("", ""), ("enter", f"t={SPENT}"), ("enter", "t=nothing")):
        answer = send_request(f"/judge/{path}", query=query, at=offering("/judge"))
        assert 'href="/judge/sign-in"' in text(answer)
    assert "sign-in" not in text(send_request("/enter")) + text(send_request("/"))


def test_only_the_sign_in_routes_to_the_provider_and_back_are_open() -> None:
    away = send_request("/judge/sign-in", at=offering("/judge"))
    assert header(away, "location") == "https://provider.example/authorize"
    name, *flags = header(away, "set-cookie").replace("=", ";", 1).split(";")
    assert name == "sts_sign_in"
    assert {" path=/judge", " httponly", " samesite=lax", " secure"} <= {*flags}
    back = send_request("/oauth2callback", query="code=forged&state=forged", at=offering())
    assert back[0]["status"] == 401 and SIGN_IN_FAILED in text(back)
    for path in ("/auth/login", "/auth/logout", "/sign-in/", "/oauth2callback/x"):
        assert status(path, at=offering()) == 404
    for path in ("/sign-in", "/oauth2callback"):
        assert status(path, at=offering(), kind="websocket") != 200
        assert status(path, IN) == 404  # in a study without a provider
    assert status("/", at=offering()) == 401


@attempt(
    "Links and sessions",
    "the server is made to ask a provider of accounts again and again",
    "ten times a minute from one address",
)
def test_sign_in_requests_are_limited_by_address() -> None:
    at = offering()
    asks = [status("/sign-in", at=at) for _ in range(MAX_FAILURES_PER_ADDRESS + 1)]
    assert asks == [307] * MAX_FAILURES_PER_ADDRESS + [429]
    assert status("/sign-in", at=at, address="192.0.2.2") == 307


class Recruiting(Gate):
    """A study that participants join with the link `study_link`."""

    def __init__(self, limit: int = 2) -> None:
        super().__init__()
        with self.write() as connection:
            self.study_link = external_ids.open_link(connection, limit, now=self.now())

    def known(self) -> dict[str, str]:
        with self.read() as connection:
            return external_ids.load_external_ids(connection)


def join(gate: Recruiting, external_id: str, **more: Any) -> list[dict[str, Any]]:
    """Press the button of the study link."""
    form = f"t={gate.study_link}&pid={external_id}".encode()
    return send_request("/enter", form=form, **({"at": door(gate)} | more))


def test_study_link_adds_a_participant_on_submission_and_knows_them_again() -> None:
    gate = Recruiting()
    opened = send_request("/enter", query=f"t={gate.study_link}&pid=5f1c-A_b", at=door(gate))
    assert opened[0]["status"] == 200 and "5f1c-A_b" in text(opened) and not gate.known()
    assert header(opened, "cache-control") == "no-store"
    first, again, other = (join(gate, pid) for pid in ("5f1c-A_b", "5f1c-A_b", "5f1c-a_b"))
    name, second = gate.whose(first), gate.whose(other)
    assert gate.whose(again) == name != second
    assert gate.known() == {name: "5f1c-A_b", second: "5f1c-a_b"}
    full = join(gate, "another-id")
    assert full[0]["status"] == 401 and external_ids.FULL in text(full)
    assert len(gate.known()) == 2
    cookie = header(first, "set-cookie").partition(";")[0]
    inside = send_request("/enter", cookie, f"t={gate.study_link}&pid=5f1c-A_b", at=door(gate))
    assert inside[0]["status"] == 303 and not header(inside, "set-cookie")


@attempt(
    "Links and sessions",
    "a participant id is missing, a placeholder, markup, too long, or sent without the study link",
    "401 and one sentence; no person, no cookie",
)
@pytest.mark.parametrize(
    "external_id",
    [
        "",
        "abc",
        "%7B%7B%25PID%25%7D%7D",
        "%3Cb%3Eabcd",
        "a" * 65,
        "ab%00cd",
        "ab%0Acd",
        "\u00e4bcd",
    ],
)
@pytest.mark.parametrize("linked", [True, False])
def test_invalid_participant_id_is_refused(external_id: str, linked: bool) -> None:
    gate = Recruiting()
    token = gate.study_link if linked else ""
    query = f"t={token}&pid={external_id if linked else 'a-known-id'}"
    query = query.encode().decode("latin-1")
    opened = send_request("/enter", query=query, at=door(gate))
    sent = send_request("/enter", form=query.encode("latin-1"), at=door(gate))
    message = external_ids.INVALID_ID if linked else UNKNOWN_MESSAGE
    for answer in (opened, sent):
        assert answer[0]["status"] == 401 and message in text(answer)
        assert not header(answer, "set-cookie")
    assert not gate.known()


@attempt(
    "Links and sessions",
    "a known participant id is sent for a person who is deactivated or has another role, after "
    "the link is closed, or by another site",
    "refused; no cookie, and no session of the person ends",
)
@pytest.mark.parametrize("how", ["deactivated", "lead", "closed", "forged"])
def test_known_participant_id_alone_opens_nothing_but_an_annotators_session(how: str) -> None:
    gate = Recruiting()
    entered = join(gate, "a-known-id")
    name, session = gate.whose(entered), header(entered, "set-cookie").split("=")[1].split(";")[0]
    with gate.write() as connection:
        if how == "deactivated":
            people.deactivate(connection, name, now=gate.now())
        if how == "lead":
            people.set_role(connection, name, "lead", now=gate.now())
        if how == "closed":
            external_ids.close_link(connection)
    headers = {"host": "study.example:8501", "origin": "https://evil.example"}
    answer = join(gate, "a-known-id", **({"headers": headers} if how == "forged" else {}))
    assert answer[0]["status"] in (401, 403) and not header(answer, "set-cookie")
    assert (people.find_by_session(gate, session) is None) is (how == "deactivated")


def test_second_browser_with_a_known_id_ends_no_session_of_the_first() -> None:
    gate = Recruiting()
    first, second = (header(join(gate, "a-known-id"), "set-cookie") for _ in range(2))
    secrets = [cookie.split("=")[1].split(";")[0] for cookie in (first, second)]
    assert len({*secrets}) == 2
    assert all(people.find_by_session(gate, secret) is not None for secret in secrets)


@attempt(
    "Links and sessions",
    "participant ids are made up, one after another from one address",
    "ten a minute, then 429; the limit of the study link holds",
)
def test_made_up_participant_ids_are_limited_by_address() -> None:
    gate = Recruiting(limit=99)
    at = door(gate)
    found = [join(gate, f"made-up-{n}", at=at)[0]["status"] for n in range(12)]
    assert found == [303] * MAX_FAILURES_PER_ADDRESS + [429] * 2
    assert len(gate.known()) == MAX_FAILURES_PER_ADDRESS
    assert join(gate, "made-up-11", at=at, address="192.0.2.2")[0]["status"] == 303
