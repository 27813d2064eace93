"""Fake continuations and suites for tests of the annotation database alone."""

from collections.abc import Collection, Iterable
from functools import wraps
from typing import Any

import pytest

from sts.annotations import imports, queue, study_continuations
from sts.annotations.study_continuations import StudyContinuations
from sts.annotations.types import Item
from sts.continuations.index import Entry
from sts.errors import UnknownName
from sts.storage.workspace import Workspace

Fakes = dict[str, dict[str, Item]]
"""The items of a workspace by continuation and suite."""


def pretend(patch: pytest.MonkeyPatch) -> None:
    """Let an export find every enqueued item among the continuations of its workspace."""
    fakes: Fakes = {}
    real = study_continuations.read_continuations
    enqueue, append, add = queue.enqueue, imports.import_ratings, queue.add_reference

    def note(items: Iterable[Item]) -> list[Item]:
        noted = list(items)
        for item in noted:
            fakes.setdefault(item.continuation, {})[item.suite] = item
        return noted

    def read(
        workspace: Workspace,
        suite: str | None,
        clips: Collection[str],
        *,
        auto_resolve: bool = False,
    ) -> StudyContinuations:
        try:
            own = real(workspace, suite, clips, auto_resolve=auto_resolve)
        except UnknownName:
            own = real(workspace, None, clips, auto_resolve=auto_resolve)._replace(
                members=frozenset()
            )
        there = {one.id for one in own.entries}
        each = {id: every for id, every in fakes.items() if id not in there}
        shown = {id: every for id, every in each.items() if clip(every) in clips}
        members = {id for id, every in shown.items() if suite is None or suite in every}
        quiet = {id for id in shown if any(one.auto_resolve_rule for one in fakes[id].values())}
        return own._replace(
            entries=(*own.entries, *(entry(every) for every in shown.values())),
            members=own.members | members,
            silent=own.silent | quiet,
        )

    patch.setattr(study_continuations, "read_continuations", read)

    @wraps(enqueue)
    def enqueue_noted(connection: Any, items: Iterable[Item], **more: Any) -> int:
        return enqueue(connection, note(items), **more)

    @wraps(append)
    def append_noted(connection: Any, rows: Any, items: Iterable[Item] = (), **more: Any) -> Any:
        return append(connection, rows, note(items), **more)

    @wraps(add)
    def add_noted(connection: Any, item: Item, *rest: Any, **more: Any) -> None:
        note([item])
        add(connection, item, *rest, **more)

    patch.setattr(queue, "enqueue", enqueue_noted)
    patch.setattr(imports, "import_ratings", append_noted)
    patch.setattr(queue, "add_reference", add_noted)


def clip(every: dict[str, Item]) -> str:
    item = next(iter(every.values()))
    return item.clip.removesuffix(f".{item.rubric}") if item.rubric else item.clip


def entry(every: dict[str, Item]) -> Entry:
    """Return the entry of an index for a continuation."""
    item = next(iter(every.values()))
    said: dict[str, Any] = {
        name: getattr(item, name) for name in Entry._fields if hasattr(item, name)
    }
    said |= {"id": item.continuation, "fingerprint": "", "seed": 0, "index": 0}
    return Entry(**said | {"scenario_id": item.scenario, "clip": clip(every)})
