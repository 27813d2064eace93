"""Frames of an episode for films, in the style in which board.mjs draws them in a browser.

Every frame is rendered from one SVG file. Equal episodes give equal pixels.
"""

import io
import textwrap
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode, FilmAnnotations, SceneLayout
from sts_lambda_star.board import CELL_SIZE, TRAIL_STEPS, Highlights, Style, draw_board

MAX_BOARD_PIXELS = 480
"""Maximum side of a board in pixels, unless cells would fall below 12; cells have at most 60."""
_MARGIN, _LINE, _MIN_WIDTH, _LETTER_WIDTH = 12, 20, 300, 7.0
_STYLE = Style(ink="#222222", ground="#ffffff")
_ACCENT, _BUBBLE_FILL = "#0072B2", "#fffbe6"
_FONT = 'font-family="Liberation Sans, sans-serif"'  # bundled with the rendering library


def render_frames(
    picture: SceneLayout, episode: Episode, focus: FilmAnnotations, tokens: Sequence[str]
) -> list[NDArray[np.uint8]]:
    """Return the frames, uint8[H, W, 3], before each step and after the last."""
    cell = _cell_pixels(picture)
    return [
        _rasterise("".join(_draw_page(picture, episode, focus, tokens, frame, cell)))
        for frame in range(episode.steps + 1)
    ]


def render_still(
    picture: SceneLayout, scene: NDArray[np.integer], judged: Sequence[int]
) -> NDArray[np.uint8]:
    """Return uint8[H, W, 3], the board of one scene, with a ring around judged objects."""
    side = _cell_pixels(picture)
    elements = draw_board(picture, scene[None], _STYLE, Highlights(tuple(judged)))
    return _rasterise(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{picture.width * side}" '
        f'height="{picture.height * side}" {_FONT} '
        f'viewBox="0 0 {picture.width * CELL_SIZE} {picture.height * CELL_SIZE}">'
        f"{''.join(elements)}</svg>"
    )


def _cell_pixels(picture: SceneLayout) -> int:
    """Return the side of a cell in pixels."""
    return min(60, max(12, MAX_BOARD_PIXELS // max(picture.height, picture.width)))


def _rasterise(svg: str) -> NDArray[np.uint8]:
    import vl_convert
    from PIL import Image

    with Image.open(io.BytesIO(vl_convert.svg_to_png(svg))) as image:
        return np.asarray(image.convert("RGB"))


def _draw_page(
    picture: SceneLayout,
    episode: Episode,
    focus: FilmAnnotations,
    tokens: Sequence[str],
    frame: int,
    cell: int,
) -> Iterator[str]:
    """Yield the SVG of one frame: the instruction, the framed board, and the episode's progress."""
    across, down = picture.width * cell, picture.height * cell
    wide = max(across, _MIN_WIDTH) + 2 * _MARGIN
    lines = textwrap.wrap(focus.text, int((wide - 2 * _MARGIN) / _LETTER_WIDTH))
    high = down + (len(lines) + 2) * _LINE + 2 * _MARGIN
    left, top = (wide - across) // 2, _MARGIN + len(lines) * _LINE + _LINE // 4
    text = f'fill="{_STYLE.ink}" text-anchor="middle" {_FONT} font-size="14"'
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{high}">'
        f'<rect width="{wide}" height="{high}" fill="{_STYLE.ground}"/>'
    )
    for number, line in enumerate(lines):
        y = _MARGIN + (number + 0.4) * _LINE + 5
        yield f'<text x="{wide / 2}" y="{y}" {text}>{escape(line)}</text>'
    yield (
        f'<svg x="{left}" y="{top}" width="{across}" height="{down}" {_FONT} '
        f'viewBox="0 0 {picture.width * CELL_SIZE} {picture.height * CELL_SIZE}">'
    )
    scenes = episode.scene[max(0, frame - TRAIL_STEPS) : frame + 1].astype(np.int64)
    yield from draw_board(picture, scenes, _STYLE, _frame_marks(picture, episode, focus, frame))
    yield f'</svg><svg x="{left}" y="{top}" width="{across}" height="{down}" {_FONT}>'
    for player in np.flatnonzero(episode.utterances[frame - 1]).tolist() if frame else ():
        row, column = divmod(int(scenes[-1, picture.players[player]]), picture.width)
        yield from _draw_bubble(
            tokens[episode.utterances[frame - 1, player]], row, column, cell, across
        )
    after = focus.takeover is not None and frame > focus.takeover
    yield (
        f'</svg><rect x="{left + 1}" y="{top + 1}" width="{across - 2}" height="{down - 2}" '
        f'fill="none" stroke="{_ACCENT if after else _STYLE.ink}" stroke-width="2"/>'
        f'<text x="{wide / 2}" y="{top + down + _LINE + 5}" {text}>'
        f"{_caption(episode, focus, frame)}</text></svg>"
    )


def _frame_marks(
    picture: SceneLayout, episode: Episode, focus: FilmAnnotations, frame: int
) -> Highlights:
    """Return the highlights on the board of a frame."""
    judged = tuple(picture.players[player] for player in focus.players)
    takeover = 0 if focus.takeover is None else focus.takeover
    after = focus.takeover is not None and frame > takeover
    return Highlights(
        judged,
        tuple(int(episode.scene[takeover, index]) for index in judged) if after else (),
        tuple(focus.cells) if frame >= takeover else (),
        focus.sight,
    )


def _caption(episode: Episode, focus: FilmAnnotations, frame: int) -> str:
    """Return the caption of a frame: its position in the episode."""
    if focus.takeover is None:
        return f"step {frame} of {episode.steps}"
    if frame < focus.takeover:
        return f"context, {focus.takeover - frame} before takeover"
    if frame == focus.takeover:
        return "takeover"
    return f"continuation, step {frame - focus.takeover} of {episode.steps - focus.takeover}"


def _draw_bubble(text: str, row: int, column: int, cell: int, across: int) -> Iterator[str]:
    """Yield a speech bubble next to the player at a cell, in pixels of the board."""
    size = min(max(0.34 * cell, 12), 20)
    wide, high = (0.6 * len(text) + 1) * size, 1.6 * size
    x, y, reach = (column + 0.5) * cell, (row + 0.5) * cell, 0.42 * cell
    above = y - 1.3 * reach - high > 0
    left = max(1.0, min(across - wide - 1, x - wide / 2))
    top = y - reach - high - 0.35 * size if above else y + reach + 0.35 * size
    tip, foot = (y - reach, top + high) if above else (y + reach, top)
    stroke = f'stroke="{_STYLE.ink}" stroke-width="2"'
    yield f'<path d="M{x:.1f} {tip:.1f}V{foot:.1f}" {stroke}/>'
    yield (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{high:.1f}" '
        f'rx="{0.4 * size:.1f}" fill="{_BUBBLE_FILL}" {stroke}/>'
    )
    yield (
        f'<text x="{left + wide / 2:.1f}" y="{top + high / 2:.1f}" dy=".36em" '
        f'text-anchor="middle" font-weight="700" font-size="{size:.1f}" '
        f'fill="{_STYLE.ink}">{escape(text)}</text>'
    )
