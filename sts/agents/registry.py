"""Agents by installed name, `module:Class` or `PYTHON:module:Class`."""

from __future__ import annotations

import inspect
import re
from typing import Any, cast, get_args

from sts import registry
from sts.agents import elsewhere
from sts.agents.identity import fingerprint, identify
from sts.agents.protocol import Agent, Sees
from sts.errors import ArgumentError

GROUP = "sts.agents"
HUMAN = "human"
MOST_DRAWS = 10_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def installed() -> tuple[str, ...]:
    """Return the names of the installed agents."""
    return tuple(registry.named(GROUP))


def load(name: str) -> Agent:
    """Return a new agent: an installed one by name, or a user's by `module:Class`.

    One by `PYTHON:module:Class` is played by that interpreter, in a process of its own, which every
    agent of this spelling in this process shares.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: what stands at `module:Class` is not an agent, or PYTHON is no interpreter.
      Died: the other interpreter ends or does not come back.
    """
    if elsewhere.is_spelling(name):
        return made(elsewhere.Elsewhere(name), name)
    if ":" in name:
        kind = registry.load_path("agent", name)
    else:
        kind = registry.load(GROUP, "agent", name)
    if not inspect.isclass(kind) or not _acts(kind):
        raise ArgumentError(
            f"{name!r} is not an agent: expected a class with a name, begin and act"
        )
    return made(kind, name)


def planned(name: str, mark: str) -> Agent:
    """Return the agent of a name as `load` does; `ArgumentError` if its fingerprint is another."""
    agent = load(name)
    found = fingerprint(agent)
    if found != mark:
        raise ArgumentError(
            f"agent {name!r} is another than was planned (fingerprint {found}, planned {mark}): "
            "its code was changed meanwhile; start again"
        )
    return agent


def made(given: Any, name: str) -> Agent:
    """Return the agent that `given`, a class or an agent itself, is; messages call it `name`.

    Its identity is taken here, before it plays.

    Raises:
      ArgumentError: it is not an agent.
    """
    if not _acts(given):
        raise ArgumentError(f"{name!r} is not an agent: expected a name, begin and act")
    try:
        agent = cast(Agent, given() if inspect.isclass(given) else given)
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
    drawn = type(agent.draws) is int and 0 <= agent.draws <= MOST_DRAWS
    for holds, expected in (
        (agent.sees in get_args(Sees), f"sees must be one of {', '.join(get_args(Sees))}"),
        (isinstance(agent.deterministic, bool), "deterministic must be True or False"),
        (drawn, f"draws must be 0 to {MOST_DRAWS}"),
        (isinstance(agent.domain, str), "domain must be the name of one, or empty"),
    ):
        if not holds:
            raise ArgumentError(f"agent {name!r}: {expected}")
    identify(agent)
    return agent


def _acts(given: Any) -> bool:
    return all(callable(getattr(given, method, None)) for method in ("begin", "act"))
