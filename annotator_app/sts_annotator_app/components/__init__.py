"""Browser components of the pages for judging, reviewing, curating and playing.

The episode viewer and the bundling of modules into one script are in `sts.viewer`.
"""

from collections.abc import Mapping
from pathlib import Path

from sts.viewer.scripts import BOARD, CLIP, CLIP_STYLES, VIEWER, Component, build_component

HERE = Path(__file__).parent
_CURATION_MODULES = ("standing", "editing", "passage", "curation")
_SYNC_MODULES = ("browser", "panel", "outbox", "channel", "connected")
_ANNOTATION_MODULES = ("verdicts", "visits", "activity", "tabs", "session")
MODULES = {
    "player": (
        *VIEWER,
        *_SYNC_MODULES,
        *_ANNOTATION_MODULES,
        "judging",
        "pace",
        "notices",
        "player",
    ),
    "clip": CLIP,
    "review": (
        *(*VIEWER, *_SYNC_MODULES, "verdicts", "visits", "activity", "judging"),
        *("reviewing", "verdict_panel", "review"),
    ),
    "play": (*BOARD, "browser", "turns", "play"),
    "curate": (
        *VIEWER,
        *_SYNC_MODULES,
        *_CURATION_MODULES,
        "coverage",
        "editor",
        "deciding",
        "curate",
    ),
}
_COMMON_STYLES = ("page", "viewer", "panel")
STYLES = {
    "player": (*_COMMON_STYLES, "player"),
    "clip": CLIP_STYLES,
    "review": (*_COMMON_STYLES, "player", "review"),
    "play": ("page", "play"),
    "curate": (*_COMMON_STYLES, "curate"),
}


def load_component(name: str, drawings: Mapping[str, str]) -> Component:
    """Return the component `name` of `MODULES`; `drawings` are drawing modules by domain."""
    return build_component(name, MODULES[name], STYLES[name], drawings, HERE)
