"""A server below a base path, behind a proxy that names the client's address.

The proxies of docs/deploy.md are tested as they are there, if nginx or Caddy is installed.
"""

from __future__ import annotations

import contextlib
import http.client
import re
import shutil
import socket
import ssl
import subprocess
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from sts_annotator_app.auth.browser_sessions import cookie_name
from sts_annotator_app.auth.rate_limiter import MAX_FAILURES_PER_ADDRESS
from tests.access.attempts import attempt
from tests.annotator_app.served.browser import STAGE, press, saved
from tests.annotator_app.serving import ROOT, Server
from tests.stores import add_person
from tests.waiting import PATIENCE, wait_until
from tests.zygote import Zygote

BASE = "/judge"


@pytest.fixture(scope="module")
def below(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    """A server below a path that trusts a proxy on this machine."""
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("below") / "workspace")
    with Server(folder, base=BASE, options=("--proxy", "127.0.0.1"), zygote=zygote) as made:
        yield made


def send_request(server: Server, path: str, forwarded: str = "") -> http.client.HTTPResponse:
    """Return the answer to a request; each line of `forwarded` is a header of its own."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
    try:
        connection.putrequest("GET", path)
        for line in forwarded.splitlines():
            connection.putheader("X-Forwarded-For", line)
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
    finally:
        connection.close()
    return answer


def test_person_signs_in_and_judges_below_the_path(chromium: Any, below: Server) -> None:
    context = chromium.new_context(viewport={"width": 1366, "height": 768})
    context.set_default_timeout(1000 * PATIENCE)
    context.add_init_script("localStorage['sts:settings'] ??= '{\"autoplay\": false}'")
    page = context.new_page()
    failed: list[str] = []
    page.on("response", lambda one: failed.append(one.url) if one.status >= 400 else None)
    page.goto(below.url(f"/enter?t={add_person(below.store, 'Ann').token}"))
    page.get_by_role("button", name="Sign in as Ann").click()
    page.wait_for_selector(STAGE)
    assert page.url.startswith(below.url("/"))
    (cookie,) = [one for one in context.cookies() if one["name"] == cookie_name(below.place)]
    assert cookie["path"] == BASE
    press(page, "n", "Enter")
    page.locator(".progress", has_text="1 annotated by you").wait_for(state="attached")
    saved(page)
    assert len(below.judgements("Ann")) == 1
    page.get_by_role("link", name="Guide").click()
    page.get_by_role("heading", name="How to judge an episode").wait_for()
    assert page.url == below.url("/guide")
    page.reload()
    page.get_by_role("heading", name="How to judge an episode").wait_for()
    assert failed == []
    context.close()


def test_addresses_outside_the_path_are_not_found(below: Server) -> None:
    assert send_request(below, "/").status == 404
    assert send_request(below, "/judgement/").status == 404
    sent_on = send_request(below, BASE)
    assert (sent_on.status, sent_on.headers["Location"]) == (307, f"{BASE}/")
    assert send_request(below, f"{BASE}/_stcore/health").status == 200
    assert send_request(below, f"{BASE}/").status == 401


@attempt(
    "Links and sessions",
    "wrong links from many people behind one trusted proxy",
    "each address is counted by itself",
)
def test_trusted_proxy_names_the_clients_address(below: Server) -> None:
    for number in range(2 * MAX_FAILURES_PER_ADDRESS):  # one address alone would be refused
        assert send_request(below, f"{BASE}/enter?t=wrong", f"192.0.2.{number}").status == 401


@attempt(
    "Links and sessions",
    "a forged X-Forwarded-For, passed on by a proxy that adds the address that it saw",
    "the last entry that is not a proxy's counts: that address is refused, and no other is",
)
@pytest.mark.parametrize(
    "header",
    [
        "{forged}, 198.51.100.1",
        "{forged}, 203.0.113.{number}, 198.51.100.2",
        "{forged}, 198.51.100.3, 127.0.0.1, 127.0.0.1",
        "{forged}, 198.51.100.4:{port}",
        "<b>{number}</b>, , 198.51.100.5",
        "{forged}, " * 500 + "198.51.100.6",
        "{forged}\n198.51.100.7",
    ],
    ids=["one", "several", "chain of proxies", "port", "no address", "long", "line of its own"],
)
def test_forged_addresses_count_as_the_address_that_the_proxy_saw(
    below: Server, header: str
) -> None:
    found = []
    for number in range(MAX_FAILURES_PER_ADDRESS + 1):
        forged = f"192.0.2.{100 + number}"
        forwarded = header.format(forged=forged, number=number, port=40_000 + number)
        found.append(send_request(below, f"{BASE}/enter?t=wrong", forwarded).status)
    assert found == [401] * MAX_FAILURES_PER_ADDRESS + [429]
    assert send_request(below, f"{BASE}/enter?t=wrong", "192.0.2.99").status == 401


NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f;
uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{site}
}}
"""


def example(title: str) -> str:
    text = (ROOT / "docs/deploy.md").read_text()
    found = re.search(rf"^```\w+ title={title}\n(.*?)^```$", text, re.M | re.S)
    assert found is not None
    return found[1]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        return int(bound.getsockname()[1])


def nginx(folder: Path, upstream: int, port: int) -> list[str]:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-keyout", f"{folder}/key", "-out", f"{folder}/pem", "-subj", "/CN=localhost"],
        check=True, capture_output=True,
    )  # fmt: skip
    site = example("nginx.conf").replace("127.0.0.1:8501", f"127.0.0.1:{upstream}")
    site = site.replace("listen 443", f"listen 127.0.0.1:{port}").replace("study.example;", "_;")
    site = site.replace("/etc/ssl/study.example.pem", f"{folder}/pem")
    site = site.replace("/etc/ssl/study.example.key", f"{folder}/key")
    (folder / "nginx.conf").write_text(NGINX.format(folder=folder, site=site))
    return ["nginx", "-c", f"{folder}/nginx.conf", "-p", str(folder), "-e", f"{folder}/error.log"]


def caddy(folder: Path, upstream: int, port: int) -> list[str]:
    site = example("Caddyfile").replace("127.0.0.1:8501", f"127.0.0.1:{upstream}")
    site = site.replace("study.example", f"https://localhost:{port}")
    site = site.replace("{\n", "{\n    tls internal\n", 1)
    options = (
        "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n"
        f"    storage file_system {folder}\n}}\n"
    )
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(
    params=[
        pytest.param(nginx, marks=pytest.mark.nginx, id="nginx"),
        pytest.param(caddy, marks=pytest.mark.caddy, id="caddy"),
    ]
)
def proxy(
    request: pytest.FixtureRequest, below: Server, tmp_path: Path
) -> Iterator[tuple[int, ssl.SSLContext]]:
    """A proxy in front of the server: its port, and a context that takes its certificate."""
    port = free_port()
    command = request.param(tmp_path, below.port, port)
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:

        def accepts() -> bool:
            assert process.poll() is None, (tmp_path / "log").read_text()
            with contextlib.suppress(OSError):
                socket.create_connection(("localhost", port)).close()
                return True
            return False

        wait_until(accepts, f"{request.param.__name__} accepts connections")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        yield port, context
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_documented_proxy_serves_pages_and_websockets_over_https(
    below: Server, proxy: tuple[int, ssl.SSLContext]
) -> None:
    port, context = proxy
    here = f"https://localhost:{port}"
    token = add_person(below.store, f"by port {port}").token

    def ask(method: str, path: str, body: str = "", **headers: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPSConnection("localhost", port, context=context)
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return answer

    assert ask("GET", f"{BASE}/").status == 401
    assert ask("GET", f"{BASE}/enter?t={token}").status == 200
    form = urllib.parse.urlencode({"t": str(token)})
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    strange = ask("POST", f"{BASE}/enter", form, Origin="https://evil.example", **kind)
    assert strange.status == 403
    entered = ask("POST", f"{BASE}/enter", form, Origin=here, **kind)
    assert (entered.status, entered.headers["Location"]) == (303, f"{BASE}/")
    cookie = entered.headers["Set-Cookie"]
    assert "Secure" in cookie and cookie.startswith(cookie_name(below.place))
    own = {"Cookie": cookie.split(";")[0]}
    assert ask("GET", f"{BASE}/annotate", **own).status == 200
    stream = f"wss://localhost:{port}{BASE}/_stcore/stream"
    protocol = [Subprotocol("streamlit")]
    with connect(
        stream, ssl=context, origin=Origin(here), additional_headers=own, subprotocols=protocol
    ) as socket_:
        assert socket_.subprotocol == "streamlit"
    with pytest.raises(InvalidStatus):
        connect(stream, ssl=context, origin=Origin(here), subprotocols=protocol)
