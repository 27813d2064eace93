"""An episode as pictures of the torus, one a frame: what board.mjs draws in a browser, for films.

Colours are Okabe and Ito's; whatever a colour says, a shape and a letter say too. Everything is
drawn three times as large and then averaged, so that edges are smooth. Equal episodes give equal
pixels.
"""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import Focus, Picture
from sts.episodes import Episode
from sts.worlds.lambda_star.shapes import DARK, INK, look, outline
from sts.worlds.lambda_star.torus import BACK, way

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw

BOARD = 480
"""Pixels that a board has at most, where its cells can have 12; they have 60 at most."""
LARGE = 3
"""How many times as large everything is drawn."""
_MARGIN, _LINE, _NARROWEST = 12, 20, 300
_PAPER, _TEXT, _GRID, _ACCENT = "#ffffff", "#222222", "#cccccc", "#0072B2"
_FRESH = "#fffbe6"
_TRAIL = 4


class _Board(NamedTuple):
    """A board under the brush.

    Attributes:
      image: it, `LARGE` times as large.
      draw: its brush, which blends.
      cell: pixels of a cell.
      picture: what there is to know of the world.
      places: the row and column of each object now.
    """

    image: Image
    draw: ImageDraw
    cell: int
    picture: Picture
    places: Sequence[tuple[int, int]]

    def box(self, row: float, column: float, inset: float = 0.0) -> tuple[float, ...]:
        """The corners of a cell, moved in by a share of it."""
        near, far = inset * self.cell, (1 - inset) * self.cell
        top, left = row * self.cell, column * self.cell
        return left + near, top + near, left + far, top + far


def frames(
    picture: Picture, episode: Episode, focus: Focus, tokens: Sequence[str]
) -> list[NDArray[np.uint8]]:
    """Returns uint8[H, W, 3] before each step and after the last.

    Args:
      picture: of the world in which it happened.
      episode: what happened.
      focus: who is judged, from where on, and what is marked.
      tokens: what can be said, by index.
    """
    large = max(picture.height, picture.width)
    cell = LARGE * min(60, max(12, BOARD // large))
    words = _wrapped(focus.text, cell * picture.width)
    return [
        _frame(picture, episode, focus, tokens, at, cell, words) for at in range(episode.steps + 1)
    ]


def _frame(
    picture: Picture,
    episode: Episode,
    focus: Focus,
    tokens: Sequence[str],
    at: int,
    cell: int,
    words: Sequence[str],
) -> NDArray[np.uint8]:
    from PIL import Image, ImageDraw

    board = _board(picture, episode, focus, at, cell)
    if at:
        for who in np.flatnonzero(episode.says[at - 1]).tolist():
            object_ = picture.participants[who]
            _bubble(board, board.places[object_], tokens[episode.says[at - 1, who]])
    line, margin = _LINE * LARGE, _MARGIN * LARGE
    wide = max(board.image.width, _NARROWEST * LARGE) + 2 * margin
    high = board.image.height + (len(words) + 2) * line + 2 * margin
    page = Image.new("RGB", (wide, high), _PAPER)
    draw = ImageDraw.Draw(page)
    for number, one in enumerate(words):
        draw.text((wide / 2, margin + (number + 0.4) * line), one, _TEXT, _font(14), anchor="mm")
    left, top = (wide - board.image.width) // 2, margin + len(words) * line + line // 4
    page.paste(board.image, (left, top))
    after = focus.takeover is not None and at > focus.takeover
    edge = LARGE * 2
    right, bottom = left + board.image.width, top + board.image.height
    draw.rectangle((left, top, right, bottom), None, _ACCENT if after else _TEXT, edge)
    below = bottom + line
    draw.text((wide / 2, below), _place(episode, focus, at), _TEXT, _font(14), anchor="mm")
    small = page.resize((wide // LARGE, high // LARGE), Image.Resampling.BOX)
    return np.asarray(small)


def _place(episode: Episode, focus: Focus, at: int) -> str:
    """Returns in words where a frame stands."""
    if focus.takeover is None:
        return f"step {at} of {episode.steps}"
    if at < focus.takeover:
        return f"context, {focus.takeover - at} before takeover"
    if at == focus.takeover:
        return "takeover"
    return f"continuation, step {at - focus.takeover} of {episode.steps - focus.takeover}"


def _board(picture: Picture, episode: Episode, focus: Focus, at: int, cell: int) -> _Board:
    from PIL import Image, ImageDraw

    scenes = [
        [divmod(int(one), picture.width) for one in scene]
        for scene in episode.scene[max(0, at - _TRAIL) : at + 1]
    ]
    image = Image.new("RGB", (picture.width * cell, picture.height * cell), _PAPER)
    board = _Board(image, ImageDraw.Draw(image, "RGBA"), cell, picture, scenes[-1])
    judged = [picture.participants[role] for role in focus.roles]
    _ground(board)
    auras = [(which, sign) for which, sign in picture.details["auras"]]
    for which, sign in auras:
        _halo(board, which, sign)
    groups = _groups(board.places)
    for place, group in groups.items():
        if len(group) > 1:
            _plate(board, place)
    for which, sign in auras:
        _signs(board, which, sign)
    if focus.takeover is not None and at > focus.takeover:
        for which in judged:
            _start(board, *divmod(int(episode.scene[focus.takeover, which]), picture.width))
    if focus.takeover is None or at >= focus.takeover:
        for marked in focus.cells:
            _mark(board, *divmod(marked, picture.width))
    for which in range(len(picture.glyphs)):
        _trail(board, which, [scene[which] for scene in scenes])
    spots = _spots(groups)
    for which in sorted(spots, key=lambda one: one in judged):  # the judged ones on top
        _thing(board, which, *spots[which], judged=which in judged)
    if focus.sight:
        for which in judged:
            _sight(board, *board.places[which])
    return board


def _ground(board: _Board) -> None:
    wide, high = board.image.size
    for x in range(board.cell, wide, board.cell):
        board.draw.line((x, 0, x, high), _GRID, LARGE)
    for y in range(board.cell, high, board.cell):
        board.draw.line((0, y, wide, y), _GRID, LARGE)


def _around(board: _Board, which: int) -> Iterator[tuple[int, int]]:
    row, column = board.places[which]
    for down in (-1, 0, 1):
        for right in (-1, 0, 1):
            yield (row + down) % board.picture.height, (column + right) % board.picture.width


def _halo(board: _Board, which: int, sign: int) -> None:
    """Hatches the cells around an object, upwards where it gives and downwards where it takes."""
    from PIL import Image, ImageDraw

    cell = board.cell
    tile = Image.new("RGBA", (cell, cell))
    draw = ImageDraw.Draw(tile)
    for at in range(-3, 4):
        left = at * cell / 4
        ends = (cell, 0) if sign > 0 else (0, cell)
        draw.line((left, ends[0], left + cell, ends[1]), look(which)[0] + "99", _thick(cell, 0.035))
    for row, column in _around(board, which):
        board.image.paste(tile, (column * cell, row * cell), tile)


def _signs(board: _Board, which: int, sign: int) -> None:
    cell = board.cell
    if cell < 24 * LARGE:
        return
    arm, width = 0.07 * cell, _thick(cell, 0.04)
    for row, column in _around(board, which):
        x, y = (column + (0.15 if sign > 0 else 0.85)) * cell, (row + 0.15) * cell
        strokes = [(x - arm, y, x + arm, y)] + ([(x, y - arm, x, y + arm)] if sign > 0 else [])
        for brush, thick in ((_PAPER, 3 * width), (_TEXT, width)):
            for stroke in strokes:
                board.draw.line(stroke, brush, thick)


def _plate(board: _Board, place: tuple[int, int]) -> None:
    """What objects of one cell stand on."""
    box = board.box(*place, inset=0.02)
    board.draw.rounded_rectangle(box, 0.16 * board.cell, _PAPER)
    board.draw.rounded_rectangle(
        box, 0.16 * board.cell, _TEXT + "29", _TEXT, _thick(board.cell, 0.05)
    )


def _start(board: _Board, row: int, column: int) -> None:
    """Where a judged participant stood at takeover: a dashed frame."""
    left, top, right, bottom = board.box(row, column, 0.08)
    dash, gap, width = 0.12 * board.cell, 0.2 * board.cell, _thick(board.cell, 0.03)
    at = 0.0
    while at < right - left:
        end = min(at + dash, right - left)
        for y in (top, bottom):
            board.draw.line((left + at, y, left + end, y), _TEXT, width)
        for x in (left, right):
            board.draw.line((x, top + at, x, top + end), _TEXT, width)
        at += gap


def _mark(board: _Board, row: int, column: int) -> None:
    """A cell that is judged by: its corners, which no shape covers, and a tint."""
    board.draw.rectangle(board.box(row, column), _TEXT + "1f")
    left, top, right, bottom = board.box(row, column, 0.04)
    arm, width = 0.28 * board.cell, _thick(board.cell, 0.07)
    for x, inward in ((left, arm), (right, -arm)):
        for y, down in ((top, arm), (bottom, -arm)):
            board.draw.line((x + inward, y, x, y, x, y + down), _TEXT, width, joint="curve")


def _sight(board: _Board, row: int, column: int) -> None:
    """What a judged participant sees: a frame around the cells, that goes on at the other side."""
    width = _thick(board.cell, 0.05)
    for down in (-board.picture.height, 0, board.picture.height):
        for right in (-board.picture.width, 0, board.picture.width):
            left, top = (column + right - 1) * board.cell, (row + down - 1) * board.cell
            far = 3 * board.cell
            board.draw.rectangle((left, top, left + far, top + far), None, _TEXT, width)


def _trail(board: _Board, which: int, places: Sequence[tuple[int, int]]) -> None:
    """Where an object came from; a step over the edge leaves one side and enters at the other."""
    cell, colour = board.cell, look(which)[0]
    steps = list(zip(places[:-1], places[1:], strict=True))
    for age, (start, end) in enumerate(reversed(steps)):
        down = way(start[0], end[0], board.picture.height, BACK)
        right = way(start[1], end[1], board.picture.width, BACK)
        if not (down or right):
            continue
        alpha = f"{round(255 * 0.75 * (1 - age / _TRAIL)):02x}"
        width = _thick(cell, 0.09 * (1 - age / (2 * _TRAIL)))
        for row, column in dict.fromkeys((start, (end[0] - down, end[1] - right))):
            x, y = (column + 0.5) * cell, (row + 0.5) * cell
            board.draw.line((x, y, x + right * cell, y + down * cell), colour + alpha, width)


def _groups(places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], list[int]]:
    groups: dict[tuple[int, int], list[int]] = {}
    for which, place in enumerate(places):
        groups.setdefault(place, []).append(which)
    return groups


def _spots(
    groups: dict[tuple[int, int], list[int]],
) -> dict[int, tuple[float, float, float]]:
    """Returns row, column and size of each object, in cells; those that share one are smaller."""
    spots = {}
    for (row, column), group in groups.items():
        side = math.isqrt(len(group) - 1) + 1
        lines = -(-len(group) // side)
        for at, which in enumerate(group):
            down, right = divmod(at, side)
            if len(group) == 2:
                spots[which] = row + (0.35, 0.67)[at], column + (0.32, 0.68)[at], 0.5
            else:
                spots[which] = (
                    row + 0.5 + (down + 0.5 - lines / 2) / side * 0.92,
                    column + 0.5 + (right + 0.5 - side / 2) / side * 0.92,
                    0.74 if side == 1 else 0.84 / side,
                )
    return spots


def _thing(
    board: _Board, which: int, row: float, column: float, size: float, *, judged: bool
) -> None:
    """An object's shape and letter, and a ring around it if it is judged."""
    x, y, radius = column * board.cell, row * board.cell, size * board.cell / 2
    colour, corners = look(which)
    if judged:
        far = 1.3 * radius
        width = _thick(radius, 0.16)
        board.draw.ellipse((x - far, y - far, x + far, y + far), None, _TEXT, width)
    edge = _thick(radius, 0.09)
    if corners:
        points = list(outline(corners, x, y, radius))
        board.draw.polygon(points, colour, INK, edge)
    else:
        board.draw.ellipse((x - radius, y - radius, x + radius, y + radius), colour, INK, edge)
    glyph = board.picture.glyphs[which]
    font = _font(radius / LARGE * (1.3, 1.3, 1.0, 0.8)[min(len(glyph), 3)])
    ink = "#ffffff" if colour == DARK else INK
    _bold(board.draw, (x, y), glyph, ink, font)


def _bubble(board: _Board, place: tuple[int, int], text: str) -> None:
    """What is said, beside whoever says it."""
    cell = board.cell
    font = _font(min(max(0.34 * cell / LARGE, 12), 20))
    size = font.size
    wide, high = font.getlength(text) + size, 1.6 * size
    x, y, reach = (place[1] + 0.5) * cell, (place[0] + 0.5) * cell, 0.42 * cell
    above = y - 1.3 * reach - high > 0
    left = max(LARGE, min(board.image.width - wide - LARGE, x - wide / 2))
    top = y - reach - high - 0.35 * size if above else y + reach + 0.35 * size
    box = (left, top, left + wide, top + high)
    tip = y - reach if above else y + reach
    board.draw.line((x, tip, x, top + high if above else top), INK, 2 * LARGE)
    board.draw.rounded_rectangle(box, 0.4 * size, _FRESH, INK, 2 * LARGE)
    _bold(board.draw, (left + wide / 2, top + high / 2), text, INK, font)


def _bold(draw: ImageDraw, at: tuple[float, float], text: str, ink: str, font: Any) -> None:
    draw.text(at, text, ink, font, anchor="mm", stroke_width=font.size / 40, stroke_fill=ink)


def _thick(length: float, share: float) -> int:
    """Returns how thick a line is: a share of something, and a pixel at least."""
    return max(LARGE, round(length * share))


def _wrapped(text: str, width: int) -> list[str]:
    wide = max(width, _NARROWEST * LARGE)
    letter = _font(14).getlength("instruction of some length") / 26
    return textwrap.wrap(text, max(20, int(wide / letter)))


@functools.cache
def _font(size: float) -> Any:
    """Returns the library's own letters, of a size in pixels of what is shown."""
    from PIL import ImageFont

    return ImageFont.load_default(size=round(size * LARGE))
