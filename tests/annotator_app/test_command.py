"""`sts annotate` from a terminal: one-line errors, the owner's link, a quiet end."""

from __future__ import annotations

import asyncio
import http.client
import signal
import socket
import subprocess
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts_annotator_app.auth.browser_sessions import KEY_FILE, derive_owner_key
from sts_annotator_app.settings import Settings
from sts_annotator_app.shell import server
from sts_annotator_app.shell.server import bind
from tests.waiting import PATIENCE


def annotate(folder: Path, *options: str) -> int:
    return main(["annotate", "--workspace", str(folder), "--no-browser", *options])


def error_line(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def test_busy_port_prints_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert annotate(tmp_path, "core@2", "--port", port) == 1
    assert f"port {port} on 127.0.0.1 is busy" in error_line(capsys)
    assert not (tmp_path / "annotations.sqlite3").exists()


def test_connections_send_small_messages_without_delay() -> None:
    async def served() -> int:
        async def note(reader: object, writer: asyncio.StreamWriter) -> None:
            own = writer.get_extra_info("socket")
            found.set_result(own.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        found: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        with bind("127.0.0.1", 0) as bound:
            async with await asyncio.start_server(note, sock=bound):
                with socket.create_connection(bound.getsockname()[:2]):
                    return await found

    with ThreadPoolExecutor(1) as thread:  # the browser's loop may run in this one
        assert thread.submit(asyncio.run, served()).result() == 1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["core@99"], "unknown suite version"),
        (["nothing@1"], "unknown suite 'nothing@1'"),
        (["core@2+category:abmush"], "unknown category of core@2 'abmush'"),
        (["--port", "70000"], "expected --port of 0 to 65535"),
        (["--connections", "0"], "expected --connections of 1 or more, found 0"),
        (["--user", "Ana", "--host", "0.0.0.0"], "--user is for your own machine"),
        (["core@2", "--host", "no.such.host.invalid"], "expected an address of this machine"),
        (["core@2", "--user", " "], "expected a name"),
        (["core@2", "--proxy", "my.proxy"], "--proxy: expected an address such as 127.0.0.1"),
        (["core@2", "--base-path", "judge"], "--base-path: expected a path like /judge"),
        (["core@2", "--base-path", "/judge/<b>"], "--base-path: expected a path like /judge"),
        (["core@2", "--base-path", "/a/../b"], "--base-path: expected a path like /judge"),
    ],
)
def test_invalid_arguments_print_one_line_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert annotate(tmp_path, *options, *(["--port", "0"] if "--port" not in options else [])) == 2
    assert words in error_line(capsys)


@pytest.mark.landing
@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_signal_ends_the_server_without_traceback_or_secret(tmp_path: Path, how: int) -> None:
    options = ["--workspace", str(tmp_path), "--port", "0", "--user", "Ana", "--no-browser"]
    command = [sys.executable, "-m", "sts.cli.main", "annotate", "core@2", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        lines = [process.stdout.readline() for _ in range(5)]
        link = next(line.split()[-1] for line in lines if "/enter?t=" in line)
        parts = urllib.parse.urlsplit(link)
        assert parts.hostname and parts.port
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)
        connection.request("GET", f"{parts.path}?{parts.query}")
        assert connection.getresponse().status == 303
        connection.close()
        process.send_signal(how)
        rest, error = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode in (0, -how)
    assert "Traceback" not in error and link.split("=")[1] not in rest + error


def test_owner_key_is_stable_private_and_per_owner_and_workspace(tmp_path: Path) -> None:
    one, other = (Workspace.open(str(tmp_path / name)).create() for name in ("one", "other"))
    assert derive_owner_key(one, "Ana") == derive_owner_key(one, "Ana")
    assert (
        len(
            {
                derive_owner_key(one, "Ana"),
                derive_owner_key(one, "Ben"),
                derive_owner_key(other, "Ana"),
            }
        )
        == 3
    )
    assert (one.root / KEY_FILE).stat().st_mode & 0o077 == 0


def test_part_of_a_suite_is_queued_under_its_own_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[Settings] = []
    monkeypatch.setattr(server, "serve", lambda settings, bound: served.append(settings))
    for suite in ("core@2", "core@2+category:ambush", "core@2+category:ambush,ambush"):
        assert annotate(tmp_path, suite, "--port", "0") == 0
        assert capsys.readouterr().out.startswith(f"{suite}: 0 continuations")
    whole, part, same = served
    assert whole.suite == whole.queue == part.suite == "core@2"
    assert part.queue.startswith("core@2+") and same.queue == part.queue


@pytest.mark.parametrize(
    ("options", "warnings"),
    [
        (["--host", "0.0.0.0"], 1),
        (["--host", "0.0.0.0", "--proxy", "10.0.0.0/8"], 0),
        ([], 0),
    ],
)
def test_plain_http_for_other_machines_prints_one_warning(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    warnings: int,
) -> None:
    monkeypatch.setattr(server, "serve", lambda settings, bound: None)
    assert annotate(tmp_path, "core@2", "--port", "0", *options) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == error.count("plain http") == warnings
