"""The drafts of a workspace as this process has read them, brought up to date when asked."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from sts.annotations.decisions import of_draft
from sts.annotations.store import Store
from sts.errors import StsError
from sts.storage.workspace import Workspace
from sts.suites import drafts, folders
from sts.suites.decisions import Decision, State, after, states
from sts.suites.drafts import Draft
from sts.suites.types import Scenario
from sts_scenarios.curation import agreement
from sts_scenarios.editing import Editor
from sts_scenarios.freezing import Looked, looked_at, now
from sts_scenarios.mining.failures import recording_of

_NUMBERED = re.compile(r"(.+)-([0-9]{1,9})")
_MAX_SCENARIOS = 512
"""Candidates of a draft whose scenes are kept at hand."""
_MAX_EDITORS = 16
"""Candidates that are open to be edited: each has its trajectory and its states."""
_MAX_STATES = 8
"""Earlier moments of a draft that are kept at hand: one for each list that is gone through."""


class FilterValues(NamedTuple):
    """By what candidates are listed: as they are now, and who recorded the asked participant."""

    category: str
    difficulty: str
    source: str


def sort_key(id: str) -> tuple[str, int]:
    """Return where an id stands among others: by category, then by number."""
    found = _NUMBERED.fullmatch(id)
    return (found[1], int(found[2])) if found else (id, 0)


@dataclass(eq=False)
class OpenDraft:
    """One draft: its candidates, which never change, and what was decided about them by now.

    `scenario` and `editor` are found by an id and what it was edited to, "" for nothing; `editing`
    is held by a page that tries changes.
    """

    draft: Draft
    candidates: dict[str, Looked]
    decisions: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begins with nothing kept."""
        self._lock = threading.Lock()
        self._by_uuid = {one.uuid: one for one in self.decisions}
        self._facts: dict[tuple[str, str], FilterValues] = {}
        self._agreed: tuple[int, dict[str, Any] | None] | None = None
        self.scenario: Callable[[str, str], Scenario] = lru_cache(_MAX_SCENARIOS)(
            self.draft.candidate
        )
        self.editor: Callable[[str, str], Editor] = lru_cache(_MAX_EDITORS)(self._open_editor)
        self.editing = threading.Lock()
        self._pairs: dict[str, list[str]] = {}
        for id, one in self.candidates.items():
            if one.summary.pair:
                self._pairs.setdefault(one.summary.pair, []).append(id)
        self.states_at: Callable[[int], Mapping[str, State]]
        self.states_at = lru_cache(_MAX_STATES)(self._compute_states)

    @property
    def latest_number(self) -> int:
        """The number of the latest decision; 0 before the first."""
        return self.decisions[-1].number if self.decisions else 0

    def _open_editor(self, id: str, edited: str) -> Editor:
        before = self.scenario(id, edited)
        return Editor(before, recording_of(self.draft.workspace, before))

    def refresh(self, store: Store) -> None:
        """Take in what was decided since."""
        with self._lock:
            with store.read() as connection:
                latest = self.decisions[-1] if self.decisions else None
                new = of_draft(connection, self.draft.id, latest)
            for one in new:
                self.decisions.append(one)
                self._by_uuid[one.uuid] = one
                if (looked := self.candidates.get(one.candidate)) is not None:
                    state = after(looked.state, one)
                    self.candidates[one.candidate] = looked._replace(state=state)

    def _compute_states(self, number: int) -> Mapping[str, State]:
        with self._lock:
            return states(d for d in self.decisions if d.number <= number)

    def filter_values(self, one: Looked) -> FilterValues:
        """Return by what a candidate is listed."""
        key = (one.summary.id, one.state.scenario)
        if (found := self._facts.get(key)) is None:
            what = now(self.draft, one)
            found = FilterValues(what.category, what.difficulty, find_recorder(one))
            self._facts[key] = found
        return found

    def compute_agreement(self) -> dict[str, Any] | None:
        """Return how far curators agree whether two people would; None where no two have said.

        It is worked out anew where somebody has said so, or changed what it was said about.
        """
        basis = sum(one.kind in ("opinion", "edit", "undo") for one in self.decisions)
        if self._agreed is None or self._agreed[0] != basis:
            several = any(len(one.state.opinions) > 1 for one in self.candidates.values())
            found = agreement(self.candidates.values()) if several else None
            view = (
                None if found is None else {**found._asdict(), "interval": None, "why": found.why}
            )
            self._agreed = basis, view
        return self._agreed[1]

    def find_other_half(self, one: Looked) -> Looked | None:
        """Return the other half of a candidate's pair; None where it is of none."""
        both = self._pairs.get(one.summary.pair, [])
        other = next((id for id in both if id != one.summary.id), None)
        return None if other is None else self.candidates[other]

    def find_decision(self, uuid: str) -> Decision | None:
        """Return the decision of this uuid; None where there is none."""
        return self._by_uuid.get(uuid)

    def current_hash(self, one: Looked) -> str:
        """Return the `row_hash` of a candidate as it is now."""
        return one.state.scenario or one.summary.row_hash


def find_recorder(one: Looked) -> str:
    """Return who the asked participant of a candidate was when it was recorded."""
    people, role = one.summary.recorded_by, one.summary.roles[0]
    return people[role] if role < len(people) else one.summary.source


class Drafts:
    """Those of a workspace, each read once, and again where candidates were added."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._opened: dict[str, OpenDraft] = {}
        self._lock = threading.Lock()

    def list_names(self) -> list[str]:
        """Return the names of the drafts that are not frozen yet."""
        return [one.suite for one in folders.listed(self.workspace) if one.where == "draft"]

    def open_draft(self, name: str, store: Store) -> OpenDraft:
        """Return a draft with what was decided by now."""
        draft = drafts.open_draft(self.workspace, name)
        with self._lock:
            found = self._opened.get(name)
            if found is None or found.draft != draft:
                every = sorted(looked_at(draft, ()), key=lambda one: sort_key(one.summary.id))
                found = OpenDraft(draft, {one.summary.id: one for one in every})
                self._opened[name] = found
        found.refresh(store)
        return found

    def find_name(self, id: object) -> str:
        """Return the name of the draft with this id; an error if another was begun in its place."""
        for folder in folders.drafts(self.workspace):
            found = drafts.find(self.workspace, folder.name)
            if found is not None and found.id == id:
                return found.name
        raise StsError("this draft is no longer there: another was begun in its place")
