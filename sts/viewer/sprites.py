"""Rendered frames of pixel environments, cached in the workspace.

They are derived from recordings, so the folder can be deleted at any time.
"""

import contextlib

from sts.domains import load_domain
from sts.engine.rendering import Sheet, pack_sheets, plan_sheets, render_frame, render_frames
from sts.episodes import Episode
from sts.storage.files import content_hash, write_atomically
from sts.storage.workspace import Workspace

FOLDER = "frames"


def is_pixel_rendered(domain: str, state: bytes) -> bool:
    """Return True if this environment instance renders its scenes as pixels."""
    return load_domain(domain).scene_format(state).kind == "frames"


def load_sprites(workspace: Workspace, episode: Episode, player: int | None = None) -> list[Sheet]:
    """Return the frames of an episode, as an annotator or as player `player` sees them.

    The cache key includes the pixels of the first frame, so that a changed renderer invalidates it.
    """
    first = render_frame(
        load_domain(episode.domain).restore([episode.state]), episode.domain, player
    )
    parts = plan_sheets(len(episode.scene), *first.shape[:2])
    how = repr((parts, player)).encode()
    mark = content_hash(episode.content_hash.encode(), first.tobytes(), how)
    files = [workspace.path(FOLDER, f"{mark}-{i}.webp") for i in range(len(parts))]
    with contextlib.suppress(OSError):
        return [Sheet(file.read_bytes(), *part) for file, part in zip(files, parts, strict=True)]
    rendered = pack_sheets(render_frames(episode, player))
    with contextlib.suppress(OSError):  # without the cache, frames are only rendered again
        for file, sheet in zip(files, rendered, strict=True):
            write_atomically(file, sheet.webp)
    return rendered
