"""Response profiles: how many continuations of a scenario each of some agents passes.

The continuations are those of `sts run` and the verdicts automatic labels, as of `sts label`. They
show a curator whether agents differ on a scenario.
"""

import contextlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import sts
from sts import agents
from sts.agents import Agent
from sts.continuations import parts
from sts.continuations.takeover import continue_all, group_by_shape, is_deterministic
from sts.continuations.types import Continuation
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts.ratings import VERDICTS
from sts.storage.files import canonical_json, content_hash
from sts.suites.drafts import Draft, open_draft
from sts.suites.folders import parse_json
from sts.suites.types import Scenario, Summary
from sts_scenarios import categories
from sts_scenarios.category import Category, Label, no_rule
from sts_scenarios.freezing import DraftCandidate, current_scenario
from sts_scenarios.labels import compute_rule_fingerprints
from sts_scenarios.validity import UNCHECKED, find_category

CONTINUATIONS, SEED = 10, 0
_FORMAT, _VERSION = "profile", 2
_BATCH_SIZE = 40
"""Number of scenarios that are continued in one batch."""


class PassCount(NamedTuple):
    """The number of an agent's continuations, and of those that are a success."""

    successes: int
    of: int

    def __str__(self) -> str:
        """Return both, as 3/10."""
        return f"{self.successes}/{self.of}"


class Profile(NamedTuple):
    """The automatic labels of a scenario's continuations by some agents."""

    scenario: str  # its hash
    labels: dict[str, tuple[Label, ...]]  # from continuation 0 on; one if it is deterministic

    @property
    def passed(self) -> dict[str, PassCount]:
        """Each agent's number of passed continuations."""
        return {
            name: PassCount(sum(label.verdict == "success" for label in labels), len(labels))
            for name, labels in self.labels.items()
        }

    @property
    def why_equal(self) -> str:
        """Why agents do not differ: all always pass, or none ever; "" if they do."""
        passed = self.passed.values()
        if passed and all(p.successes == p.of for p in passed):
            return "every agent passes every continuation"
        return "no agent passes" if passed and not any(p.successes for p in passed) else ""

    def __str__(self) -> str:
        """Return each agent's pass count, as "random 1/10, rule 9/10"."""
        return ", ".join(f"{name} {passed}" for name, passed in self.passed.items())


class ComputedProfile(NamedTuple):
    """A profile, and the first continuation of each agent by its name."""

    profile: Profile
    first_continuations: dict[str, Continuation]


def compute_profile(
    scenario: Scenario,
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    own: Iterable[Category] = (),
) -> Profile:
    """Compute the profile of a scenario; see `compute_profiles`."""
    (result,) = compute_profiles([scenario], names, continuations, own=own)
    return result.profile


def compute_profiles(
    scenarios: Sequence[Scenario],
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    own: Iterable[Category] = (),
) -> list[ComputedProfile]:
    """Compute the profile of each scenario, independently of the others and their order.

    Agents for other worlds are left out; None for `names` stands for those that the categories of a
    world list. A scenario is continued once if neither the agent nor its partner draws.

    Raises:
      StsError: a category has no rule here, or an agent or a rule failed.
      UnknownName: there is no such agent.
      ReplayMismatch: a scenario does not replay.
    """
    rules = categories.scenario_categories(scenarios, own)
    by_hash = {s.hash: find_category(s, rules) for s in scenarios}
    labels: dict[str, dict[str, tuple[Label, ...]]] = {s.hash: {} for s in scenarios}
    first: dict[str, dict[str, Continuation]] = {s.hash: {} for s in scenarios}
    for group in group_by_shape(scenarios):
        for name, agent in load_players(group[0].recording.domain, names).items():
            size = 1 if ":" in name else _BATCH_SIZE  # a user's agent may depend on its batch
            count = 1 if is_deterministic(agent, group[0].partner) else continuations
            for batch in (group[at : at + size] for at in range(0, len(group), size)):
                results = continue_all(batch, agent, seed=SEED, indices=range(count))
                for n, scenario in enumerate(batch):
                    own_part = results[n * count : (n + 1) * count]
                    agent_labels = tuple(
                        _label(scenario, by_hash[scenario.hash], c) for c in own_part
                    )
                    labels[scenario.hash][agent.name] = agent_labels
                    first[scenario.hash][agent.name] = own_part[0]
    return [ComputedProfile(Profile(s.hash, labels[s.hash]), first[s.hash]) for s in scenarios]


def load_players(domain: str, names: Sequence[str] | None = None) -> dict[str, Agent]:
    """Return the agents that play the worlds of a domain, by the names they are given by.

    None for `names` stands for those that the categories of the domain list.
    """
    agent_names = (
        categories.collect_names(domain, "AGENTS") if names is None else dict.fromkeys(names)
    )
    loaded = {name: agents.load(name) for name in agent_names}
    players = {name: agent for name, agent in loaded.items() if agent.domain in ("", domain)}
    for name, n in Counter(agent.name for agent in players.values()).items():
        if n > 1:
            raise ArgumentError(f"expected agents of different names, found {n} called {name!r}")
    return players


def _label(scenario: Scenario, rule: Category | None, continuation: Continuation) -> Label:
    if rule is None or rule.label is no_rule:
        raise StsError(f"{scenario.id} is {UNCHECKED}")
    players, parameters = scenario.players, scenario.parameters
    return rule.label(continuation.episode, scenario.context, players, parameters)


class _Basis(NamedTuple):
    """The inputs of the profiles of a category, besides the scenario."""

    names: tuple[str, ...]  # of the agents, in their order
    mark: bytes  # encodes all inputs
    is_storable: bool  # the mark is complete, so that profiles can be stored under it


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
        own: Iterable[Category] = (),
    ) -> None:
        """Open the profiles of a draft that `compute_profiles` computes with the same arguments."""
        self._draft, self._names, self._count = draft, names, continuations
        self._own = {category.name: category for category in own}
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
        (computed,) = compute_profiles([scenario], self._names, self._count, own=own_categories)
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
            mark = candidate.state.scenario or candidate.summary.row_hash
            if mark in self._stored or mark in self.failed:
                continue
            try:
                profile = None if self.get(candidate) else self._compute(candidate)
            except StsError as error:
                self.failed[mark] = error
                continue
            self._stored.add(mark)
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
            marks, is_complete = compute_rule_fingerprints([rule], [rule.domain])
            terms = {
                _FORMAT: _VERSION,
                "sts": sts.__version__,
                "continuations": self._count,
                "seed": SEED,
                "rules": marks,
                "agents": {agent.name: agents.fingerprint(agent) for agent in players},
            }
            names = tuple(agent.name for agent in players)
            self._bases[name] = _Basis(names, canonical_json(terms), is_complete)
        return self._bases[name]

    def _file_name(self, candidate: DraftCandidate) -> str:
        """Return the name, in the store, of a profile's files, without the suffix."""
        mark = content_hash(
            self._basis(candidate).mark, self._current_scenario(candidate).hash.encode()
        )[:24]
        return f"{self._draft.folder}/profiles/{mark}"

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
        mark = document.pop("hash")
        if content_hash(canonical_json(document)) != mark:
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
