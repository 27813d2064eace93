"""Automatic labels: each category's rule over every continuation of a suite, as a ratings table."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Sequence
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
from sts.suites.types import Suite

AUTOMATIC = "automatic"
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
    found = store.load(workspace, scenarios)
    called, notes = agent_names(found), agent_notes(found)
    rows = []
    for one in found:
        scenario = scenarios[one.scenario_hash]
        rule = rules[scenario.category].label if scenario.category in rules else _no_rule
        try:
            verdict, step = rule(
                one.episode, scenario.takeover, scenario.roles, scenario.parameters
            )
        except StsError as error:
            raise error.about(f"{suite.label}: {scenario.id}") from error
        rows.append(
            (
                called[one.agent, one.fingerprint],
                scenario.id,
                scenario.category,
                one.id,
                AUTOMATIC if verdict else "",
                verdict,
                step,
                scenario.horizon,
                scenario.kind,
                AUTOMATIC,
                one.sees,
                notes[one.agent, one.fingerprint],
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(COLUMNS)


def ruling(suite: Suite, own: Sequence[Category] = ()) -> dict[str, Category]:
    """Returns by name the categories that can label a suite: its worlds' and the user's `own`."""
    worlds = (s.recording.domain for s in suite.scenarios)
    return categories.installed(worlds) | {c.name: c for c in own}


def _no_rule(*given: object) -> tuple[str, None]:
    return "", None


def agent_names(continuations: Sequence[Continuation]) -> dict[tuple[str, str], str]:
    """Returns what reports call each (agent, fingerprint).

    That is its name, or NAME#12345678 by the fingerprint's first digits where it has several.
    People, whose fingerprints tell them apart, are one agent together.
    """
    marks: dict[str, set[str]] = defaultdict(set)
    for one in continuations:
        marks[one.agent].add(one.fingerprint)
    return {
        (name, mark): name if len(own) == 1 or name == HUMAN else f"{name}#{mark[:8]}"
        for name, own in marks.items()
        for mark in own
    }


def agent_notes(continuations: Sequence[Continuation]) -> dict[tuple[str, str], str]:
    """Returns what a report must say of each (agent, fingerprint), "" for nothing."""
    notes: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in continuations:
        own = notes[one.agent, one.fingerprint]
        if one.agent != HUMAN and stated(one.fingerprint):
            own.add(f"identity as stated: version {stated(one.fingerprint)}")
        if one.deterministic:
            own.add("deterministic: one continuation a scenario")
        if one.batch_sensitive:
            own.add("batch-sensitive: its results depend on what runs beside it")
        if one.agent != HUMAN and np.isnan(one.log_probs).all():
            own.add("returns actions only: no log-probabilities")
        if one.provenance.get("trained_on"):
            own.add(f"trained on {one.provenance['trained_on']}")
    return {who: "; ".join(sorted(own)) for who, own in notes.items()}


def save(workspace: Workspace, suite: Suite, labels: pd.DataFrame) -> Path:
    """Writes a suite's labels to the workspace; returns their path."""
    path = workspace.ensure().path("labels", f"{suite.name}-{suite.version}.parquet")
    sink = io.BytesIO()
    labels.to_parquet(sink, index=False)
    write_atomically(path, sink.getvalue())
    return path
