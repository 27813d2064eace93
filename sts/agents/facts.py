"""Facts about agents that a run needs before they play, found out where they may do no harm.

The code of an agent that this distribution does not install may do anything when it is imported. It
is imported and played only in a worker process, which runs the code of no other agent.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sts import registry
from sts.agents.elsewhere import is_spelling
from sts.agents.identity import fingerprint
from sts.agents.registry import GROUP, load
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import Owned
from sts.jobs.pool import Pool
from sts.jobs.processes import Died


class Facts(NamedTuple):
    """The facts about an agent, by the names of its attributes."""

    name: str
    fingerprint: str
    deterministic: bool
    domain: str


def apart(name: str) -> str:
    """Return the name of an agent that is played in a worker process of its own, "" of any other.

    Agents that this distribution installs are played where it suits. So is PYTHON:module:Class,
    whose code another interpreter runs in any case.
    """
    if is_spelling(name):
        return ""
    points = registry.named(GROUP)
    module, colon, _ = (points[name].value if name in points else name).partition(":")
    return name if colon and not registry.is_packaged(module) else ""


def facts(name: str) -> Facts:
    """Return what is known of an agent, which is loaded in this process.

    Raises:
      ArgumentError: it is not an agent.
    """
    agent = load(name)
    return Facts(agent.name, fingerprint(agent), agent.deterministic, agent.domain)


def gather(names: Iterable[str]) -> dict[str, Facts | StsError]:
    """Return the facts of agents, or the error of one whose code fails where it is loaded.

    Raises:
      ArgumentError: one of them is not an agent.
      StsError: one that this distribution installs cannot be loaded.
    """
    found: dict[str, Facts | StsError] = {}
    for name in dict.fromkeys(names):
        found[name] = outcome = _asked(name) if apart(name) else facts(name)
        if isinstance(outcome, ArgumentError):
            raise outcome
        if isinstance(outcome, StsError) and not str(outcome).startswith(f"agent {name!r}"):
            found[name] = outcome.saying(f"agent {name!r} cannot be loaded: {outcome}")
    return found


def _asked(name: str) -> Facts | StsError:
    """Return the facts of an agent, or its error, as a worker process finds them."""
    outcome: Facts | StsError = Died()
    with Pool(1) as there:
        for _ in range(2):
            if isinstance(outcome, Died):
                there.submit(name, Owned(facts, name), name)
                ((_, outcome),) = there.completed()
    return outcome
