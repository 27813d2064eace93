"""An episode as a strip of pictures: a few scenes of the torus side by side, as one SVG file.

The look is that in a browser (board.mjs, beside this file): Okabe and Ito's colours, and whatever a
colour says, a shape and a letter say too. The page shows through, and text and lines are of a
grey that reads on white and on dark. Equal episodes give equal bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from sts.domains import Picture
from sts.domains import domain as find_domain
from sts.episodes import Episode
from sts.worlds.lambda_star.shapes import DARK, INK, look, outline
from sts.worlds.lambda_star.torus import way

CELL = 20
_MARGIN, _GAP, _TITLE, _LABEL = 8, 14, 24, 20
_WIDE, _LETTER = 880, 7.5
_TRAIL, _ABREAST, _CROWD = 4, 8.0, 1.3
_TIP = 1.33  # how far a shape reaches from its middle at most, in radii, and its edge
_GREY = "#777"


class _Place(NamedTuple):
    """Where a shape stands in a board and how large it is, in pixels."""

    x: float
    y: float
    radius: float


def evenly(steps: int, count: int) -> list[int]:
    """Returns up to `count` different frames from 0 to `steps`, both included."""
    last = min(count - 1, steps)
    return sorted({round(i * steps / last) for i in range(last + 1)})


def fitting(width: int) -> int:
    """Returns how many boards of `width` cells fit beside each other on a page, 3 to 9."""
    return max(3, min(9, (_WIDE + _GAP) // (width * CELL + _GAP)))


def svg(episode: Episode, frames: Sequence[int], *, title: str) -> bytes:
    """Returns the scenes at `frames` (0 to T, frame f is before step f) as an SVG file.

    Boards that do not fit beside each other on a page go on in further rows.
    """
    picture = find_domain(episode.domain).picture(episode.state)
    wide, high = picture.width * CELL, picture.height * CELL
    abreast = min(len(frames), max(1, (_WIDE + _GAP) // (wide + _GAP)))
    lines = -(-len(frames) // abreast)
    boards = abreast * (wide + _GAP) - _GAP
    width = max(boards, round(_LETTER * len(title))) + 2 * _MARGIN
    height = _TITLE + lines * (high + _LABEL) + (lines - 1) * _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" color="{_GREY}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label={quoteattr(title)}>',
        f'<text x="{_MARGIN}" y="14" fill="currentColor" font-weight="700">{escape(title)}</text>',
    ]
    for i, frame in enumerate(frames):
        scenes = episode.scene[max(0, frame - _TRAIL) : frame + 1].astype(np.int64)
        label = "start" if frame == 0 else f"step {frame}"
        line, place = divmod(i, abreast)
        left, top = _MARGIN + place * (wide + _GAP), _TITLE + line * (high + _LABEL + _GAP)
        parts += _frame(picture, scenes, left, top, label)
    return ("\n".join([*parts, "</svg>"]) + "\n").encode()


def _frame(
    picture: Picture, scenes: NDArray[np.int64], left: int, top: int, label: str
) -> Iterator[str]:
    """Yields one board; the last row of `scenes` is now, the others lead to it."""
    wide, high = picture.width * CELL, picture.height * CELL
    box = f'x="{left}" y="{top}" width="{wide}" height="{high}"'
    yield f"<svg {box}>"
    yield from _ground(picture, scenes)
    yield f'</svg><rect {box} fill="none" stroke="currentColor"/>'
    yield f'<g transform="translate({left} {top})">'
    yield from _things(picture, scenes[-1].tolist())
    yield "</g>"
    yield (
        f'<text x="{left + wide // 2}" y="{top + high + 15}" fill="currentColor" '
        f'text-anchor="middle">{label}</text>'
    )


def _ground(picture: Picture, scenes: NDArray[np.int64]) -> Iterator[str]:
    """Yields what lies on a board: the grid, where reward is given and taken, and the trails."""
    wide, high = picture.width * CELL, picture.height * CELL
    columns = "".join(f"M{x} 0v{high}" for x in range(CELL, wide, CELL))
    rows = "".join(f"M0 {y}h{wide}" for y in range(CELL, high, CELL))
    yield f'<path d="{columns}{rows}" stroke="currentColor" stroke-opacity=".25"/>'
    for which, sign in picture.details["auras"]:
        yield from _halo(picture, which, int(scenes[-1, which]), sign)
    for which in range(len(picture.glyphs)):
        yield from _trail(picture, which, scenes[:, which])


def _halo(picture: Picture, which: int, cell: int, sign: int) -> Iterator[str]:
    """Yields the cells in which an object gives or takes reward, tinted and signed."""
    row, column = divmod(cell, picture.width)
    corners = [
        ((column + dx) % picture.width * CELL, (row + dy) % picture.height * CELL)
        for dy in (-1, 0, 1)
        for dx in (-1, 0, 1)
    ]
    x, y = column * CELL, row * CELL
    colour = look(which)[0]
    area = "".join(f"M{x} {y}h{CELL}v{CELL}h-{CELL}z" for x, y in corners)
    yield f'<path d="{area}" fill="{colour}" fill-opacity=".22"/>'
    yield f'<path d="M{x} {y}h{CELL}v{CELL}h-{CELL}z" fill="{colour}" fill-opacity=".2"/>'
    plus = "".join(f"M{x + 2} {y + 5}h6M{x + 5} {y + 2}v6" for x, y in corners)
    minus = "".join(f"M{x + CELL - 8} {y + 5}h6" for x, y in corners)
    yield f'<path d="{plus if sign > 0 else minus}" stroke="currentColor"/>'


def _trail(picture: Picture, which: int, cells: NDArray[np.int64]) -> Iterator[str]:
    """Yields an object's last steps, fading with age.

    A step over the edge leaves on one side and enters on the other: both halves are drawn whole,
    and the board shows of each what lies on it. Each object's trail lies a little beside the next
    one's, so that those who go together can be told apart.
    """
    colour = look(which)[0]
    aside = _ABREAST * (which / (len(picture.glyphs) - 1) - 0.5)
    steps = list(zip(cells[:-1].tolist(), cells[1:].tolist(), strict=True))
    for age, (start, end) in enumerate(reversed(steps)):
        row, column = divmod(start, picture.width)
        to_row, to_column = divmod(end, picture.width)
        down, right = way(row, to_row, picture.height), way(column, to_column, picture.width)
        if not (down or right):
            continue
        halves = dict.fromkeys(((column, row), (to_column - right, to_row - down)))
        path = "".join(
            f"M{_short(_middle(x) + aside)} {_short(_middle(y) + aside / 2)}"
            f"l{right * CELL} {down * CELL}"
            for x, y in halves
        )
        yield (
            f'<path d="{path}" stroke="{colour}" stroke-width="{_short(2.5 - 0.3 * age)}" '
            f'stroke-opacity="{_short(0.9 * (1 - age / _TRAIL))}" stroke-linecap="round"/>'
        )


def _middle(coordinate: int) -> int:
    return coordinate * CELL + CELL // 2


def _things(picture: Picture, cells: Sequence[int]) -> Iterator[str]:
    """Yields each object where it stands.

    Those that share a cell crowd around its middle, smaller; at the edge of the board they move in
    together, so that no shape is cut or lies outside.
    """
    wide, high = picture.width * CELL, picture.height * CELL
    for which, cell in enumerate(cells):
        row, column = divmod(cell, picture.width)
        group = [other for other, there in enumerate(cells) if there == cell]
        side = math.isqrt(len(group) - 1) + 1
        down, right = divmod(group.index(which), side)
        lines = -(-len(group) // side)
        apart, radius = _CROWD * CELL / side, (0.42 if side == 1 else 0.75 / side) * CELL
        x, y = float(_middle(column)), float(_middle(row))
        if side > 1:
            x = _within(x, (side - 1) / 2 * apart + _TIP * radius, wide)
            y = _within(y, (lines - 1) / 2 * apart + _TIP * radius, high)
        place = _Place(
            x + (right - (side - 1) / 2) * apart, y + (down - (lines - 1) / 2) * apart, radius
        )
        yield _thing(which, picture.glyphs[which], place)


def _within(middle: float, reach: float, length: int) -> float:
    """Returns the middle, moved so far that what reaches to both sides of it is on the board."""
    return min(max(middle, reach), length - reach)


def _thing(which: int, glyph: str, place: _Place) -> str:
    """Returns an object's shape and letter."""
    colour, corners = look(which)
    x, y, radius = place
    edge = f'fill="{colour}" stroke="{INK}" stroke-width=".8"'
    if corners:
        points = " ".join(f"{_short(px)},{_short(py)}" for px, py in outline(corners, *place))
        shape = f'<polygon points="{points}" {edge}/>'
    else:
        shape = f'<circle cx="{_short(x)}" cy="{_short(y)}" r="{_short(radius)}" {edge}/>'
    size = radius * (1.25, 1.25, 1.0, 0.8)[min(len(glyph), 3)] * (0.9 if 3 <= corners < 4 else 1)
    ink = "#fff" if colour == DARK else INK
    letter = (
        f'<text x="{_short(x)}" y="{_short(y)}" dy=".36em" font-size="{_short(size)}" '
        f'font-weight="700" fill="{ink}" text-anchor="middle">{escape(glyph)}</text>'
    )
    return shape + letter


def _short(value: float) -> str:
    """Returns a number to a tenth, the way it is written in the file."""
    return f"{value:.1f}".removesuffix(".0")
