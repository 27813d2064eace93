"""Pairing of candidates of a draft, or joining them into a dialogue, and the reverse."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sts.annotations.store import AnnotationStore
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import quote
from sts.suites.drafts import Draft
from sts.suites.lint import find_dialogue_fault, find_pair_fault
from sts.suites.types import Scenario
from sts_scenarios.curation import append_decisions, find_or_add_curator, make_decision
from sts_scenarios.freezing import DraftCandidate, current_scenario

LINKS = {"pair": "half of the pair", "dialogue": "a turn of the dialogue"}
"""Kinds of links between candidates, and the name of one linked candidate."""


def link_candidates(
    store: AnnotationStore,
    draft: Draft,
    every: Sequence[DraftCandidate],
    chosen: Sequence[DraftCandidate],
    kind: str,
    by: str | None,
) -> tuple[list[Scenario], Annotator]:
    """Link candidates by one of `LINKS`, or split what a single one is linked with; return them.

    Turns have the order of `chosen`. One decision on each candidate is stored, by the person called
    `by`, or by the login name if that is None. `every` holds all candidates of the draft.

    Raises:
      ArgumentError: they do not belong together, or one already has such a link.
      DecisionConflict: another decision on one of them came first.
    """
    is_split = len(chosen) == 1
    if is_split:
        name = getattr(current_scenario(draft, chosen[0]), kind)
        if not name:
            id = chosen[0].summary.id
            raise ArgumentError(
                f"{id} is in no {kind} to split; to make one, name the other candidates, too"
            )
        chosen = [c for c in every if getattr(current_scenario(draft, c), kind) == name]
    before = [draft.candidate(c.summary.id, c.state.scenario) for c in chosen]
    if is_split:
        changed = [replace(scenario, **_link_fields(kind, "", 0)) for scenario in before]
    else:
        changed = link_scenarios(before, kind)
    person, events = find_or_add_curator(store, by), []
    for candidate, scenario in zip(chosen, changed, strict=True):
        draft.save_edit(scenario)
        event = make_decision(candidate, "edit", person, reason="")
        detail = {"changes": {kind: getattr(scenario, kind)}}
        events.append(event._replace(scenario=scenario.row_hash, detail=detail))
    append_decisions(store, draft, events)
    return changed, person


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
    changed = [replace(s, **_link_fields(kind, name, n)) for n, s in enumerate(scenarios, 1)]
    fault = find_pair_fault(changed) if kind == "pair" else find_dialogue_fault(changed)
    if fault is not None:
        raise ArgumentError(fault)
    return changed


def _link_fields(kind: str, name: str, turn: int) -> dict[str, Any]:
    return {"pair": name} if kind == "pair" else {"dialogue": name, "turn": turn}
