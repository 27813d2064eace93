"""Filmstrips of an episode: a few scenes of the torus side by side, as one SVG file.

The style is that of board.mjs. The background is transparent, and text and lines have a grey that
is legible on light and dark pages. Equal episodes give equal bytes.
"""

from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from sts.plugin import Episode, SceneLayout, load_domain
from sts_lambda_star.board import CELL_SIZE, TRAIL_STEPS, Style, draw_board

_MARGIN, _GAP, _TITLE, _LABEL = 8, 14, 24, 20
_MAX_WIDTH, _LETTER_WIDTH = 880, 7.5
_GREY = "#777"
_STYLE = Style(ink="currentColor", ground="")


def space_frames(steps: int, count: int) -> list[int]:
    """Return up to `count` evenly spaced frames from 0 to `steps`, both included."""
    last = min(count - 1, steps)
    return sorted({round(i * steps / last) for i in range(last + 1)})


def boards_per_row(width: int) -> int:
    """Return the number of boards of `width` cells in a row of a page, 3 to 9."""
    return max(3, min(9, (_MAX_WIDTH + _GAP) // (width * CELL_SIZE + _GAP)))


def draw_filmstrip(episode: Episode, frames: Sequence[int], *, title: str) -> bytes:
    """Return the scenes at `frames` (0 to T, frame f is before step f) as an SVG file.

    Boards that do not fit in one row of a page are wrapped to further rows.
    """
    picture = load_domain(episode.domain).scene_layout(episode.state)
    wide, high = picture.width * CELL_SIZE, picture.height * CELL_SIZE
    per_row = min(len(frames), max(1, (_MAX_WIDTH + _GAP) // (wide + _GAP)))
    lines = -(-len(frames) // per_row)
    boards = per_row * (wide + _GAP) - _GAP
    width = max(boards, round(_LETTER_WIDTH * len(title))) + 2 * _MARGIN
    height = _TITLE + lines * (high + _LABEL) + (lines - 1) * _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" color="{_GREY}" font-family="sans-serif" '
        f'font-size="13" role="img" aria-label={quoteattr(title)}>',
        f'<text x="{_MARGIN}" y="14" fill="currentColor" font-weight="700">{escape(title)}</text>',
    ]
    for i, frame in enumerate(frames):
        scenes = episode.scene[max(0, frame - TRAIL_STEPS) : frame + 1].astype(np.int64)
        label = "start" if frame == 0 else f"step {frame}"
        line, place = divmod(i, per_row)
        left, top = _MARGIN + place * (wide + _GAP), _TITLE + line * (high + _LABEL + _GAP)
        parts += _draw_frame(picture, scenes, left, top, label)
    return ("\n".join([*parts, "</svg>"]) + "\n").encode()


def _draw_frame(
    picture: SceneLayout, scenes: NDArray[np.int64], left: int, top: int, label: str
) -> Iterator[str]:
    """Yield one framed board with its label; the last row of `scenes` is the current one."""
    wide, high = picture.width * CELL_SIZE, picture.height * CELL_SIZE
    box = f'x="{left}" y="{top}" width="{wide}" height="{high}"'
    yield f"<svg {box}>"
    yield from draw_board(picture, scenes, _STYLE)
    yield f'</svg><rect {box} fill="none" stroke="currentColor"/>'
    yield (
        f'<text x="{left + wide // 2}" y="{top + high + 15}" fill="currentColor" '
        f'text-anchor="middle">{label}</text>'
    )
