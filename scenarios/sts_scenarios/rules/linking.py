"""Links between scenarios: contrast pairs and dialogues."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sts.errors import ArgumentError
from sts.names import quote
from sts.suites.lint import find_dialogue_fault, find_pair_fault
from sts.suites.suite import Scenario

LINKS = {"pair": "half of the pair", "dialogue": "a turn of the dialogue"}
"""Kinds of links between candidates, and the name of one linked candidate."""


def link_scenarios(scenarios: Sequence[Scenario], kind: str) -> list[Scenario]:
    """Return scenarios linked as a pair, or as a dialogue in this order."""
    for scenario in scenarios:
        if name := getattr(scenario, kind):
            raise ArgumentError(
                f"{scenario.id} already is {LINKS[kind]} {quote(name)}; split that first, with "
                "this id alone"
            )
    ids = [scenario.id for scenario in scenarios]
    name = "+".join(sorted(ids)) if kind == "pair" else f"from {ids[0]}"
    changed = [replace(s, **link_fields(kind, name, n)) for n, s in enumerate(scenarios, 1)]
    fault = find_pair_fault(changed) if kind == "pair" else find_dialogue_fault(changed)
    if fault is not None:
        raise ArgumentError(fault)
    return changed


def link_fields(kind: str, name: str, turn: int) -> dict[str, Any]:
    """Return the fields of a scenario that is linked by one of `LINKS`; "" for no link."""
    return {"pair": name} if kind == "pair" else {"dialogue": name, "turn": turn}
