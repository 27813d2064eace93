"""The proxies of docs/deploy.md as they stand there: https, the path, websockets, who asks.

Skipped where nginx or Caddy is not installed.
"""

from __future__ import annotations

import http.client
import re
import shutil
import socket
import ssl
import subprocess
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin, Subprotocol

from sts_annotator_app.auth import cookie_name
from tests.annotator_app.serving import PATIENCE, ROOT, Server
from tests.stores import add_person
from tests.zygote import Zygote

BASE = "/judge"
NGINX = """daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{}}
http {{ access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p;
fastcgi_temp_path {folder}/f;
uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
{site}
}}
"""


@pytest.fixture(scope="module")
def served(
    recorded: Path, tmp_path_factory: pytest.TempPathFactory, zygote: Zygote
) -> Iterator[Server]:
    folder = shutil.copytree(recorded, tmp_path_factory.mktemp("proxied") / "workspace")
    with Server(folder, base=BASE, options=("--proxy", "127.0.0.1"), zygote=zygote) as made:
        yield made


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
    site = site.replace("study.example", f"https://localhost:{port}").replace(
        "{\n", "{\n    tls internal\n", 1
    )
    options = (
        "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n"
        f"    storage file_system {folder}\n}}\n"
    )
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--config", f"{folder}/Caddyfile", "--adapter", "caddyfile"]


@pytest.fixture(params=[nginx, caddy], ids=["nginx", "caddy"])
def proxy(
    request: pytest.FixtureRequest, served: Server, tmp_path: Path
) -> Iterator[tuple[int, ssl.SSLContext]]:
    """A proxy in front of the server: its port, and a context that takes its certificate."""
    name = request.param.__name__
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    port = free_port()
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(
            request.param(tmp_path, served.port, port), stdout=log, stderr=log
        )
    try:
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            assert process.poll() is None, (tmp_path / "log").read_text()
            try:
                socket.create_connection(("localhost", port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        yield port, context
    finally:
        process.terminate()
        process.wait(PATIENCE)


def test_a_person_enters_over_https_and_their_page_is_connected(
    served: Server, proxy: tuple[int, ssl.SSLContext]
) -> None:
    port, context = proxy
    here = f"https://localhost:{port}"
    token = add_person(served.store, f"by port {port}").token

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
    assert "Secure" in cookie and cookie.startswith(cookie_name(served.place))
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
