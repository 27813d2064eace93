"""Modules and styles of the Viewer, and bundling of modules into one script.

Components and reports take a single script, so the ES modules are joined in import order. The
drawing modules of domains are embedded as text, so browsers and recordings cannot choose code.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
BOARD = ("page", "episode", "drawings", "draw_frame", "speech", "film", "board")
"""Modules that draw a frame, in import order."""
VIEWER = (*BOARD, "keys", "playback", "viewer")
"""Modules of the Viewer."""
CLIP = (*VIEWER, "panel", "verdicts", "clip")
"""Modules of the page of one clip with its verdicts."""
CLIP_STYLES = ("page", "viewer", "panel", "clip")
_TEXTS = "const TEXTS = {};"
_IMPORT = re.compile(r'^import \{[^}]*\} from "[./\w]+\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_DEFAULT = re.compile(r"^export default \w+;\n", re.MULTILINE)


class Component(NamedTuple):
    """Markup, styles and script of a component."""

    html: str
    css: str
    js: str


def build_component(
    name: str,
    modules: Sequence[str],
    styles: Sequence[str],
    drawings: Mapping[str, str],
    folder: Path = FOLDER,
) -> Component:
    """Return a component of the given modules and styles, in import order.

    `drawings` maps domains to the sources of their drawing modules; files that the Viewer lacks are
    in `folder`.
    """
    return Component(
        html=_find_file(f"{name}.html", folder).read_text(encoding="utf-8"),
        css=join_styles(styles, folder),
        js=embed_drawings(join_modules(tuple(modules), folder), drawings),
    )


def embed_drawings(script: str, drawings: Mapping[str, str]) -> str:
    """Return a script with the drawing modules of domains embedded."""
    # "<" is the only JSON character that could end an inline script.
    texts = json.dumps(dict(drawings)).replace("<", "\\u003c")
    return script.replace(_TEXTS, f"const TEXTS = {texts};")


def join_styles(styles: Sequence[str], folder: Path = FOLDER) -> str:
    """Return several style sheets as one text."""
    files = (_find_file(f"{name}.css", folder) for name in styles)
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@cache
def join_modules(modules: tuple[str, ...], *folders: Path) -> str:
    """Return one script from several modules, in import order.

    Imports and named exports are removed; `export default` stays as the component's entry point.
    Top-level names must differ between modules, which a test checks.
    """
    files = (_find_file(f"{name}.mjs", *folders) for name in modules)
    source = "\n".join(file.read_text(encoding="utf-8") for file in files)
    return _EXPORT.sub("", _IMPORT.sub("", source))


def join_classic_script(modules: tuple[str, ...], *folders: Path) -> str:
    """Return one classic script from several modules, for pages opened from disk.

    Browsers do not load modules from `file:`. The script defines no global names.
    """
    source = _DEFAULT.sub("", join_modules(modules, *folders))
    return f'(async () => {{\n"use strict";\n{source}}})();\n'


def _find_file(name: str, *folders: Path) -> Path:
    """Return the path of a file in one of `folders`, else in the Viewer's folder."""
    paths = (folder / name for folder in folders)
    return next((path for path in paths if path.is_file()), FOLDER / name)
