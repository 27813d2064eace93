"""The browser components as static files: the pages of who judges, looks, acts and curates.

The JavaScript is plain ES modules, tested as such; a component takes one inline script, so the
modules are joined in the order of their imports. What worlds draw comes with them, and is written
into that script as text: a browser, or a recording, never says which code is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
_BOARD = ("page", "episode", "drawings", "draw_frame", "speech", "film", "board")
VIEWER = (*_BOARD, "keys", "playback", "viewer")
"""What shows an episode, in any page: its modules, in the order of their imports."""
_DRAFT = ("standing", "editing", "passage", "curation")
_SENT = ("panel", "outbox", "channel")
_JUDGED = ("verdicts", "visits", "activity", "tabs", "session")
MODULES = {
    "player": (*VIEWER, *_SENT, *_JUDGED, "judging", "pace", "notices", "player"),
    "clip": (*VIEWER, "panel", "verdicts", "clip"),
    "review": (
        *(*VIEWER, *_SENT, "verdicts", "visits", "activity", "judging"),
        *("reviewing", "opinions", "review"),
    ),
    "play": (*_BOARD, "turns", "play"),
    "curate": (*VIEWER, *_SENT, *_DRAFT, "coverage", "editor", "deciding", "curate"),
}
_BESIDE = ("page", "viewer", "panel")
STYLES = {
    "player": (*_BESIDE, "player"),
    "clip": (*_BESIDE, "clip"),
    "review": (*_BESIDE, "player", "review"),
    "play": ("page", "play"),
    "curate": (*_BESIDE, "curate"),
}
_TEXTS = "const TEXTS = {};"


class Component(NamedTuple):
    """The three texts that a component is mounted from."""

    html: str
    css: str
    js: str


def component(name: str, drawings: Mapping[str, str]) -> Component:
    """The texts of one component, one of `MODULES`.

    Args:
      name: which.
      drawings: the ES modules that worlds are drawn by, each under the name of its domain.
    """
    # Of what JSON may hold, only this could end a script that stands in a page.
    texts = json.dumps(dict(drawings)).replace("<", "\\u003c")
    return Component(
        html=(HERE / f"{name}.html").read_text(encoding="utf-8"),
        css="\n".join((HERE / f"{one}.css").read_text(encoding="utf-8") for one in STYLES[name]),
        js=joined(MODULES[name]).replace(_TEXTS, f"const TEXTS = {texts};"),
    )


@cache
def joined(modules: tuple[str, ...]) -> str:
    """One script from several modules: imports of each other go, and so do exports by name.

    `export default` stays, for it is what the component is called by. Top-level names must differ
    between modules; two equal ones would be a syntax error, which a test looks for.
    """
    source = "\n".join((HERE / f"{name}.mjs").read_text(encoding="utf-8") for name in modules)
    source = re.sub(r'^import \{[^}]*\} from "\./\w+\.mjs";\n', "", source, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", source, flags=re.MULTILINE)
