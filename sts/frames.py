"""Episodes of domains that only render pixels: their frames, and all of them in one picture.

Axes: F frames, one more than the steps; H x W pixels of each.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains import Framed, Worlds
from sts.domains import domain as find_domain
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch, StsError
from sts.lockstep import Script, play
from sts.replay import differences

Frame = NDArray[np.uint8]

SIDE = 4096
"""Pixels that a sheet is at most wide, where it can be: larger ones are slow to paint from."""
LONGEST = 16383
"""Pixels of the longest side that WebP has."""


class Sheet(NamedTuple):
    """All frames of an episode in one lossless WebP, row by row.

    Attributes:
      webp: the file.
      columns: how many frames stand in a row; frame f is in row f // columns.
    """

    webp: bytes
    columns: int


def frames(episode: Episode) -> list[Frame]:
    """Returns what a judge sees: uint8[H, W, 3] before each step and after the last.

    The episode is replayed, and each step held against the recording.

    Raises:
      ArgumentError: the domain's scenes are drawn, not rendered.
      ReplayMismatch: a replayed step differs from the recording; names the step.
      DamagedState: the state cannot be restored.
    """
    domain = find_domain(episode.domain)
    worlds = domain.restore([episode.state])
    out = [look(worlds, episode.domain)]
    if (worlds.scene[0] != episode.scene[0]).any():
        raise ReplayMismatch("step 0: the state does not show what was recorded", step=0)

    def watch(step: int, worlds: Worlds) -> None:
        for _, mismatch in differences(worlds, [episode], step):
            raise ReplayMismatch(f"an episode does not replay: {mismatch.what}", step=step)
        out.append(look(worlds, episode.domain))

    forced = np.ones(episode.moves.shape, np.bool_)
    script = Script(episode.moves[None], episode.says[None], forced)
    play(domain, worlds, [], steps=episode.steps, script=script, watch=watch)
    return out


def look(worlds: Worlds, name: str) -> Frame:
    """Returns the first world as it looks now.

    Raises:
      ArgumentError: worlds of the domain called `name` cannot be looked at.
      StsError: what they render is no picture.
    """
    if not hasattr(worlds, "frames"):
        raise ArgumentError(f"domain {name!r} renders no frames; its scenes are drawn")
    frame = cast(Framed, worlds).frames()[0]
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8:
        raise StsError(
            f"domain {name!r}: expected frames uint8[H, W, 3], found {frame.dtype}{frame.shape}"
        )
    return frame


def across(count: int, height: int, width: int) -> int:
    """Returns how many of `count` frames stand in a row of their sheet.

    Raises:
      StsError: no sheet is large enough for them.
    """
    columns = min(count, max(1, SIDE // width))
    if -(-count // columns) * height > LONGEST:
        columns = -(-count // max(1, LONGEST // height))
    if columns * width > LONGEST or height > LONGEST:
        raise StsError(f"{count} frames of {height} x {width} pixels do not fit into one picture")
    return columns


def sheet(frames: Sequence[Frame]) -> Sheet:
    """Returns F frames in one picture that has exactly their pixels.

    Raises:
      StsError: they are not all of one size, or too large together.
    """
    shapes = {frame.shape for frame in frames}
    if len(shapes) != 1:
        raise StsError(f"expected frames of one size, found {sorted(shapes)}")
    ((height, width, _),) = shapes
    columns = across(len(frames), height, width)
    rows = -(-len(frames) // columns)
    grid = np.zeros((rows, height, columns, width, 3), np.uint8)
    for f, frame in enumerate(frames):
        grid[f // columns, :, f % columns] = frame
    return Sheet(webp(grid.reshape(rows * height, columns * width, 3)), columns)


def webp(picture: Frame, *following: Frame, pace: float = 4.0) -> bytes:
    """Returns uint8[H, W, 3] as lossless WebP; with more that follow, an animation.

    Args:
      picture: the picture, or the first of them.
      following: of the same size.
      pace: pictures a second.
    """
    from PIL import Image

    first, *rest = (Image.fromarray(one) for one in (picture, *following))
    out = io.BytesIO()
    # Of the ways to be lossless this one is quick and still finds what successive frames share.
    options = {"lossless": True, "method": 3, "quality": 20}
    if rest:
        duration = round(1000 / pace)
        first.save(
            out, "WEBP", save_all=True, append_images=rest, duration=duration, loop=0, **options
        )
    else:
        first.save(out, "WEBP", **options)
    return out.getvalue()


def small(frame: Frame, height: int, width: int) -> Frame:
    """Returns a frame scaled to `height` x `width` pixels, each the mean of what it covers."""
    from PIL import Image

    return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BOX))
