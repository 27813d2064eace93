"""Automatic labels: each category's rule over every continuation of a suite, part by part."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sts.agents.identity import code, stated
from sts.continuations import label_table, labels, store
from sts.continuations.index import Index
from sts.continuations.labels import Label
from sts.continuations.types import HUMAN, Continuation
from sts.domains import written_at
from sts.errors import DamagedData, StsError
from sts.storage.store import Store
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario, Suite
from sts_scenarios import categories
from sts_scenarios.category import Category


class Labelled(NamedTuple):
    """What a suite's labels come to.

    Attributes:
      path: of their table.
      counts: how many of each agent's continuations have each verdict, "" where there is no rule.
    """

    path: Path
    counts: dict[str, dict[str, int]]


class _Set(NamedTuple):
    """A set of labels, and whether all that its rules mean could be read."""

    name: str
    read: bool


def label_suite(
    workspace: Workspace,
    suite: Suite,
    own: Sequence[Category] = (),
    *,
    part: Collection[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Labelled:
    """Labels every continuation of a suite, of every agent in the workspace, and keeps the table.

    What rules of the same meaning have said already stays; killed and started again it goes on
    where it was. The verdict is "" where a category has no rule here, nor among the user's `own`:
    nobody has judged that continuation. Where there is none, nothing is kept.

    Args:
      workspace: keeps the continuations and the labels.
      suite: whose.
      own: categories of the user's.
      part: ids of the scenarios whose continuations are counted; None for all.
      progress: called with (continuations labelled, in all).

    Raises:
      StsError: a rule failed, as where a scenario's parameters are not what its category asks for.
      DamagedData: a part is damaged; or a rule says something else than it has said.
    """
    rules = categories.ruling(suite.scenarios, own)
    path = store.by_index(
        workspace, lambda index: _labelled(workspace, suite, rules, index, progress)
    )
    if path is None:
        return Labelled(workspace.path(label_table.name_of(suite.label)), {})
    raw = workspace.store.get(path)
    return Labelled(workspace.path(path), label_table.counts(path, raw, part))


def _labelled(
    workspace: Workspace,
    suite: Suite,
    rules: Mapping[str, Category],
    index: Index,
    progress: Callable[[int, int], None],
) -> str | None:
    """Return the name of the table; None where there is nothing to label."""
    scenarios = {s.hash: s for s in suite.scenarios}
    rows, name = index.of(scenarios), label_table.name_of(suite.label)
    parts = {part: len(own) for part, own in index.by_part(rows).items()}
    if not parts:
        return None
    space, set = workspace.store, _set(suite, rules)
    there = space.list(f"{labels.FOLDER}/{set.name}") if set.read else {}
    missing = [part for part in parts if labels.name_of(set.name, part) not in there]
    source = label_table.made_of(set.name, index, parts)
    done, total = 0, sum(parts[part] for part in missing)
    for part in missing:
        every = store.in_part(workspace, part)
        own = [one for one in every if one.scenario_hash in scenarios]
        said = list(_said(suite, scenarios, rules, own))
        labels.put(space, labels.name_of(set.name, part), said, anew=not set.read)
        done += parts[part]
        progress(done, total)
    if missing or _source(space, name) != source:
        read = labels.read(space, set.name, index, rows)
        space.swap(name, label_table.packed(name, index, rows, read, scenarios, source))
    return name


def _set(suite: Suite, rules: Mapping[str, Category]) -> _Set:
    """Return the set of what these rules say of a suite, in worlds as they are written now."""
    asked = {s.category for s in suite.scenarios} & {*rules}
    worlds = {s.recording.domain for s in suite.scenarios}
    marks, read = meanings((rules[name] for name in asked), worlds)
    return _Set(labels.set_of(suite.hash, marks), read)


def meanings(rules: Iterable[Category], worlds: Iterable[str]) -> tuple[dict[str, str], bool]:
    """Return what changes when rules come to mean something else, and whether it tells all.

    `worlds` names the domains that the rules are about, as these are written now.
    """
    asked = {one.name: one for one in rules}
    codes = {name: code(one.place) for name, one in asked.items()}
    marks = {name: f"{codes[name].mark} {one.version}" for name, one in asked.items()}
    marks |= {f"domain {name}": code(written_at(name)).mark for name in worlds if written_at(name)}
    return marks, all(one.whole for one in codes.values())


def _source(space: Store, name: str) -> label_table.MadeOf | None:
    """Return what the table under a name was made from; None where none can be read."""
    try:
        return label_table.made_from(name, space.get(name))
    except (FileNotFoundError, DamagedData):
        return None


def _said(
    suite: Suite,
    scenarios: Mapping[str, Scenario],
    rules: Mapping[str, Category],
    continuations: Sequence[Continuation],
) -> Iterator[Label]:
    """Yield what the rules say of continuations, the verdict "" where they have none."""
    for one in continuations:
        scenario = scenarios[one.scenario_hash]
        rule = rules[scenario.category].label if scenario.category in rules else _no_rule
        try:
            verdict, step = rule(
                one.episode, scenario.takeover, scenario.roles, scenario.parameters
            )
        except StsError as error:
            raise error.about(f"{suite.label}: {scenario.id}") from error
        yield Label(one.content_hash, verdict, step, tuple(_notes(one)))


def _no_rule(*given: object) -> tuple[str, None]:
    return "", None


def _notes(one: Continuation) -> Iterator[str]:
    """Yield what a report must say of a continuation's agent."""
    if one.agent != HUMAN and stated(one.fingerprint):
        yield f"identity as stated: version {stated(one.fingerprint)}"
    if one.deterministic:
        yield "deterministic: one continuation a scenario"
    if one.batch_sensitive:
        yield "batch-sensitive: its results depend on what runs beside it"
    if one.agent != HUMAN and np.isnan(one.log_probs).all():
        yield "returns actions only: no log-probabilities"
    if one.provenance.get("trained_on"):
        yield f"trained on {one.provenance['trained_on']}"
