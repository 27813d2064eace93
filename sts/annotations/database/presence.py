"""Check for a study in a workspace without a database library, which is slow to import."""

import os
from pathlib import Path

from sts.errors import StoreError
from sts.storage.workspace import Workspace

DATABASE_FILE = "annotations.sqlite3"
URL_VARIABLE = "STS_DATABASE_URL"
RECORD_FILE = "annotations.json"
"""File that records that a study has started, so that a lost database is noticed.

After an export it also holds the digests of the events in it, so that an older one is noticed.
"""
NEW_RECORD = b"{}\n"
DELETED_RECORD = b'{"deleted":true}\n'
"""Its content after it was deleted, until the next export."""


def has_study(workspace: Workspace) -> bool:
    """Return True if there may be a study: its file is present, or a server's URL is set.

    Raises:
      StoreError: the file was lost, or is not a file.
    """
    return bool(os.environ.get(URL_VARIABLE)) or is_present(workspace.path(DATABASE_FILE))


def is_present(path: Path) -> bool:
    """Return True if the file at `path` holds a database; raise StoreError if it was lost."""
    # Check the record first: another process may be creating both.
    recorded = path.with_name(RECORD_FILE).exists()
    if path.exists() and not path.is_file():
        raise StoreError(f"annotation database {path} is not a file; move it away")
    present = path.exists() and path.stat().st_size > 0
    if recorded and not present:
        raise lost_error(
            str(path), path.with_name(RECORD_FILE), "is empty" if path.exists() else "is missing"
        )
    return present


def lost_error(name: str, record: Path, problem: str) -> StoreError:
    """Return the error that a study has started and its database, of this name, is lost."""
    return StoreError(
        f"a study started in this workspace ({record.name}), but its annotation database {name} "
        f"{problem}; put the database back or restore a backup; for a study on PostgreSQL, set "
        f"{URL_VARIABLE}; to start a new study, move {record} away"
    )
