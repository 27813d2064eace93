"""Agents by installed name or `module:Class`, and the fingerprint of what they are."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import cast

from sts import registry
from sts.agents.protocol import Agent
from sts.errors import ArgumentError
from sts.files import content_hash

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def known() -> tuple[str, ...]:
    """Returns the names of the installed agents."""
    return tuple(registry.named("sts.agents"))


def load(name: str) -> Agent:
    """Returns a new agent: an installed one by name, or a user's by `module:Class`.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: what stands at `module:Class` is not an agent.
    """
    if ":" in name:
        found = registry.load_path("agent", name)
    else:
        found = registry.load("sts.agents", "agent", name)
    wanted = ("begin", "act")
    if not inspect.isclass(found) or not all(callable(getattr(found, w, None)) for w in wanted):
        raise ArgumentError(
            f"{name!r} is not an agent: expected a class with a name, begin and act"
        )
    try:
        agent = cast(Agent, found())
    except TypeError as error:
        raise ArgumentError(f"agent {name!r} must be made without arguments: {error}") from None
    called = getattr(agent, "name", None)
    if not isinstance(called, str) or not _NAME.fullmatch(called):
        raise ArgumentError(
            f"agent {name!r} needs a name of letters, digits, dots and dashes; found {called!r}"
        )
    if getattr(agent, "sees", "observation") not in ("observation", "world", "rehearsal"):
        raise ArgumentError(f"agent {name!r}: sees must be observation, world or rehearsal")
    return agent


def fingerprint(agent: Agent) -> str:
    """Returns 16 hex digits that change when the agent's code does.

    They cover the source of the module that defines its class, of those that define its base
    classes, and of the modules of the same package that these import from; and the bytes of its
    attribute `weights_digest`, for agents whose behaviour lies in a file of weights.
    """
    modules: dict[str, ModuleType] = {}
    waiting = [sys.modules[base.__module__] for base in type(agent).__mro__ if base is not object]
    while waiting:
        module = waiting.pop()
        if module.__name__ in modules:
            continue
        modules[module.__name__] = module
        package = module.__name__.rpartition(".")[0]
        if not package:
            continue
        for value in vars(module).values():
            owner = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", "")
            if isinstance(owner, str) and owner.rpartition(".")[0] == package:
                waiting.append(sys.modules[owner])
    parts = [type(agent).__qualname__.encode(), str(getattr(agent, "weights_digest", "")).encode()]
    for name in sorted(modules):
        file = getattr(modules[name], "__file__", None)
        parts += [name.encode(), Path(file).read_bytes() if file else b""]
    return content_hash(*parts)[:16]
