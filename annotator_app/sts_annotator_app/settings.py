"""Settings that `sts annotate` passes to the pages."""

import re
from typing import NamedTuple

from sts.errors import ArgumentError

MAX_CONNECTIONS = 512
"""Connections of one address; sixty browsers behind it open about 420."""
_BASE = re.compile(r"(/[A-Za-z0-9_~.-]*[A-Za-z0-9_~-])+")


class Settings(NamedTuple):
    """Settings of a running server."""

    workspace: str  # folder of the workspace
    suite: str  # `NAME@VERSION` that is annotated; "" if there are only drafts to curate
    queue: str = ""  # name under which the suite, or its annotated subset, is queued; "" for none
    administrator: str = ""  # name of the local administrator who started the server, or ""
    key: str = ""  # secret of the owner's link, or ""
    base_path: str = ""  # path prefix of all addresses, "" or like "/judge"
    # comma-separated addresses and networks of proxies whose forwarded client address and scheme
    # are trusted; "" for none
    proxies: str = ""
    has_sign_in: bool = False  # True if people can sign in with OpenID Connect
    connections: int = MAX_CONNECTIONS  # allowed to one address; proxies are not limited

    def publish(self) -> None:
        """Make these the settings that `get_settings` returns."""
        _published.append(self)


_published: list[Settings] = []


def get_settings() -> Settings:
    """Return the settings published last."""
    return _published[-1]


def parse_base_path(path: str) -> str:
    """Return a base path, "" or like "/judge"; raise ArgumentError if it is invalid."""
    base = path.rstrip("/")
    if base and not _BASE.fullmatch(base):
        raise ArgumentError(f"--base-path: expected a path like /judge, found {path!r}")
    return base
