"""Arguments that several actions of `sts lambda-star` share."""

import re
from typing import Any

from sts.plugin import ArgumentError, command
from sts_lambda_star.flags import parse_size

AGENT_HELP = (
    "name, module:Class or PYTHON:module:Class; separate several by commas for a mixed team, "
    "assigned to the players in turn"
)
EPISODES = command.option("N", "number of environments, one episode each", 1000)
PATTERNS = command.option(
    ("paper", "lambdastar-2016"),
    "movement patterns of Good and Evil: the paper's or its program's",
    "paper",
)
SEED = command.option("S", "seed of the environments", 0)


def parse_complexity(text: str) -> tuple[int, int]:
    """Parse "2-23" into (low, high)."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def complexity_option(note: str = "") -> Any:
    """Return the option for the range of K; `note` stands at the end of what help says."""
    text = f"range of the complexity K (default: as much of 2-23 as is possible{note})"
    return command.option("LOW-HIGH", text, type=parse_complexity)


def size_option(sides: str) -> Any:
    """Return the option for the size of environments, with this default."""
    return command.option("HxW", "rows and columns", sides, type=parse_size)
