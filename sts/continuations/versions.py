"""Versions of agents, found by the names that reports print and by those that `sts run` takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sts.agents import list_installed
from sts.agents.info import require_infos
from sts.agents.spelling import parse_spelling
from sts.continuations.continuation_store import read_part
from sts.continuations.index import Index, open_index
from sts.continuations.label_table import agent_names
from sts.errors import ArgumentError, UnknownName
from sts.storage.workspace import Workspace

Version = tuple[str, str]
"""An agent's name and fingerprint."""


def find_shown_name(name: str, versions: Mapping[str, Version], kind: str = "agent") -> str:
    """Return the name under which reports print an agent, one of the keys of `versions`.

    Args:
      name: as reports print it, with or without its fingerprint, or as `sts run` takes it.
      versions: the agent's name and fingerprint by the name that reports print.
      kind: of agents, for error messages.

    Raises:
      UnknownName: no version fits.
      ArgumentError: several versions fit; lists them.
    """
    if name in versions:
        return name
    agent, _, fingerprint = name.partition("#")
    if _can_be_loaded(name):
        info = require_infos([name])[name]
        agent, fingerprint = info.name, info.fingerprint
    fitting = [n for n, (a, f) in versions.items() if a == agent and f.startswith(fingerprint)]
    if len(fitting) > 1:
        raise ArgumentError(
            f"agent {name} has {len(fitting)} versions: {', '.join(sorted(fitting))}; name one"
        )
    if not fitting:
        raise UnknownName(kind, name, versions)
    return fitting[0]


def resolve_agents(workspace: Workspace, names: Sequence[str]) -> list[str]:
    """Return names that `sts run` can load, also for those that reports print.

    Raises:
      ArgumentError: several versions fit, or the agent was changed since it played.
    """
    if all(map(_can_be_loaded, names)):
        return list(names)
    index = open_index(workspace.store)
    agents, fingerprints = index.read_values("agent"), index.read_values("fingerprint")
    codes = np.unique(np.stack([index.read_codes(n) for n in ("agent", "fingerprint")]), axis=1)
    shown = agent_names((agents[a], fingerprints[m]) for a, m in codes.T.tolist())
    versions = {name: version for version, name in shown.items()}
    return [_find_spelling(workspace, index, versions, name) for name in names]


def _find_spelling(
    workspace: Workspace, index: Index, versions: Mapping[str, Version], name: str
) -> str:
    base = name.partition("#")[0]
    if _can_be_loaded(name) or base not in {agent for agent, _ in versions.values()}:
        return name
    agent, fingerprint = versions[find_shown_name(name, versions)]
    is_own = index.mask_where("agent", (agent,)) & index.mask_where("fingerprint", (fingerprint,))
    part, groups, hashes = next(index.locate_rows(np.flatnonzero(is_own)[:1]))
    (continuation,) = read_part(workspace, part, groups=groups, wanted=hashes)
    spelling = str(continuation.provenance.get("agent", agent))
    if not _can_be_loaded(spelling):
        raise ArgumentError(
            f"this workspace does not say how agent {name} was loaded; name it as module:Class"
        )
    now = require_infos([spelling])[spelling]
    if (now.name, now.fingerprint) != (agent, fingerprint):
        raise ArgumentError(
            f"agent {name} was played by {spelling}, which is another version now "
            f"({now.name}#{now.fingerprint[:8]}); to run that one, name {spelling}"
        )
    return spelling


def _can_be_loaded(name: str) -> bool:
    path = parse_spelling(name).path
    return ":" in path or path in list_installed()
