"""The place of each recorded episode in its file, and what the file says about its guide."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any, NamedTuple

from sts.errors import DamagedData


class Place(NamedTuple):
    file: str
    episode: int
    lines: tuple[int, ...]  # the numbers of its start line and of the line of each step
    guide: int  # the cell, from 0, on which the oracle that imitation follows starts


def read_places(path: Path) -> list[Place]:
    """Return the places of a file that `importer.read` accepts, in its order."""
    raw = path.read_bytes()
    text = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode()
    out: list[Place] = []
    for number, line in enumerate(text.splitlines(), 1):
        value: dict[str, Any] = json.loads(line) if line.strip() else {"ev": ""}
        if value["ev"] == "step":
            out[-1] = out[-1]._replace(lines=(*out[-1].lines, number))
        elif value["ev"] == "start":
            start, cells = value.get("oracle_to_follow_start"), value["n"] ** 2
            if type(start) is not int or not 1 <= start <= cells:
                raise DamagedData(
                    f"{path}:{number}: expected oracle_to_follow_start from 1 to {cells}"
                )
            out.append(Place(path.name, value["episode"], (number,), start - 1))
    return out
