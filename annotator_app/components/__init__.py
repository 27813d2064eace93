"""The browser components as static files: the episode player and the human seat.

The JavaScript is plain ES modules, tested as such; a component takes one inline script, so the
modules are joined in the order of their imports.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
MODULES = {
    "player": (
        *("page", "episode", "keys", "outbox", "desk"),
        *("draw", "draw_frame", "film", "player"),
    ),
    "seat": (
        *("page", "episode", "draw", "draw_sight", "draw_frame", "film"),
        *("seat_state", "seat"),
    ),
}


class Component(NamedTuple):
    """The three texts that a component is mounted from."""

    html: str
    css: str
    js: str


@cache
def component(name: str) -> Component:
    """The texts of one component, `player` or `seat`."""
    return Component(
        html=(HERE / f"{name}.html").read_text(encoding="utf-8"),
        css=(HERE / f"{name}.css").read_text(encoding="utf-8"),
        js=joined(MODULES[name]),
    )


def joined(modules: tuple[str, ...]) -> str:
    """One script from several modules: imports of each other go, and so do exports by name.

    `export default` stays, for it is what the component is called by. Top-level names must differ
    between modules; two equal ones would be a syntax error, which a test looks for.
    """
    source = "\n".join((HERE / f"{name}.mjs").read_text(encoding="utf-8") for name in modules)
    source = re.sub(r'^import \{[^}]*\} from "\./\w+\.mjs";\n', "", source, flags=re.MULTILINE)
    return re.sub(r"^export (?!default)", "", source, flags=re.MULTILINE)
