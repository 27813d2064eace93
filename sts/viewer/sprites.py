"""Pictures of episodes that only render pixels, each made once and kept in the workspace.

They are made from recordings alone, so the folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib

from sts.domains import domain as find_domain
from sts.engine.rendering import Sheet, frames, layout, look, sheets
from sts.episodes import Episode
from sts.storage.files import content_hash, write_atomically
from sts.storage.workspace import Workspace

FOLDER = "frames"


def is_pixel_rendered(domain: str, state: bytes) -> bool:
    """Whether scenes of this world are pictures that it renders."""
    return find_domain(domain).form(state).kind == "frames"


def load_sprites(workspace: Workspace, episode: Episode, role: int | None = None) -> list[Sheet]:
    """Return what a judge, or participant `role`, sees of an episode, drawn once for a workspace.

    Pictures that were kept are taken only where the world begins with the very pixels it began with
    then, so that a domain that is drawn anew is seen anew.
    """
    first = look(find_domain(episode.domain).restore([episode.state]), episode.domain, role)
    parts = layout(len(episode.scene), *first.shape[:2])
    how = repr(parts if role is None else (parts, role)).encode()
    mark = content_hash(episode.content_hash.encode(), first.tobytes(), how)
    files = [workspace.path(FOLDER, f"{mark}-{i}.webp") for i in range(len(parts))]
    with contextlib.suppress(OSError):
        return [Sheet(file.read_bytes(), *part) for file, part in zip(files, parts, strict=True)]
    made = sheets(frames(episode, role))
    with contextlib.suppress(OSError):  # a full disk costs time, and nothing else
        for file, one in zip(files, made, strict=True):
            write_atomically(file, one.webp)
    return made
