"""Sketches of episodes: the path of the evaluated players from the takeover to the outcome."""

import base64
import io
from collections.abc import Sequence

from sts.domains import load_domain
from sts.domains.sketch import Line, Mark, Point, Sketch
from sts.engine.rendering import Frame, downscale, render_frame
from sts.engine.replay import replay_worlds
from sts.episodes import Episode

SIDE = 100.0
"""Longer side of a sketch."""
_MAX_PIXELS = 240
"""Longer side of a picture below the lines, px."""
_QUALITY = 75


def sketch_episode(
    episode: Episode, players: Sequence[int], start: int, stop: int
) -> Sketch | None:
    """Return a sketch of frames `start` to `stop`, 100 units along its longer side.

    A domain with the optional method `sketch` draws it. If a domain renders frames, its sketch is
    the last frame and the paths of `players`, provided that the environment reports positions; the
    episode is then replayed, and each step verified. For other domains, None is returned.

    Raises:
      ReplayMismatch, DamagedState: as for `replay.replay_worlds`.
    """
    domain, stop = load_domain(episode.domain), min(stop, episode.steps)
    draw = getattr(domain, "sketch", None)
    sketch = (
        _sketch_frames(episode, players, start, stop)
        if draw is None
        else draw(episode, players, start, stop)
    )
    return None if sketch is None else sketch.scale(SIDE)


def _sketch_frames(
    episode: Episode, players: Sequence[int], start: int, stop: int
) -> Sketch | None:
    name = episode.domain
    paths: dict[int, list[Point]] = {player: [] for player in players}
    for frame, worlds in enumerate(replay_worlds([episode], [f"domain {name!r}"])):
        locate = getattr(worlds, "positions", None)
        for player, path in paths.items():
            if locate is not None and frame >= start:
                path += locate(player)
        if frame == stop:
            break
    if not hasattr(worlds, "frames"):
        return None
    picture = render_frame(worlds, name)
    known = [path for path in paths.values() if path]
    ends = [Mark("own", "ring", *path[0]) for path in known]
    ends += [Mark("own", "dot", *path[-1]) for path in known]
    return Sketch(
        width=picture.shape[1],
        height=picture.shape[0],
        lines=tuple(Line("own", tuple(path)) for path in known),
        marks=tuple(ends),
        image=_encode_image(picture),
    )


def _encode_image(picture: Frame) -> str:
    """Return a picture, made small, as an address that holds it."""
    from PIL import Image

    shrink = min(1.0, _MAX_PIXELS / max(picture.shape))
    height, width = (max(1, round(side * shrink)) for side in picture.shape[:2])
    out = io.BytesIO()
    Image.fromarray(downscale(picture, height, width)).save(out, "WEBP", quality=_QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
