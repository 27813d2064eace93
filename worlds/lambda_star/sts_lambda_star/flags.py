"""Command-line flags for the settings of new Λ* worlds."""

import re

from sts.plugin import ArgumentError, Flag, read_whole_flag


def parse_size(text: str) -> tuple[int, int]:
    """Parse "10x12" into (rows, columns)."""
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text)
    if not match:
        raise ArgumentError(f"expected a size like 10x10, found {text!r}")
    return int(match[1]), int(match[2])


FLAGS = (
    Flag(
        "size",
        "HxW",
        "rows and columns (default: 10x10)",
        lambda t: dict(zip(("height", "width"), parse_size(t), strict=True)),
    ),
    Flag(
        "team",
        "P",
        "number of players (default: 1)",
        lambda t: {"n_players": read_whole_flag("--team", t, least=1)},
    ),
    Flag("patterns", "P", "paper or lambdastar-2016 (default: paper)", lambda p: {"patterns": p}),
    Flag(
        "steps",
        "T",
        "steps per episode (default: 50)",
        lambda t: {"horizon": read_whole_flag("--steps", t)},
    ),
)
