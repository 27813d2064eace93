"""Secret of the owner's link, for a server that someone runs for themselves."""

from __future__ import annotations

import hmac
import secrets

from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

KEY_FILE = ".annotate-key"


def owner_key(workspace: Workspace, owner: str) -> str:
    """Return the secret of the owner's link, stable across restarts so that bookmarks work.

    It is derived from a key file that only the user can read, and is valid only on a server that
    was started with `--user` on this workspace.
    """
    file = workspace.path(KEY_FILE)
    if not file.exists():
        write_atomically(file, secrets.token_hex().encode(), mode=0o600)
    return hmac.digest(file.read_bytes(), owner.encode(), "sha256").hex()
