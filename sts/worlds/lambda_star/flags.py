"""Flags of Λ* for the commands that make new worlds; they stand for fields of its settings."""

from __future__ import annotations

import re
from typing import Any

from sts.cli.arguments import at_least
from sts.cli.settings import Flag, read_whole_flag
from sts.errors import ArgumentError


def size(text: str) -> tuple[int, int]:
    """Return (rows, columns) of "10x12"; refuses sides under 3 and over 255."""
    match = re.fullmatch(r"(\d{1,4})x(\d{1,4})", text)
    if not match:
        raise ArgumentError(f"expected a size like 10x10, found {text!r}")
    height, width = int(match[1]), int(match[2])
    if not (3 <= height <= 255 and 3 <= width <= 255):
        raise ArgumentError(f"expected sides from 3 to 255, found {text}")
    return height, width


def _sides(text: str) -> dict[str, Any]:
    return dict(zip(("height", "width"), size(text), strict=True))


def _participants(text: str) -> dict[str, Any]:
    return {"participants": at_least(1, "--team", read_whole_flag("--team", text))}


def _patterns(text: str) -> dict[str, Any]:
    return {"patterns": text}


def _horizon(text: str) -> dict[str, Any]:
    return {"horizon": read_whole_flag("--steps", text)}


FLAGS = (
    Flag("size", "HxW", "rows and columns (default: 10x10)", _sides),
    Flag("team", "P", "participants (default: 1)", _participants),
    Flag("patterns", "P", "paper or lambdastar-2016 (default: paper)", _patterns),
    Flag("steps", "T", "of an episode (default: 50)", _horizon),
)
