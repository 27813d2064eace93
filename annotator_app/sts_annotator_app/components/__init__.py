"""Browser components of the pages for judging, reviewing, curating and live sessions.

The episode viewer and the bundling of modules into one script are in `sts.viewer`.
"""

from collections.abc import Mapping
from pathlib import Path

from sts.viewer.scripts import BOARD, CLIP, CLIP_STYLES, VIEWER, Component, build_component

HERE = Path(__file__).parent
_SYNC_MODULES = (*VIEWER, "browser", "panel", "outbox", "channel", "connected")
_VISIT_MODULES = ("verdicts", "visits", "activity")
_PLAYER_MODULES = (*_VISIT_MODULES, "tabs", "session", "judging", "pace", "notices")
_REVIEW_MODULES = (*_VISIT_MODULES, "judging", "reviewing", "verdict_panel")
_CURATION_MODULES = (
    "decisions",
    "editing",
    "passage",
    "curation",
    "coverage",
    "editor",
    "deciding",
)
MODULES = {
    "player": (*_SYNC_MODULES, *_PLAYER_MODULES, "player"),
    "clip": CLIP,
    "review": (*_SYNC_MODULES, *_REVIEW_MODULES, "review"),
    "live": (*BOARD, "keys", "panel", "browser", "controls", "livesession", "live"),
    "curate": (*_SYNC_MODULES, *_CURATION_MODULES, "curate"),
}
_COMMON_STYLES = ("page", "viewer", "panel")
STYLES = {
    "player": (*_COMMON_STYLES, "player"),
    "clip": CLIP_STYLES,
    "review": (*_COMMON_STYLES, "player", "review"),
    "live": ("page", "live"),
    "curate": (*_COMMON_STYLES, "curate"),
}


def load_component(name: str, drawings: Mapping[str, str]) -> Component:
    """Return the component `name` of `MODULES`; `drawings` are drawing modules by domain."""
    return build_component(name, MODULES[name], STYLES[name], drawings, HERE)
