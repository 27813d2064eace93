"""Candidates of a draft that belong together: made a pair or a dialogue, and taken apart again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import shown
from sts.suites.drafts import Draft
from sts.suites.lint import misfit_pair, misfit_series
from sts.suites.types import Scenario
from sts_scenarios.curation import author, decide, decision
from sts_scenarios.freezing import Looked, now

LINKS = {"pair": "half of the pair", "series": "a turn of the dialogue"}
"""What can be made of candidates, and what one of them then is."""


def link(
    store: Store,
    draft: Draft,
    every: Sequence[Looked],
    chosen: Sequence[Looked],
    kind: str,
    by: str | None,
) -> tuple[list[Scenario], Annotator]:
    """Make candidates one of `LINKS`, or, of one alone, take apart what it is in; return them.

    The chosen candidates stand in the order of their turns. One decision about each is kept, by the
    person called `by`; None is their login. `every` holds all candidates of the draft.

    Raises:
      ArgumentError: they do not belong together, or one belongs elsewhere already.
      Overtaken: somebody has decided about one since.
    """
    if len(chosen) == 1:
        name = getattr(now(draft, chosen[0]), kind)
        if not name:
            id = chosen[0].summary.id
            raise ArgumentError(f"{id} is in no {kind}: name the others too, each once")
        chosen = [one for one in every if getattr(now(draft, one), kind) == name]
        before = [draft.candidate(one.summary.id, one.state.scenario) for one in chosen]
        made = [replace(one, **_links(kind, "", 0)) for one in before]
    else:
        made = linked([draft.candidate(o.summary.id, o.state.scenario) for o in chosen], kind)
    person, events = author(store, by), []
    for one, scenario in zip(chosen, made, strict=True):
        draft.keep(scenario)
        event = decision(one, "edit", person, reason="", at=time.time())
        detail = {"changes": {kind: getattr(scenario, kind)}}
        events.append(event._replace(scenario=scenario.row_hash, detail=detail))
    decide(store, draft, events)
    return made, person


def linked(scenarios: Sequence[Scenario], kind: str) -> list[Scenario]:
    """Return scenarios as the halves of a pair, or as the turns of a dialogue, in this order."""
    for one in scenarios:
        if name := getattr(one, kind):
            raise ArgumentError(
                f"{one.id} is {LINKS[kind]} {shown(name)} already: take that apart first, by its "
                "id alone"
            )
    ids = [one.id for one in scenarios]
    name = "+".join(sorted(ids)) if kind == "pair" else f"from {ids[0]}"
    made = [replace(one, **_links(kind, name, n)) for n, one in enumerate(scenarios, 1)]
    fault = misfit_pair(made) if kind == "pair" else misfit_series(made)
    if fault is not None:
        raise ArgumentError(fault)
    return made


def _links(kind: str, name: str, turn: int) -> dict[str, Any]:
    return {"pair": name} if kind == "pair" else {"series": name, "turn": turn}
