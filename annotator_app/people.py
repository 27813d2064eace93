"""Who is at the page: the owner on their own machine, or an annotator with a personal link."""

from __future__ import annotations

import hmac
import secrets

from annotator_app.settings import Settings
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

KEY_FILE = ".annotate-key"


def person(store: Store, settings: Settings, token: str) -> Annotator | None:
    """Whose link carries `token`; None for nobody's, or for somebody who has retired."""
    if settings.key and hmac.compare_digest(settings.key.encode(), token.encode()):
        found = [one for one in store.annotators() if one.name == settings.owner]
        return found[0] if found and not found[0].retired else None
    return store.annotator_by_token(token) if token else None


def owner_key(workspace: Workspace, owner: str) -> str:
    """The secret of the owner's link, the same each time so that an open page survives a restart.

    It is derived from a key file that only the user can read, and it opens nothing but an
    annotator that was started with `--as` on this workspace.
    """
    file = workspace.path(KEY_FILE)
    if not file.exists():
        write_atomically(file, secrets.token_hex().encode(), mode=0o600)
    return hmac.digest(file.read_bytes(), owner.encode(), "sha256").hex()
