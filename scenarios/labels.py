"""Automatic labels: each category's rule over every continuation of a suite, as a ratings table."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from scenarios import categories
from scenarios.category import Category
from sts.agents.identity import stated
from sts.continuations import store
from sts.continuations.types import HUMAN, Continuation
from sts.errors import StsError
from sts.ratings import columns
from sts.storage.files import write_atomically
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, Suite

AUTOMATIC = "automatic"
Notes = defaultdict[tuple[str, str], set[str]]
"""What a report must say of each (agent, fingerprint)."""
COLUMNS = columns("kind", "source", "sees", "notes")


def label_suite(workspace: Workspace, suite: Suite, own: Sequence[Category] = ()) -> pd.DataFrame:
    """Returns one row a continuation of the suite, of every agent in the workspace.

    Columns are those of a ratings table; `step` is missing for not_done. The verdict is "" where a
    category has no rule here, nor among the user's `own`: nobody has judged that continuation.

    Raises:
      StsError: a rule failed, as where a scenario's parameters are not what its category asks for.
    """
    rules = ruling(suite, own)
    scenarios = {s.hash: s for s in suite.scenarios}
    notes: Notes = defaultdict(set)
    rows = []
    for part in store.stream(workspace, scenarios):
        for one in part:
            scenario = scenarios[one.scenario_hash]
            verdict, step = _label(suite, scenario, rules, one)
            notes[one.agent, one.fingerprint] |= _notes(one)
            rows.append((_rank(one), scenario, one.id, verdict, step, one.sees))
    called = agent_names(notes)
    table = [
        (
            called[rank[:2]],
            scenario.id,
            scenario.category,
            id,
            AUTOMATIC if verdict else "",
            verdict,
            step,
            scenario.horizon,
            scenario.kind,
            AUTOMATIC,
            sees,
            "; ".join(sorted(notes[rank[:2]])),
        )
        for rank, scenario, id, verdict, step, sees in sorted(rows, key=lambda row: row[0])
    ]
    return pd.DataFrame(table, columns=list(COLUMNS)).astype(COLUMNS)


def _rank(one: Continuation) -> tuple[str, str, str, int, int]:
    """Returns what a table's rows are in order of."""
    own = one.identity
    return own.agent, own.fingerprint, own.scenario, own.seed, own.index


def _label(
    suite: Suite, scenario: Scenario, rules: Mapping[str, Category], one: Continuation
) -> tuple[str, int | None]:
    """Returns the verdict and step of a category's rule, "" where it has none."""
    rule = rules[scenario.category].label if scenario.category in rules else _no_rule
    try:
        return rule(one.episode, scenario.takeover, scenario.roles, scenario.parameters)
    except StsError as error:
        raise error.about(f"{suite.label}: {scenario.id}") from error


def ruling(suite: Suite, own: Sequence[Category] = ()) -> dict[str, Category]:
    """Returns by name the categories that can label a suite: its worlds' and the user's `own`."""
    worlds = (s.recording.domain for s in suite.scenarios)
    return categories.installed(worlds) | {c.name: c for c in own}


def _no_rule(*given: object) -> tuple[str, None]:
    return "", None


def agent_names(agents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Returns what reports call each (agent, fingerprint).

    That is its name, or NAME#12345678 by the fingerprint's first digits where it has several.
    People, whose fingerprints tell them apart, are one agent together.
    """
    marks: dict[str, set[str]] = defaultdict(set)
    for name, mark in agents:
        marks[name].add(mark)
    return {
        (name, mark): name if len(own) == 1 or name == HUMAN else f"{name}#{mark[:8]}"
        for name, own in marks.items()
        for mark in own
    }


def _notes(one: Continuation) -> set[str]:
    """Returns what a report must say of a continuation's agent."""
    notes = set()
    if one.agent != HUMAN and stated(one.fingerprint):
        notes.add(f"identity as stated: version {stated(one.fingerprint)}")
    if one.deterministic:
        notes.add("deterministic: one continuation a scenario")
    if one.batch_sensitive:
        notes.add("batch-sensitive: its results depend on what runs beside it")
    if one.agent != HUMAN and np.isnan(one.log_probs).all():
        notes.add("returns actions only: no log-probabilities")
    if one.provenance.get("trained_on"):
        notes.add(f"trained on {one.provenance['trained_on']}")
    return notes


def save(workspace: Workspace, suite: Suite, labels: pd.DataFrame) -> Path:
    """Writes a suite's labels to the workspace; returns their path."""
    path = workspace.ensure().path("labels", f"{suite.name}-{suite.version}.parquet")
    sink = io.BytesIO()
    labels.to_parquet(sink, index=False)
    write_atomically(path, sink.getvalue())
    return path
