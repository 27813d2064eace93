"""Workspace settings are of the kind that is asked for."""

import fcntl
import os
import threading
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import DamagedData
from sts.storage import files, workspace
from sts.storage.workspace import Workspace
from tests.access.attempts import attempt

HEAD = f'schema = 2\nid = "{32 * "0"}"\n'


def setting(tmp_path: Path, line: str, default: object) -> object:
    (tmp_path / "workspace.toml").write_text(f"{HEAD}[annotation]\n{line}\n")
    return Workspace.open(str(tmp_path)).setting("annotation", "x", default)


@pytest.mark.parametrize("line", ["x = 1.5", "x = true", 'x = "2"', "x = [1]"])
def test_a_whole_number_takes_no_other_kind(tmp_path: Path, line: str) -> None:
    with pytest.raises(DamagedData, match=r"expected annotation\.x like 1"):
        setting(tmp_path, line, 1)


def test_a_number_may_be_whole(tmp_path: Path) -> None:
    assert setting(tmp_path, "x = 1", 0.5) == 1
    assert setting(tmp_path, "x = 0.25", 0.5) == 0.25
    assert setting(tmp_path, "", 0.5) == 0.5


@pytest.mark.parametrize("schema", ["true", "0", "-1", '"1"'])
def test_a_schema_is_a_positive_number(tmp_path: Path, schema: str) -> None:
    (tmp_path / "workspace.toml").write_text(f"schema = {schema}\n")
    with pytest.raises(DamagedData, match="no integer `schema`"):
        Workspace.open(str(tmp_path))


@pytest.mark.parametrize("own", ["1", '""', '"../../x"', '"5CA1AB1E"', "[]"])
def test_an_id_is_hexadecimal(tmp_path: Path, own: str) -> None:
    (tmp_path / "workspace.toml").write_text(f"schema = 2\nid = {own}\n")
    with pytest.raises(DamagedData, match="expected an id of 32 hexadecimal digits"):
        Workspace.open(str(tmp_path))


@attempt(
    "Paths",
    "a pipe, or a link to a device, in the place of a workspace's settings",
    "one line; it is not waited for",
)
def test_a_pipe_or_a_device_is_no_workspace_file(tmp_path: Path) -> None:
    file = tmp_path / "workspace.toml"
    os.mkfifo(file)
    with pytest.raises(DamagedData, match="expected a file, found a named pipe"):
        Workspace.open(str(tmp_path))
    file.unlink()
    file.symlink_to("/dev/zero")
    with pytest.raises(DamagedData, match="expected a file, found a device"):
        Workspace.open(str(tmp_path))
    file.unlink()
    file.write_text("x = " + "[" * 100_000)
    with pytest.raises(DamagedData, match="not valid TOML"):
        Workspace.open(str(tmp_path))


def test_all_who_first_open_a_workspace_at_once_agree_on_its_id(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, count = tmp_path / "w", 4
    barrier, new_id = threading.Barrier(count, timeout=60), workspace._new_id_line

    def together() -> str:
        """Lets nobody go on before all have found that there is no workspace."""
        barrier.wait()
        return new_id()

    monkeypatch.setattr(workspace, "_new_id_line", together)
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


def test_a_lock_is_one_although_its_file_is_replaced_meanwhile(tmp_path: Path) -> None:
    path, order = tmp_path / "w", list[str]()
    path.write_text("old")
    waiting = threading.Event()

    def second() -> None:
        waiting.set()
        with files.lock_file(path):
            order.append(path.read_text())
            with path.open("r+b") as file, pytest.raises(BlockingIOError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    with files.lock_file(path):
        thread = threading.Thread(target=second)
        thread.start()
        waiting.wait()
        thread.join(0.2)
        files.write_atomically(path, b"new")
    thread.join()
    assert order == ["new"]


def test_a_workspace_of_an_earlier_version_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "workspace.toml"
    file.write_text("schema = 1\n")
    assert main(["trajectories", "ls", "--workspace", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "earlier version" in said and "start a new workspace" in said
    assert file.read_text() == "schema = 1\n"
