"""Cache of a workspace's drafts and of the decisions about their candidates."""

import threading
from collections.abc import Callable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, NamedTuple

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.doubts import list_doubtful
from sts.annotations.log.decisions import load_decisions
from sts.errors import StsError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import drafts, folders
from sts.suites.decisions import CandidateState, Decision, apply_decision, fold_decisions
from sts.suites.drafts import Draft
from sts.suites.suite import Scenario
from sts_scenarios.draft.curation import rating_agreement
from sts_scenarios.draft.editing import Edit, Editor
from sts_scenarios.draft.freezing import DraftCandidate, current_scenario, with_state
from sts_scenarios.draft.stored_profiles import Profiles
from sts_scenarios.mining.failures import load_recording

_MAX_SCENARIOS = 512
"""Cached scenarios of a draft."""
_MAX_EDITORS = 16
"""Cached editors; each holds a trajectory with its states."""
_MAX_STATES = 8
"""Cached earlier states of a draft, one for each list that a curator works through."""


class FilterValues(NamedTuple):
    """Values by which candidates are filtered; `source` recorded the evaluated player."""

    category: str
    difficulty: str
    source: str


def sort_key(id: str) -> tuple[str, int]:
    """Return the sort key of a candidate's id: category, then number."""
    category, _, number = id.rpartition("-")
    return (category, int(number)) if number.isdecimal() else (id, 0)


class CachedDraft:
    """A draft with its candidates and the decisions about them.

    `scenario` and `editor` are looked up by id and hash of the edit ("" for none); `editing` is
    the lock of a page that previews changes.
    """

    def __init__(self, draft: Draft, doubts: Mapping[str, str] = MappingProxyType({})) -> None:
        """Read the candidates; `refresh` reads the decisions.

        `doubts` are why scenarios of the parent are doubtful, by id.
        """
        self.draft, self.doubts = draft, doubts
        candidates = sorted(with_state(draft, ()), key=lambda c: sort_key(c.summary.id))
        self.candidates = {candidate.summary.id: candidate for candidate in candidates}
        self.decisions: list[Decision] = []  # by number, from 1
        self.by_uuid: dict[str, Decision] = {}
        self._lock = threading.Lock()
        self._facts: dict[tuple[str, str], FilterValues] = {}
        self.profiles = Profiles(draft)
        self.scenario: Callable[[str, str], Scenario] = lru_cache(_MAX_SCENARIOS)(draft.candidate)
        self.editor: Callable[[str, str], Editor] = lru_cache(_MAX_EDITORS)(self._open_editor)
        self.editing = threading.Lock()
        self.states_at: Callable[[int], Mapping[str, CandidateState]]
        self.states_at = lru_cache(_MAX_STATES)(lambda n: fold_decisions(self.decisions[:n]))
        self._agreement_after: Callable[[int], dict[str, Any] | None]
        self._agreement_after = lru_cache(1)(self._compute_agreement)

    def _open_editor(self, id: str, edited: str) -> Editor:
        before = self.scenario(id, edited)
        return Editor(before, load_recording(self.draft.workspace, before))

    def preview(self, candidate: DraftCandidate, changes: object) -> Edit:
        """Return the candidate after some changes; errors as of `Editor.preview`."""
        with self.editing:
            return self.editor(candidate.summary.id, candidate.state.scenario).preview(changes)

    def refresh(self, store: AnnotationStore) -> None:
        """Read the decisions made since the last call."""
        with self._lock:
            with store.read() as connection:
                latest = self.decisions[-1] if self.decisions else None
                new = load_decisions(connection, self.draft.id, latest)
            for decision in new:
                self.decisions.append(decision)
                self.by_uuid[decision.uuid] = decision
                if (candidate := self.candidates.get(decision.candidate)) is not None:
                    state = apply_decision(candidate.state, decision)
                    self.candidates[decision.candidate] = candidate._replace(state=state)

    def get_filter_values(self, candidate: DraftCandidate) -> FilterValues:
        """Return the values by which a candidate is filtered, in its current version."""
        key = (candidate.summary.id, candidate.state.scenario)
        if (values := self._facts.get(key)) is None:
            current = current_scenario(self.draft, candidate)
            values = FilterValues(current.category, current.difficulty, find_recorder(candidate))
            self._facts[key] = values
        return values

    def compute_agreement(self) -> dict[str, Any] | None:
        """Return the curators' agreement in second ratings; None without two ratings of any.

        The result is cached until a rating or an edit is added.
        """
        kinds = ("rating", "edit", "undo")
        return self._agreement_after(sum(decision.kind in kinds for decision in self.decisions))

    def _compute_agreement(self, changes: int) -> dict[str, Any] | None:
        if all(len(candidate.state.ratings) < 2 for candidate in self.candidates.values()):
            return None
        agreement = rating_agreement(self.candidates.values())
        view = {name: getattr(agreement, name) for name in ("alpha", "pairs", "agreeing")}
        return view | {"why": agreement.reason}

    def find_candidate(self, id: object) -> DraftCandidate:
        """Return the candidate with this id; raise UnknownName without one."""
        candidate = self.candidates.get(id) if isinstance(id, str) else None
        if candidate is None:
            known = self.candidates
            raise UnknownName(f"candidate of draft {self.draft.name}", str(id), known, most=10)
        return candidate

    def find_other_half(self, candidate: DraftCandidate) -> DraftCandidate | None:
        """Return the other half of a candidate's contrast pair, or None."""
        if not (pair := current_scenario(self.draft, candidate).pair):
            return None
        every = self.candidates.values()
        both = (c for c in every if current_scenario(self.draft, c).pair == pair)
        return next((c for c in both if c.summary.id != candidate.summary.id), None)


def find_recorder(candidate: DraftCandidate) -> str:
    """Return the agent or person who played the evaluated player in the recording."""
    people, player = candidate.summary.recorded_by, candidate.summary.players[0]
    return people[player] if player < len(people) else candidate.summary.source


class DraftCache:
    """Drafts of a workspace; each is read once, and again if candidates are added."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._opened: dict[str, CachedDraft] = {}
        self._lock = threading.Lock()

    def list_names(self) -> list[str]:
        """Return the names of the drafts that are not frozen yet."""
        listed = folders.list_suites(self.workspace)
        return [folder.suite for folder in listed if folder.where == "draft"]

    def open_draft(self, name: str, store: AnnotationStore) -> CachedDraft:
        """Return a draft with its latest decisions."""
        draft = drafts.open_draft(self.workspace, name)
        with self._lock:
            opened = self._opened.get(name)
            if opened is None or opened.draft != draft:
                opened = self._opened[name] = CachedDraft(draft, _load_doubts(draft, store))
        opened.refresh(store)
        return opened

    def open_by_id(self, store: AnnotationStore, id: object) -> CachedDraft:
        """Return the draft with this id; raise StsError if it was removed."""
        for folder in folders.list_draft_folders(self.workspace):
            draft = drafts.find_draft(self.workspace, folder.name)
            if draft is not None and draft.id == id:
                return self.open_draft(draft.name, store)
        raise StsError("this draft was removed or replaced by another; reload the page")


def _load_doubts(draft: Draft, store: AnnotationStore) -> dict[str, str]:
    """Return why scenarios of a draft's parent are doubtful by their verdicts."""
    if draft.parent is None:
        return {}
    with store.read() as connection:
        return list_doubtful(connection, draft.parent, store.study.marker_tolerance)
