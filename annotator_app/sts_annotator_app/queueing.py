"""From a suite's continuations to work that waits for annotators."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from sts.annotations import people, queue, views
from sts.annotations.items import item_of, players
from sts.annotations.roles import ROLES
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.continuations.index import Entry
from sts.continuations.silence import QUESTION, is_silent, silent
from sts.continuations.store import opened
from sts.continuations.types import Continuation
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import drafts, selections
from sts.suites import store as suites
from sts.suites.folders import versions
from sts.suites.selections import Selection
from sts.suites.types import Suite
from sts_scenarios import categories


def chosen(workspace: Workspace, label: str | None) -> Selection | None:
    """The suite or part called `label`, else the latest version where only one name is known.

    None where it names a draft of which no version was frozen: there is nothing to judge.

    Raises:
      ArgumentError: none is named and there is no single one; or nothing is selected.
    """
    if label is not None:
        if "@" not in label and label not in versions(workspace):
            if drafts.find(workspace, label) is not None:
                return None
        return selections.load(workspace, label, suites.load)
    every = versions(workspace)
    if len(every) != 1:
        known = ", ".join(f"{name}@{max(found)}" for name, found in sorted(every.items()))
        raise ArgumentError(f"expected a suite, NAME@VERSION; there are: {known or 'none yet'}")
    ((name, found),) = every.items()
    return selections.load(workspace, f"{name}@{max(found)}", suites.load)


def fill(workspace: Workspace, store: Store, selection: Selection) -> int:
    """Has the continuations of a suite or a part judged; returns how many there are, queued or not.

    A part stands in the queue under a name of its own too, so that people can be given it alone.

    People judge a sample of a million, so no more wait for them at a time than the workspace's
    setting `queue` says, drawn by lot; as these are judged, others come at the next start. What the
    study settles by rule waits for nobody.
    """
    index = opened(workspace)
    rows = index.of({one.hash for one in selection.scenarios})
    with store.read() as connection:
        most = store.study.queue + views.progress(connection, selection.queue).complete
    names = dict.fromkeys((selection.suite.label, selection.queue))
    drawn = index.by_lot(rows, max(most, 0))
    quiet = silent(workspace.store, index, drawn) if store.study.settle else set()
    _enqueue_items(store, selection.suite, [*names], index.entries(drawn), quiet)
    return len(rows)


def enqueue(store: Store, suite: Suite, continuations: Collection[Continuation]) -> int:
    """Has continuations judged, though not by who played them; returns how many are new."""
    asked = [one for one in continuations if one.kind == QUESTION and store.study.settle]
    quiet = {one.id for one in asked if is_silent(one)}
    return _enqueue_items(store, suite, [suite.label], continuations, quiet)


def _enqueue_items(
    store: Store,
    suite: Suite,
    names: Sequence[str],
    continuations: Iterable[Continuation | Entry],
    quiet: Collection[str],
) -> int:
    with store.read() as connection:
        known = [one.name for one in people.everybody(connection)]
    rules = categories.ruling(suite.scenarios)
    rubrics = {name: rule.rubric.version if rule.rubric else "" for name, rule in rules.items()}
    items = (
        item_of(
            one,
            name,
            players(one, known),
            rubrics.get(one.category, ""),
            store.study.settle if one.id in quiet else "",
        )
        for one in continuations
        for name in names
    )
    with store.write(alone=True) as connection:
        return queue.enqueue(connection, items, study=store.study, now=store.now())


def welcome(store: Store, name: str) -> Annotator:
    """Return the person called `name`; a new one is added, and does everything that there is.

    Raises:
      ArgumentError: not a name, or that person has retired.
    """
    with store.read() as connection:
        found = [one for one in people.everybody(connection) if one.name == name.strip()]
    if not found:
        with store.write(alone=True) as connection:
            return people.add_invited(connection, name, ROLES, now=store.now())
    if found[0].retired:
        raise ArgumentError(
            f"annotator {name!r} has retired; let them in again: sts annotators link {name}"
        )
    return found[0]
