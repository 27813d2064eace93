"""Replacement of a folder: all or nothing, whenever it is killed, and users' files stay."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sts.errors import ArgumentError
from sts.storage import folders

OLD = {"page": b"old page", "numbers": b"old numbers", "tables/old": b"1", "tables/both": b"1"}
NEW = {"page": b"new page", "numbers": b"new numbers", "tables/both": b"2", "figures/new": b"2"}
OWN = {*OLD, *NEW}

KILLED_AT_EVERY_STEP = """
import os, pathlib, signal, sys
from sts.storage import folders
from tests.storage.test_folders import NEW, OLD, OWN, classify_folder

os.fsync = lambda handle: None  # no power fails here
parent = pathlib.Path(sys.argv[1])
if sys.argv[2] == "renamed":
    folders._exchange_folders = lambda one, other: False
WATCHED = {"open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.scandir",
    "os.listdir", "shutil.rmtree", "tempfile.mkdtemp", "fcntl.flock", "ctypes.dlsym"}
last = int(sys.argv[3])
for step in range(1, last):
    folder = parent / str(step) / "report"
    folders.replace_folder(folder, OLD, OWN)
    (folder / "notes").write_bytes(b"mine")
    (folder / "tables" / "mine").mkdir()
    child = os.fork()
    if child == 0:
        left = step
        def count(event, arguments):
            global left
            if event in WATCHED:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)
        sys.addaudithook(count)
        folders.replace_folder(folder, NEW, OWN)
        os._exit(0)
    ended = os.waitpid(child, 0)[1]
    assert ended in (0, signal.SIGKILL), step
    print(classify_folder(folder), flush=True)
    folders.replace_folder(folder, NEW, OWN)
    assert classify_folder(folder) == "new" and (folder / "notes").read_bytes() == b"mine", step
    assert (folder / "tables" / "mine").is_dir(), step
    assert [path.name for path in folder.parent.iterdir()] == ["report"], step
    if ended == 0:
        break
else:
    raise SystemExit(f"still not done after {last} steps")
"""


def classify_folder(folder: Path) -> str:
    """Return which of the two the folder holds: old, new, none or a mixture."""
    if not folder.exists():
        return "none"
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "notes")
    found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return "old" if found == OLD else "new" if found == NEW else "mixed"


@pytest.mark.parametrize("how", ["exchanged", "renamed"])
def test_killed_replacement_leaves_the_whole_old_or_new_folder(tmp_path, how) -> None:
    if how == "exchanged" and sys.platform != "linux":
        pytest.skip("only Linux exchanges two folders in one step")
    command = [sys.executable, "-c", KILLED_AT_EVERY_STEP, str(tmp_path), how, "200"]
    root = Path(__file__).parents[2]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=root)
    assert run.returncode == 0, run.stderr
    states = run.stdout.split()
    assert len(states) > 20 and states[0] == "old" and states[-1] == "new"
    changes = [one for one, before in zip(states, ["", *states], strict=False) if one != before]
    assert changes == (["old", "new"] if how == "exchanged" else ["old", "none", "new"])


def test_failing_disk_leaves_the_old_folder_alone(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "report"
    folders.replace_folder(folder, OLD, OWN)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        folders.replace_folder(folder, NEW, OWN)
    assert classify_folder(folder) == "old" and list(tmp_path.iterdir()) == [folder]


def test_empty_folder_behind_a_link_is_filled(tmp_path) -> None:
    (tmp_path / "there").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "there")
    folders.replace_folder(tmp_path / "link", OLD, OWN)
    folders.replace_folder(tmp_path / "link", NEW, OWN)
    assert classify_folder(tmp_path / "there") == "new" and (tmp_path / "link").is_symlink()
    assert (tmp_path / "there").stat().st_mode & 0o777 == 0o700


def test_leftover_file_does_not_replace_a_newer_one(tmp_path) -> None:
    folder = tmp_path / "report"
    folders.replace_folder(folder, NEW, OWN)
    left = tmp_path / ".report.x.part"
    left.mkdir()
    (left / "notes").write_bytes(b"before")
    (folder / "notes").write_bytes(b"after")
    folders.replace_folder(folder, NEW, OWN)
    assert (folder / "notes").read_bytes() == b"after"
    assert (folder / "notes~").read_bytes() == b"before"


def test_simultaneous_replacements_leave_one_whole_folder(tmp_path) -> None:
    folder = tmp_path / "report"
    both = [
        threading.Thread(target=folders.replace_folder, args=(folder, files, OWN))
        for files in (OLD, NEW) * 4
    ]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert classify_folder(folder) in ("old", "new") and list(tmp_path.iterdir()) == [folder]


def test_current_folder_is_not_replaced(tmp_path, monkeypatch) -> None:
    (tmp_path / "within").mkdir()
    monkeypatch.chdir(tmp_path / "within")
    with pytest.raises(ArgumentError, match="contains the current directory"):
        folders.replace_folder(tmp_path, NEW, OWN)
    assert [path.name for path in tmp_path.iterdir()] == ["within"]
