"""What another interpreter tells of its agent, as the identity of one of this interpreter is read.

Its code is read here, from the files that it says it loads; none of it is imported.
"""

from __future__ import annotations

import functools
from typing import Any

from sts.agents.elsewhere.child import Child
from sts.agents.identity.sources import Interpreter
from sts.agents.identity.trees import Code, read, unreadable
from sts.agents.identity.values import State, state


@functools.cache
def code(child: Child) -> Code:
    """Return what is written of a child's agent, once, by the files that its interpreter loads.

    Raises:
      StsError: its process ends, or does not come back.
    """

    def find(name: str) -> tuple[str | None, tuple[str, ...]]:
        file, folders = child.ask("find", name)
        return file, tuple(folders)

    told = child.told
    if not told["at_its_name"]:
        return unreadable(f"{told['class']} is not what stands at its name")
    found = read(told["module"], Interpreter(find, tuple(told["path"])))
    return found._replace(trees=found.trees + told["class"].encode())


def look(child: Child, *, now: bool) -> tuple[State, dict[str, Any]]:
    """Return what a child's agent was made with, or keeps now, and what it declares.

    Raises:
      StsError: its process ends, or does not come back.
    """
    told = child.ask("describe") if now else child.told
    made = state(told["state"], named=told["named"], unread=told["hidden"])
    return made, told["attributes"]
