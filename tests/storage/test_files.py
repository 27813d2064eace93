"""Files: permissions from the first moment, one holder of a lock, JSON that can be trusted."""

import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import DamagedData
from sts.storage import files
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from tests.examples import scenarios


def test_a_secret_file_is_never_seen_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    real = os.replace

    def replace(source: str, target: Path) -> None:
        seen.append(Path(source).stat().st_mode & 0o777)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    files.write_atomically(tmp_path / "key", b"secret", mode=0o600)
    assert seen == [0o600]
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_lock_has_one_holder_at_a_time_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.write_text("kept")
    order: list[str] = []

    def second() -> None:
        with files.lock_file(path):
            order.append("second")

    with files.lock_file(path):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(0.2)
        order.append("first")
    thread.join()
    assert order == ["first", "second"]
    assert path.read_text() == "kept"


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[]", "{", "[" * 100_000, '"a"'])
def test_json_of_another_kind_or_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.parsed_json(text, dict)
    assert files.parsed_json('{"a": [1.5]}', dict) == {"a": [1.5]}


def test_only_a_regular_file_is_read_and_nothing_else_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's address is short
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.regular_bytes(tmp_path / "file") == b"content"
    assert files.regular_bytes(tmp_path / "link") == b"content"
    os.mkfifo(tmp_path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        for path, found in (
            (tmp_path, "a folder"),
            (tmp_path / "pipe", "a named pipe"),
            (tmp_path / "socket", "a socket"),
            (Path("/dev/zero"), "a device"),
        ):
            with pytest.raises(DamagedData, match=f"{path}: expected a file, found {found}"):
                files.regular_bytes(path)
    with pytest.raises(FileNotFoundError):
        files.regular_bytes(tmp_path / "none")


def test_a_pipe_that_takes_the_place_of_a_file_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    before = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda self: before)
    with pytest.raises(DamagedData, match="found a named pipe"):
        files.regular_bytes(path)


def test_a_file_over_the_limit_is_refused_unread(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    assert files.regular_bytes(tmp_path / "large", limit=5) == b"12345"
    with pytest.raises(DamagedData, match="expected a file of at most 4 bytes, found 5"):
        files.regular_bytes(tmp_path / "large", limit=4)


def test_a_file_that_says_it_is_empty_is_read_up_to_the_limit() -> None:
    path = Path("/proc/self/status")  # its size is 0 until it is read
    if not path.exists():
        pytest.skip("no /proc here")
    assert files.regular_bytes(path, limit=1_000_000)
    with pytest.raises(DamagedData, match="at most 10 bytes, found more than 10"):
        files.regular_bytes(path, limit=10)


ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="there is no file that fails to read")
FAILING = Path("/proc/self/mem")  # a regular file whose first bytes the system fails to deliver


@ON_LINUX
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("workspace.toml", ("suite", "ls")),
        ("suites/mine/1/suite.json", ("suite", "show", "mine@1")),
        ("suites/mine/1/scenarios.parquet", ("suite", "show", "mine@1")),
        ("tags/core.json", ("suite", "show", "core@2+tag:odd")),
        ("drafts/own/draft.json", ("draft", "show", "own")),
        ("trajectories/one.parquet", ("trajectories", "ls")),
        ("labels/core-2.parquet", ("report", "core@2")),
    ],
)
def test_failed_read_asks_to_check_the_disk(
    place: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace.open(str(tmp_path / "w")).ensure()
    if place.startswith("suites"):
        suites.freeze(workspace, "mine", scenarios(1))
    file = workspace.path(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(FAILING)
    assert main([*words, "--workspace", str(workspace.root)]) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"cannot read {file}; check the disk and try again\n"), said
    assert said.count("\n") == 1
