"""Agents by installed name or `module:Class`, and the fingerprint of what they are."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, cast, get_args

from sts import registry
from sts.agents.protocol import Agent, Sees
from sts.errors import ArgumentError
from sts.storage.files import content_hash

HUMAN = "human"
MOST_DRAWS = 10_000
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
    if not inspect.isclass(found) or not _acts(found):
        raise ArgumentError(
            f"{name!r} is not an agent: expected a class with a name, begin and act"
        )
    return made(found, name)


def made(found: Any, name: str) -> Agent:
    """Returns the agent that `found`, a class or an agent itself, is; messages call it `name`.

    Raises:
      ArgumentError: it is not an agent.
    """
    if not _acts(found):
        raise ArgumentError(f"{name!r} is not an agent: expected a name, begin and act")
    try:
        agent = cast(Agent, found() if inspect.isclass(found) else found)
    except Exception as error:  # it may be anybody's
        raise ArgumentError(f"agent {name!r} must be made without arguments: {error}") from error
    called = getattr(agent, "name", None)
    if not isinstance(called, str) or not _NAME.fullmatch(called):
        raise ArgumentError(
            f"agent {name!r} needs a name of 1 to 64 letters, digits, dots and dashes; found "
            f"{called!r}"
        )
    if called == HUMAN:
        raise ArgumentError(f"agent {name!r}: the name {HUMAN} is kept for people; choose another")
    for attribute in ("sees", "deterministic", "draws", "domain"):
        if not hasattr(agent, attribute):
            setattr(agent, attribute, getattr(Agent, attribute))
    if agent.sees not in get_args(Sees):
        raise ArgumentError(f"agent {name!r}: sees must be one of {', '.join(get_args(Sees))}")
    if not isinstance(agent.deterministic, bool):
        raise ArgumentError(f"agent {name!r}: deterministic must be True or False")
    if type(agent.draws) is not int or not 0 <= agent.draws <= MOST_DRAWS:
        raise ArgumentError(f"agent {name!r}: draws must be 0 to {MOST_DRAWS}")
    if not isinstance(agent.domain, str):
        raise ArgumentError(f"agent {name!r}: domain must be the name of one, or empty")
    return agent


def _acts(found: Any) -> bool:
    return all(callable(getattr(found, wanted, None)) for wanted in ("begin", "act"))


def fingerprint(agent: Agent) -> str:
    """Returns 16 hex digits that change when the agent's code does.

    They cover the source of the module that defines its class, of those that define its base
    classes, and of the modules of the same folder that these import, wherever they do; and the
    bytes of its attribute `weights_digest`, for agents whose behaviour lies in a file of weights.
    """
    found: dict[str, bytes] = {}
    bases = (base.__module__ for base in type(agent).__mro__)
    own = (name for name in bases if name not in sys.stdlib_module_names)
    waiting = [_source(sys.modules[name]) for name in own]
    while waiting:
        source = waiting.pop()
        if source.name not in found:
            found[source.name] = source.file.read_bytes() if source.file else b""
            waiting += _beside(source)
    parts = [type(agent).__qualname__.encode(), str(getattr(agent, "weights_digest", "")).encode()]
    for name in sorted(found):
        parts += [name.encode(), found[name]]
    return content_hash(*parts)[:16]


class _Source(NamedTuple):
    name: str
    package: str
    file: Path | None


def _source(module: ModuleType) -> _Source:
    file = getattr(module, "__file__", None)
    return _Source(module.__name__, module.__package__ or "", Path(file) if file else None)


def _beside(source: _Source) -> list[_Source]:
    """Returns the modules of the same folder that a module imports.

    The text is asked, not the module: it also names what is imported late, and where a constant is
    from.
    """
    if source.file is None or source.file.suffix != ".py":
        return []
    names: set[str] = set()
    for node in ast.walk(ast.parse(source.file.read_bytes())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level < 2:
            start = source.package if node.level else ""
            base = ".".join(part for part in (start, node.module) if part)
            names.add(base)
            names.update(f"{base}.{alias.name}".lstrip(".") for alias in node.names)
    out = []
    for name in sorted(names):
        package, _, last = name.rpartition(".")
        file = source.file.with_name(f"{last}.py")
        if package == source.package and file.is_file():
            out.append(_Source(name, package, file))
    return out
