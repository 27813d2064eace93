"""Automatic labels: each category's rule over every continuation of a suite, as a ratings table."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from scenarios import categories
from sts.continuations import store
from sts.continuations.types import Continuation
from sts.files import write_atomically
from sts.suites.types import Suite
from sts.workspace import Workspace

AUTOMATIC = "automatic"
COLUMNS = {
    "agent": "str",
    "scenario": "str",
    "category": "str",
    "continuation": "str",
    "annotator": "str",
    "verdict": "str",
    "step": "Int64",
    "horizon": "int64",
    "kind": "str",
    "source": "str",
    "sees": "str",
}


def label_suite(workspace: Workspace, suite: Suite) -> pd.DataFrame:
    """Returns one row a continuation of the suite, of every agent in the workspace.

    Columns are those of a ratings table; `step` is missing for not_done. A continuation whose
    category has no rule here is left out.
    """
    scenarios = {s.hash: s for s in suite.scenarios}
    found = store.load(workspace, scenarios)
    called = agent_names(found)
    rows = []
    for one in found:
        scenario = scenarios[one.scenario_hash]
        category = categories.known().get(scenario.category)
        if category is None:
            continue
        verdict, step = category.label(
            one.episode, scenario.takeover, scenario.roles, scenario.parameters
        )
        rows.append(
            (
                called[one.agent, one.fingerprint],
                scenario.id,
                scenario.category,
                one.id,
                AUTOMATIC,
                verdict,
                step,
                scenario.horizon,
                scenario.kind,
                AUTOMATIC,
                one.sees,
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def agent_names(continuations: Sequence[Continuation]) -> dict[tuple[str, str], str]:
    """Returns what reports call each (agent, fingerprint).

    That is its name, or NAME#12345678 by the fingerprint's first digits where it has several.
    """
    marks: dict[str, set[str]] = defaultdict(set)
    for one in continuations:
        marks[one.agent].add(one.fingerprint)
    return {
        (name, mark): name if len(own) == 1 else f"{name}#{mark[:8]}"
        for name, own in marks.items()
        for mark in own
    }


def save(workspace: Workspace, suite: Suite, labels: pd.DataFrame) -> Path:
    """Writes a suite's labels to the workspace; returns their path."""
    path = workspace.ensure().path("labels", f"{suite.name}-{suite.version}.parquet")
    sink = io.BytesIO()
    labels.to_parquet(sink, index=False)
    write_atomically(path, sink.getvalue())
    return path
