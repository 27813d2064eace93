"""Addresses of the server, the people they answer, and the headers of each answer."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import HTTPConnection
from starlette.routing import Route, Router
from starlette.types import Message, Scope
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from sts.annotations.records import Annotator
from sts_annotator_app.auth.browser_sessions import BrowserSessions, cookie_name
from sts_annotator_app.pages.message_route import MESSAGES
from sts_annotator_app.results import RESULTS, serve_results
from sts_annotator_app.shell.headers import DEFAULTS, DefaultHeaders
from sts_annotator_app.shell.routes import ENTER, HEALTH, STREAM
from tests.access.attempts import attempt
from tests.annotator_app.served.browser import STAGE, Opener, press
from tests.annotator_app.serving import AGENTS, Server
from tests.annotator_app.test_connections import HALF, is_closed
from tests.stores import add_person
from tests.waiting import PATIENCE, wait_until

KIND = "Addresses and other sites"
PAGES = (
    "/",
    "/annotate",
    "/live",
    "/review",
    "/curate",
    "/new",
    "/report",
    "/team",
    "/guide",
    "/clip",
)
OTHERS = (
    *("http://localhost:3000", "http://127.0.0.1", "https://evil.example"),
    *("https://share.streamlit.io", "null", "file://"),
)
STREAMLITS = (
    *("/_stcore/metrics", "/_stcore/script-health-check", "/_stcore/upload_file/a/b"),
    *("/_stcore/agent/openapi.json", "/_stcore/agent/interact", "/_stcore/agent/mcp"),
    *("/_stcore/bidi-components/a/b", "/_stcore/stream/", "/media/a.png", "/component/a/b"),
    *("/app/static/a", "/auth/login", "/auth/logout", "/oauth2callback", "/index.html"),
    *("/manifest.json", "/docs/x", "/Annotate"),
    *("/annotate/", "/enter/..", "/_stcore/health/"),
)
"""Addresses that Streamlit, or a server like it, may have and no page needs."""
METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")
OUTSIDE = (
    *("/static/../../../etc/passwd", "/static/%2e%2e/%2e%2e/etc/passwd"),
    *("/static/..%2f..%2fetc/passwd", "/static/..%5c..%5cetc%5cpasswd"),
    *("/static//etc/passwd", "/static/%00", "//etc/passwd", "/etc/passwd"),
    *(f"{RESULTS}../workspace.toml", f"{RESULTS}%2e%2e/workspace.toml"),
    f"{RESULTS}evidence/../../../annotations.sqlite3",
    *("/.annotate-key", "/workspace.toml", "/annotations.sqlite3"),
)


def send_request(
    server: Server, method: str, path: str, name: str = "", **headers: str
) -> http.client.HTTPResponse:
    """Return the answer to a request of `name`, who has a session, or of a stranger."""
    if name:
        headers["Cookie"] = f"{cookie_name(server.place)}={server.secret(name)}"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path)
        for key, value in headers.items():
            connection.putheader(key, value)
        connection.endheaders()
        answer = connection.getresponse()
        answer.text = answer.read().decode("latin-1")  # type: ignore[attr-defined]
    finally:
        connection.close()
    return answer


@pytest.fixture(scope="module")
def cookie(server: Server) -> dict[str, str]:
    """The session of an annotator."""
    return {"Cookie": f"{cookie_name(server.place)}={server.secret('reaches')}"}


@pytest.fixture(scope="module")
def lead(server: Server) -> dict[str, str]:
    """The session of a lead, who may see all that is served."""
    return {"Cookie": f"{cookie_name(server.place)}={server.secret('leads', ('lead',))}"}


@pytest.fixture(scope="module")
def invitation(server: Server) -> str:
    """One that waits: to open a wrong link again and again would have nobody enter for a while."""
    return str(add_person(server.store, "invited").token)


@attempt(KIND, "a page, script or result is asked for without a session", "401, and nothing of it")
@pytest.mark.parametrize(
    "path",
    [*PAGES, "/static/js/x.js", f"{RESULTS}x", "/_stcore/host-config", ENTER],
)
def test_addresses_require_a_session(server: Server, path: str) -> None:
    answer = send_request(server, "GET", path)
    assert answer.status == 401 and "<script" not in answer.text  # type: ignore[attr-defined]


@attempt(
    KIND,
    "routes that Streamlit has and no page needs: uploads, metrics, its interface for programs",
    "404, with a session too",
)
@pytest.mark.parametrize("path", STREAMLITS)
def test_routes_of_streamlit_are_not_found(
    server: Server, cookie: dict[str, str], path: str
) -> None:
    for method in ("GET", "POST", "PUT"):
        assert send_request(server, method, path, **cookie).status == 404


@attempt(KIND, "any other method than GET and HEAD", "405, except for the form of an invitation")
@pytest.mark.parametrize("method", METHODS)
def test_addresses_are_read_only(server: Server, cookie: dict[str, str], method: str) -> None:
    enter = [] if method == "POST" else [ENTER]
    for path in (*PAGES, HEALTH, f"{RESULTS}report.html", *enter):
        assert send_request(server, method, path, **cookie).status == 405


@attempt("Paths", "addresses that lead out of what is served, by a lead too", "400, 401 or 404")
@pytest.mark.parametrize("path", OUTSIDE)
def test_no_address_leads_to_a_file_of_the_workspace(
    server: Server, lead: dict[str, str], path: str
) -> None:
    for headers in (lead, {}):
        answer = send_request(server, "GET", path, **headers)
        assert answer.status in (400, 401, 404)
        assert "root:" not in answer.text and "[" not in answer.text  # type: ignore[attr-defined]


@attempt(
    KIND,
    "every address is asked from pages of other sites, another port of this host included",
    "no answer lets them read it, or says which cookie there is",
)
@pytest.mark.parametrize("origin", OTHERS)
def test_other_sites_cannot_read_an_answer(
    server: Server, cookie: dict[str, str], origin: str
) -> None:
    headers = {"Origin": origin, "Access-Control-Request-Method": "GET"} | cookie
    for path in (*PAGES, HEALTH, "/_stcore/host-config", ENTER, f"{RESULTS}report.html"):
        for method in ("GET", "OPTIONS"):
            answer = send_request(server, method, path, **headers)
            names = {name.lower() for name, _ in answer.getheaders()}
            assert not {name for name in names if name.startswith("access-control-")}, path
            assert "set-cookie" not in names, path


@attempt(
    KIND,
    "a websocket from another site, without an origin, at another address, without a session",
    "refused before Streamlit hears of it",
)
@pytest.mark.parametrize("origin", [*OTHERS, None])
def test_websocket_requires_a_session_and_the_servers_own_origin(
    server: Server, cookie: dict[str, str], origin: str | None
) -> None:
    def opens(path: str, origin: str | None, headers: dict[str, str]) -> bool:
        given: dict[str, Any] = {"origin": origin, "additional_headers": headers}
        address = server.url(path).replace("http", "ws")
        try:
            with connect(address, subprotocols=[Subprotocol("streamlit")], **given):
                return True
        except InvalidStatus:
            return False

    here = server.url("")
    assert opens(STREAM, here, cookie)
    assert not opens(STREAM, origin, cookie)
    assert not opens(STREAM, here, {})
    assert not opens("/_stcore/agent", here, cookie)


@attempt(
    KIND,
    "an answer is framed, sniffed, kept by a cache, or leads elsewhere with its address",
    "each answer forbids it by its headers",
)
@pytest.mark.parametrize("name", ["", "reaches"])
def test_every_answer_has_the_security_headers(server: Server, invitation: str, name: str) -> None:
    paths = (*PAGES, HEALTH, f"{ENTER}?t={invitation}", f"{RESULTS}report.html", "/no/such")
    for path in paths:
        headers = send_request(server, "GET", path, name).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] in ("same-origin", "no-referrer"), path
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        policy, kept = headers["Content-Security-Policy"], headers["Cache-Control"]
        assert re.search(r"frame-ancestors '(none|self)'", policy), path
        assert "unsafe-eval" not in policy and "script-src 'unsafe-inline'" not in policy, path
        assert "public" not in kept and ("no-store" in kept or "no-cache" in kept), path


@attempt(
    "Links and sessions",
    "the server's log is searched for links that were opened, used or wrong, and for sessions",
    "none is in it",
)
def test_log_contains_no_link_and_no_session(server: Server) -> None:
    token = str(add_person(server.store, "logged").token)
    here = {"Origin": server.url(""), "Content-Type": "application/x-www-form-urlencoded"}
    assert send_request(server, "GET", f"{ENTER}?t={token}").status == 200
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", ENTER, f"t={token}", here)
    entered = connection.getresponse()
    entered.read()
    connection.close()
    assert entered.status == 303
    cookie = entered.headers["Set-Cookie"].partition(";")[0]
    assert send_request(server, "GET", f"{ENTER}?t=wrong-{token}").status == 401
    assert send_request(server, "GET", "/", Cookie=cookie).status == 200
    log = (server.folder / "server.log").read_text()
    assert "serving" in log or "open your page" in log
    assert token not in log and cookie.partition("=")[2] not in log


@pytest.mark.landing
def test_half_sent_request_is_cut_off(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port)) as half:
        half.sendall(HALF)
        wait_until(lambda: is_closed(half), "the server closes the connection")


@attempt(
    "Another's clip, another's answer",
    "an annotator, a reviewer or a curator asks for the report or its evidence",
    "403, and no agent's name",
)
@pytest.mark.parametrize("role", ["annotator", "reviewer", "curator"])
def test_results_are_forbidden_to_every_other_role(server: Server, role: str) -> None:
    cookie = f"{cookie_name(server.place)}={server.secret(f'no leader {role}', (role,))}"
    for name in ("report.html", "evidence/index.html", "evidence/index.js"):
        answer = send_request(server, "GET", f"{RESULTS}{name}", Cookie=cookie)
        assert answer.status == 403 and AGENTS[0] not in answer.text  # type: ignore[attr-defined]


@attempt("Paths", "other files are asked for where the report is served, by a lead", "404", times=9)
def test_only_the_pages_of_the_report_are_served(tmp_path: Path) -> None:
    (tmp_path / "report" / "evidence").mkdir(parents=True)
    for name in ("report/report.html", "report/report.json", "outside.html", "report/index.js"):
        (tmp_path / name).write_text(name)

    class Leading(BrowserSessions):
        def __init__(self) -> None: ...

        def find_person(self, connection: HTTPConnection) -> Annotator:
            return Annotator(1, "Lea", roles=("lead",))

    report = serve_results(lambda: tmp_path / "report", Leading())
    served = Router([Route(f"{RESULTS}{{file:path}}", report)])

    async def answered(path: str) -> int:
        sent: list[Message] = []

        async def send(message: Message) -> None:
            sent.append(message)

        async def receive() -> Message:
            await asyncio.Event().wait()  # the client stays, and sends nothing more
            raise AssertionError

        scope: Scope = {"type": "http", "method": "GET", "path": RESULTS + path, "headers": []}
        await served(scope, receive, send)
        return int(sent[0]["status"])

    def status(path: str) -> int:
        with ThreadPoolExecutor(1) as apart:  # a browser of other tests has a loop here
            return apart.submit(asyncio.run, answered(path)).result()

    assert status("report.html") == 200
    outside = (
        "",
        "x",
        "other.json",
        "tables/",
        "../outside.html",
        "evidence/../report.html",
        "index.js",
    )
    for path in (*outside, "evidence/index.html", "report.html\n", "/report.html"):
        assert status(path) == 404, path


def test_default_headers_keep_an_answers_own_and_drop_cross_origin_access() -> None:
    own = [
        (b"cache-control", b"private"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"access-control-allow-credentials", b"true"),
        (b"set-cookie", b"_streamlit_xsrf=1"),
        (b"set-cookie", b"ours=1"),
    ]
    sent: list[Any] = []

    async def inside(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": own})

    async def send(message: Any) -> None:
        sent.append(message)

    answer: Any = DefaultHeaders(inside)({"type": "http"}, None, send)  # type: ignore[arg-type]
    with pytest.raises(StopIteration):  # nothing in it waits, so it needs no event loop
        answer.send(None)
    headers = [(name.decode().lower(), value.decode()) for name, value in sent[0]["headers"]]
    assert ("cache-control", "private") in headers and ("set-cookie", "ours=1") in headers
    assert len(headers) == 2 + len(DEFAULTS) - 1


@pytest.mark.landing
def test_answer_to_a_judgement_does_not_run_the_page(open_page: Opener, server: Server) -> None:
    got: list[int] = []

    def listen(socket: Any) -> None:
        socket.on("framereceived", lambda frame: got.append(len(frame)))

    page = open_page("Bytes", ready=False, path="/guide")
    page.on("websocket", listen)
    page.goto(page.url.replace("/guide", "/"))
    page.wait_for_selector(STAGE)
    before = len(got)
    assert before

    def is_answer(response: Any) -> bool:
        """Whether it is of a message with a judgement; the page asks for clips, too."""
        asked = response.request
        return bool(asked.url.endswith(f"{MESSAGES}player") and asked.post_data_json["outbox"])

    with page.expect_response(is_answer) as answer:
        press(page, "End", "n", "Enter")
    assert 0 < len(answer.value.body()) < 60_000
    assert len(server.judgements("Bytes")) == 1
    again = page.context.new_page()
    again.goto(server.url("/guide"))  # a run of the page takes less
    again.get_by_role("heading").first.wait_for()
    assert got[before:] == []
