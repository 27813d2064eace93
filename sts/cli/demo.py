"""What a world brings to `sts demo`: whom and what it shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Words = tuple[str, ...]


class Demo(NamedTuple):
    """What is demonstrated in one domain; it stands in the entry-point group `sts.demos`.

    Attributes:
      suite: `NAME@VERSION`, packaged or made here.
      agents: who continues its scenarios.
      shown: the scenario that is shown, and two of the agents on it.
      making: the commands that make the suite where it is not there yet, without `sts`.
      measuring: the commands that measure the agents otherwise, before the report.
      first: whether it is the demo where no domain is named.
    """

    suite: str
    agents: tuple[str, ...]
    shown: tuple[str, str, str]
    making: tuple[Words, ...] = ()
    measuring: tuple[Words, ...] = ()
    first: bool = False


def players(agents: Sequence[str]) -> Words:
    """Returns the arguments that name these agents: --agent A --agent B."""
    return tuple(word for agent in agents for word in ("--agent", agent))
