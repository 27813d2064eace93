"""From a draft that is decided to a version: what it holds, what it changes, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from sts.annotations.decisions import of_draft
from sts.annotations.store import Store
from sts.errors import DamagedData, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.decisions import Decision, State, states
from sts.suites.drafts import Draft, check_open, last_numbers, open_draft
from sts.suites.lint import lint
from sts.suites.types import Change, Scenario, Suite, Summary
from sts_scenarios import categories
from sts_scenarios.category import Category
from sts_scenarios.fitting import fault

UNTOUCHED = State()


class Looked(NamedTuple):
    """A candidate of a draft, and what was decided about it.

    Attributes:
      summary: it as it was mined or inherited.
      state: what it has come to.
      inherited: it is of the parent, and stays unless it is retired.
    """

    summary: Summary
    state: State
    inherited: bool

    @property
    def status(self) -> str:
        """What it is: undecided, accepted, rejected or retired; or kept, as it is inherited."""
        if self.inherited and self.state.status != "retired":
            return "kept"
        return self.state.status

    @property
    def stays(self) -> bool:
        """Whether the next version is to have it."""
        return self.status in ("kept", "accepted")


class Contents(NamedTuple):
    """What a draft comes to.

    Attributes:
      scenarios: in order of their ids.
      changes: what makes them other than the parent's.
      last: the highest number of an id of each category.
    """

    scenarios: tuple[Scenario, ...]
    changes: tuple[Change, ...]
    last: dict[str, int]


def looked_at(draft: Draft, decided: Iterable[Decision]) -> list[Looked]:
    """Return every candidate of a draft with what was decided, in order of their ids."""
    by_id, own = states(decided), draft.inherited()
    return [Looked(one, by_id.get(one.id, UNTOUCHED), one.id in own) for one in draft.summaries()]


def look(workspace: Workspace, name: str) -> tuple[Draft, list[Looked]]:
    """Return the draft called `name`, and its candidates with what was decided by now."""
    draft = open_draft(workspace, name)
    with Store.read_existing(workspace) as connection:
        decided = of_draft(connection, draft.id) if connection else []
    return draft, looked_at(draft, decided)


def select(draft: Draft, every: Sequence[Looked], ids: Sequence[str]) -> list[Looked]:
    """Return the candidates of these ids, each once, in their order."""
    by_id = {one.summary.id: one for one in every}
    for id in ids:
        if id not in by_id:
            raise UnknownName(f"candidate of draft {draft.name}", id, by_id, most=10)
    return [by_id[id] for id in dict.fromkeys(ids)]


def now(draft: Draft, one: Looked) -> Summary:
    """Return a candidate as it is after the edits that stand."""
    return draft.summary(one.summary.id, one.state.scenario) if one.state.scenario else one.summary


def contents(draft: Draft, every: Sequence[Looked]) -> Contents:
    """Return what a draft's decisions make of it.

    An inherited scenario that means something else than in the parent has a new id, and replaces
    the old one.
    """
    last = last_numbers(draft.workspace, draft.name, (one.summary.id for one in every))
    stay = {one.summary.id: one.state.scenario for one in every if one.stays}
    kept = {scenario.id: scenario for scenario in draft.scenarios(stay)}
    scenarios, changes = [], []
    for one in every:
        id, state = one.summary.id, one.state
        if not one.stays:
            changes += [Change("retired", id, "", state.reason)] if one.inherited else []
            continue
        scenario = kept[id]
        if one.inherited and scenario.hash != one.summary.hash:
            last[scenario.category] = last.get(scenario.category, 0) + 1
            new = f"{scenario.category}-{last[scenario.category]:02d}"
            scenario = replace(scenario, id=new, replaces=id)
            changes.append(Change("replaced", id, new, _why_edited(state)))
        elif not one.inherited:
            changes.append(Change("added", id, "", state.reason))
        scenarios.append(scenario)
    ordered = tuple(sorted(scenarios, key=lambda s: s.id))
    return Contents(ordered, tuple(changes) if draft.parent else (), last)


def _why_edited(state: State) -> str:
    """Return the reasons of the edits that stand, else why it stays."""
    said = [str(one.detail.get("reason", "")) for one in state.standing if one.kind == "edit"]
    return "; ".join(dict.fromkeys(filter(None, said))) or state.reason


def faults(
    draft: Draft,
    every: Sequence[Looked],
    scenarios: Sequence[Scenario],
    own: Sequence[Category] = (),
) -> list[str]:
    """Return why a draft cannot be frozen, one line each; an empty list where it can.

    `scenarios` are what its candidates come to, and `own` are categories of the user's own.
    """
    undecided = [one.summary.id for one in every if one.status == "undecided"]
    out = [_several(undecided, "undecided: accept or reject")] if undecided else []
    stay = {s.category for s in scenarios}
    empty = sorted({now(draft, one).category for one in every} - stay)
    out += [f"category {name} would be empty: nothing of it is accepted" for name in empty]
    if (same := suites.same_as(draft.workspace, draft.name, scenarios)) is not None:
        out.append(f"{same} holds the same scenarios already: change the draft first")
    return out + lint(scenarios) + unfit(scenarios, own)


def unfit(scenarios: Sequence[Scenario], own: Sequence[Category] = ()) -> list[str]:
    """Return what the categories themselves find wrong with scenarios of theirs, one line each."""
    rules = categories.ruling(scenarios, own)
    out = []
    for name in sorted({s.category for s in scenarios} - rules.keys()):
        out.append(f"category {name} is not installed here: name it by --category module:NAME")
    each = [(s, fault(s, rules)) for s in scenarios if s.category in rules]
    return out + [f"{s.id}: {why}" for s, why in each if why is not None]


def _several(ids: Sequence[str], what: str) -> str:
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"{ids[0]}{more} {'is' if len(ids) == 1 else 'are'} {what}"


def freeze(
    workspace: Workspace,
    label: str,
    *,
    description: str = "",
    own: Sequence[Category] = (),
) -> Suite:
    """Freezes a draft, NAME or NAME@VERSION, as the next version or that one; returns the suite.

    Raises:
      UnknownName: there is no such draft.
      ArgumentError: as `sts.suites.store.freeze` does.
      DamagedData: something is wrong with it; says what, with the scenario's id.
      StsError: it was frozen before, or changed meanwhile.
    """
    name, *_ = suites.following(workspace, label)
    draft = open_draft(workspace, name)
    check_open(draft)
    with Store.open(workspace) as store:
        with store.read() as connection:
            decided = of_draft(connection, draft.id)
        every = looked_at(draft, decided)
        made = contents(draft, every)
        wrong = faults(draft, every, made.scenarios, own)
        if wrong:
            more = f" (and {len(wrong) - 1} more: sts draft check {draft.name})"
            raise DamagedData(
                f"draft {draft.name} cannot be frozen: {wrong[0]}{more if len(wrong) > 1 else ''}"
            )
        end = decided[-1].digest if decided else ""

        def unchanged() -> bool:
            there = open_draft(workspace, draft.name)
            with store.read() as connection:
                now = of_draft(connection, draft.id)
            return there == draft and (now[-1].digest if now else "") == end

        return suites.freeze(
            workspace,
            label,
            made.scenarios,
            description=description,
            changes=made.changes,
            last=made.last,
            made_by={"draft": draft.id, "decisions": end},
            unchanged=unchanged,
        )
