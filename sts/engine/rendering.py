"""Episodes of domains that only render pixels: their frames, and many of them in one picture.

Axes: F frames, one more than the steps; H x W pixels of each.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains import Focus, RenderableWorlds, Worlds
from sts.domains import domain as find_domain
from sts.engine.replay import along
from sts.episodes import Episode
from sts.errors import ArgumentError, StsError
from sts.storage.files import beside, check_place

Frame = NDArray[np.uint8]

MAX_SHEET_WIDTH = 4096
"""Pixels that a sheet is at most wide, where it can be: larger ones are slow to paint from."""
MAX_SHEET_PIXELS = 2**24
"""Pixels that a sheet has at most, where it can: a browser unpacks them to 64 MB."""
FRAMES_PER_SECOND = 4
"""Frames of a film a second."""
_MIN_FILM_SIDE = 360
"""Pixels that the shorter side of a film has at least."""
MAX_WEBP_SIDE = 16383
"""Pixels of the longest side that WebP has."""


@dataclass(frozen=True)
class Sheet:
    """Successive frames of an episode in one lossless WebP: `columns` in a row, `count` in all."""

    webp: bytes
    columns: int
    count: int


def film(episode: Episode, focus: Focus) -> list[Frame]:
    """Return an episode as pictures that anybody can be shown, uint8[H, W, 3] a frame.

    Raises:
      ArgumentError: the domain's scenes are drawn, and it has no pictures of them.
      ReplayMismatch, DamagedState: as `frames`.
    """
    painted = getattr(find_domain(episode.domain), "frames", None)
    return frames(episode) if painted is None else list(painted(episode, focus))


def frames(episode: Episode, role: int | None = None) -> list[Frame]:
    """Return what a judge, or participant `role`, sees before each step and after the last.

    Each is uint8[H, W, 3]. The episode is replayed, and each step held against the recording.

    Raises:
      ArgumentError: the domain's scenes are drawn, not rendered.
      ReplayMismatch, DamagedState: as `replay.along`.
    """
    name = episode.domain
    return [look(worlds, name, role) for worlds in along([episode], [f"domain {name!r}"])]


def look(worlds: Worlds, name: str, role: int | None = None) -> Frame:
    """Return the first world of the domain `name` as it looks now; as `frames`."""
    if not hasattr(worlds, "frames"):
        raise ArgumentError(f"domain {name!r} renders no frames; its scenes are drawn")
    frame = cast(RenderableWorlds, worlds).frames(role)[0]
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or not frame.size:
        raise StsError(
            f"domain {name!r}: expected frames uint8[H, W, 3], found {frame.dtype}{frame.shape}"
        )
    return frame


def layout(count: int, height: int, width: int) -> list[tuple[int, int]]:
    """Return how `count` frames stand in sheets: the columns and the frames of each."""
    if max(height, width) > MAX_WEBP_SIDE:
        raise StsError(f"a frame of {height} x {width} pixels is larger than WebP allows")
    most, columns = max(1, MAX_SHEET_PIXELS // (height * width)), max(1, MAX_SHEET_WIDTH // width)
    counts = (min(most, count - start) for start in range(0, count, most))
    return [(min(columns, one), one) for one in counts]


def sheets(frames: Sequence[Frame]) -> list[Sheet]:
    """Return F frames, which must be of one size, in pictures that have exactly their pixels."""
    shapes = {frame.shape for frame in frames}
    if len(shapes) != 1:
        raise StsError(f"expected frames of one size, found {sorted(shapes)}")
    ((height, width, _),) = shapes
    rest = iter(frames)
    return [
        Sheet(webp(_tile(list(itertools.islice(rest, count)), columns)), columns, count)
        for columns, count in layout(len(frames), height, width)
    ]


def _tile(frames: Sequence[Frame], columns: int) -> Frame:
    """Return frames side by side in rows of `columns`."""
    height, width, _ = frames[0].shape
    rows = -(-len(frames) // columns)
    grid = np.zeros((rows, height, columns, width, 3), np.uint8)
    for f, frame in enumerate(frames):
        grid[f // columns, :, f % columns] = frame
    return grid.reshape(rows * height, columns * width, 3)


def webp(picture: Frame, *following: Frame) -> bytes:
    """Return uint8[H, W, 3] as lossless WebP; with more that follow, of its size, an animation."""
    from PIL import Image

    first, *rest = (Image.fromarray(one) for one in (picture, *following))
    out = io.BytesIO()
    # Of the ways to be lossless this one is quick and still finds what successive frames share.
    options: dict[str, Any] = {"lossless": True, "method": 3, "quality": 20}
    if rest:
        options |= {"append_images": rest, "duration": 1000 // FRAMES_PER_SECOND, "loop": 0}
        first.save(out, "WEBP", save_all=True, **options)
    else:
        first.save(out, "WEBP", **options)
    return out.getvalue()


def mp4(file: Path, frames: Sequence[Frame]) -> None:
    """Write uint8[H, W, 3] frames of one size as an MP4 that any browser plays, H.264 in 4:2:0.

    Colours are coded at half the resolution, so small pictures are enlarged first, and odd sides
    get an edge of one pixel. Each frame is a key frame, so that a player that seeks to the middle
    of one shows it. What stands at `file` is replaced once all is written.

    Raises:
      ArgumentError: PyAV is not installed.
      DamagedData: what stands at `file` is no file.
    """
    check_place(file)
    try:
        import av
    except ImportError:
        raise ArgumentError(
            "MP4 needs PyAV, which is not installed: pip install 'standardised-test-suite[video]'; "
            "or write a lossless WebP"
        ) from None
    height, width, _ = frames[0].shape
    times = max(1, -(-_MIN_FILM_SIDE // min(height, width)))
    high, wide = (side * times + side * times % 2 for side in (height, width))
    # To a path of its own: what stands before the pictures is known once these are written.
    with beside(file) as folder:
        part = folder / "film"
        with av.open(str(part), "w", format="mp4", options={"movflags": "+faststart"}) as container:
            stream = container.add_stream("libx264", rate=FRAMES_PER_SECOND)
            stream.width, stream.height, stream.pix_fmt = wide, high, "yuv420p"
            stream.options = {"crf": "16", "g": "1"}
            for frame in frames:
                large = np.repeat(np.repeat(frame, times, axis=0), times, axis=1)
                edge = ((0, high - large.shape[0]), (0, wide - large.shape[1]), (0, 0))
                picture = av.VideoFrame.from_ndarray(np.pad(large, edge, mode="edge"), "rgb24")
                container.mux(stream.encode(picture))
            container.mux(stream.encode())
        part.replace(file)


def small(frame: Frame, height: int, width: int) -> Frame:
    """Return a frame scaled to `height` x `width` pixels, each the mean of what it covers."""
    from PIL import Image

    return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BOX))
