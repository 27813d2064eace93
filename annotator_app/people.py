"""Who is at the page: the owner on their own machine, or whoever entered by an invitation."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable

from annotator_app.settings import Settings
from sts.annotations.sessions import Invitation
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace

KEY_FILE = ".annotate-key"


class Entrance:
    """Whom a running annotator lets in.

    Args:
      store: gives the study's store.
      settings: what the annotator was started with.
    """

    def __init__(self, store: Callable[[], Store], settings: Settings) -> None:
        """Opens nothing yet."""
        self._store, self._settings = store, settings

    def owns(self, token: str) -> bool:
        """Whether it is the secret of the owner's link."""
        return owns(self._settings, token)

    def person(self, secret: str) -> Annotator | None:
        """Who holds the session with this secret, or is the owner."""
        return person(self._store(), self._settings, secret)

    def invitation(self, token: str) -> Invitation | None:
        """Whom a token invites."""
        return self._store().invitation(token)

    def enter(self, token: str) -> str:
        """Spends an invitation and returns the secret of a session.

        Raises:
          ArgumentError: it was spent before, has lapsed, or is none.
        """
        return self._store().enter(token)

    def sign_in(self, email: str) -> str:
        """Begins a session of whoever has an address, and returns its secret.

        Raises:
          ArgumentError: nobody in the study has it.
        """
        return self._store().sign_in(email)


def owns(settings: Settings, token: str) -> bool:
    """Whether `token` is the secret of the owner's link."""
    return bool(settings.key) and hmac.compare_digest(
        settings.key.encode(), token.encode("utf-8", "replace")
    )


def person(store: Store, settings: Settings, secret: str) -> Annotator | None:
    """Whose session has this secret; None for nobody's, or for somebody who has retired."""
    if owns(settings, secret):
        found = [one for one in store.annotators() if one.name == settings.owner]
        return found[0] if found and not found[0].retired else None
    return store.annotator_by_session(secret) if secret else None


def owner_key(workspace: Workspace, owner: str) -> str:
    """The secret of the owner's link, the same each time so that an open page survives a restart.

    It is derived from a key file that only the user can read, and it opens nothing but an
    annotator that was started with `--as` on this workspace.
    """
    file = workspace.path(KEY_FILE)
    if not file.exists():
        write_atomically(file, secrets.token_hex().encode(), mode=0o600)
    return hmac.digest(file.read_bytes(), owner.encode(), "sha256").hex()
