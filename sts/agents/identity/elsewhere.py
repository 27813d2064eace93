"""What another interpreter tells of its agent, as the identity of one of this interpreter is read.

Its code is read here, from the files that it says it loads; none of it is imported.
"""

from __future__ import annotations

import ast
from typing import Any

from sts.agents.elsewhere.child import Child
from sts.agents.elsewhere.shim import Frame
from sts.agents.identity.modules import Interpreter


def interpreter(child: Child) -> Interpreter:
    """Returns how a child finds modules."""

    def find(name: str) -> tuple[str | None, tuple[str, ...]]:
        file, folders = child.ask({"do": "find", "name": name}, {}).header["found"]
        return file, tuple(folders)

    return Interpreter(find, tuple(child.told.header["path"]))


def attributes(told: Frame) -> tuple[dict[str, Any], list[str]]:
    """Returns what an agent was made with, and why what else there is cannot be read."""
    kept = {name: ast.literal_eval(text) for name, text in told.header["state"].items()}
    hidden = [f"its {name} ({kind}) cannot be read" for name, kind in told.header["hidden"].items()]
    return kept | told.part("state"), hidden
