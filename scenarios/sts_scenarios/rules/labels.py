"""Automatic labels: each category's rule applied to every continuation of a suite, part by part."""

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sts.agents.identity import declared_version, fingerprint_code
from sts.continuations import continuation_store as store
from sts.continuations import label_table, labels
from sts.continuations.continuation import HUMAN, Continuation
from sts.continuations.index import Index
from sts.continuations.labels import Label
from sts.domains import code_path
from sts.errors import DamagedData, StsError
from sts.storage.store import KeyValueStore
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario, Suite
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import NO_LABEL, Category
from sts_scenarios.rules.validity import find_category


class LabelResult(NamedTuple):
    """The result of `label_suite`."""

    path: Path  # of the table of labels
    counts: dict[str, dict[str, int]]  # of each agent, by verdict; "" if there is no rule


def label_suite(
    workspace: Workspace,
    suite: Suite,
    own: Sequence[Category] = (),
    *,
    counted_ids: Collection[str] | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> LabelResult:
    """Label every continuation of a suite, of all agents in the workspace, and write the table.

    Labels by the same version of each rule are reused, so a run that was killed resumes when it is
    started again. The verdict is "" if no rule fits, neither here nor in `own`. Without
    continuations no table is written. `counted_ids` are those of the scenarios whose
    continuations are counted; None for all. `progress` is called with (continuations labelled, in
    all).

    Raises:
      StsError: a rule failed, for instance because a scenario has other parameters than it expects.
      DamagedData: a part is damaged, or a rule's labels differ from its stored ones.
    """
    rules = categories.scenario_categories(suite.scenarios, own)
    path = store.use_index(
        workspace, lambda index: _label_parts(workspace, suite, rules, index, progress)
    )
    if path is None:
        return LabelResult(workspace.path(label_table.table_name(suite.label)), {})
    raw = workspace.store.get(path)
    return LabelResult(workspace.path(path), label_table.count_verdicts(path, raw, counted_ids))


def _label_parts(
    workspace: Workspace,
    suite: Suite,
    rules: Mapping[str, Category],
    index: Index,
    progress: Callable[[int, int], None],
) -> str | None:
    """Label the missing parts, write the table, return its name; None without continuations."""
    scenarios = {s.hash: s for s in suite.scenarios}
    rows, name = index.find_rows(scenarios), label_table.table_name(suite.label)
    parts = {part: len(positions) for part, positions in index.group_by_part(rows).items()}
    if not parts:
        return None
    storage, (set, is_read) = workspace.store, _label_set(suite, rules)
    existing = storage.list(f"{labels.FOLDER}/{set}") if is_read else {}
    missing = [part for part in parts if labels.label_part_name(set, part) not in existing]
    source = label_table.current_source(set, index, parts)
    done, total = 0, sum(parts[part] for part in missing)
    find_rule = functools.cache(lambda hash: find_category(scenarios[hash], rules))
    for part in missing:
        continuations = store.read_part(workspace, part)
        members = [c for c in continuations if c.scenario_hash in scenarios]
        part_labels = list(_label_all(suite, scenarios, find_rule, members))
        part_name = labels.label_part_name(set, part)
        labels.write_labels(storage, part_name, part_labels, overwrite=not is_read)
        done += parts[part]
        progress(done, total)
    if missing or _stored_source(storage, name) != source:
        table = labels.read_labels(storage, set, index, rows)
        storage.replace(name, label_table.encode_table(name, index, rows, table, scenarios, source))
    return name


def _label_set(suite: Suite, rules: Mapping[str, Category]) -> tuple[str, bool]:
    """Return the label set of these rules and worlds, and whether all code could be read."""
    names = {s.category for s in suite.scenarios} & {*rules}
    worlds = {s.recording.domain for s in suite.scenarios}
    fingerprints, read = compute_rule_fingerprints((rules[name] for name in names), worlds)
    return labels.label_set_name(suite.hash, fingerprints), read


def compute_rule_fingerprints(
    rules: Iterable[Category], worlds: Iterable[str]
) -> tuple[dict[str, str], bool]:
    """Return fingerprints of rules and of worlds, and whether all code could be read.

    `worlds` names the domains that the rules are about.
    """
    by_name = {rule.name: rule for rule in rules}
    codes = {name: fingerprint_code(rule.code_path) for name, rule in by_name.items()}
    fingerprints = {name: f"{codes[name].digest} {rule.version}" for name, rule in by_name.items()}
    fingerprints |= {
        f"domain {name}": fingerprint_code(code_path(name)).digest
        for name in worlds
        if code_path(name)
    }
    return fingerprints, all(code.is_complete for code in codes.values())


def _stored_source(space: KeyValueStore, name: str) -> label_table.TableSource | None:
    """Return the source that the stored table states, None if it cannot be read."""
    try:
        return label_table.read_source(name, space.get(name))
    except (FileNotFoundError, DamagedData):
        return None


def _label_all(
    suite: Suite,
    scenarios: Mapping[str, Scenario],
    find_rule: Callable[[str], Category | None],
    continuations: Sequence[Continuation],
) -> Iterator[Label]:
    """Yield the labels of continuations; the verdict is "" if there is no rule.

    `scenarios` and `find_rule` take a scenario's hash.
    """
    for continuation in continuations:
        scenario = scenarios[continuation.scenario_hash]
        (verdict, step), rule = NO_LABEL, find_rule(continuation.scenario_hash)
        if rule is not None:
            try:
                verdict, step = rule.label(
                    continuation.episode, scenario.context, scenario.players, scenario.parameters
                )
            except StsError as error:
                raise error.with_prefix(f"{suite.label}: {scenario.id}") from error
        yield Label(continuation.content_hash, verdict, step, tuple(_format_notes(continuation)))


def _format_notes(continuation: Continuation) -> Iterator[str]:
    """Yield remarks that a report has to show with a continuation's agent."""
    if continuation.agent != HUMAN and declared_version(continuation.fingerprint):
        yield f"identity as stated: version {declared_version(continuation.fingerprint)}"
    if continuation.deterministic:
        yield "deterministic: one continuation a scenario"
    if continuation.provenance.get("reproducible") is False:
        yield "not reproducible: played once, and never checked by playing it again"
    if continuation.provenance.get("replayed") is False:
        yield "not replayed: run without the check that it plays the same in another process"
    if continuation.together:
        yield "batch-sensitive: its results depend on the other continuations of a batch"
    if continuation.agent != HUMAN and np.isnan(continuation.log_probs).all():
        yield "returns actions only: no log-probabilities"
    if continuation.provenance.get("trained_on"):
        yield f"trained on {continuation.provenance['trained_on']}"
