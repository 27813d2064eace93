"""Items, submissions and a clock for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sts.annotations.types import Claim, Item

SUITE = "core@1"
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


def statuses(acks: Iterable[Any]) -> list[str]:
    return [ack.status for ack in acks]
