"""Loading of agents by installed name, `module:Class` or `PYTHON:module:Class`."""

import inspect
import re
from collections.abc import Mapping
from typing import Any, cast, get_args

from sts import registry
from sts.agents import external
from sts.agents.identity import fingerprint, identify
from sts.agents.protocol import Agent, Sees
from sts.agents.spelling import parse_spelling
from sts.errors import ArgumentError
from sts.names import is_one_line

GROUP = "sts.agents"
HUMAN = "human"
MAX_DRAWS = 10_000
MAX_WORDING_CHARS = 500
"""Maximum length of a wording, which is that of an instruction in a live session."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def list_installed() -> tuple[str, ...]:
    """Return the names of the installed agents."""
    return tuple(registry.list_entry_points(GROUP))


def load(name: str) -> Agent:
    """Return a new agent, by installed name or `module:Class`; `?NAME=VALUE&...` may follow.

    `PYTHON:module:Class` runs in that interpreter, in a child process that all agents with the same
    path share.

    Raises:
      UnknownName: no agent of that name is installed.
      ArgumentError: `module:Class` is not an agent, or PYTHON is not an interpreter.
      WorkerDied: the other interpreter exits or does not respond.
    """
    path, arguments, label = parse_spelling(name)
    if external.is_external_path(path):
        agent = external.ExternalAgent(path, arguments)
        return build_agent(agent, name, arguments, label)
    kind = registry.load_named(GROUP, "agent", path)
    if not inspect.isclass(kind) or not _has_agent_methods(kind):
        raise ArgumentError(
            f"{name!r} is not an agent: expected a class with a name, initial_state and act"
        )
    return build_agent(kind, name, arguments, label)


def load_planned(name: str, planned_fingerprint: str) -> Agent:
    """Return an agent as `load` does; raise `ArgumentError` if its fingerprint is another now."""
    agent = load(name)
    current = fingerprint(agent)
    if current != planned_fingerprint:
        raise ArgumentError(
            f"the code of agent {name!r} has changed since the run was planned (fingerprint "
            f"{current}, planned {planned_fingerprint}); start the run again"
        )
    return agent


def build_agent(
    candidate: Any, name: str, arguments: Mapping[str, Any] | None = None, label: str = ""
) -> Agent:
    """Return an agent from `candidate`, an agent or its class, and compute its identity.

    `name` is used in error messages, `arguments` are passed to the class, and `label` replaces the
    agent's own name.

    Raises:
      ArgumentError: `candidate` is not a valid agent.
    """
    if not _has_agent_methods(candidate):
        raise ArgumentError(f"{name!r} is not an agent: expected a name, initial_state and act")
    try:
        agent = cast(
            Agent, candidate(**(arguments or {})) if inspect.isclass(candidate) else candidate
        )
        if label:
            agent.name = label  # type: ignore[misc]  # of this object
    except Exception as error:  # third-party code
        which = f"with {', '.join(arguments)}" if arguments else "without arguments"
        raise ArgumentError(f"agent {name!r} cannot be constructed {which}: {error}") from error
    agent_name = getattr(agent, "name", None)
    if not isinstance(agent_name, str) or not _NAME.fullmatch(agent_name):
        raise ArgumentError(
            f"agent {name!r} needs a name of 1 to 64 letters, digits, dots and dashes; found "
            f"{agent_name!r}"
        )
    if agent_name == HUMAN:
        raise ArgumentError(
            f"agent {name!r}: the name {HUMAN!r} is reserved for people; choose another"
        )
    for attribute in ("sees", "deterministic", "draws", "domain", "wordings", "reproducible"):
        if not hasattr(agent, attribute):
            setattr(agent, attribute, getattr(Agent, attribute))
    texts = agent.wordings if isinstance(agent.wordings, tuple | list) else [None]
    valid_texts = all(isinstance(t, str) and is_one_line(t, MAX_WORDING_CHARS) for t in texts)
    valid_draws = type(agent.draws) is int and 0 <= agent.draws <= MAX_DRAWS
    for valid, expected in (
        (agent.sees in get_args(Sees), f"sees must be one of {', '.join(get_args(Sees))}"),
        (isinstance(agent.deterministic, bool), "deterministic must be True or False"),
        (isinstance(agent.reproducible, bool), "reproducible must be True or False"),
        (valid_draws, f"draws must be 0 to {MAX_DRAWS}"),
        (isinstance(agent.domain, str), "domain must be the name of a domain, or empty"),
        (valid_texts, f"wordings must be lines of at most {MAX_WORDING_CHARS} characters"),
    ):
        if not valid:
            raise ArgumentError(f"agent {name!r}: {expected}")
    identify(agent, arguments)
    return agent


def _has_agent_methods(candidate: Any) -> bool:
    return all(callable(getattr(candidate, method, None)) for method in ("initial_state", "act"))
