"""Counts the rooms of the house, the arrows between them, circles, and arrows that run back up.

    python -m tests.rooms

A room is a module or folder of `sts`, or one of the other packages. An arrow is one room importing
another, wherever in a file it does so. A circle is a set of modules that import each other in a
loop. The floors are those of the layers in `pyproject.toml`; an arrow runs back up where a room
imports one that stands above it or beside it there. Ends with 1 where there is a circle or an arrow
back up.
"""

from __future__ import annotations

import graphlib
import sys
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import grimp

PACKAGES = ("sts", "scenarios", "analysis", "annotator_app")
OPENED = "sts"
"""The package that is looked into; it holds most of the code."""
Arrow = tuple[str, str]


class House(NamedTuple):
    """What was counted; arrows run from who imports to what is imported."""

    rooms: frozenset[str]
    arrows: dict[Arrow, list[Arrow]]
    circle: tuple[str, ...]
    back_up: tuple[Arrow, ...]


def room(module: str) -> str:
    """Returns the room that a module stands in."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == OPENED else 1])


def circle(imports: dict[str, set[str]]) -> tuple[str, ...]:
    """Returns modules that import each other in a loop, the first twice; empty if none do."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def floors() -> dict[str, int]:
    """Returns the floor of each room by the layers in `pyproject.toml`; the ground floor is 0."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    inside, outside = (
        next(c["layers"] for c in contracts if c["type"] == "layers" and c.get("containers") == own)
        for own in ([OPENED], None)
    )
    named = [f"{OPENED}." + one.replace(" | ", f" | {OPENED}.") for one in reversed(inside)]
    named += [one for one in reversed(outside) if one != OPENED]
    return {name: i for i, layer in enumerate(named) for name in layer.split(" | ")}


def house() -> House:
    """Returns what the house is like now."""
    graph = grimp.build_graph(*PACKAGES, include_external_packages=False, cache_dir=None)
    imports = {m: set(graph.find_modules_directly_imported_by(m)) for m in sorted(graph.modules)}
    arrows: dict[Arrow, list[Arrow]] = defaultdict(list)
    for module, others in imports.items():
        for other in sorted(others):
            pair = room(module), room(other)
            if pair[0] != pair[1] and pair[1] != OPENED:
                arrows[pair].append((module, other))
    floor = floors()
    rooms = frozenset(room(m) for m in imports) - {OPENED}
    back_up = tuple(pair for pair in arrows if floor[pair[0]] <= floor[pair[1]])
    return House(rooms, dict(arrows), circle(imports), back_up)


def main() -> int:
    """Prints the counts and what is wrong; returns the exit code."""
    now = house()
    circles = " -> ".join(now.circle) or "none"
    print(f"rooms {len(now.rooms)}, arrows {len(now.arrows)}, circles {circles}, ", end="")
    print(f"arrows back up {len(now.back_up) or 'none'}")
    for pair in now.back_up:
        print(
            f"  {pair[0]} -> {pair[1]}: {now.arrows[pair][0][0]} imports {now.arrows[pair][0][1]}"
        )
    return 1 if now.circle or now.back_up else 0


if __name__ == "__main__":
    sys.exit(main())
