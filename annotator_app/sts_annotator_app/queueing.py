"""Queueing of a suite's continuations for annotators."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log.closings import find_closing
from sts.annotations.people import people
from sts.annotations.people.roles import ROLES
from sts.annotations.queue import queue
from sts.annotations.queue.items import find_players, make_item
from sts.annotations.queue.rounds import RoundOrder, read_cells
from sts.annotations.records import Annotator
from sts.continuations.continuation import Continuation
from sts.continuations.index import Entry, open_index
from sts.continuations.silence import QUESTION, find_silent, is_silent
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites import drafts, selections
from sts.suites import suite_store as suites
from sts.suites.folders import list_versions
from sts.suites.selections import Selection
from sts.suites.suite import Suite
from sts_scenarios.draft.curation import find_person
from sts_scenarios.rules import categories


def select_suite(workspace: Workspace, label: str | None) -> Selection | None:
    """Return the suite or subset `label`; without one, the latest version of the only suite.

    Return None for the name of a draft that is not frozen: there is nothing to annotate.
    """
    versions = list_versions(workspace)
    if label is None:
        latest = [f"{name}@{max(numbers)}" for name, numbers in sorted(versions.items())]
        if len(latest) != 1:
            known = ", ".join(latest) or "none yet"
            raise ArgumentError(f"expected a suite, NAME@VERSION; there are: {known}")
        (label,) = latest
    elif "@" not in label and (draft := drafts.find_draft(workspace, label)):
        if drafts.find_frozen_version(draft) is None:
            return None
    return selections.load_selection(workspace, label, suites.load)


def fill_queue(workspace: Workspace, store: AnnotationStore, selection: Selection) -> int:
    """Queue the continuations of a suite or subset; return how many it has, queued or not.

    A subset is also queued under its own name, so that it can be assigned separately.

    At most `queue` continuations (a workspace setting) wait at a time: the next in the order of
    judging, followed by others at the next start as they are annotated. Auto-resolved ones are not
    assigned to anyone. Nothing is added to a closed study.
    """
    index = open_index(workspace.store)
    rows = index.find_rows({scenario.hash for scenario in selection.scenarios})
    with store.read() as connection:
        limit = store.study.queue + progress.load_progress(connection, selection.queue).complete
    names = dict.fromkeys((selection.suite.label, selection.queue))
    next_rows = rows
    if len(rows) > limit:
        places = _order_cells(store, selection.suite).find_places(read_cells(index, rows))
        next_rows = rows[np.argsort(places, kind="stable")[: max(limit, 0)]]
    quiet = find_silent(workspace.store, index, next_rows) if store.study.auto_resolve else set()
    _enqueue_items(store, selection.suite, [*names], index.iter_entries(next_rows), quiet)
    return len(rows)


def enqueue(store: AnnotationStore, suite: Suite, continuations: Collection[Continuation]) -> int:
    """Queue continuations for everyone but their players; return how many are new.

    Nothing is added to a closed study.
    """
    questions = [c for c in continuations if c.kind == QUESTION and store.study.auto_resolve]
    quiet = {continuation.id for continuation in questions if is_silent(continuation)}
    return _enqueue_items(store, suite, [suite.label], continuations, quiet)


def _enqueue_items(
    store: AnnotationStore,
    suite: Suite,
    names: Sequence[str],
    continuations: Iterable[Continuation | Entry],
    quiet: Collection[str],
) -> int:
    with store.read() as connection:
        if find_closing(connection, suite.label):
            return 0
        pseudonyms = [person.pseudonym for person in people.list_people(connection)]
    by_name = categories.scenario_categories(suite.scenarios)
    rubrics = {s.hash: categories.find_rubric_version(s, by_name) for s in suite.scenarios}
    order = _order_cells(store, suite)
    items = (
        make_item(
            continuation,
            name,
            find_players(continuation, pseudonyms),
            rubrics[continuation.scenario_hash],
            store.study.auto_resolve if continuation.id in quiet else "",
            order,
        )
        for continuation in continuations
        for name in names
    )
    with store.write(exclusive=True) as connection:
        return queue.enqueue(connection, items, study=store.study, now=store.now())


def _order_cells(store: AnnotationStore, suite: Suite) -> RoundOrder:
    return RoundOrder({s.hash: s.category for s in suite.scenarios}, store.study.seed)


def find_or_add_person(store: AnnotationStore, name: str) -> Annotator:
    """Return the person called `name`, added with all roles if new; reject a deactivated one."""
    with store.read() as connection:
        person = find_person(connection, name)
    if person is None:
        with store.write(exclusive=True) as connection:
            return people.add_invited(connection, name, ROLES, now=store.now())
    if person.deactivated:
        raise ArgumentError(
            f"annotator {name!r} is deactivated; invite them again: sts annotators invite {name}"
        )
    return person
