"""Replay and takeover: the context is replayed and checked, then the agent has control.

Source: Abramson et al. 2022, section 3.2.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from sts import agents
from sts.agents.facts import Facts
from sts.continuations.recorded import Recorded, repeated
from sts.continuations.types import Continuation, Identity, continuation
from sts.domains import Domain, Worlds, action_space, shapes, silence
from sts.domains import domain as find_domain
from sts.engine.lockstep import Script, play
from sts.engine.replay import differences
from sts.engine.session import Team
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch
from sts.provenance import provenance
from sts.storage.files import content_hash
from sts.suites.types import Scenario


class Shape(NamedTuple):
    """What scenarios must share to be continued in one batch, beside the shapes of what is seen."""

    domain: str
    participants: int
    objects: int
    takeover: int
    horizon: int
    roles: tuple[int, ...]
    partner: str


def shape(scenario: Scenario) -> Shape:
    """Return the scenario's shape."""
    return Shape(
        scenario.recording.domain,
        scenario.recording.participants,
        scenario.recording.scene.shape[1],
        scenario.takeover,
        scenario.horizon,
        scenario.roles,
        scenario.partner,
    )


def continue_all(
    scenarios: Sequence[Scenario], agent: agents.Agent, *, seed: int, indices: Sequence[int]
) -> list[Continuation]:
    """Return a continuation of each scenario at each index, in that order.

    The agent observes every replayed step, so its memory is warm at takeover.

    Args:
      scenarios: of one shape; see `by_shape`.
      agent: keeps no mutable state outside the memory it returns.
      seed: selects the agent's streams; the worlds' streams are the scenarios'.
      indices: which of a scenario's continuations.

    Raises:
      ArgumentError: the scenarios are of several shapes.
      ReplayMismatch: a replayed step differs from the recording, or the state at takeover from the
        one the scenario names; says the scenario and the step.
      StsError: an agent changed what it declares while it played.
    """
    began = time.perf_counter()
    form = shape(scenarios[0])
    if any(shape(s) != form for s in scenarios):
        raise ArgumentError("expected scenarios of one shape; see by_shape")
    domain = find_domain(form.domain)
    every = [s for s in scenarios for _ in indices]
    mark = agents.fingerprint(agent)
    names = [
        Identity(s.hash, agent.name, mark, seed, index) for s in scenarios for index in indices
    ]
    worlds = domain.restore([s.recording.state for s in every])
    watch = Watch(every, form.takeover)
    watch.start(worlds)
    script, repeats = script_of(domain, form, every), isinstance(agent, Recorded)
    if repeats:
        script = repeated(script, form.roles, every)
    given = None if repeats else [s.instructions for s in every]
    teams = teams_of(form, None if repeats else agent, names)
    steps = form.takeover + form.horizon
    played = play(domain, worlds, teams, steps=steps, script=script, told=given, watch=watch)
    for team in teams:
        agents.check_unchanged(team.agent)
    known = {name: getattr(agent, name, None) for name in ("trained_on", "played_by")}
    shared = {
        "sees": agent.sees,
        "deterministic": always_alike(agent, form.partner),
        "seconds": (time.perf_counter() - began) / len(every),
        "provenance": provenance() | {name: value for name, value in known.items() if value},
    }
    made = []
    for b, (s, name) in enumerate(zip(every, names, strict=True)):
        done = (array[b] for array in (played.moves, played.says, played.rewards, played.scene))
        episode = Episode(form.domain, s.recording.state, *done)
        own = played.log_probs[b][:, form.roles]
        made.append(continuation(s, name, episode, log_probs=own, **shared))
    return made


def by_shape(scenarios: Sequence[Scenario]) -> list[list[Scenario]]:
    """Return the scenarios grouped so that each group can be continued in one batch."""
    groups: dict[tuple[Shape, Hashable], list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        groups[shape(scenario), shapes(scenario.recording)].append(scenario)
    return list(groups.values())


def always_alike(
    agent: agents.Agent | Facts,
    partner: str,
    find: Callable[[str], agents.Agent | Facts] = agents.load,
) -> bool:
    """Return True if one continuation is enough: neither the agent nor a partner draws."""
    name = partner_of(partner)
    return agent.deterministic and (not name or find(name).deterministic)


def partner_of(partner: str) -> str:
    """Return the name of the agent that a partner policy names, "" for any other policy."""
    kind, _, name = partner.partition(":")
    return name if kind == "agent" else ""


def teams_of(form: Shape, agent: agents.Agent | None, names: Sequence[Identity]) -> list[Team]:
    """Return who decides: the agent unless a person does, and a partner that is an agent."""
    teams = []
    if agent is not None:
        streams = np.array([one.stream("agent", agent.name) for one in names], np.uint64)
        teams.append(Team(agent, form.roles, streams))
    if name := partner_of(form.partner):
        others = tuple(p for p in range(form.participants) if p not in form.roles)
        partner = agents.load(name)
        own = np.array([one.stream("partner", partner.name) for one in names], np.uint64)
        teams.append(Team(partner, others, own))
    return teams


def script_of(domain: Domain, form: Shape, every: Sequence[Scenario]) -> Script:
    """Return what is forced: the context, and then partners that stay or repeat the recording."""
    steps = form.takeover + form.horizon
    size = (len(every), steps, form.participants)
    moves, says = action_space(domain).full(size, domain.noop), silence(domain, size)
    known = steps if form.partner == "replay" else form.takeover
    for b, scenario in enumerate(every):
        moves[b, :known] = scenario.recording.moves[:known]
        says[b, :known] = scenario.recording.says[:known]
    forced = np.zeros((steps, form.participants), np.bool_)
    forced[: form.takeover] = True
    if not partner_of(form.partner):
        forced[form.takeover :] = True
        forced[form.takeover :, form.roles] = False
    return Script(moves, says, forced)


class Watch:
    """Holds every replayed step against the recording, and the state at takeover to its hash."""

    def __init__(self, every: Sequence[Scenario], takeover: int) -> None:
        self._every = every
        self._recordings = [s.recording for s in every]
        self._takeover = takeover

    def start(self, worlds: Worlds) -> None:
        """Check a scenario without context before its first step."""
        if self._takeover == 0:
            self._at_takeover(worlds)

    def __call__(self, step: int, worlds: Worlds) -> None:
        """Check `worlds` after `step`."""
        if step >= self._takeover:
            return
        for b, mismatch in differences(worlds, self._recordings, step).items():
            raise ReplayMismatch(
                f"scenario {self._every[b].id} does not replay: {mismatch.what}", step=step
            )
        if step == self._takeover - 1:
            self._at_takeover(worlds)

    def _at_takeover(self, worlds: Worlds) -> None:
        for scenario, state in zip(self._every, worlds.states(), strict=True):
            if content_hash(state) != scenario.takeover_hash:
                raise ReplayMismatch(
                    f"scenario {scenario.id}: the state at takeover (step {self._takeover}) is not "
                    "the one its hash names",
                    step=self._takeover,
                )
