"""Episodes as strips of scenes for a terminal."""

from __future__ import annotations

import shutil
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
        title = f"{frame}" if takeover is None else f"{frame - takeover:+d}"
        blocks.append([title.ljust(len(lines[0])), *lines])
    return "\n".join("  ".join(parts).rstrip() for parts in zip(*blocks, strict=True))


def fitting(episode: Episode) -> int:
    """Returns how many scenes of an episode fit beside each other in this terminal, 3 to 9."""
    domain = find_domain(episode.domain)
    lines = domain.draw(domain.picture(episode.state), episode.scene[0], ())
    columns = shutil.get_terminal_size((120, 24)).columns
    return max(3, min(9, (columns - 3) // (len(lines[0]) + 2)))


def utterances(episode: Episode, roles: Sequence[int], takeover: int) -> str:
    """Returns what the roles said after takeover, and when; "" where they were silent."""
    domain = find_domain(episode.domain)
    picture = domain.picture(episode.state)
    spoken = [
        f"{picture.names[picture.participants[p]]} says “{domain.tokens[episode.says[t, p]]}” "
        f"in step {t + 1 - takeover:+d}"
        for t in range(takeover, episode.steps)
        for p in roles
        if episode.says[t, p]
    ]
    return "; ".join(spoken)
