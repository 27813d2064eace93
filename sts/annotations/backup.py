"""A workspace as one file, taken while it is in use, and that file as a workspace again.

What is copied earlier never names what is copied later and was not there yet: first the database as
it is at one moment, then everything else, whatever names other files before these. What the
database names was on disk before the database said so, and no file that another names ever changes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

from sts.annotations import snapshot
from sts.annotations.database import RECORD
from sts.annotations.store import FILE
from sts.errors import ArgumentError, DamagedData, StsError, Unavailable
from sts.names import shown
from sts.storage import archive
from sts.storage.archive import Manifest
from sts.storage.files import beside, link_new, synchronise
from sts.storage.folders import alone
from sts.storage.workspace import Workspace

KEY = ".annotate-key"
_MADE_AGAIN = {"continuations/index.parquet", "reports/live", "frames"}
"""What is made again from the rest, or is of the moment."""
_NAMES_OTHERS = ("reports", "labels", "tags", "drafts", "suites", "scores", "continuations")
"""Folders in the order in which they are copied; the others come after them."""
_FILE = "workspace.toml"


def take(workspace: Workspace, file: Path) -> Manifest:
    """Writes everything that people and agents have made in a workspace to one file.

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
    if not workspace.path(_FILE).exists():
        raise StsError(f"no workspace at {workspace.root}, so nothing to back up")
    if _real(file).is_relative_to(_real(workspace.root)):
        raise ArgumentError(f"{file} is inside the workspace; name a file outside of it")
    _check_free(file)
    with beside(file) as part:
        made = part / "whole"
        told = archive.write(made, workspace.identity(), _sources(workspace, part))
        try:
            link_new(made, file)
        except FileExistsError:
            _check_free(file)
    return told


def _real(path: Path) -> Path:
    """Returns where a path leads; one that leads round in a circle as far as it does."""
    return Path(os.path.realpath(path))


def _check_free(file: Path) -> None:
    if os.path.lexists(file):
        raise Unavailable(f"{file} exists and stays as it is: name a new file")


def _sources(workspace: Workspace, part: Path) -> Iterator[tuple[str, Path]]:
    """Yields what is copied, in order, and looks for each when those before it are copied."""
    root, database = workspace.root, part / "database"
    if snapshot.copy(workspace, database):
        yield FILE, database
    entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    # The record that a study began is made again with the database, and only with it.
    of_database = {FILE, RECORD, *(f"{FILE}-{end}" for end in ("wal", "shm", "journal"))}
    for entry in entries:
        own = entry.name == KEY or not entry.name.startswith(".")
        if own and not entry.is_dir() and entry.name not in of_database:
            yield entry.name, Path(entry.path)
    others = [entry.name for entry in entries if entry.is_dir() and entry.name not in _NAMES_OTHERS]
    for name in (*_NAMES_OTHERS, *others):
        if name == "reports" and (root / name).is_dir():
            with alone(root / name):  # a report is replaced as a whole
                yield from _below(root, name)
        elif not name.startswith("."):
            yield from _below(root, name)


def _below(root: Path, folder: str) -> Iterator[tuple[str, Path]]:
    """Yields the files below a folder; those further down are looked for after those above."""
    level = [] if folder in _MADE_AGAIN else [folder]
    while level:
        deeper = []
        for one in level:
            for name, entry in _inside(root, one):
                if entry.is_dir():
                    deeper.append(name)
                else:
                    yield name, Path(entry.path)
        level = deeper


def _inside(root: Path, folder: str) -> list[tuple[str, os.DirEntry[str]]]:
    try:
        entries = sorted(os.scandir(root / folder), key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    named = [(f"{folder}/{entry.name}", entry) for entry in entries]
    return [
        (name, entry)
        for name, entry in named
        if name not in _MADE_AGAIN
        and not entry.name.startswith(".")
        and not name.endswith(".sound")
    ]


def restore(
    file: Path, root: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Manifest:
    """Makes a backup a workspace, all of it at once; its database goes where this one's would be.

    Args:
      file: of the backup.
      root: where nothing is, or an empty folder.
      progress: is told how many files are written, of how many.

    Raises:
      Unavailable: something is at `root`.
      ArgumentError: the program runs inside it.
      DamagedData: it is no backup, or damaged; nothing is then at `root`.
      NewerFormat: a later version made it, or its database.
      StoreError: the database that `STS_DATABASE_URL` names cannot be used, or is not empty.
      OSError: the disk is full, read-only or not ours; nothing is then at `root`.
    """
    root = _real(root)
    _check_vacant(root)
    with beside(root) as part:
        told = archive.unpack(file, part, progress)
        workspace = Workspace.open(part)
        if _FILE not in told.files or workspace.identity() != told.workspace:
            raise DamagedData(f"{file}: expected the workspace {shown(told.workspace)} in it")
        if FILE in told.files:
            snapshot.settle(workspace)
        part.chmod(0o755)
        try:
            os.rename(part, root)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                _check_vacant(root)
            raise
        synchronise(root.parent)
    return told


def _check_vacant(root: Path) -> None:
    if os.path.lexists(root) and not (root.is_dir() and not any(root.iterdir())):
        raise Unavailable(f"{root} holds something, which stays: restore into a new folder")
    if Path.cwd().is_relative_to(root):
        raise ArgumentError(f"{root} is the current folder; work elsewhere, or name another")
