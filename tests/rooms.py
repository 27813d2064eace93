"""Counts the rooms of the house, the arrows between them, circles, and arrows that run back up.

    python -m tests.rooms                                         # ends with 1 where one is wrong
    python -m tests.rooms --picture docs/images/architecture.svg  # draws the floors

A room is a module or folder of `sts`, or one of the other packages. An arrow is one room importing
another, wherever in a file it does so. A circle is a set of modules that import each other in a
loop. The floors are those of the layers in `pyproject.toml`; an arrow runs back up where a room
imports one that stands above it or beside it there. Ends with 1 where there is a circle, an arrow
back up or a picture of another day.
"""

from __future__ import annotations

import argparse
import ast
import graphlib
import sys
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import grimp

PACKAGES = (
    *("sts", "sts_scenarios", "sts_analysis", "sts_annotator_app"),
    *("sts_lambda_star", "sts_babyai", "sts_overcooked"),
)
OPENED = "sts"
"""The package that is looked into; it holds most of the code."""
Arrow = tuple[str, str]
ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/architecture.svg"
_FLOOR, _MARGIN, _CROWDED = 36, 28, 4


class House(NamedTuple):
    """What was counted; arrows run from who imports to what is imported."""

    rooms: frozenset[str]
    arrows: dict[Arrow, list[Arrow]]
    circle: tuple[str, ...]
    back_up: tuple[Arrow, ...]


def room(module: str) -> str:
    """Return the room that a module stands in."""
    parts = module.split(".")
    return ".".join(parts[: 2 if parts[0] == OPENED else 1])


def circle(imports: dict[str, set[str]]) -> tuple[str, ...]:
    """Return modules that import each other in a loop, the first twice; empty if none do."""
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        return tuple(reversed(error.args[1]))
    return ()


def floors() -> dict[str, int]:
    """Return the floor of each room by the layers in `pyproject.toml`; the ground floor is 0."""
    text = (ROOT / "pyproject.toml").read_text()
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    inside, outside = (
        next(c["layers"] for c in contracts if c["type"] == "layers" and c.get("containers") == own)
        for own in ([OPENED], None)
    )
    named = [f"{OPENED}." + one.replace(" | ", f" | {OPENED}.") for one in reversed(inside)]
    named += [one for one in reversed(outside) if one != OPENED]
    return {name: i for i, layer in enumerate(named) for name in layer.split(" | ")}


def house() -> House:
    """Return what the house is like now."""
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


def picture() -> str:
    """Return the house as SVG: a row for each floor, who is above may import what is below.

    What a room is for is the first line of its docstring.
    """
    rows: dict[int, list[str]] = defaultdict(list)
    for name, level in floors().items():
        rows[level].append(name)
    width, height = 940, _MARGIN + _FLOOR * len(rows)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="{_MARGIN}" y="16" fill="#555555">who stands above may import what stands '
        "below; nothing imports upwards</text>",
    ]
    for i, level in enumerate(sorted(rows, reverse=True)):
        share = (width - 2 * _MARGIN) // len(rows[level])
        for j, name in enumerate(rows[level]):
            x, y = _MARGIN + j * share, _MARGIN + i * _FLOOR
            fill = "#e8f1fa" if name.startswith(OPENED) else "#fdf0dc"
            out.append(
                f'<rect x="{x}" y="{y}" width="{share - 6}" height="{_FLOOR - 6}" rx="4" '
                f'fill="{fill}" stroke="#7a8ca0"/>'
            )
            title = name if len(rows[level]) < _CROWDED else name.removeprefix(f"{OPENED}.")
            out.append(f'<text x="{x + 10}" y="{y + 20}" font-weight="bold">{title}</text>')
            if len(rows[level]) == 1:
                out.append(f'<text x="{x + 150}" y="{y + 20}">{escape(purpose(name))}</text>')
    return "\n".join([*out, "</svg>", ""])


def purpose(name: str) -> str:
    """Return the first line of a room's docstring."""
    top = ROOT if name.startswith(OPENED + ".") else ROOT / name.removeprefix("sts_")
    path = top.joinpath(*name.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    return text.partition("\n")[0].rstrip(".")


def main(words: Sequence[str] = ()) -> int:
    """Print the counts and what is wrong, or draw the picture; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.rooms")
    parser.add_argument("--picture", type=Path, metavar="FILE", help="draw the floors to a file")
    if file := parser.parse_args(words).picture:
        file.write_text(picture())
        return 0
    now = house()
    circles = " -> ".join(now.circle) or "none"
    print(f"rooms {len(now.rooms)}, arrows {len(now.arrows)}, circles {circles}, ", end="")
    print(f"arrows back up {len(now.back_up) or 'none'}")
    for pair in now.back_up:
        print(f"  {' -> '.join(pair)}: {' imports '.join(now.arrows[pair][0])}")
    if old := PICTURE.read_text() != picture():
        print(f"  {PICTURE.relative_to(ROOT)} is outdated; draw it again")
    return 1 if now.circle or now.back_up or old else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
