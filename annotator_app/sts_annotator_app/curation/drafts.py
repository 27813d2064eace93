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
_HELD = 512
"""Candidates of a draft whose scenes are kept at hand."""
_EDITED = 16
"""Candidates that are open to be edited: each has its trajectory and its states."""
_EARLIER = 8
"""Earlier moments of a draft that are kept at hand: one for each list that is gone through."""


class Facts(NamedTuple):
    """By what candidates are listed: as they are now, and who recorded the asked participant."""

    category: str
    difficulty: str
    source: str


def order(id: str) -> tuple[str, int]:
    """Return where an id stands among others: by category, then by number."""
    found = _NUMBERED.fullmatch(id)
    return (found[1], int(found[2])) if found else (id, 0)


@dataclass(eq=False)
class Opened:
    """One draft: its candidates, which never change, and what was decided about them by now.

    `scenario` and `editor` are found by an id and what it was edited to, "" for nothing; `editing`
    is held by a page that tries changes.
    """

    draft: Draft
    every: dict[str, Looked]
    decided: list[Decision] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Begins with nothing kept."""
        self._lock = threading.Lock()
        self._by_uuid = {one.uuid: one for one in self.decided}
        self._facts: dict[tuple[str, str], Facts] = {}
        self._agreed: tuple[int, dict[str, Any] | None] | None = None
        self.scenario: Callable[[str, str], Scenario] = lru_cache(_HELD)(self.draft.candidate)
        self.editor: Callable[[str, str], Editor] = lru_cache(_EDITED)(self._editor)
        self.editing = threading.Lock()
        self._pairs: dict[str, list[str]] = {}
        for id, one in self.every.items():
            if one.summary.pair:
                self._pairs.setdefault(one.summary.pair, []).append(id)
        self.states_at: Callable[[int], Mapping[str, State]]
        self.states_at = lru_cache(_EARLIER)(self._states_at)

    @property
    def head(self) -> int:
        """The number of the latest decision; 0 before the first."""
        return self.decided[-1].number if self.decided else 0

    def _editor(self, id: str, edited: str) -> Editor:
        before = self.scenario(id, edited)
        return Editor(before, recording_of(self.draft.workspace, before))

    def read(self, store: Store) -> None:
        """Take in what was decided since."""
        with self._lock:
            with store.read() as connection:
                latest = self.decided[-1] if self.decided else None
                new = of_draft(connection, self.draft.id, latest)
            for one in new:
                self.decided.append(one)
                self._by_uuid[one.uuid] = one
                if (looked := self.every.get(one.candidate)) is not None:
                    state = after(looked.state, one)
                    self.every[one.candidate] = looked._replace(state=state)

    def _states_at(self, number: int) -> Mapping[str, State]:
        with self._lock:
            return states(d for d in self.decided if d.number <= number)

    def facts(self, one: Looked) -> Facts:
        """Return by what a candidate is listed."""
        key = (one.summary.id, one.state.scenario)
        if (found := self._facts.get(key)) is None:
            what = now(self.draft, one)
            found = Facts(what.category, what.difficulty, recorder(one))
            self._facts[key] = found
        return found

    def agreement(self) -> dict[str, Any] | None:
        """Return how far curators agree whether two people would; None where no two have said.

        It is worked out anew where somebody has said so, or changed what it was said about.
        """
        basis = sum(one.kind in ("opinion", "edit", "undo") for one in self.decided)
        if self._agreed is None or self._agreed[0] != basis:
            several = any(len(one.state.opinions) > 1 for one in self.every.values())
            found = agreement(self.every.values()) if several else None
            view = (
                None if found is None else {**found._asdict(), "interval": None, "why": found.why}
            )
            self._agreed = basis, view
        return self._agreed[1]

    def other_half(self, one: Looked) -> Looked | None:
        """Return the other half of a candidate's pair; None where it is of none."""
        both = self._pairs.get(one.summary.pair, [])
        other = next((id for id in both if id != one.summary.id), None)
        return None if other is None else self.every[other]

    def decision(self, uuid: str) -> Decision | None:
        """Return the decision of this uuid; None where there is none."""
        return self._by_uuid.get(uuid)

    def mark(self, one: Looked) -> str:
        """Return the `row_hash` of a candidate as it is now."""
        return one.state.scenario or one.summary.row_hash


def recorder(one: Looked) -> str:
    """Return who the asked participant of a candidate was when it was recorded."""
    people, role = one.summary.recorded_by, one.summary.roles[0]
    return people[role] if role < len(people) else one.summary.source


class Drafts:
    """Those of a workspace, each read once, and again where candidates were added."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._opened: dict[str, Opened] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return the names of the drafts that are not frozen yet."""
        return [one.suite for one in folders.listed(self.workspace) if one.where == "draft"]

    def opened(self, name: str, store: Store) -> Opened:
        """Return a draft with what was decided by now."""
        draft = drafts.open_draft(self.workspace, name)
        with self._lock:
            found = self._opened.get(name)
            if found is None or found.draft != draft:
                every = sorted(looked_at(draft, ()), key=lambda one: order(one.summary.id))
                found = Opened(draft, {one.summary.id: one for one in every})
                self._opened[name] = found
        found.read(store)
        return found

    def named_by(self, id: object) -> str:
        """Return the name of the draft with this id; an error if another was begun in its place."""
        for folder in folders.drafts(self.workspace):
            found = drafts.find(self.workspace, folder.name)
            if found is not None and found.id == id:
                return found.name
        raise StsError("this draft is no longer there: another was begun in its place")
