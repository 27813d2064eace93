"""Properties of agents that a run needs before they play, read without importing untrusted code.

Third-party agents may run any code on import. They are imported and played only in a worker
process that runs no other agent's code.
"""

from collections.abc import Iterable
from typing import NamedTuple

from sts import registry
from sts.agents.external import is_external_path
from sts.agents.identity import fingerprint
from sts.agents.registry import GROUP, load
from sts.agents.spelling import parse_spelling
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import OwnedTask
from sts.jobs.pool import Pool
from sts.jobs.processes import WorkerDied


class AgentInfo(NamedTuple):
    """The attributes of an agent that a run plan needs."""

    name: str
    fingerprint: str
    deterministic: bool
    domain: str
    sees: str
    wordings: tuple[str, ...] = ()
    reproducible: bool = True


def isolation_key(name: str) -> str:
    """Return the name of an agent that needs a worker process of its own; "" for any other.

    Packaged agents can play in any process. So can PYTHON:module:Class, whose code runs in another
    interpreter.
    """
    path, points = parse_spelling(name).path, registry.list_entry_points(GROUP)
    if is_external_path(path):
        return ""
    module, colon, _ = (points[path].value if path in points else path).partition(":")
    return name if colon and not registry.is_packaged(module) else ""


def is_users(name: str) -> bool:
    """Return True unless this distribution contains the agent of this name."""
    return is_external_path(parse_spelling(name).path) or bool(isolation_key(name))


def load_info(name: str) -> AgentInfo:
    """Load an agent in this process and return its attributes.

    Raises:
      ArgumentError: it is not an agent.
    """
    agent = load(name)
    wordings = tuple(agent.wordings)
    return AgentInfo(
        *(agent.name, fingerprint(agent), agent.deterministic, agent.domain, agent.sees, wordings),
        reproducible=agent.reproducible,
    )


def load_infos(names: Iterable[str]) -> dict[str, AgentInfo | StsError]:
    """Return the attributes of each agent, or the error that loading a third-party agent raised.

    Raises:
      ArgumentError: one of them is not an agent.
      StsError: a packaged agent cannot be loaded.
    """
    outcomes: dict[str, AgentInfo | StsError] = {}
    for name in dict.fromkeys(names):
        outcomes[name] = outcome = _load_in_worker(name) if isolation_key(name) else load_info(name)
        if isinstance(outcome, ArgumentError):
            raise outcome
        if isinstance(outcome, StsError) and not str(outcome).startswith(f"agent {name!r}"):
            outcomes[name] = outcome.with_message(f"agent {name!r} cannot be loaded: {outcome}")
    return outcomes


def require_infos(names: Iterable[str]) -> dict[str, AgentInfo]:
    """Return the attributes of each agent; raise StsError if one cannot be loaded."""
    infos = {}
    for name, info in load_infos(names).items():
        if isinstance(info, StsError):
            raise info
        infos[name] = info
    return infos


def _load_in_worker(name: str) -> AgentInfo | StsError:
    """Return the attributes of an agent loaded in a worker process, or the error; retry once."""
    outcome: AgentInfo | StsError = WorkerDied()
    with Pool(1) as pool:
        for _ in range(2):
            if isinstance(outcome, WorkerDied):
                pool.submit(name, OwnedTask(load_info, name), name)
                ((_, outcome),) = pool.completed()
    return outcome
