"""Settings that `sts annotate` passes to the pages."""

from __future__ import annotations

import re
from typing import NamedTuple

from sts.errors import ArgumentError

MAX_CONNECTIONS = 512
"""Connections of one address; sixty browsers behind it open about 420."""
_BASE = re.compile(r"(/[A-Za-z0-9_~.-]*[A-Za-z0-9_~-])+")


class Settings(NamedTuple):
    """Settings of a running server.

    Attributes:
      workspace: folder of the workspace.
      suite: `NAME@VERSION` that is annotated; "" if there are only drafts to curate.
      owner: name of the local administrator who started the server, or "".
      key: secret of the owner's link, or "".
      part: queue name of the annotated subset of the suite; "" for the whole suite.
      base: path prefix of all addresses, "" or like "/judge".
      proxies: comma-separated addresses and networks of proxies whose forwarded client address
        and scheme are trusted; "" for none.
      signing_in: True if people can sign in with OpenID Connect.
      connections: connections allowed to one address; proxies are not limited.
    """

    workspace: str
    suite: str
    owner: str = ""
    key: str = ""
    part: str = ""
    base: str = ""
    proxies: str = ""
    signing_in: bool = False
    connections: int = MAX_CONNECTIONS

    def publish(self) -> None:
        """Make these the settings that `current_settings` returns."""
        _published.append(self)


_published: list[Settings] = []


def current_settings() -> Settings:
    """Return the settings published last."""
    return _published[-1]


def checked_base(path: str) -> str:
    """Return a base path without its trailing slash: "" or like "/judge".

    Raises:
      ArgumentError: it is not a plain path.
    """
    base = path.rstrip("/")
    if base and not _BASE.fullmatch(base):
        raise ArgumentError(f"--base-path: expected a path like /judge, found {path!r}")
    return base
