"""What `sts annotate` tells the pages, through the environment, so that any worker can be told."""

from __future__ import annotations

import os
from typing import NamedTuple

_PREFIX = "STS_ANNOTATE_"


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
      signing_in: "1" where people can sign in with an account of elsewhere, else "".
    """

    workspace: str
    suite: str
    owner: str = ""
    key: str = ""
    part: str = ""
    base: str = ""
    proxies: str = ""
    signing_in: str = ""

    def publish(self) -> None:
        """Puts the settings where `current` finds them, in this process and its children."""
        for name, value in self._asdict().items():
            os.environ[_PREFIX + name.upper()] = value


def current() -> Settings:
    """The settings that `publish` left."""
    return Settings(*(os.environ.get(_PREFIX + name.upper(), "") for name in Settings._fields))
