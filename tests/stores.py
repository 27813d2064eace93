"""Calls of the annotation store's functions, each in a transaction of its own."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sts.annotations.answers import submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people
from sts.annotations.queue import claims, queue
from sts.annotations.records import Acknowledgement, Annotator, Claim, Item

T = TypeVar("T")


def ask(store: AnnotationStore, function: Callable[..., T], *given: Any, **more: Any) -> T:
    """Return what a function reads; it gets the store's time and study if it wants them."""
    with store.read() as connection:
        return function(connection, *given, **_filled(store, function, more))


def change(
    store: AnnotationStore,
    function: Callable[..., T],
    *given: Any,
    exclusive: bool = True,
    **more: Any,
) -> T:
    """Have a function write; it gets the store's time and study if it wants them."""
    with store.write(exclusive=exclusive) as connection:
        return function(connection, *given, **_filled(store, function, more))


def add_person(store: AnnotationStore, *given: Any, **more: Any) -> Annotator:
    """Add an invited person to a study."""
    return change(store, people.add_invited, *given, **more)


def enqueue(store: AnnotationStore, items: Iterable[Item], required: int | None = 1) -> int:
    """Enqueue items to be judged so often each; None for as often as the study's settings say."""
    study = store.study
    if required is not None:
        study = study._replace(annotations_per_clip=required, overlap=0.0)
    return change(store, queue.enqueue, items, study=study)


def add_reference(store: AnnotationStore, *given: Any, **more: Any) -> None:
    """Add a reference to the pool."""
    change(store, queue.add_reference, *given, **more)


def claim_items(store: AnnotationStore, annotator: int, **more: Any) -> list[Claim]:
    """Claim items for a person."""
    return change(store, claims.claim_items, annotator, exclusive=False, **more)


def submit(store: AnnotationStore, annotator: int, sent: object) -> list[Acknowledgement]:
    """Submit what a person's page has sent."""
    return change(store, submissions.save_submissions, annotator, sent, exclusive=False)


def _filled(
    store: AnnotationStore, function: Callable[..., Any], more: dict[str, Any]
) -> dict[str, Any]:
    wants = inspect.signature(function).parameters
    own = {"now": store.now, "study": lambda: store.study}
    return {name: one() for name, one in own.items() if name in wants} | more
