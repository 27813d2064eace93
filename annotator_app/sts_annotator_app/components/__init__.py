"""Browser components of the pages for judging, reviewing, curating and playing.

The episode viewer and the bundling of modules into one script are in `sts.viewer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sts.viewer.scripts import BOARD, CLIP, CLIP_STYLES, VIEWER, Component, build_component

HERE = Path(__file__).parent
_DRAFT = ("standing", "editing", "passage", "curation")
_SENT = ("browser", "panel", "outbox", "channel", "connected")
_JUDGED = ("verdicts", "visits", "activity", "tabs", "session")
MODULES = {
    "player": (*VIEWER, *_SENT, *_JUDGED, "judging", "pace", "notices", "player"),
    "clip": CLIP,
    "review": (
        *(*VIEWER, *_SENT, "verdicts", "visits", "activity", "judging"),
        *("reviewing", "opinions", "review"),
    ),
    "play": (*BOARD, "browser", "turns", "play"),
    "curate": (*VIEWER, *_SENT, *_DRAFT, "coverage", "editor", "deciding", "curate"),
}
_BESIDE = ("page", "viewer", "panel")
STYLES = {
    "player": (*_BESIDE, "player"),
    "clip": CLIP_STYLES,
    "review": (*_BESIDE, "player", "review"),
    "play": ("page", "play"),
    "curate": (*_BESIDE, "curate"),
}


def load_component(name: str, drawings: Mapping[str, str]) -> Component:
    """Return the component `name` of `MODULES`; `drawings` are drawing modules by domain."""
    return build_component(name, MODULES[name], STYLES[name], drawings, HERE)
