"""Episodes as strips of scenes for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from itertools import zip_longest

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


def room() -> int:
    """Returns how many columns there are to print in; more than a few where nobody looks."""
    return shutil.get_terminal_size((160, 24)).columns


def fitting(episode: Episode, columns: int) -> int:
    """Returns how many scenes of an episode fit beside each other in `columns`, 3 to 9."""
    domain = find_domain(episode.domain)
    lines = domain.draw(domain.picture(episode.state), episode.scene[0], ())
    return max(3, min(9, (columns - 3) // (len(lines[0]) + 2)))


def beside(left: str, right: str) -> str:
    """Returns two blocks of text side by side, or below each other where they do not fit."""
    rows = list(zip_longest(left.splitlines(), right.splitlines(), fillvalue=""))
    width = max(len(line) for line, _ in rows)
    if width + 7 + max(len(line) for _, line in rows) > room():
        return f"{left}\n\n{right}"
    return "\n".join(f"{a.ljust(width)}   ║   {b}".rstrip() for a, b in rows)


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
