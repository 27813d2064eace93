"""Items, submissions, people and a clock for the tests."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import select

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.schema import metadata
from sts.annotations.draws import unit_hash
from sts.annotations.people import people
from sts.annotations.queue.rounds import PLACES_PER_ROUND
from sts.annotations.records import Claim, Item
from sts.storage.workspace import Workspace
from tests.stores import add_person, ask, claim_items, submit

SUITE = "core@3"
HORIZON = 40


@dataclass
class Clock:
    now: float = 1_000_000.0

    def __call__(self) -> float:
        return self.now

    def pass_lease(self) -> None:
        self.now += 15 * 60 + 1


def an_item(name: str = "c0", **changes: Any) -> Item:
    fields: dict[str, Any] = {
        "continuation": name,
        "suite": SUITE,
        "scenario": "go-to-good-1",
        "scenario_hash": "ab" * 32,
        "agent": "random",
        "category": "go-to-good",
        "kind": "instruction",
        "horizon": HORIZON,
        "takeover": 20,
        "clip": changes.get("continuation", name),
        "place": int(unit_hash(name) * PLACES_PER_ROUND),
    }
    return Item(**fields | changes)


def some_items(number: int, **changes: Any) -> list[Item]:
    return [an_item(f"c{i}", scenario=f"s{i // 10}", **changes) for i in range(number)]


def a_submission(claim: Claim | str, **changes: Any) -> dict[str, Any]:
    return {
        "uuid": uuid4().hex,
        "item": claim if isinstance(claim, str) else claim.item,
        "verdict": "success",
        "step": 7,
        "watched": 1,
        "seconds": 4.5,
    } | changes


def an_event(kind: str, item: str, **changes: Any) -> dict[str, Any]:
    fields: dict[str, dict[str, Any]] = {
        "review": {"error_type": "rigidity"},
        "adjudication": {"verdict": "success", "step": 5},
        "note": {"text": "the ring is behind the door"},
    }
    return {"uuid": uuid4().hex, "item": item, "kind": kind} | fields[kind] | changes


def rows(store: AnnotationStore, table: str) -> list[Any]:
    with store.database.read() as connection:
        return list(connection.execute(select(metadata.tables[table])))


def statuses(acks: Iterable[Any]) -> list[str]:
    return [ack.status for ack in acks]


def add_people(store: AnnotationStore, *names: str) -> list[int]:
    """Add annotators; return their numbers."""
    return [add_person(store, name).id for name in names]


def claim(store: AnnotationStore, person: int, count: int = 3, suite: str = SUITE) -> list[Claim]:
    return claim_items(store, person, suite=suite, count=count)


def judge(
    store: AnnotationStore, person: int, count: int = 10**6, suite: str = SUITE, **changes: Any
) -> list[str]:
    """Judge up to so many clips, eight at a time; return their continuations in this order."""
    met: list[str] = []
    while claims := claim(store, person, min(8, count - len(met)), suite):
        met += [one.continuation for one in claims]
        submit(store, person, [a_submission(one, **changes) for one in claims])
    return met


def names(workspace: Workspace | Path) -> list[str]:
    """Return who takes part in a workspace's study."""
    opened = workspace if isinstance(workspace, Workspace) else Workspace.open(workspace)
    with AnnotationStore.open(opened) as store:
        return [one.name for one in ask(store, people.list_people)]
