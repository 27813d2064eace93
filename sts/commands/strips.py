"""Episodes as strips of scenes for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from sts.domains import domain as find_domain
from sts.episodes import Episode


def strip(
    episode: Episode, frames: Sequence[int], *, judged: Sequence[int], takeover: int | None = None
) -> str:
    """Returns the scenes at `frames` side by side, a bar between context and continuation.

    Args:
      episode: what happened.
      frames: 0 to T; frame f is before step f.
      judged: participants whose letter stands over everything else.
      takeover: the frame at which an agent took over, or None.
    """
    domain = find_domain(episode.domain)
    picture = domain.picture(episode.state)
    objects = [picture.participants[p] for p in judged]
    blocks: list[list[str]] = []
    for before, frame in zip([None, *frames[:-1]], frames, strict=True):
        if takeover is not None and before is not None and before <= takeover < frame:
            height = len(blocks[-1])
            blocks.append(["┃"] * height)
        lines = domain.draw(picture, episode.scene[frame], objects)
        said = _said(episode, frame, judged, domain.tokens)
        title = f"{frame}" if takeover is None else f"{frame - takeover:+d}"
        width = len(lines[0])
        blocks.append([f"{title} {said}"[:width].ljust(width), *lines])
    return "\n".join("  ".join(parts).rstrip() for parts in zip(*blocks, strict=True))


def _said(episode: Episode, frame: int, judged: Sequence[int], tokens: Sequence[str]) -> str:
    spoken = [
        tokens[episode.says[frame - 1, p]] for p in judged if frame and episode.says[frame - 1, p]
    ]
    return f'"{spoken[0]}"' if spoken else ""
