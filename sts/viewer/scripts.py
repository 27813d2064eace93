"""The Viewer's modules and styles, and how modules become one script.

The JavaScript is plain ES modules, tested as such; what loads it takes one script, so the modules
are joined in the order of their imports. What worlds draw comes with them, and is written into that
script as text: a browser, or a recording, never says which code is run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
BOARD = ("page", "episode", "drawings", "draw_frame", "speech", "film", "board")
"""What draws a frame: its modules, in the order of their imports."""
VIEWER = (*BOARD, "keys", "playback", "viewer")
"""What shows an episode, in any page."""
CLIP = (*VIEWER, "panel", "verdicts", "clip")
"""What shows an episode with what was said of it."""
CLIP_STYLES = ("page", "viewer", "panel", "clip")
_TEXTS = "const TEXTS = {};"
_IMPORT = re.compile(r'^import \{[^}]*\} from "[./\w]+\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default \w+;\n", re.MULTILINE)


class Component(NamedTuple):
    """The three texts that a component is mounted from."""

    html: str
    css: str
    js: str


def build_component(
    name: str,
    modules: Sequence[str],
    styles: Sequence[str],
    drawings: Mapping[str, str],
    folder: Path = HERE,
) -> Component:
    """Return the texts of a component: its markup, styles, and scripts as their imports order them.

    `drawings` are the ES modules that worlds are drawn by, each under the name of its domain, and
    `folder` has the files that the Viewer does not have.
    """
    return Component(
        html=_find_file(f"{name}.html", folder).read_text(encoding="utf-8"),
        css=styled(styles, folder),
        js=with_drawings(join_modules(tuple(modules), folder), drawings),
    )


def with_drawings(script: str, drawings: Mapping[str, str]) -> str:
    """Return a script with what worlds are drawn by, each under the name of its domain."""
    # Of what JSON may hold, only this could end a script that stands in a page.
    texts = json.dumps(dict(drawings)).replace("<", "\\u003c")
    return script.replace(_TEXTS, f"const TEXTS = {texts};")


def styled(styles: Sequence[str], folder: Path = HERE) -> str:
    """Return several style sheets as one."""
    return "\n".join(_find_file(f"{one}.css", folder).read_text(encoding="utf-8") for one in styles)


@cache
def join_modules(modules: tuple[str, ...], *folders: Path) -> str:
    """Return one script from several modules, in the order of their imports.

    Imports go, and so do exports by name; `export default` stays, for it is what the component is
    called by. Top-level names must differ between modules; two equal ones would be a syntax error,
    which a test looks for.
    """
    files = (_find_file(f"{name}.mjs", *folders) for name in modules)
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return _EXPORT.sub("", _IMPORT.sub("", source))


def classic(modules: tuple[str, ...], *folders: Path) -> str:
    """Return one script of no module from several, for pages that are opened from a disk.

    Browsers refuse modules there. Nothing of it is seen from outside.
    """
    source = _DEFAULT.sub("", join_modules(modules, *folders))
    return f'(async () => {{\n"use strict";\n{source}}})();\n'


def _find_file(name: str, *folders: Path) -> Path:
    """Return the path of a file in one of `folders`, or where it is in none, of the Viewer's."""
    every = (folder / name for folder in folders)
    return next((path for path in every if path.is_file()), HERE / name)
