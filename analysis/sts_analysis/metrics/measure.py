"""Measures agents by a metric that is found by name, and keeps the scores in the workspace."""

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from sts import agents as agent_registry
from sts import registry
from sts.errors import ArgumentError
from sts.storage.scores import save_scores
from sts.storage.workspace import Workspace
from sts.suites.suite import Suite
from sts_analysis.inputs.scores import check_scores, empty_scores
from sts_analysis.inputs.tables import from_frame
from sts_analysis.measures.measurement import Measurement
from sts_analysis.metrics.protocol import GROUP, Metric


def find(name: str) -> tuple[str, Metric]:
    """Return a metric and its name: an installed one, or a user's by `module:function`.

    Raises:
      UnknownName: none is installed under this name.
      ArgumentError: what the name stands for cannot be called.
    """
    metric, called = registry.load_named(GROUP, "metric", name), name.rpartition(":")[2]
    if not callable(metric):
        raise ArgumentError(f"metric {name!r}: expected a function, found {type(metric).__name__}")
    return called, metric


def measure(
    name: str,
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    **settings: Any,
) -> pd.DataFrame:
    """Measures agents by a metric, installed or `module:function`; nothing is kept.

    The other arguments are those of a `Metric`.

    Returns:
      A checked scores table.

    Raises:
      ArgumentError: the metric has no such setting, or needs agents.
      StsError: the metric failed, or what it returned is no scores table; says which and why.
    """
    found = compute(name, agents, suite=suite, workspace=workspace, seed=seed, **settings)
    return to_table(name, agents, found)


def compute(
    name: str,
    agents: Sequence[str],
    *,
    suite: Suite | None,
    workspace: Workspace,
    seed: int,
    **settings: Any,
) -> Measurement:
    """Return what a metric finds, before its rows are checked; see `measure`."""
    called, metric = find(name)
    taken = inspect.signature(metric).parameters
    for setting in settings:
        if setting not in taken:
            flag = setting.strip("_").replace("_", "-")
            raise ArgumentError(f"metric {called!r} takes no --{flag}")
    first = [*taken.values()][:1]  # the agents, which some metrics do without
    if not agents and any(one.default is inspect.Parameter.empty for one in first):
        raise ArgumentError(f"metric {called!r} needs agents: give --agent")
    with registry.translate_errors(f"metric {called!r} failed"):
        found = metric(agents, suite=suite, workspace=workspace, seed=seed, **settings)
        if isinstance(found, Measurement):
            return found
        return Measurement([dict(row) for row in found])


def to_table(name: str, agents: Sequence[str], found: Measurement) -> pd.DataFrame:
    """Return a checked scores table; errors as for `measure`."""
    called = name.rpartition(":")[2]
    loaded = {agent.name: agent for agent in map(agent_registry.load, agents)}
    rows = [dict(row) for row in found.rows]
    for row in rows:
        agent = loaded.get(str(row.get("agent")))
        own = {"metric": called}
        if agent is not None:
            own |= {"sees": agent.sees, "fingerprint": agent_registry.fingerprint(agent)}
        row.update({column: cell for column, cell in own.items() if not row.get(column)})
    table = pd.DataFrame(rows, dtype=object) if rows else empty_scores()
    return check_scores(from_frame(f"metric {called!r}", table))


def keep(name: str, scores: pd.DataFrame, workspace: Workspace) -> Path:
    """Keep checked scores in the workspace, in a file that is named after the metric.

    They take the place of earlier ones of the same agents, measured in the same way.

    Raises:
      DamagedData: the file is damaged, or of an earlier version; it is left as it is.
      NewerFormat: it is of a later version; it is left as it is.
    """
    rows = [dict(zip(scores.columns, row, strict=True)) for row in scores.itertuples(index=False)]
    return save_scores(workspace, name.rpartition(":")[2], rows)
