"""Episodes as strips of scenes for a terminal."""

import os
import shutil
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from sts.cli.arguments import COLOUR_CODES
from sts.domains import SceneLayout, load_domain
from sts.engine.rendering import Frame, downscale
from sts.engine.rendering import render_frames as frames_of
from sts.episodes import Episode
from sts.names import escape_unprintable
from sts.viewer.sprites import is_pixel_rendered

_MARKS = "@&%$?!"
PICTURE_COLUMNS = 24
"""Columns of a picture in a terminal that shows colours."""
NO_COLOURS = "its scenes are pictures: --webp FILE writes them, sts annotate shows them"


def format_strip(
    episode: Episode, frames: Sequence[int], *, judged: Sequence[int], takeover: int | None = None
) -> str:
    """Return the scenes at `frames` (0 to T) side by side, with a bar behind the takeover.

    Of a domain that renders pictures these are coarse pictures, for terminals that show colours.
    """
    if is_pixel_rendered(episode.domain, episode.state) and not shows_colours():
        return NO_COLOURS
    blocks: list[list[str]] = []
    scenes = _draw_scenes(episode, frames, judged)
    for before, frame, lines in zip([None, *frames[:-1]], frames, scenes, strict=True):
        if takeover is not None and before is not None and before <= takeover < frame:
            blocks.append(["┃"] * len(blocks[-1]))
        title = f"{frame}" if takeover is None else f"{frame - takeover:+d}"
        blocks.append([title.ljust(_visible_width(lines[0])), *lines])
    return "\n".join("  ".join(parts).rstrip() for parts in zip(*blocks, strict=True))


def _draw_scenes(episode: Episode, frames: Sequence[int], judged: Sequence[int]) -> list[list[str]]:
    if is_pixel_rendered(episode.domain, episode.state):
        all_frames = frames_of(episode)
        return [draw_half_blocks(all_frames[frame]) for frame in frames]
    domain = load_domain(episode.domain)
    layout = _mark_judged(domain.scene_layout(episode.state), judged)
    objects = [layout.players[p] for p in judged]
    return [domain.draw_text(layout, episode.scene[frame], objects) for frame in frames]


def _mark_judged(layout: SceneLayout, judged: Sequence[int]) -> SceneLayout:
    """Return a picture in which the judged players have the letter of `_choose_mark`."""
    glyphs = list(layout.glyphs)
    for p in judged:
        glyphs[layout.players[p]] = _choose_mark(layout)
    return replace(layout, glyphs=tuple(glyphs))


def _choose_mark(layout: SceneLayout) -> str:
    return next(mark for mark in _MARKS if mark not in layout.glyphs)


def describe_legend(episode: Episode, judged: Sequence[int]) -> str:
    """Return who is judged and what a strip's letters or pictures mean, in the domain's words."""
    domain = load_domain(episode.domain)
    layout = domain.scene_layout(episode.state)
    names = ", ".join(layout.names[layout.players[p]] for p in judged)
    if is_pixel_rendered(episode.domain, episode.state):
        guide = " ".join(domain.guide.replace("*", "").split()) if shows_colours() else ""
        return f"asked: {names}" + (f"; {guide}" if guide else "")
    judged_objects = {layout.players[p] for p in judged}
    others: list[str] = []
    things: list[str] = []
    for i, (glyph, name) in enumerate(zip(layout.glyphs, layout.names, strict=True)):
        if i not in judged_objects:
            kind = others if i in layout.players else things
            kind.append(glyph if glyph == name else f"{glyph} is {name}")
    parts = [f"asked: {names}, drawn as {_choose_mark(layout)}"]
    parts += [f"others: {', '.join(others)}"] if others else []
    parts += [", ".join(things)] if things else []
    return "; ".join(parts)


def wrap_text(text: str, columns: int) -> str:
    """Return untrusted text, escaped, in lines of at most `columns` (20 or more)."""
    return "\n".join(
        textwrap.wrap(escape_unprintable(text), max(20, columns), break_on_hyphens=False)
    )


def shows_colours() -> bool:
    """Return True if the output is a terminal that reports 24-bit colours."""
    able = os.environ.get("COLORTERM") in ("truecolor", "24bit") and "NO_COLOR" not in os.environ
    return able and sys.stdout.isatty()


def draw_half_blocks(frame: Frame) -> list[str]:
    """Return a frame as lines of `PICTURE_COLUMNS` half blocks of two pixels each."""
    height, width, _ = frame.shape
    rows = max(1, round(PICTURE_COLUMNS * height / width / 2))
    pixels = downscale(frame, 2 * rows, PICTURE_COLUMNS).tolist()
    return [
        "".join(
            f"\x1b[38;2;{a[0]};{a[1]};{a[2]};48;2;{b[0]};{b[1]};{b[2]}m▀"
            for a, b in zip(pixels[row], pixels[row + 1], strict=True)
        )
        + "\x1b[0m"
        for row in range(0, 2 * rows, 2)
    ]


def _visible_width(line: str) -> int:
    """Return how many columns a line takes, whatever its colours."""
    return len(COLOUR_CODES.sub("", line))


def terminal_columns() -> int:
    """Return the width of the terminal, 160 columns if there is none."""
    return shutil.get_terminal_size((160, 24)).columns


def count_fitting_frames(episode: Episode, columns: int) -> int:
    """Return how many frames of an episode fit side by side in `columns`, 3 to 9."""
    width = PICTURE_COLUMNS
    if not is_pixel_rendered(episode.domain, episode.state):
        domain = load_domain(episode.domain)
        width = len(domain.draw_text(domain.scene_layout(episode.state), episode.scene[0], ())[0])
    return max(3, min(9, (columns - 3) // (width + 2)))


def join_columns(left: str, right: str) -> str | None:
    """Return two blocks of text side by side, or None if they do not fit."""
    rows = list(zip_longest(left.splitlines(), right.splitlines(), fillvalue=""))
    width = max(_visible_width(line) for line, _ in rows)
    if width + 7 + max(_visible_width(line) for _, line in rows) > terminal_columns():
        return None
    return "\n".join(f"{a}{' ' * (width - _visible_width(a))}   ║   {b}".rstrip() for a, b in rows)


def describe_utterances(episode: Episode, players: Sequence[int], takeover: int) -> str:
    """Return what the roles said after takeover, and when; "" where they were silent."""
    domain = load_domain(episode.domain)
    layout = domain.scene_layout(episode.state)
    spoken = [
        f"{layout.names[layout.players[p]]} says "
        f"“{_token_text(domain.tokens, episode.utterances[t, p])}” "
        f"in step {t + 1 - takeover:+d}"
        for t in range(takeover, episode.steps)
        for p in players
        if episode.utterances[t, p]
    ]
    return "; ".join(spoken)


def _token_text(tokens: Sequence[str], utterance: Any) -> str:
    return tokens[utterance] if tokens else escape_unprintable(str(utterance))
