"""The settings that `sts annotate` passes to the pages."""

from __future__ import annotations

import re
from typing import NamedTuple

from sts.errors import ArgumentError

MAX_CONNECTIONS = 512
"""Connections that one address may hold; sixty browsers behind it open about 420."""
_BASE = re.compile(r"(/[A-Za-z0-9_~.-]*[A-Za-z0-9_~-])+")


class Settings(NamedTuple):
    """One running annotator.

    Attributes:
      workspace: its folder.
      suite: `NAME@VERSION` that is judged; "" where there are only drafts to decide about.
      owner: who started it for themselves on their own machine, else "".
      key: the secret of the owner's link, else "".
      part: what the part of the suite that is judged is called in the queue; "" for all of it.
      base: the path under which everything is served, "" or like "/judge".
      proxies: addresses and networks, with commas between, of proxies whose word is taken for who
        asks and by which scheme; "" for none.
      signing_in: whether people can sign in with an account at a provider.
      connections: how many one address may hold; the proxies' addresses may hold any number.
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
        """Keep the settings where `current_settings` finds them."""
        _published.append(self)


_published: list[Settings] = []


def current_settings() -> Settings:
    """Return the settings that were published last."""
    return _published[-1]


def checked_base(path: str) -> str:
    """Return a base path as it is kept: "" or like "/judge", without a slash at its end.

    Raises:
      ArgumentError: it is not a plain path.
    """
    base = path.rstrip("/")
    if base and not _BASE.fullmatch(base):
        raise ArgumentError(f"--base-path: expected a path like /judge, found {path!r}")
    return base
