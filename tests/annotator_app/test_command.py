"""`sts annotate` from a terminal: one line for what is wrong, and a quiet end."""

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
from sts_annotator_app.server import bind
from tests.annotator_app.serving import PATIENCE


def said(capsys: pytest.CaptureFixture[str]) -> str:
    error = capsys.readouterr().err
    assert error.count("\n") == 1, error
    return error


def annotate(folder: Path, *options: str) -> int:
    return main(["annotate", "--workspace", str(folder), "--no-browser", *options])


def test_a_busy_port_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert annotate(tmp_path, "core@2", "--port", port) == 1
    assert f"port {port} on 127.0.0.1 is busy" in said(capsys)
    assert not (tmp_path / "annotations.sqlite3").exists()


def test_no_message_waits_until_the_one_before_it_has_come() -> None:
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
        (["--port", "70000"], "expected --port of 0 to 65535"),
        (["--connections", "0"], "expected --connections of 1 or more, found 0"),
        (["--as", "Ana", "--host", "0.0.0.0"], "--as is for your own machine"),
        (["core@2", "--host", "no.such.host.invalid"], "expected an address of this machine"),
        (["core@2", "--as", " "], "expected a name"),
        (["core@2", "--proxy", "my.proxy"], "--proxy: expected an address such as 127.0.0.1"),
        (["core@2", "--base-path", "judge"], "--base-path: expected a path like /judge"),
        (["core@2", "--base-path", "/judge/<b>"], "--base-path: expected a path like /judge"),
        (["core@2", "--base-path", "/a/../b"], "--base-path: expected a path like /judge"),
    ],
)
def test_what_was_typed_wrong_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert annotate(tmp_path, *options, *(["--port", "0"] if "--port" not in options else [])) == 2
    assert words in said(capsys)


@pytest.mark.parametrize(
    "how", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.landing)]
)
def test_it_ends_quietly_and_prints_no_secret_but_the_link(tmp_path: Path, how: int) -> None:
    options = ["--workspace", str(tmp_path), "--port", "0", "--as", "Ana", "--no-browser"]
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
    code = process.returncode
    assert code in (0, -how)
    assert "Traceback" not in error and link.split("=")[1] not in rest + error


def test_the_link_of_the_owner_stays_the_same_and_is_nobody_elses(tmp_path: Path) -> None:
    from sts.storage.workspace import Workspace
    from sts_annotator_app.people import KEY_FILE, owner_key

    one, other = (Workspace.open(str(tmp_path / name)).ensure() for name in ("one", "other"))
    assert owner_key(one, "Ana") == owner_key(one, "Ana")
    assert len({owner_key(one, "Ana"), owner_key(one, "Ben"), owner_key(other, "Ana")}) == 3
    assert (one.root / KEY_FILE).stat().st_mode & 0o077 == 0


def test_a_part_of_a_suite_is_judged_by_its_own_name_in_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sts_annotator_app import server
    from sts_annotator_app.settings import Settings

    served: list[Settings] = []
    monkeypatch.setattr(server, "serve", lambda settings, bound: served.append(settings))
    for suite in ("core@2", "core@2+category:ambush", "core@2+category:ambush,ambush"):
        assert annotate(tmp_path, suite, "--port", "0") == 0
        assert capsys.readouterr().out.startswith(f"{suite}: 0 continuations")
    whole, part, same = served
    assert (whole.suite, whole.part) == ("core@2", "")
    assert part.suite == "core@2" and part.part.startswith("core@2+")
    assert same.part == part.part
    assert annotate(tmp_path, "core@2+category:abmush", "--port", "0") == 2
    assert "unknown category of core@2 'abmush'" in said(capsys)


@pytest.mark.parametrize(
    ("options", "warned"),
    [
        (["--host", "0.0.0.0"], True),
        (["--host", "0.0.0.0", "--proxy", "10.0.0.0/8"], False),
        ([], False),
    ],
)
def test_plain_http_for_others_warns_in_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    warned: bool,
) -> None:
    from sts_annotator_app import server

    monkeypatch.setattr(server, "serve", lambda settings, bound: None)
    assert annotate(tmp_path, "core@2", "--port", "0", *options) == 0
    error = capsys.readouterr().err
    assert error.count("\n") == int(warned) and ("plain http" in error) is bool(warned)
