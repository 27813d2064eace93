"""What of the server can be reached, by whom, and what each answer forbids the browser."""

from __future__ import annotations

import http.client
import re
from collections.abc import Coroutine
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from sts_annotator_app.auth import cookie_name
from sts_annotator_app.headers import DEFAULTS, DefaultHeaders
from sts_annotator_app.results import RESULTS
from sts_annotator_app.routes import ENTER, HEALTH, STREAM
from tests.access.attempts import attempt
from tests.annotator_app.serving import PATIENCE, Server
from tests.stores import add_person

KIND = "Addresses and other sites"
PAGES = ("/", "/annotate", "/turn", "/review", "/curate", "/report", "/team", "/guide", "/clip")
OTHERS = (
    "http://localhost:3000",
    "http://127.0.0.1",
    "https://evil.example",
    "https://share.streamlit.io",
    "null",
    "file://",
)
STREAMLITS = (
    "/_stcore/metrics",
    "/_stcore/script-health-check",
    "/_stcore/upload_file/a/b",
    "/_stcore/agent/openapi.json",
    "/_stcore/agent/interact",
    "/_stcore/agent/mcp",
    "/_stcore/bidi-components/a/b",
    "/_stcore/stream/",
    "/media/a.png",
    "/component/a/b",
    "/app/static/a",
    "/auth/login",
    "/auth/logout",
    "/oauth2callback",
    "/index.html",
    "/manifest.json",
    "/docs/x",
    "/Annotate",
)
"""What Streamlit, or a server like it, may have and no page of ours asks for."""
METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND")
OUTSIDE = (
    "/static/../../../etc/passwd",
    "/static/%2e%2e/%2e%2e/etc/passwd",
    "/static/..%2f..%2fetc/passwd",
    "/static/..%5c..%5cetc%5cpasswd",
    "/static//etc/passwd",
    "/static/%00",
    f"{RESULTS}../workspace.toml",
    f"{RESULTS}%2e%2e/workspace.toml",
    f"{RESULTS}evidence/../../../annotations.sqlite3",
    "/scripts/../workspace.toml",
    "//etc/passwd",
    "/etc/passwd",
    "/.annotate-key",
    "/workspace.toml",
    "/annotations.sqlite3",
)


def asked(
    server: Server, method: str, path: str, name: str = "", **headers: str
) -> http.client.HTTPResponse:
    """Asks as `name`, who has a session, or as a stranger."""
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
    """The session of who may see all that is served."""
    return {"Cookie": f"{cookie_name(server.place)}={server.secret('leads', ('lead',))}"}


@pytest.fixture(scope="module")
def invitation(server: Server) -> str:
    """One that waits: to open a wrong link again and again would have nobody enter for a while."""
    return str(add_person(server.store, "invited").token)


@attempt(KIND, "a page, script or result is asked for without a session", "401, and nothing of it")
@pytest.mark.parametrize("path", [*PAGES, "/static/js/x.js", "/scripts/x.mjs", f"{RESULTS}x"])
def test_a_stranger_reaches_nothing(server: Server, path: str) -> None:
    answer = asked(server, "GET", path)
    assert answer.status == 401 and "<script" not in answer.text  # type: ignore[attr-defined]


@attempt(
    KIND,
    "routes that Streamlit has and no page needs: uploads, metrics, its interface for programs",
    "404, with a session too",
)
@pytest.mark.parametrize("path", STREAMLITS)
def test_what_no_page_asks_for_is_not_there(
    server: Server, cookie: dict[str, str], path: str
) -> None:
    for method in ("GET", "POST", "PUT"):
        assert asked(server, method, path, **cookie).status == 404


@attempt(KIND, "any other method than GET and HEAD", "405, but for the form of an invitation")
@pytest.mark.parametrize("method", METHODS)
def test_an_address_is_only_read(server: Server, cookie: dict[str, str], method: str) -> None:
    for path in (*PAGES, HEALTH, f"{RESULTS}report.html"):
        assert asked(server, method, path, **cookie).status == 405
    if method != "POST":
        assert asked(server, method, ENTER, **cookie).status == 405


@attempt("Paths", "addresses that lead out of what is served, by a lead too", "400, 401 or 404")
@pytest.mark.parametrize("path", OUTSIDE)
def test_no_address_leads_to_a_file_of_the_workspace(
    server: Server, lead: dict[str, str], path: str
) -> None:
    for headers in (lead, {}):
        answer = asked(server, "GET", path, **headers)
        assert answer.status in (400, 401, 404)
        assert "root:" not in answer.text and "[" not in answer.text  # type: ignore[attr-defined]


@attempt(
    KIND,
    "every address is asked from pages of other sites, another port of this host included",
    "no answer lets them read it, or says which cookie there is",
)
@pytest.mark.parametrize("origin", OTHERS)
def test_no_other_site_reads_an_answer(server: Server, cookie: dict[str, str], origin: str) -> None:
    for path in (*PAGES, HEALTH, "/_stcore/host-config", ENTER, f"{RESULTS}report.html"):
        for method in ("GET", "OPTIONS"):
            answer = asked(
                server,
                method,
                path,
                Origin=origin,
                **{"Access-Control-Request-Method": "GET"},
                **cookie,
            )
            names = {name.lower() for name, _ in answer.getheaders()}
            assert not {name for name in names if name.startswith("access-control-")}, path
            assert "set-cookie" not in names, path


@attempt(
    KIND,
    "a websocket from another site, without an origin, at another address, without a session",
    "refused before Streamlit hears of it",
)
@pytest.mark.parametrize("origin", [*OTHERS, None])
def test_a_websocket_is_opened_by_a_page_of_ours_with_a_session_alone(
    server: Server, cookie: dict[str, str], origin: str | None
) -> None:
    def opened(path: str, origin: str | None, headers: dict[str, str]) -> bool:
        address = server.url(path).replace("http", "ws")
        try:
            with connect(
                address,
                origin=None if origin is None else Origin(origin),
                additional_headers=headers,
                subprotocols=[Subprotocol("streamlit")],
            ):
                return True
        except InvalidStatus:
            return False

    here = server.url("")
    assert opened(STREAM, here, cookie)
    assert not opened(STREAM, origin, cookie)
    assert not opened(STREAM, here, {})
    assert not opened("/_stcore/agent", here, cookie)


@attempt(
    KIND,
    "an answer is framed, sniffed, kept by a cache, or leads elsewhere with its address",
    "each answer forbids it by its headers",
)
@pytest.mark.parametrize("name", ["", "reaches"])
def test_every_answer_forbids_what_nobody_needs(server: Server, invitation: str, name: str) -> None:
    paths = (*PAGES, HEALTH, f"{ENTER}?t={invitation}", f"{RESULTS}report.html", "/no/such")
    for path in paths:
        answer = asked(server, "GET", path, name)
        assert answer.headers["X-Content-Type-Options"] == "nosniff", path
        assert answer.headers["Referrer-Policy"] in ("same-origin", "no-referrer"), path
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin", path
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin", path
        policy = answer.headers["Content-Security-Policy"]
        assert re.search(r"frame-ancestors '(none|self)'", policy), path
        assert "unsafe-eval" not in policy and "script-src 'unsafe-inline'" not in policy, path
        kept = answer.headers["Cache-Control"]
        assert "public" not in kept and ("no-store" in kept or "no-cache" in kept), path


@attempt(
    "Links and sessions",
    "the server's log is searched for links that were opened, used or wrong, and for sessions",
    "none is in it",
)
def test_no_link_and_no_session_stands_in_the_log(server: Server) -> None:
    token = str(add_person(server.store, "logged").token)
    here = {"Origin": server.url(""), "Content-Type": "application/x-www-form-urlencoded"}
    assert asked(server, "GET", f"{ENTER}?t={token}").status == 200
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    connection.request("POST", ENTER, f"t={token}", here)
    entered = connection.getresponse()
    entered.read()
    connection.close()
    assert entered.status == 303
    secret = entered.headers["Set-Cookie"].partition(";")[0].partition("=")[2]
    assert asked(server, "GET", f"{ENTER}?t=wrong-{token}").status == 401
    assert asked(server, "GET", "/", Cookie=f"{cookie_name(server.place)}={secret}").status == 200
    log = (server.folder / "server.log").read_text()
    assert "serving" in log or "open your page" in log
    assert token not in log and secret not in log


@pytest.mark.landing
@pytest.mark.browser
def test_every_page_runs_under_its_policy(open_page: Any, server: Server) -> None:
    page = open_page("under policy", roles=("annotator", "reviewer", "curator", "lead"))
    said: list[str] = []
    page.on("console", lambda one: said.append(one.text))
    for path in PAGES:
        page.goto(server.url(path))
        page.wait_for_selector("[data-testid=stApp][data-test-script-state=notRunning]")
        page.wait_for_load_state("networkidle")
    assert not [one for one in said if "Content Security Policy" in one]
    # A policy that forbids nothing would pass as well.
    run = page.evaluate(
        """() => new Promise((done) => {
            document.addEventListener("securitypolicyviolation", (e) => done(e.violatedDirective));
            const script = document.createElement("script");
            script.textContent = "window.ran = true";
            document.head.append(script);
            setTimeout(() => done("nothing"), 2000);
        })"""
    )
    assert run == "script-src-elem" and page.evaluate("window.ran") is None


def told(app: Any, scope: dict[str, Any], answered: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a browser is told where `answered` is sent by what stands behind `app`."""
    sent: list[dict[str, Any]] = []

    async def behind(scope: Any, receive: Any, send: Any) -> None:
        for one in answered:
            await send(one)

    async def send(message: Any) -> None:
        sent.append(message)

    answer: Coroutine[Any, Any, None] = app(behind)(scope, None, send)
    with pytest.raises(StopIteration):  # nothing in it waits, so it needs no event loop
        answer.send(None)
    return sent


def test_an_answers_own_headers_stay_and_what_opens_it_to_others_goes() -> None:
    own = [
        (b"cache-control", b"private"),
        (b"Access-Control-Allow-Origin", b"*"),
        (b"access-control-allow-credentials", b"true"),
        (b"set-cookie", b"_streamlit_xsrf=1"),
        (b"set-cookie", b"ours=1"),
    ]
    begun = {"type": "http.response.start", "status": 200, "headers": own}
    (first,) = told(DefaultHeaders, {"type": "http"}, [begun])
    headers = [(name.decode().lower(), value.decode()) for name, value in first["headers"]]
    assert ("cache-control", "private") in headers and ("set-cookie", "ours=1") in headers
    assert len(headers) == 2 + len(DEFAULTS) - 1
