"""SVG drawing of one Λ* board in the style of board.mjs, used by filmstrips and films.

Colours are Okabe and Ito's, and no information is given by colour alone: shapes and letters repeat
it. A board is drawn in its own units, `CELL_SIZE` per cell, so the caller chooses its size.
"""

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from sts.plugin import SceneLayout
from sts_lambda_star.torus import shortest_displacement

CELL_SIZE = 20
"""Side of a cell, in units of the drawing."""
TRAIL_STEPS = 4
"""Length of the trail behind each object, in steps."""
_OBJECT_STYLES = (("#009E73", 0.0), ("#D55E00", 4.0))
_COLOURS = ("#0072B2", "#E69F00", "#56B4E9", "#CC79A7", "#F0E442")
_CORNERS = (4.5, 3.0, 6.0, 5.0, 3.5, 8.0)
_DARK = _COLOURS[0]
"""The colour on which letters are white."""
_INK = "#111"
"""The colour of outlines, and of letters on all other colours."""
Places = Sequence[tuple[int, int]]


class Style(NamedTuple):
    """The colours of a board."""

    ink: str  # colour of lines and signs
    ground: str  # background colour; "" for a transparent one


class Highlights(NamedTuple):
    """Highlights on a board for annotators."""

    judged: tuple[int, ...] = ()  # objects with a ring
    # cells with a dashed frame: those of the judged players at the takeover
    starts: tuple[int, ...] = ()
    cells: tuple[int, ...] = ()  # cells with marked corners
    sight: bool = False  # whether the cells that judged objects see are framed


NO_HIGHLIGHTS = Highlights()


def draw_board(
    picture: SceneLayout,
    scenes: NDArray[np.integer],
    style: Style,
    marks: Highlights = NO_HIGHLIGHTS,
) -> Iterator[str]:
    """Yield the SVG elements of one board of width x height cells.

    Scenes are int[F, O], the cell of each object; the last row is drawn, the others as trails.
    """
    now = [divmod(int(cell), picture.width) for cell in scenes[-1]]
    groups: dict[tuple[int, int], list[int]] = {}
    for index, position in enumerate(now):
        groups.setdefault(position, []).append(index)
    auras = [
        (index, sign, list(_neighbours(picture, now[index])))
        for index, sign in picture.details["auras"]
    ]
    yield from _draw_ground(picture, style)
    for index, sign, cells in auras:
        yield _draw_hatching(cells, sign, object_style(index)[0])
    for position, group in groups.items():
        if len(group) > 1:
            yield from _draw_plate(position, style)
    for _, sign, cells in auras:
        yield _draw_signs(cells, sign, style)
    for cell in marks.starts:
        yield _draw_start(divmod(cell, picture.width), style)
    for cell in marks.cells:
        yield from _draw_mark(divmod(cell, picture.width), style)
    for index in range(len(picture.glyphs)):
        yield from _draw_trail(picture, index, scenes[:, index])
    spots = _place_objects(groups)
    for index in sorted(spots, key=lambda item: item in marks.judged):  # judged objects on top
        judged = index in marks.judged
        yield from _draw_object(index, picture.glyphs[index], spots[index], judged, style)
    for index in marks.judged if marks.sight else ():
        yield from _draw_sight(picture, now[index], style)


def _round(value: float) -> str:
    """Format a number to one decimal, without a trailing ".0"."""
    return f"{value:.1f}".removesuffix(".0")


def _neighbours(picture: SceneLayout, cell: tuple[int, int]) -> Iterator[tuple[int, int]]:
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            yield (cell[0] + down) % picture.height, (cell[1] + right) % picture.width


def _draw_ground(picture: SceneLayout, style: Style) -> Iterator[str]:
    wide, high = picture.width * CELL_SIZE, picture.height * CELL_SIZE
    if style.ground:
        yield f'<rect width="{wide}" height="{high}" fill="{style.ground}"/>'
    columns = "".join(f"M{x} 0v{high}" for x in range(CELL_SIZE, wide, CELL_SIZE))
    rows = "".join(f"M0 {y}h{wide}" for y in range(CELL_SIZE, high, CELL_SIZE))
    yield (
        f'<path d="{columns}{rows}" stroke="{style.ink}" stroke-opacity=".25" stroke-width=".6"/>'
    )


def _draw_hatching(cells: Places, sign: int, colour: str) -> str:
    """Return parallel lines through cells: rising for positive rewards, falling for negative."""
    quarter = CELL_SIZE // 4
    lines = []
    for row, column in cells:
        x, y = column * CELL_SIZE, row * CELL_SIZE
        for level in range(quarter, 2 * CELL_SIZE, quarter):  # x + y along one line
            start, end = max(0, level - CELL_SIZE), min(CELL_SIZE, level)
            length = end - start
            top = y + level - start if sign > 0 else y + CELL_SIZE - level + start
            lines.append(f"M{x + start} {top}l{length} {-length if sign > 0 else length}")
    path = "".join(lines)
    return f'<path d="{path}" stroke="{colour}" stroke-opacity=".6" stroke-width=".7"/>'


def _draw_signs(cells: Places, sign: int, style: Style) -> str:
    corners = [(column * CELL_SIZE, row * CELL_SIZE) for row, column in cells]
    plus = "".join(f"M{x + 1.5} {y + 3}h3M{x + 3} {y + 1.5}v3" for x, y in corners)
    minus = "".join(f"M{x + CELL_SIZE - 4.5} {y + 3}h3" for x, y in corners)
    return f'<path d="{plus if sign > 0 else minus}" stroke="{style.ink}" stroke-width=".8"/>'


def _draw_plate(cell: tuple[int, int], style: Style) -> Iterator[str]:
    """Yield the plate under several objects that share a cell."""
    box = (
        f'x="{_round(cell[1] * CELL_SIZE + 0.4)}" y="{_round(cell[0] * CELL_SIZE + 0.4)}" '
        f'width="{CELL_SIZE - 0.8}" height="{CELL_SIZE - 0.8}" rx="3"'
    )
    if style.ground:
        yield f'<rect {box} fill="{style.ground}"/>'
    yield f'<rect {box} fill="{style.ink}" fill-opacity=".16" stroke="{style.ink}"/>'


def _draw_start(cell: tuple[int, int], style: Style) -> str:
    return (
        f'<rect x="{_round(cell[1] * CELL_SIZE + 1.6)}" y="{_round(cell[0] * CELL_SIZE + 1.6)}" '
        f'width="{CELL_SIZE - 3.2}" height="{CELL_SIZE - 3.2}" fill="none" stroke="{style.ink}" '
        'stroke-width=".6" stroke-dasharray="2.4 1.6"/>'
    )


def _draw_mark(cell: tuple[int, int], style: Style) -> Iterator[str]:
    """Yield a tint, and corner marks that no object covers."""
    x, y, arm, near = cell[1] * CELL_SIZE, cell[0] * CELL_SIZE, 0.28 * CELL_SIZE, 0.04 * CELL_SIZE
    yield (
        f'<rect x="{x}" y="{y}" width="{CELL_SIZE}" height="{CELL_SIZE}" fill="{style.ink}" '
        'fill-opacity=".12"/>'
    )
    corners = "".join(
        f"M{_round(cx + right * arm)} {_round(cy)}H{_round(cx)}V{_round(cy + down * arm)}"
        for cx, right in ((x + near, 1), (x + CELL_SIZE - near, -1))
        for cy, down in ((y + near, 1), (y + CELL_SIZE - near, -1))
    )
    yield f'<path d="{corners}" fill="none" stroke="{style.ink}" stroke-width="1.4"/>'


def _draw_sight(picture: SceneLayout, cell: tuple[int, int], style: Style) -> Iterator[str]:
    """Yield the frame around the cells that an object sees, wrapped across the edges."""
    side = 3 * CELL_SIZE
    for down in (-picture.height, 0, picture.height):
        for right in (-picture.width, 0, picture.width):
            x, y = (cell[1] + right - 1) * CELL_SIZE, (cell[0] + down - 1) * CELL_SIZE
            yield (
                f'<rect x="{x + 0.5}" y="{y + 0.5}" width="{side - 1}" height="{side - 1}" '
                f'fill="none" stroke="{style.ink}"/>'
            )


def _draw_trail(picture: SceneLayout, index: int, cells: NDArray[np.integer]) -> Iterator[str]:
    """Yield an object's last steps, fading with age.

    A step over the edge is drawn twice, leaving on one side and entering on the other, and clipped
    by the board. Trails are slightly offset from each other, so that objects that move together
    stay distinguishable.
    """
    colour = object_style(index)[0]
    aside = 0.4 * CELL_SIZE * (index / (len(picture.glyphs) - 1) - 0.5)
    steps = list(zip(cells[:-1].tolist(), cells[1:].tolist(), strict=True))
    for age, (start, end) in enumerate(reversed(steps)):
        row, column = divmod(start, picture.width)
        to_row, to_column = divmod(end, picture.width)
        down = shortest_displacement(row, to_row, picture.height)
        right = shortest_displacement(column, to_column, picture.width)
        if not (down or right):
            continue
        halves = dict.fromkeys(((column, row), (to_column - right, to_row - down)))
        path = "".join(
            f"M{_round((x + 0.5) * CELL_SIZE + aside)} {_round((y + 0.5) * CELL_SIZE + aside / 2)}"
            f"l{right * CELL_SIZE} {down * CELL_SIZE}"
            for x, y in halves
        )
        yield (
            f'<path d="{path}" stroke="{colour}" stroke-width="{_round(2.5 - 0.3 * age)}" '
            f'stroke-opacity="{_round(0.9 * (1 - age / TRAIL_STEPS))}" stroke-linecap="round"/>'
        )


def _place_objects(
    groups: dict[tuple[int, int], list[int]],
) -> dict[int, tuple[float, float, float]]:
    """Return x, y and radius of each object; objects that share a cell are smaller."""
    spots = {}
    for (row, column), group in groups.items():
        side = math.isqrt(len(group) - 1) + 1
        lines = -(-len(group) // side)
        for position, index in enumerate(group):
            down, right = divmod(position, side)
            if len(group) == 2:
                y, x, size = (0.33, 0.67)[position], (0.32, 0.68)[position], 0.5
            else:
                y = 0.5 + (down + 0.5 - lines / 2) / side * 0.92
                x = 0.5 + (right + 0.5 - side / 2) / side * 0.92
                size = 0.74 if side == 1 else 0.84 / side
            spots[index] = (column + x) * CELL_SIZE, (row + y) * CELL_SIZE, size * CELL_SIZE / 2
    return spots


def _draw_object(
    index: int, glyph: str, spot: tuple[float, float, float], judged: bool, style: Style
) -> Iterator[str]:
    """Yield an object's shape and letter, and a ring around it if it is judged."""
    x, y, radius = spot
    colour, corners = object_style(index)
    middle = f'cx="{_round(x)}" cy="{_round(y)}"'
    if judged:
        width = max(0.7, 0.16 * radius)
        yield (
            f'<circle {middle} r="{_round(1.3 * radius - width / 2)}" fill="none" '
            f'stroke="{style.ink}" stroke-width="{_round(width)}"/>'
        )
    edge = f'fill="{colour}" stroke="{_INK}" stroke-width="{_round(max(0.3, 0.09 * radius))}"'
    if corners:
        places = polygon_corners(corners, *spot)
        points = " ".join(f"{_round(px)},{_round(py)}" for px, py in places)
        yield f'<polygon points="{points}" {edge}/>'
    else:
        yield f'<circle {middle} r="{_round(radius)}" {edge}/>'
    size = radius * (1.25, 1.25, 1.0, 0.8)[min(len(glyph), 3)] * (0.9 if 3 <= corners < 4 else 1)
    ink = "#fff" if colour == _DARK else _INK
    yield (
        f'<text x="{_round(x)}" y="{_round(y)}" dy=".36em" font-size="{_round(size)}" '
        f'font-weight="700" fill="{ink}" text-anchor="middle">{escape(glyph)}</text>'
    )


def object_style(index: int) -> tuple[str, float]:
    """Return an object's colour and corners; 0 is a disc, 4.5 a square, 3.5 a triangle point-down.

    Good and Evil, the first two, have unique styles; the others cycle through five colours and six
    shapes, so that thirty of them differ.
    """
    if index < len(_OBJECT_STYLES):
        return _OBJECT_STYLES[index]
    index -= len(_OBJECT_STYLES)
    return _COLOURS[index % len(_COLOURS)], _CORNERS[index % len(_CORNERS)]


def polygon_corners(
    corners: float, x: float, y: float, radius: float
) -> Iterator[tuple[float, float]]:
    """Yield the corners of a regular polygon; a square rests on a side, the others point up."""
    count, square = int(corners), corners == 4.5
    radius *= 1.2 if square else 1.3 if count == 3 else 1.12
    start = math.pi / 2 if corners == 3.5 else -math.pi / 2
    for i in range(count):
        angle = start + (i + (0.5 if square else 0.0)) / count * 2 * math.pi
        yield x + radius * math.cos(angle), y + radius * math.sin(angle)
