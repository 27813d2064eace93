"""From a draft with decisions to a suite version: its contents, its changelog and its faults."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log.decisions import load_decisions
from sts.annotations.people import people
from sts.errors import DamagedData, UnknownName
from sts.live.interactions import find_setters
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites import suite_store as suites
from sts.suites.decisions import CandidateState, Decision, fold_decisions, is_mark
from sts.suites.drafts import Draft, check_open, find_last_numbers, open_draft
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Change, Scenario, Suite, Summary
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category
from sts_scenarios.rules.validity import UNCHECKED, find_fault, is_checked

UNTOUCHED = CandidateState()
MIN_READERS = 2
"""Curators other than the author who have to read a scenario that no rule checks."""


class DraftCandidate(NamedTuple):
    """A candidate of a draft with its state."""

    summary: Summary  # as it was mined or inherited
    state: CandidateState  # after all decisions on it
    inherited: bool  # from the parent, and kept unless it is retired

    @property
    def status(self) -> str:
        """The decided status, from "undecided" to "retired", or "kept" if inherited."""
        if self.inherited and self.state.status != "retired":
            return "kept"
        return self.state.status

    @property
    def is_in_next_version(self) -> bool:
        """True if the next version contains it."""
        return self.status in ("kept", "accepted")

    @property
    def row_hash(self) -> str:
        """The `row_hash` of its current version."""
        return self.state.scenario or self.summary.row_hash


class Contents(NamedTuple):
    """The contents of the next version."""

    scenarios: tuple[Scenario, ...]  # sorted by id
    changes: tuple[Change, ...]  # from the parent
    last: dict[str, int]  # the highest number in an id of each category


def with_state(draft: Draft, decided: Iterable[Decision]) -> list[DraftCandidate]:
    """Return every candidate of a draft with its state, sorted by id."""
    by_id, inherited = fold_decisions(decided), draft.inherited_ids()
    return [
        DraftCandidate(s, by_id.get(s.id, UNTOUCHED), s.id in inherited) for s in draft.summaries()
    ]


def load_candidates(workspace: Workspace, name: str) -> tuple[Draft, list[DraftCandidate]]:
    """Return the draft called `name`, and its candidates with their current states."""
    draft = open_draft(workspace, name)
    with AnnotationStore.read_existing(workspace) as connection:
        decided = load_decisions(connection, draft.id) if connection else []
    return draft, with_state(draft, decided)


def select_candidates(
    draft: Draft, candidates: Sequence[DraftCandidate], ids: Sequence[str]
) -> list[DraftCandidate]:
    """Return the candidates with these ids, each once, in their order."""
    by_id = {candidate.summary.id: candidate for candidate in candidates}
    for id in ids:
        if id not in by_id:
            raise UnknownName(f"candidate of draft {draft.name}", id, by_id, most=10)
    return [by_id[id] for id in dict.fromkeys(ids)]


def current_scenario(draft: Draft, candidate: DraftCandidate) -> Summary:
    """Return a candidate after the edits that are in force."""
    id, edited = candidate.summary.id, candidate.state.scenario
    return draft.summary(id, edited) if edited else candidate.summary


def assemble_version(draft: Draft, candidates: Sequence[DraftCandidate]) -> Contents:
    """Return the contents of the next version, by the decisions on a draft.

    An inherited scenario whose meaning differs from the parent's gets a new id and replaces the old
    one.
    """
    last = find_last_numbers(draft.workspace, draft.name, (c.summary.id for c in candidates))
    staying = {c.summary.id: c.state.scenario for c in candidates if c.is_in_next_version}
    by_id = {scenario.id: scenario for scenario in draft.scenarios(staying)}
    scenarios, changes = [], []
    for candidate in candidates:
        id, state = candidate.summary.id, candidate.state
        if not candidate.is_in_next_version:
            changes += [Change("retired", id, "", state.reason)] if candidate.inherited else []
            continue
        scenario = by_id[id]
        if candidate.inherited and scenario.hash != candidate.summary.hash:
            last[scenario.category] = last.get(scenario.category, 0) + 1
            new_id = f"{scenario.category}-{last[scenario.category]:02d}"
            scenario = replace(scenario, id=new_id, replaces=id)
            changes.append(Change("replaced", id, new_id, _edit_reasons(state)))
        elif not candidate.inherited:
            changes.append(Change("added", id, "", state.reason))
        scenarios.append(scenario)
    ordered = tuple(sorted(scenarios, key=lambda s: s.id))
    return Contents(ordered, tuple(changes) if draft.parent else (), last)


def _edit_reasons(state: CandidateState) -> str:
    """Return the reasons of the edits in force, else that of the last decision."""
    edits = [decision for decision in state.standing if decision.kind == "edit"]
    reasons = [str(edit.detail.get("reason", "")) for edit in edits]
    return "; ".join(dict.fromkeys(filter(None, reasons))) or state.reason


def find_faults(
    draft: Draft,
    candidates: Sequence[DraftCandidate],
    scenarios: Sequence[Scenario],
    own: Sequence[Category] = (),
) -> list[str]:
    """Return why a draft cannot be frozen, one line each; an empty list if it can.

    `scenarios` are the contents of the next version, and `own` are the user's categories.
    """
    undecided = [c.summary.id for c in candidates if c.status == "undecided"]
    reasons = [_describe_ids(undecided, "undecided; accept or reject")] if undecided else []
    if (
        equal_version := suites.find_equal_version(draft.workspace, draft.name, scenarios)
    ) is not None:
        reasons.append(f"{equal_version} holds the same scenarios; change the draft first")
    return reasons + lint_scenarios(scenarios) + find_category_faults(scenarios, own)


def find_warnings(
    draft: Draft, candidates: Sequence[DraftCandidate], scenarios: Sequence[Scenario]
) -> list[str]:
    """Return what a draft can be frozen with, but which is probably a mistake, one line each."""
    every = {current_scenario(draft, candidate).category for candidate in candidates}
    empty = sorted(every - {scenario.category for scenario in scenarios})
    return [f"category {name} is empty: none of its candidates is accepted" for name in empty]


def find_category_faults(
    scenarios: Sequence[Scenario], own_categories: Sequence[Category] = ()
) -> list[str]:
    """Return why scenarios are not valid by their categories, one line each."""
    rules = categories.scenario_categories(scenarios, own_categories)
    checked = [(s, find_fault(s, rules)) for s in scenarios]
    return [f"{s.id}: {why}" for s, why in checked if why is not None]


def find_unreviewed(
    workspace: Workspace,
    draft: Draft,
    candidates: Sequence[DraftCandidate],
    scenarios: Sequence[Scenario],
    own_categories: Sequence[Category] = (),
) -> list[str]:
    """Return the ids of scenarios that neither a rule checks nor two other curators have read.

    A reader votes, blind, that two people would agree (`sts draft rate`). Authors, who chose the
    words, have no vote, nor has the setter of a live session whose words they are. A scenario that
    stays as it was in the parent keeps its readers.
    """
    rules = categories.scenario_categories(scenarios, own_categories)
    by_id = {candidate.summary.id: candidate for candidate in candidates}
    with AnnotationStore.read_existing(workspace) as connection:
        everyone = people.list_people(connection) if connection else []
    pseudonyms = {person.id: person.pseudonym for person in everyone}
    name, _, version = (draft.parent or "").partition("@")
    before = frozen.load_unreviewed(workspace, name, version) if version else frozenset()
    ids = []
    for scenario in scenarios:
        if is_checked(scenario, rules):
            continue
        candidate = by_id.get(scenario.id) or by_id[scenario.replaces]
        state, is_same = candidate.state, scenario.hash == candidate.summary.hash
        if candidate.inherited and is_same and candidate.summary.id not in before:
            continue
        authors = {d.person for d in state.standing if d.kind == "edit" and not is_mark(d)}
        chosen_by = {
            scenario.provenance.get("author"),
            *find_setters(workspace, scenario.provenance.get("session"), scenario.text),
        }
        votes = {
            d.person: d.detail["rating"] for d in state.all_ratings if d.scenario == state.meaning
        }
        readers = [
            person
            for person, word in votes.items()
            if word == "yes" and person not in authors and pseudonyms.get(person) not in chosen_by
        ]
        if len(readers) < MIN_READERS:
            ids.append(scenario.id)
    return ids


def _describe_ids(ids: Sequence[str], state: str) -> str:
    more = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    return f"{ids[0]}{more} {'is' if len(ids) == 1 else 'are'} {state}"


def describe_unreviewed(name: str, ids: Sequence[str]) -> list[str]:
    """Return why a draft cannot be frozen with unreviewed scenarios; [] without one."""
    if not ids:
        return []
    return [
        f"{_describe_ids(ids, UNCHECKED)}; {MIN_READERS} curators other than the author have to "
        f"vote for each (sts draft rate {name} ID yes), or freeze with --unreviewed"
    ]


def freeze_draft(
    workspace: Workspace,
    label: str,
    *,
    description: str = "",
    own_categories: Sequence[Category] = (),
    unreviewed: bool = False,
) -> Suite:
    """Freeze a draft, NAME or NAME@VERSION, as the next version or that one; return the suite.

    If `unreviewed` is true, the suite may contain scenarios that `find_unreviewed` returns, and
    states their ids.

    Raises:
      UnknownName: there is no such draft.
      ArgumentError: as `sts.suites.suite_store.freeze_scenarios`.
      DamagedData: the draft has a fault; names it, with the scenario's id.
      StsError: it was frozen before, or changed meanwhile.
    """
    name, *_ = suites.parse_label(workspace, label)
    draft = open_draft(workspace, name)
    check_open(draft)
    with AnnotationStore.open(workspace) as store:
        with store.read() as connection:
            decided = load_decisions(connection, draft.id)
        candidates = with_state(draft, decided)
        result = assemble_version(draft, candidates)
        faults = find_faults(draft, candidates, result.scenarios, own_categories)
        unread = find_unreviewed(workspace, draft, candidates, result.scenarios, own_categories)
        faults += [] if unreviewed else describe_unreviewed(draft.name, unread)
        if faults:
            more = f" (and {len(faults) - 1} more: sts draft check {draft.name})"
            raise DamagedData(
                f"draft {draft.name} cannot be frozen: {faults[0]}{more if len(faults) > 1 else ''}"
            )
        end = decided[-1].digest if decided else ""
        made_by: dict[str, Any] = {"draft": draft.id, "decisions": end}
        if warnings := find_warnings(draft, candidates, result.scenarios):
            made_by["warnings"] = warnings
        if unread:
            made_by["unreviewed"] = unread

        def is_unchanged() -> bool:
            current = open_draft(workspace, draft.name)
            with store.read() as connection:
                decisions = load_decisions(connection, draft.id)
            return current == draft and (decisions[-1].digest if decisions else "") == end

        return suites.freeze_scenarios(
            workspace,
            label,
            result.scenarios,
            description=description,
            changes=result.changes,
            last=result.last,
            made_by=made_by,
            is_unchanged=is_unchanged,
        )
