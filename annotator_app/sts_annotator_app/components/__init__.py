"""The browser components as static files: the pages of who judges, looks, acts and curates.

What shows an episode is in `sts.viewer`, and so is how modules become the one script that a
component takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sts.viewer.scripts import BOARD, CLIP, CLIP_STYLES, VIEWER, Component, build_component

HERE = Path(__file__).parent
_DRAFT = ("standing", "editing", "passage", "curation")
_SENT = ("browser", "panel", "outbox", "channel")
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
    """The texts of one component of `MODULES`, with the drawings of worlds, each by its domain."""
    return build_component(name, MODULES[name], STYLES[name], drawings, HERE)
