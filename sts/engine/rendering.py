"""Rendering of episodes as frames, sprite sheets, WebP and MP4.

Axes: F frames, one more than the steps; H x W pixels of each.
"""

import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains import FilmAnnotations, RenderableWorlds, Worlds, load_domain
from sts.engine.replay import replay_worlds
from sts.episodes import Episode
from sts.errors import ArgumentError, StsError
from sts.storage.files import check_place, open_part_folder

Frame = NDArray[np.uint8]

MAX_SHEET_WIDTH = 4096
"""Maximum width of a sheet of several frames: browsers are slow to draw from larger ones."""
MAX_SHEET_PIXELS = 2**24
"""Maximum pixels of a sheet of several frames: a browser decodes them to 64 MB."""
FRAMES_PER_SECOND = 4
"""Frame rate of films."""
_MIN_FILM_SIDE = 360
"""Minimum length of the shorter side of a film, px."""
MAX_WEBP_SIDE = 16383
"""Maximum length of a side in WebP, px."""


@dataclass(frozen=True)
class Sheet:
    """A sprite sheet: `count` successive frames in rows of `columns`, as lossless WebP."""

    webp: bytes
    columns: int
    count: int


def render_film(episode: Episode, focus: FilmAnnotations) -> list[Frame]:
    """Return an episode as frames, uint8[H, W, 3], for a film.

    Raises:
      ArgumentError: the domain neither renders frames nor draws any from its scenes.
      ReplayMismatch, DamagedState: as for `render_frames`.
    """
    painted = getattr(load_domain(episode.domain), "frames", None)
    return render_frames(episode) if painted is None else list(painted(episode, focus))


def render_frames(episode: Episode, player: int | None = None) -> list[Frame]:
    """Render an episode before each step and after the last, as annotators or a player see it.

    Each frame is uint8[H, W, 3]. The episode is replayed, and each step verified.

    Raises:
      ArgumentError: the domain does not render frames.
      ReplayMismatch, DamagedState: as for `replay.replay_worlds`.
    """
    name = episode.domain
    return [
        render_frame(worlds, name, player)
        for worlds in replay_worlds([episode], [f"domain {name!r}"])
    ]


def render_frame(worlds: Worlds, name: str, player: int | None = None) -> Frame:
    """Render the first of `worlds`, of the domain `name`; see `render_frames`."""
    if not hasattr(worlds, "frames"):
        raise ArgumentError(f"domain {name!r} does not render frames; its scenes are drawn")
    frame = cast(RenderableWorlds, worlds).frames(player)[0]
    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != np.uint8 or not frame.size:
        raise StsError(
            f"domain {name!r}: expected frames uint8[H, W, 3], found {frame.dtype}{frame.shape}"
        )
    return frame


def plan_sheets(count: int, height: int, width: int) -> list[tuple[int, int]]:
    """Split `count` frames into sheets; return the columns and the number of frames of each."""
    if max(height, width) > MAX_WEBP_SIDE:
        raise StsError(
            f"expected frames of at most {MAX_WEBP_SIDE} pixels a side, the limit of WebP, found "
            f"{height} x {width}"
        )
    largest = max(1, MAX_SHEET_PIXELS // (height * width))
    columns = max(1, MAX_SHEET_WIDTH // width)
    sizes = (min(largest, count - start) for start in range(0, count, largest))
    return [(min(columns, size), size) for size in sizes]


def pack_sheets(frames: Sequence[Frame]) -> list[Sheet]:
    """Pack F frames of one size losslessly into sprite sheets."""
    shapes = {frame.shape for frame in frames}
    if len(shapes) != 1:
        raise StsError(f"expected frames of one size, found {sorted(shapes)}")
    ((height, width, _),) = shapes
    rest = iter(frames)
    return [
        Sheet(encode_webp(_tile(list(itertools.islice(rest, count)), columns)), columns, count)
        for columns, count in plan_sheets(len(frames), height, width)
    ]


def _tile(frames: Sequence[Frame], columns: int) -> Frame:
    """Tile frames in rows of `columns`."""
    height, width, _ = frames[0].shape
    rows = -(-len(frames) // columns)
    grid = np.zeros((rows, height, columns, width, 3), np.uint8)
    for f, frame in enumerate(frames):
        grid[f // columns, :, f % columns] = frame
    return grid.reshape(rows * height, columns * width, 3)


def encode_webp(picture: Frame, *following: Frame) -> bytes:
    """Encode uint8[H, W, 3] as lossless WebP; with `following` frames, as an animation."""
    from PIL import Image

    first, *rest = (Image.fromarray(frame) for frame in (picture, *following))
    out = io.BytesIO()
    # A fast lossless setting that still compresses what successive frames share.
    options: dict[str, Any] = {"lossless": True, "method": 2, "quality": 0}
    if rest:
        options |= {"append_images": rest, "duration": 1000 // FRAMES_PER_SECOND, "loop": 0}
        first.save(out, "WEBP", save_all=True, **options)
    else:
        first.save(out, "WEBP", **options)
    return out.getvalue()


def write_mp4(file: Path, frames: Sequence[Frame]) -> None:
    """Write uint8[H, W, 3] frames of one size atomically as an MP4 for browsers, H.264 in 4:2:0.

    4:2:0 halves the resolution of colours, so small frames are enlarged, and odd sides padded by a
    pixel. Every frame is a key frame, so that players can seek to it.

    Raises:
      ArgumentError: PyAV is not installed.
      DamagedData: `file` exists and is not a regular file.
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
    # MP4 needs a seekable file: its header is written last.
    with open_part_folder(file) as folder:
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


def downscale(frame: Frame, height: int, width: int) -> Frame:
    """Downscale a frame to `height` x `width` pixels, each the mean of the pixels it covers."""
    from PIL import Image

    return np.asarray(Image.fromarray(frame).resize((width, height), Image.Resampling.BOX))
