"""What is kept of agents that no ratings table holds."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from sts.storage import parquet
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario

_FOLDER = "continuations"
_COLUMNS = {"agent": pa.string(), "fingerprint": pa.string(), "deterministic": pa.bool_()}


def deterministic(workspace: Workspace, scenarios: Sequence[Scenario]) -> tuple[str, ...]:
    """The agents, as a report calls them, whose continuations of a scenario are all the same.

    These are the ones that said so when they ran, as did the agents that they played beside. So it
    depends on the scenario's partner, and one continuation beside each partner tells it.
    """
    if not workspace.store.list(_FOLDER):
        return ()
    from sts.continuations import parts  # agents and worlds come with them
    from sts.continuations.label_table import agent_names
    from sts.continuations.store import open_saved_index

    index = open_saved_index(workspace)
    partner = {one.hash: one.partner for one in scenarios}
    rows = index.find_rows(set(partner))
    names, marks, hashes, files = (
        index.read_values(column) for column in ("agent", "fingerprint", "scenario", "part")
    )
    who, mark, scenario, file = (
        index.read_codes(column)[rows].tolist()
        for column in ("agent", "fingerprint", "scenario", "part")
    )
    asked: dict[tuple[str, str], dict[str, str]] = {}
    for a, m, s, f in zip(who, mark, scenario, file, strict=True):
        asked.setdefault((names[a], marks[m]), {})[partner[hashes[s]]] = files[f]
    called = agent_names(asked)
    kept: dict[str, pa.Table] = {}
    alike = []
    for agent, places in asked.items():
        for name in set(places.values()) - kept.keys():
            raw = workspace.store.get(name)
            kept[name] = parquet.decode_table(name, raw, parts.FORMAT, parts.VERSION, _COLUMNS)
        if all(_said(kept[name], agent) for name in places.values()):
            alike.append(called[agent])
    return tuple(sorted(alike))


def _said(table: pa.Table, agent: tuple[str, str]) -> bool:
    """Whether an agent's continuations in a part are all alike."""
    name, mark, alike = (np.array(table.column(key).to_pylist()) for key in _COLUMNS)
    return bool(alike[(name == agent[0]) & (mark == agent[1])].all())
