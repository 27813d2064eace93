"""Response profiles: how many continuations of a scenario each of some agents passes.

The continuations are those of `sts run` and the labels those of `sts label`: rules over what
happened, judged by nobody. They tell a curator whom a scenario tells apart.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import sts
from sts import agents
from sts.agents import Agent
from sts.continuations import parts
from sts.continuations.takeover import always_alike, by_shape, continue_all
from sts.continuations.types import Continuation
from sts.errors import ArgumentError, DamagedData, StsError, UnknownName
from sts.ratings import VERDICTS
from sts.storage.files import canonical_json, content_hash
from sts.suites.drafts import Draft, open_draft
from sts.suites.folders import in_format
from sts.suites.types import Scenario, Summary
from sts_scenarios import categories
from sts_scenarios.category import Category, Label
from sts_scenarios.freezing import Looked, now
from sts_scenarios.labels import meanings

CONTINUATIONS, SEED = 10, 0
_FORMAT, _VERSION = "profile", 2
_AT_ONCE = 40
"""Scenarios that are continued in one batch."""


class Passed(NamedTuple):
    """How many of an agent's continuations are a success."""

    successes: int
    of: int

    def __str__(self) -> str:
        """Return both, as 3/10."""
        return f"{self.successes}/{self.of}"


class Profile(NamedTuple):
    """What the rule of its category says of continuations of a scenario, judged by nobody.

    Attributes:
      scenario: its hash.
      labels: of each agent, of its continuations from index 0 on; of one that always answers alike
        there is one.
    """

    scenario: str
    labels: dict[str, tuple[Label, ...]]

    @property
    def passed(self) -> dict[str, Passed]:
        """How many each agent passes; equal for scenarios that tell the same agents apart."""
        return {
            name: Passed(sum(one.verdict == "success" for one in own), len(own))
            for name, own in self.labels.items()
        }

    @property
    def flat(self) -> str:
        """Why it tells no agents apart: all of them pass always, or never; "" where it does."""
        every = self.passed.values()
        if every and all(one.successes == one.of for one in every):
            return "every agent passes every continuation"
        return "no agent passes" if every and not any(one.successes for one in every) else ""

    def __str__(self) -> str:
        """Return what each agent passes, as "random 1/10, rule 9/10"."""
        return ", ".join(f"{name} {passed}" for name, passed in self.passed.items())


class Made(NamedTuple):
    """A profile, and of each agent, by the name that it was given, its first continuation."""

    profile: Profile
    first: dict[str, Continuation]


def profile(
    scenario: Scenario,
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    seed: int = SEED,
    own: Iterable[Category] = (),
) -> Profile:
    """Return the profile of a scenario; see `profiles`."""
    (made,) = profiles([scenario], names, continuations, seed=seed, own=own)
    return made.profile


def profiles(
    scenarios: Sequence[Scenario],
    names: Sequence[str] | None = None,
    continuations: int = CONTINUATIONS,
    *,
    seed: int = SEED,
    own: Iterable[Category] = (),
) -> list[Made]:
    """Return the profile of each scenario, the same whatever the others and their order.

    Args:
      scenarios: to continue.
      names: of agents, installed or `module:Class`; who is not for a scenario's world is left out.
        None stands for those that the categories of its world name.
      continuations: of each scenario and agent; one where neither it nor its partner draws.
      seed: selects the agents' streams.
      own: categories of the user's.

    Raises:
      StsError: a category has no rule here, or an agent or a rule failed.
      UnknownName: there is no such agent.
      ReplayMismatch: a scenario does not replay.
    """
    rules = categories.ruling(scenarios, own)
    labels: dict[str, dict[str, tuple[Label, ...]]] = {s.hash: {} for s in scenarios}
    first: dict[str, dict[str, Continuation]] = {s.hash: {} for s in scenarios}
    for group in by_shape(scenarios):
        for named, agent in playing(group[0].recording.domain, names).items():
            size = 1 if ":" in named else _AT_ONCE  # a user's may depend on what is beside it
            count = 1 if always_alike(agent, group[0].partner) else continuations
            for batch in (group[at : at + size] for at in range(0, len(group), size)):
                made = continue_all(batch, agent, seed=seed, indices=range(count))
                for n, scenario in enumerate(batch):
                    of = made[n * count : (n + 1) * count]
                    said = tuple(_label(scenario, rules, one) for one in of)
                    labels[scenario.hash][agent.name], first[scenario.hash][agent.name] = (
                        said,
                        of[0],
                    )
    return [Made(Profile(s.hash, labels[s.hash]), first[s.hash]) for s in scenarios]


def playing(domain: str, names: Sequence[str] | None = None) -> dict[str, Agent]:
    """Return the agents that play the worlds of a domain, by how they are named.

    None for `names` stands for those that the categories of the domain name.
    """
    chosen = categories.agents(domain) if names is None else dict.fromkeys(names)
    every = {name: agents.load(name) for name in chosen}
    players = {name: agent for name, agent in every.items() if agent.domain in ("", domain)}
    for name, n in Counter(agent.name for agent in players.values()).items():
        if n > 1:
            raise ArgumentError(f"two agents are called {name!r}; expected one")
    return players


def _label(scenario: Scenario, rules: Mapping[str, Category], one: Continuation) -> Label:
    if scenario.category not in rules:
        raise StsError(
            f"{scenario.id}: no automatic label for {scenario.category}: name a category of your "
            "own by --category module:NAME"
        )
    rule = rules[scenario.category].label
    return rule(one.episode, scenario.takeover, scenario.roles, scenario.parameters)


class _Basis(NamedTuple):
    """What profiles of a category are made from, besides the scenario.

    Attributes:
      names: of the agents, in their order.
      mark: changes with any of it.
      kept: whether the mark tells all of it, so that a profile is kept under it.
    """

    names: tuple[str, ...]
    mark: bytes
    kept: bool


class Profiles:
    """The profiles of a draft's candidates, kept beside them in files that never change.

    A file is named by all that its profile is made from, so an edited candidate, another agent or
    another rule has its own. Whoever is killed leaves whole files, and two who make one profile at
    once make the same.

    Attributes:
      failed: why candidates have none, by the `row_hash` of what each is now.
    """

    def __init__(
        self,
        draft: Draft,
        names: Sequence[str] | None = None,
        continuations: int = CONTINUATIONS,
        *,
        seed: int = SEED,
        own: Iterable[Category] = (),
    ) -> None:
        """Open the profiles of a draft that `profiles` makes with the same arguments."""
        self._draft, self._names, self._count, self._seed = draft, names, continuations, seed
        self._own = {one.name: one for one in own}
        self._bases: dict[str, _Basis] = {}
        self._unkept: dict[str, Made] = {}
        self._there: set[str] = set()
        self.failed: dict[str, StsError] = {}

    def of(self, one: Looked) -> Profile | None:
        """Return the profile of a candidate as it is now; None where it was not made yet."""
        if (made := self._unkept.get(self._now(one).hash)) is not None:
            return made.profile
        name, names = f"{self._place(one)}.json", self._basis(one).names
        raw = self._get(name)
        if raw is None:
            return None
        own = unpacked(name, raw)
        if own.scenario != self._now(one).hash or {*own.labels} != {*names}:
            raise _damaged(name, "it is of something else")
        return Profile(own.scenario, {agent: own.labels[agent] for agent in names})

    def first(self, one: Looked) -> dict[str, Continuation]:
        """Return the first continuation of each agent, {} if none was made."""
        if (made := self._unkept.get(self._now(one).hash)) is not None:
            return made.first
        name = f"{self._place(one)}.parquet"
        raw = self._get(name)
        by_agent = {c.agent: c for c in parts.unpacked(name, raw)} if raw is not None else {}
        return {name: by_agent[name] for name in self._basis(one).names if name in by_agent}

    def make(self, one: Looked) -> Profile:
        """Return the profile of a candidate, made and kept where it was not yet."""
        there = self.of(one)
        return self._made(one) if there is None else there

    def _made(self, one: Looked) -> Profile:
        scenario = self._scenario(one)
        own = self._own.values()
        (made,) = profiles([scenario], self._names, self._count, seed=self._seed, own=own)
        if not self._basis(one).kept:
            self._unkept[self._now(one).hash] = made
            return made.profile
        store, place = self._draft.workspace.store, self._place(one)
        parts.put(store, f"{place}.parquet", [*made.first.values()])
        store.put_new(f"{place}.json", _written(made.profile))  # last: both are there with it
        return made.profile

    def _scenario(self, one: Looked) -> Scenario:
        """Return a candidate, one that was added since, too."""
        try:
            return self._draft.candidate(one.summary.id, one.state.scenario)
        except UnknownName:
            there = open_draft(self._draft.workspace, self._draft.name)
            if there.id != self._draft.id:
                raise
            self._draft = there
            return there.candidate(one.summary.id, one.state.scenario)

    def make_next(self, candidates: Iterable[Looked]) -> Profile | None:
        """Make and keeps the first profile that is missing; return it, None where none is.

        What cannot be made is noted in `failed` and passed over. It works in this process; where a
        world may end that, it is for a process of its own.
        """
        for one in candidates:
            mark = one.state.scenario or one.summary.row_hash
            if mark in self._there or mark in self.failed:
                continue
            try:
                made = None if self.of(one) else self._made(one)
            except StsError as error:
                self.failed[mark] = error
                continue
            self._there.add(mark)
            if made is not None:
                return made
        return None

    def flat(self, candidates: Iterable[Looked]) -> dict[str, str]:
        """Return by id which candidates tell no agents apart, by profiles made so far, and why."""
        out: dict[str, str] = {}
        if not self._draft.workspace.store.list(f"{self._draft.folder}/profiles"):
            return out  # so that no agent is read for it
        for one in candidates:
            with contextlib.suppress(StsError):  # of a category that is not here
                if (made := self.of(one)) is not None and made.flat:
                    out[one.summary.id] = made.flat
        return out

    def _now(self, one: Looked) -> Summary:
        return now(self._draft, one)

    def _basis(self, one: Looked) -> _Basis:
        name = self._now(one).category
        if name not in self._bases:
            rule = self._own.get(name) or categories.named(name)
            playing_it = playing(rule.domain, self._names).values()
            marks, whole = meanings([rule], [rule.domain])
            terms = {
                _FORMAT: _VERSION,
                "sts": sts.__version__,
                "continuations": self._count,
                "seed": self._seed,
                "rules": marks,
                "agents": {agent.name: agents.fingerprint(agent) for agent in playing_it},
            }
            names = tuple(agent.name for agent in playing_it)
            self._bases[name] = _Basis(names, canonical_json(terms), whole)
        return self._bases[name]

    def _place(self, one: Looked) -> str:
        """Return the name, in the store, of the files of a profile, without what they end with."""
        mark = content_hash(self._basis(one).mark, self._now(one).hash.encode())[:24]
        return f"{self._draft.folder}/profiles/{mark}"

    def _get(self, name: str) -> bytes | None:
        try:
            return self._draft.workspace.store.get(name)
        except FileNotFoundError:
            return None


def _written(profile: Profile) -> bytes:
    own = {
        "format": _FORMAT,
        "version_of_format": _VERSION,
        "scenario": profile.scenario,
        "labels": {name: [list(label) for label in own] for name, own in profile.labels.items()},
    }
    return canonical_json(own | {"hash": content_hash(canonical_json(own))}) + b"\n"


def unpacked(name: str, raw: bytes) -> Profile:
    """Return the profile in a file, and holds it to its hash."""
    try:
        own = in_format(name, raw, _FORMAT, _VERSION)
        if (number := own["version_of_format"]) != _VERSION:
            raise ValueError(f"it is of version {number}, and {_VERSION} is read")
        mark = own.pop("hash")
        if content_hash(canonical_json(own)) != mark:
            raise ValueError("it is not what was written")
        labels = {agent: tuple(map(_label_of, each)) for agent, each in own["labels"].items()}
        return Profile(str(own["scenario"]), labels)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _damaged(name, repr(error)) from None


def _damaged(name: str, why: str) -> DamagedData:
    return DamagedData(
        f"{name}: not the profile that its name stands for: {why}; move the file away and "
        "it is made again"
    )


def _label_of(given: Any) -> Label:
    verdict, step = given
    if verdict not in VERDICTS or not (step is None or type(step) is int):
        raise ValueError(f"no label: {given!r:.40}")
    return Label(verdict, step)
