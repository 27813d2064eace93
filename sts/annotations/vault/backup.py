"""Backup of a workspace into one file while it is in use, and its restoration.

A file that is copied earlier never refers to a file that did not exist when it was copied. The
database is copied first, as it is at one moment, because all files it refers to exist before it
does so. Then follow the other files, those that refer to others first; files that others refer to
never change.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from sts.annotations.database.presence import DATABASE_FILE, RECORD_FILE
from sts.annotations.vault import database_backup
from sts.annotations.vault.move import MOVED_FILE
from sts.errors import ArgumentError, DamagedData, StsError, Unavailable
from sts.names import quote
from sts.storage import archive
from sts.storage.archive import Manifest
from sts.storage.files import link_new, open_part_folder, sync_folder
from sts.storage.folders import lock_folder
from sts.storage.workspace import Workspace

KEY_FILE = ".annotate-key"
_REBUILT = {"continuations/index.parquet", "reports/live", "frames"}
"""Files that are rebuilt from the rest, or hold only the current state."""
_DATABASE_FILES = {
    DATABASE_FILE,
    RECORD_FILE,
    MOVED_FILE,
    *(f"{DATABASE_FILE}-{end}" for end in ("wal", "shm", "journal")),
}
"""The database's own files, which are copied with it or rebuilt, and a database left by a move."""
_FOLDERS_IN_ORDER = (
    *("reports", "live", "labels", "tags", "drafts", "suites", "scores", "continuations"),
)
"""Folders to copy first, in this order, because their files refer to others."""


def create_backup(workspace: Workspace, file: Path) -> Manifest:
    """Write everything that people and agents have made in a workspace to one file.

    The workspace may be in use; whatever was acknowledged before the start is included. Only the
    file's owner may read it, because it holds the workspace's secrets.

    Args:
      workspace: is not changed.
      file: a path that does not exist, outside the workspace.

    Raises:
      ArgumentError: `file` is inside the workspace.
      Unavailable: `file` exists, or another program is writing a backup there.
      StsError: there is no workspace, or it holds something that is not a file.
      StoreError: its database cannot be read.
      OSError: the disk is full or read-only, or permission is denied.
    """
    if not workspace.path("workspace.toml").exists():
        raise StsError(f"no workspace at {workspace.root}, nothing to back up")
    if _resolve_path(file).is_relative_to(_resolve_path(workspace.root)):
        raise ArgumentError(f"{file} is inside the workspace; choose a file outside it")
    if os.path.lexists(file):
        raise Unavailable(f"{file} already exists; choose a new file")
    with open_part_folder(file) as part:
        new = part / "whole"
        manifest = archive.write_archive(new, workspace.identity(), _iter_sources(workspace, part))
        link_new(new, file)
    return manifest


def _resolve_path(path: Path) -> Path:
    """Resolve symbolic links in a path, and a circular link as far as possible."""
    return Path(os.path.realpath(path))


def _iter_sources(workspace: Workspace, part: Path) -> Iterator[tuple[str, Path]]:
    """Yield the files to copy, in order, looking up each after those before it are copied."""
    root, database = workspace.root, part / "database"
    name = database_backup.copy_database(workspace, database)
    if name is not None:
        yield name, database
    entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    for entry in entries:
        if not entry.is_dir() and entry.name not in _DATABASE_FILES:
            if entry.name == KEY_FILE or not entry.name.startswith("."):
                yield entry.name, Path(entry.path)
    other_folders = [
        entry.name for entry in entries if entry.is_dir() and entry.name not in _FOLDERS_IN_ORDER
    ]
    for name in (*_FOLDERS_IN_ORDER, *other_folders):
        if name == "reports" and (root / name).is_dir():
            with lock_folder(root / name):  # reports are replaced as a whole
                yield from _iter_files(root, name)
        elif _is_backed_up(name):
            yield from _iter_files(root, name)


def _iter_files(root: Path, folder: str) -> Iterator[tuple[str, Path]]:
    """Yield the files below a folder, listing each subfolder after the files above it."""
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
    """Return True if a file or folder, given by its path, is neither hidden nor rebuilt."""
    hidden = name.rpartition("/")[2].startswith(".")
    return not hidden and name not in _REBUILT and not name.endswith(".sound")


def restore_backup(
    file: Path, root: Path, progress: Callable[[int, int], None] = lambda done, total: None
) -> Manifest:
    """Restore a backup as a new workspace with the same kind of database, or not at all.

    Args:
      file: the backup.
      root: a path that does not exist, or an empty folder.
      progress: called with the number of files written and their total.

    Raises:
      Unavailable: `root` exists and is not an empty folder.
      ArgumentError: the current directory is inside `root`.
      DamagedData: it is damaged or not a backup; nothing is then left at `root`.
      NewerFormat: a later version wrote it, or its database.
      StoreError: the database in `STS_DATABASE_URL` cannot be used or is not empty, or the backup
        needs the other kind of database.
      OSError: the disk is full or read-only, or permission is denied; nothing is left at `root`.
    """
    root = _resolve_path(root)
    if os.path.lexists(root) and not (root.is_dir() and not any(root.iterdir())):
        raise Unavailable(f"{root} is not empty; restore into a new folder")
    if Path.cwd().is_relative_to(root):
        raise ArgumentError(f"{root} contains the current folder; leave it, or choose another")
    with open_part_folder(root) as part:
        manifest = archive.extract_archive(file, part, progress)
        workspace = Workspace.open(part)
        if workspace.identity() != manifest.workspace:
            raise DamagedData(f"{file}: expected the workspace {quote(manifest.workspace)} in it")
        database_backup.restore_database(workspace)
        part.chmod(0o755)
        os.rename(part, root)  # fails if `root` was filled meanwhile
        sync_folder(root.parent)
    return manifest
