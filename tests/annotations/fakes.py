"""Fake continuations and suites for tests of the annotation database alone."""

from collections.abc import Collection, Iterable
from functools import wraps
from typing import Any

import pandas as pd
import pytest

from sts.annotations.answers import imports
from sts.annotations.queue import queue
from sts.annotations.records import Item
from sts.annotations.study import DEFAULT_STUDY, StudySettings
from sts.annotations.vault import study_continuations
from sts.annotations.vault.study_continuations import StudyContinuations
from sts.errors import UnknownName
from sts.storage.workspace import Workspace

Fakes = dict[str, dict[str, Item]]
"""The items of a workspace by continuation and suite."""
CATEGORIES = dict.fromkeys(study_continuations._WORDS, "category")


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
        study: StudySettings = DEFAULT_STUDY,
    ) -> StudyContinuations:
        try:
            own = real(workspace, suite, clips, study)
        except UnknownName:
            own = real(workspace, None, clips, study)
            own = own._replace(table=own.table[:0])
        there = {*own.table["id"]}
        each = {id: every for id, every in fakes.items() if id not in there}
        shown = {id: every for id, every in each.items() if clip(every) in clips}
        rows = [row(every, suite) for every in shown.values()]
        faked = pd.DataFrame(rows, columns=own.table.columns)
        joined = pd.concat([own.table.astype(object), faked], ignore_index=True)
        return own._replace(table=joined.astype(dict(own.table.dtypes) | CATEGORIES))

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


def row(every: dict[str, Item], suite: str | None) -> dict[str, Any]:
    """Return the row of a continuation in the table of a study's continuations."""
    item = next(iter(every.values()))
    found = {n: getattr(item, n) for n in ("agent", "category", "kind", "sees", "horizon")}
    found |= {"id": item.continuation, "clip": clip(every), "scenario_id": item.scenario}
    found |= {"scenario": item.scenario_hash, "member": suite is None or suite in every}
    found["place"] = item.place if suite in every else -1
    return found | {"silent": any(one.auto_resolve_rule for one in every.values())}
