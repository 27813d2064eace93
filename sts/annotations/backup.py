"""A workspace as one file, taken while it is in use, and that file as a workspace again.

What is copied earlier never names what is copied later and was not there yet: first the database as
it is at one moment, then everything else, whatever names other files before these. What the
database names was on disk before the database said so, and no file that another names ever changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from sts.annotations import snapshot
from sts.annotations.database import RECORD_FILE
from sts.annotations.move import AWAY
from sts.annotations.store import DATABASE_FILE
from sts.errors import ArgumentError, DamagedData, StsError, Unavailable
from sts.names import shown
from sts.storage import archive
from sts.storage.archive import Manifest
from sts.storage.files import beside, link_new, synchronise
from sts.storage.folders import alone
from sts.storage.workspace import Workspace

KEY_FILE = ".annotate-key"
_REBUILT = {"continuations/index.parquet", "reports/live", "frames"}
"""What is made again from the rest, or is of the moment."""
_DATABASE_FILES = {
    DATABASE_FILE,
    RECORD_FILE,
    AWAY,
    *(f"{DATABASE_FILE}-{end}" for end in ("wal", "shm", "journal")),
}
"""What is copied with the database or made again with it, and a database that a study has left."""
_FOLDERS_IN_ORDER = ("reports", "labels", "tags", "drafts", "suites", "scores", "continuations")
"""Folders in the order in which they are copied; the others come after them."""


def take(workspace: Workspace, file: Path) -> Manifest:
    """Write everything that people and agents have made in a workspace to one file.

    Nobody has to stop for it. What is acknowledged before it begins is in it. The file is readable
    to its owner alone: it has the workspace's secrets.

    Args:
      workspace: any; nothing in it changes.
      file: where nothing is, outside the workspace.

    Raises:
      ArgumentError: it is inside the workspace.
      Unavailable: something is there, or another program makes a backup there just now.
      StsError: there is no workspace, or it holds what is no file.
      StoreError: its database cannot be read.
      OSError: the disk is full, read-only or not ours.
    """
    if not workspace.path("workspace.toml").exists():
        raise StsError(f"no workspace at {workspace.root}, so nothing to back up")
    if _resolve_path(file).is_relative_to(_resolve_path(workspace.root)):
        raise ArgumentError(f"{file} is inside the workspace; name a file outside of it")
    if os.path.lexists(file):
        raise Unavailable(f"{file} exists and stays as it is: name a new file")
    with beside(file) as part:
        made = part / "whole"
        manifest = archive.write(made, workspace.identity(), _iter_sources(workspace, part))
        link_new(made, file)
    return manifest


def _resolve_path(path: Path) -> Path:
    """Return where a path leads; one that leads round in a circle as far as it does."""
    return Path(os.path.realpath(path))


def _iter_sources(workspace: Workspace, part: Path) -> Iterator[tuple[str, Path]]:
    """Yield what is copied, in order, and look for each when those before it are copied."""
    root, database = workspace.root, part / "database"
    name = snapshot.copy_database(workspace, database)
    if name is not None:
        yield name, database
    entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir() and entry.name not in _DATABASE_FILES:
            if entry.name == KEY_FILE or not entry.name.startswith("."):
                yield entry.name, Path(entry.path)
    others = [
        entry.name for entry in entries if entry.is_dir() and entry.name not in _FOLDERS_IN_ORDER
    ]
    for name in (*_FOLDERS_IN_ORDER, *others):
        if name == "reports" and (root / name).is_dir():
            with alone(root / name):  # a report is replaced as a whole
                yield from _iter_files(root, name)
        elif _is_backed_up(name):
            yield from _iter_files(root, name)


def _iter_files(root: Path, folder: str) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder; what is further down is looked for after what is above."""
    for at, folders, files in os.walk(
        root / folder, onerror=_raise_unless_missing, followlinks=True
    ):
        inside = os.path.relpath(at, root)
        folders[:] = sorted(name for name in folders if _is_backed_up(f"{inside}/{name}"))
        for name in sorted(files):
            if _is_backed_up(f"{inside}/{name}"):
                yield f"{inside}/{name}", Path(at, name)


def _raise_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


def _is_backed_up(name: str) -> bool:
    """Return True for a file or a folder, by its path, that is not made again and not hidden."""
    hidden = name.rpartition("/")[2].startswith(".")
    return not hidden and name not in _REBUILT and not name.endswith(".sound")


def restore(
    file: Path, root: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Manifest:
    """Make a backup a workspace, all of it at once; its database is of the kind that it was.

    Args:
      file: of the backup.
      root: where nothing is, or an empty folder.
      progress: is told how many files are written, of how many.

    Raises:
      Unavailable: something is at `root`.
      ArgumentError: the program runs inside it.
      DamagedData: it is no backup, or damaged; nothing is then at `root`.
      NewerFormat: a later version made it, or its database.
      StoreError: the database that `STS_DATABASE_URL` names cannot be used or is not empty, or the
        backup wants another kind of database than is named.
      OSError: the disk is full, read-only or not ours; nothing is then at `root`.
    """
    root = _resolve_path(root)
    if os.path.lexists(root) and not (root.is_dir() and not any(root.iterdir())):
        raise Unavailable(f"{root} holds something, which stays: restore into a new folder")
    if Path.cwd().is_relative_to(root):
        raise ArgumentError(f"{root} is the current folder; work elsewhere, or name another")
    with beside(root) as part:
        manifest = archive.unpack(file, part, progress)
        workspace = Workspace.open(part)
        if workspace.identity() != manifest.workspace:
            raise DamagedData(f"{file}: expected the workspace {shown(manifest.workspace)} in it")
        snapshot.restore_database(workspace)
        part.chmod(0o755)
        os.rename(part, root)  # fails where anything has come to be at `root` meanwhile
        synchronise(root.parent)
    return manifest
