"""Files and settings of a workspace: permissions, locks, and reads that never hang."""

import fcntl
import os
import socket
import sys
import threading
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import DamagedData
from sts.storage import files, workspace
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from tests.access.attempts import attempt
from tests.examples import scenarios

HEAD = f'schema = 2\nid = "{32 * "0"}"\n'


def setting(tmp_path: Path, line: str, default: object) -> object:
    (tmp_path / "workspace.toml").write_text(f"{HEAD}[annotation]\n{line}\n")
    return Workspace.open(str(tmp_path)).setting("annotation", "x", default)


def test_setting_has_the_kind_of_its_default(tmp_path) -> None:
    for line in ("x = 1.5", "x = true", 'x = "2"', "x = [1]"):
        with pytest.raises(DamagedData, match=r"expected annotation\.x like 1"):
            setting(tmp_path, line, 1)
    assert [setting(tmp_path, line, 0.5) for line in ("x = 1", "x = 0.25", "")] == [1, 0.25, 0.5]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        *((f"schema = {bad}", "no integer `schema`") for bad in ("true", "0", "-1", '"1"')),
        *(
            (f"schema = 2\nid = {bad}", "expected an id of 32 hexadecimal digits")
            for bad in ("1", '""', '"../../x"', '"5CA1AB1E"', "[]")
        ),
        ("x = " + "[" * 100_000, "not valid TOML"),
    ],
)
def test_damaged_settings_are_refused(tmp_path, line, words) -> None:
    (tmp_path / "workspace.toml").write_text(f"{line}\n")
    with pytest.raises(DamagedData, match=words):
        Workspace.open(str(tmp_path))


@attempt(
    "Paths",
    "a pipe, or a link to a device, in the place of a workspace's settings",
    "one line; it is not waited for",
)
def test_pipe_or_device_in_place_of_settings_is_refused(tmp_path) -> None:
    file = tmp_path / "workspace.toml"
    os.mkfifo(file)
    with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
        Workspace.open(str(tmp_path))
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(DamagedData, match="expected a file, found a device"):
        Workspace.open(str(tmp_path))


def test_simultaneous_first_openings_agree_on_the_workspace_id(tmp_path, monkeypatch) -> None:
    root, count = tmp_path / "w", 4
    barrier, new_id = threading.Barrier(count, timeout=60), workspace._new_id_line

    def wait_for_others() -> str:
        """Wait until all threads have found that there is no workspace."""
        barrier.wait()
        return new_id()

    monkeypatch.setattr(workspace, "_new_id_line", wait_for_others)
    ids: list[str] = []
    threads = [
        threading.Thread(target=lambda: ids.append(Workspace.open(str(root)).identity()))
        for _ in range(count)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ids) == count and set(ids) == {Workspace.open(str(root)).identity()}


def test_workspace_of_an_earlier_version_is_refused(tmp_path, capsys) -> None:
    file = tmp_path / "workspace.toml"
    file.write_text("schema = 1\n")
    assert main(["trajectories", "ls", "--workspace", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "earlier version" in said and "start a new workspace" in said
    assert file.read_text() == "schema = 1\n"


def test_secret_file_is_private_from_the_first_moment(tmp_path, monkeypatch) -> None:
    seen: list[int] = []
    real = os.replace

    def replace(source: str, target: Path) -> None:
        seen.append(Path(source).stat().st_mode & 0o777)
        real(source, target)

    monkeypatch.setattr(os, "replace", replace)
    files.write_atomically(tmp_path / "key", b"secret", mode=0o600)
    assert seen == [0o600]
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_lock_has_one_holder_and_follows_a_replaced_file(tmp_path) -> None:
    path, order = tmp_path / "w", list[str]()
    path.write_text("old")
    waiting = threading.Event()

    def wait_for_lock() -> None:
        waiting.set()
        with files.lock_file(path):
            order.append(path.read_text())
            with path.open("r+b") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    for content in ("old", "new"):
        with files.lock_file(path):
            thread = threading.Thread(target=wait_for_lock)
            thread.start()
            waiting.wait()
            thread.join(0.2)
            order.append("first")
            if content == "new":
                files.write_atomically(path, b"new")
        thread.join()
    assert order == ["first", "old", "first", "new"]


@pytest.mark.parametrize("text", ["NaN", '{"a": Infinity}', "[]", "{", "[" * 100_000, '"a"'])
def test_json_of_another_kind_is_refused(text) -> None:
    with pytest.raises(ValueError, match=r"."):
        files.parse_versioned_json(text, dict)
    assert files.parse_versioned_json('{"a": [1.5]}', dict) == {"a": [1.5]}


def test_only_a_regular_file_is_read(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's address is short
    (tmp_path / "file").write_bytes(b"content")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    assert files.read_bytes(tmp_path / "file") == b"content"
    assert files.read_bytes(tmp_path / "link") == b"content"
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
                files.read_bytes(path)
    with pytest.raises(FileNotFoundError):
        files.read_bytes(tmp_path / "none")


def test_pipe_that_replaces_a_file_is_not_waited_for(tmp_path, monkeypatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    before = path.stat()
    path.unlink()
    os.mkfifo(path)
    monkeypatch.setattr(Path, "stat", lambda self: before)
    with pytest.raises(DamagedData, match="found a named pipe"):
        files.read_bytes(path)


def test_file_over_the_limit_is_refused_even_if_its_size_is_reported_as_0(tmp_path) -> None:
    (tmp_path / "large").write_bytes(b"12345")
    assert files.read_bytes(tmp_path / "large", limit=5) == b"12345"
    with pytest.raises(DamagedData, match="expected a file of at most 4 bytes, found 5"):
        files.read_bytes(tmp_path / "large", limit=4)
    path = Path("/proc/self/status")  # its size is 0 until it is read
    if path.exists():
        assert files.read_bytes(path, limit=1_000_000)
        with pytest.raises(DamagedData, match="at most 10 bytes, found more than 10"):
            files.read_bytes(path, limit=10)


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
def test_failed_read_asks_to_check_the_disk(place, words, tmp_path, capsys) -> None:
    workspace = Workspace.open(str(tmp_path / "w")).create()
    if place.startswith("suites"):
        suites.freeze_scenarios(workspace, "mine", scenarios(1))
    file = workspace.path(place)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.unlink(missing_ok=True)
    file.symlink_to(FAILING)
    assert main([*words, "--workspace", str(workspace.root)]) == 1
    said = capsys.readouterr().err
    assert said.endswith(f"cannot read {file}; check the disk and try again\n"), said
    assert said.count("\n") == 1
