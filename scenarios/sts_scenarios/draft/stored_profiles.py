"""The response profiles of a draft's candidates, computed once and stored."""

import contextlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sts
from sts import agents
from sts.continuations import parts
from sts.continuations.continuation import Continuation
from sts.errors import DamagedData, StsError, UnknownName
from sts.ratings import VERDICTS
from sts.storage.files import canonical_json, content_hash
from sts.suites.drafts import Draft, open_draft
from sts.suites.folders import parse_json
from sts.suites.suite import Scenario, Summary
from sts_scenarios.draft.freezing import DraftCandidate, current_scenario
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category, Label
from sts_scenarios.rules.labels import compute_rule_fingerprints
from sts_scenarios.rules.profiles import (
    CONTINUATIONS,
    SEED,
    ComputedProfile,
    Profile,
    compute_profiles,
    load_players,
)

_FORMAT, _VERSION = "profile", 2


class _Basis(NamedTuple):
    """The inputs of the profiles of a category, besides the scenario."""

    names: tuple[str, ...]  # of the agents, in their order
    encoded: bytes  # all inputs
    is_storable: bool  # nothing is missing in `encoded`, so that profiles can be stored under it


class Profiles:
    """The stored response profiles of a draft's candidates, in files that never change.

    A file is named by a hash of its inputs, so an edited candidate, another agent or another rule
    has a file of its own. Writes are atomic, and concurrent computations give the same file.
    """

    def __init__(
        self,
        draft: Draft,
        names: Sequence[str] | None = None,
        continuations: int = CONTINUATIONS,
        *,
        own_categories: Iterable[Category] = (),
    ) -> None:
        """Open the profiles of a draft that `compute_profiles` computes with the same arguments."""
        self._draft, self._names, self._count = draft, names, continuations
        self._own = {category.name: category for category in own_categories}
        self._bases: dict[str, _Basis] = {}
        self._unstored: dict[str, ComputedProfile] = {}
        self._stored: set[str] = set()
        self.failed: dict[str, StsError] = {}  # by the `row_hash` of the candidate as it is now

    def get(self, candidate: DraftCandidate) -> Profile | None:
        """Return the profile of a candidate as it is now; None if it is not computed yet."""
        if (computed := self._unstored.get(self._current_scenario(candidate).hash)) is not None:
            return computed.profile
        name, names = f"{self._file_name(candidate)}.json", self._basis(candidate).names
        raw = self._read(name)
        if raw is None:
            return None
        stored = decode_profile(name, raw)
        is_current = stored.scenario == self._current_scenario(candidate).hash
        if not is_current or {*stored.labels} != {*names}:
            raise _invalid_profile(name, "it is of another scenario or other agents")
        return Profile(stored.scenario, {agent: stored.labels[agent] for agent in names})

    def get_first_continuations(self, candidate: DraftCandidate) -> dict[str, Continuation]:
        """Return the first continuation of each agent, {} if not computed yet."""
        if (computed := self._unstored.get(self._current_scenario(candidate).hash)) is not None:
            return computed.first_continuations
        name = f"{self._file_name(candidate)}.parquet"
        raw = self._read(name)
        by_agent = {c.agent: c for c in parts.decode_part(name, raw)} if raw is not None else {}
        return {name: by_agent[name] for name in self._basis(candidate).names if name in by_agent}

    def compute(self, candidate: DraftCandidate) -> Profile:
        """Return the profile of a candidate; compute and store it if necessary."""
        stored = self.get(candidate)
        return self._compute(candidate) if stored is None else stored

    def _compute(self, candidate: DraftCandidate) -> Profile:
        scenario = self._scenario(candidate)
        own_categories = self._own.values()
        (computed,) = compute_profiles(
            [scenario], self._names, self._count, own_categories=own_categories
        )
        if not self._basis(candidate).is_storable:
            self._unstored[self._current_scenario(candidate).hash] = computed
            return computed.profile
        store, place = self._draft.workspace.store, self._file_name(candidate)
        parts.write_part(store, f"{place}.parquet", [*computed.first_continuations.values()])
        # Last, as it marks both as complete.
        store.put_new(f"{place}.json", _encode(computed.profile))
        return computed.profile

    def _scenario(self, candidate: DraftCandidate) -> Scenario:
        """Return a candidate, also one that was added since the draft was read."""
        try:
            return self._draft.candidate(candidate.summary.id, candidate.state.scenario)
        except UnknownName:
            current = open_draft(self._draft.workspace, self._draft.name)
            if current.id != self._draft.id:
                raise
            self._draft = current
            return current.candidate(candidate.summary.id, candidate.state.scenario)

    def compute_next(self, candidates: Iterable[DraftCandidate]) -> Profile | None:
        """Compute and store the first missing profile; return it, or None if there is none.

        Errors are recorded in `failed` and skipped. It works in this process; use a process of its
        own for worlds that may crash it.
        """
        for candidate in candidates:
            scenario_hash = candidate.state.scenario or candidate.summary.row_hash
            if scenario_hash in self._stored or scenario_hash in self.failed:
                continue
            try:
                profile = None if self.get(candidate) else self._compute(candidate)
            except StsError as error:
                self.failed[scenario_hash] = error
                continue
            self._stored.add(scenario_hash)
            if profile is not None:
                return profile
        return None

    def find_stored(self, candidates: Iterable[DraftCandidate]) -> dict[str, Profile]:
        """Return the profiles that are stored, by the id of their candidate."""
        stored: dict[str, Profile] = {}
        if not self._draft.workspace.store.list(f"{self._draft.folder}/profiles"):
            return stored  # without loading any agent
        for candidate in candidates:
            with contextlib.suppress(StsError):  # of a category that is not installed
                if (profile := self.get(candidate)) is not None:
                    stored[candidate.summary.id] = profile
        return stored

    def _current_scenario(self, candidate: DraftCandidate) -> Summary:
        return current_scenario(self._draft, candidate)

    def _basis(self, candidate: DraftCandidate) -> _Basis:
        name = self._current_scenario(candidate).category
        if name not in self._bases:
            rule = self._own.get(name) or categories.load_category(name)
            players = load_players(rule.domain, self._names).values()
            rule_fingerprints, is_complete = compute_rule_fingerprints([rule], [rule.domain])
            terms = {
                _FORMAT: _VERSION,
                "sts": sts.__version__,
                "continuations": self._count,
                "seed": SEED,
                "rules": rule_fingerprints,
                "agents": {agent.name: agents.fingerprint(agent) for agent in players},
            }
            names = tuple(agent.name for agent in players)
            self._bases[name] = _Basis(names, canonical_json(terms), is_complete)
        return self._bases[name]

    def _file_name(self, candidate: DraftCandidate) -> str:
        """Return the name, in the store, of a profile's files, without the suffix."""
        digest = content_hash(
            self._basis(candidate).encoded, self._current_scenario(candidate).hash.encode()
        )[:24]
        return f"{self._draft.folder}/profiles/{digest}"

    def _read(self, name: str) -> bytes | None:
        try:
            return self._draft.workspace.store.get(name)
        except FileNotFoundError:
            return None


def _encode(profile: Profile) -> bytes:
    labels = {
        name: [list(label) for label in agent_labels]
        for name, agent_labels in profile.labels.items()
    }
    header = {"format": _FORMAT, "version_of_format": _VERSION}
    document = header | {"scenario": profile.scenario, "labels": labels}
    return canonical_json(document | {"hash": content_hash(canonical_json(document))}) + b"\n"


def decode_profile(name: str, raw: bytes) -> Profile:
    """Decode a profile and check its hash."""
    try:
        document = parse_json(name, raw, _FORMAT, _VERSION)
        if (number := document["version_of_format"]) != _VERSION:
            raise ValueError(f"expected version {_VERSION}, found {number}")
        stored_hash = document.pop("hash")
        if content_hash(canonical_json(document)) != stored_hash:
            raise ValueError("its hash does not match")
        labels = {
            agent: tuple(map(_label_of, values)) for agent, values in document["labels"].items()
        }
        return Profile(str(document["scenario"]), labels)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _invalid_profile(name, repr(error)) from None


def _invalid_profile(name: str, why: str) -> DamagedData:
    return DamagedData(
        f"{name}: invalid response profile: {why}; move the file away, and it is computed again"
    )


def _label_of(value: Any) -> Label:
    verdict, step = value
    if verdict not in VERDICTS or not (step is None or type(step) is int):
        raise ValueError(f"expected a label, found {value!r:.40}")
    return Label(verdict, step)
