"""Replay and takeover: the context is replayed and checked, then the agent takes control.

Source: Abramson et al. 2022, section 3.2.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sts import agents
from sts.agents.info import AgentInfo
from sts.continuations.continuation import Continuation, Identity, make_continuation
from sts.continuations.recorded import Recorded
from sts.domains import (
    Domain,
    Worlds,
    action_space,
    load_domain,
    observation_shapes,
    silent_utterances,
)
from sts.engine.apart import play_apart
from sts.engine.lockstep import Script, play_episodes
from sts.engine.replay import find_mismatches, stack_recordings
from sts.engine.session import Team, bind_agent
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch
from sts.provenance import collect_provenance
from sts.storage.files import content_hash
from sts.suites.suite import Scenario


class Shape(NamedTuple):
    """The properties that scenarios of one batch have in common; see also `group_by_shape`."""

    domain: str
    n_players: int
    objects: int
    evaluated: int  # the number of players under evaluation
    partner_agent: str  # the agent that plays the others, or ""


def compute_shape(scenario: Scenario) -> Shape:
    """Return the scenario's shape."""
    recording = scenario.recording
    size = recording.domain, recording.n_players, recording.scene.shape[1]
    return Shape(*size, len(scenario.players), parse_partner_agent(scenario.partner))


def group_by_shape(scenarios: Sequence[Scenario]) -> list[list[Scenario]]:
    """Group scenarios so that each group can be continued in one batch."""
    groups: dict[tuple[Shape, Hashable], list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        groups[compute_shape(scenario), observation_shapes(scenario.recording)].append(scenario)
    return list(groups.values())


def continue_all(
    scenarios: Sequence[Scenario],
    agent: agents.Agent,
    *,
    seed: int,
    indices: Sequence[int],
    by_scenario: bool = False,
    provenance: Mapping[str, Any] | None = None,
) -> list[Continuation]:
    """Return a continuation of each scenario at each index, in that order.

    The scenarios are of one shape; see `group_by_shape`. They may differ in who is evaluated and in
    the lengths of context and continuation. The agent observes every replayed step, so its memory
    is warm at takeover, and keeps no mutable state outside it. If `by_scenario`, it gets those of
    one scenario at a time. `seed` selects its streams; the worlds' streams are the scenarios'.
    `provenance` is added to that of each continuation.

    Raises:
      ArgumentError: the scenarios have several shapes.
      ReplayMismatch: a replayed step differs from the recording, or the state at takeover from the
        scenario's hash of it; names the scenario and the step.
      StsError: an agent changed its declared attributes while it played.
    """
    began = time.perf_counter()
    shape = compute_shape(scenarios[0])
    if any(compute_shape(s) != shape for s in scenarios):
        raise ArgumentError(
            "expected scenarios of one shape, found several; group them with group_by_shape"
        )
    domain, count = load_domain(shape.domain), len(indices)
    order = sorted(range(len(scenarios)), key=lambda n: -scenarios[n].steps)
    longest_first = [scenarios[n] for n in order]
    batch = [s for s in longest_first for _ in indices]
    fingerprint = agents.fingerprint(agent)
    pairs = [(s.hash, i) for s in longest_first for i in indices]
    identities = [Identity(hash, agent.name, fingerprint, seed, i) for hash, i in pairs]
    worlds = domain.restore([s.recording.state for s in batch])
    watch = make_replay_check(batch)
    watch(-1, worlds)
    repeats = isinstance(agent, Recorded)
    once = make_script(domain, longest_first, recorded=repeats)
    script = Script(*(np.repeat(array, count, axis=0) for array in once))
    instructions = None if repeats else [s.instructions for s in batch]
    is_apart = by_scenario and not repeats
    player = play_apart(bind_agent(agent, domain), count) if is_apart else agent
    teams = make_teams(batch, None if repeats else player, identities)
    steps = np.array([s.steps for s in batch])
    played = play_episodes(
        domain, worlds, teams, steps=steps, script=script, instructions=instructions, watch=watch
    )
    if not repeats:
        agents.check_unchanged(agent)
    if shape.partner_agent:
        agents.check_unchanged(teams[-1].agent)
    declared = {name: getattr(agent, name, None) for name in ("trained_on", "played_by")}
    shared = {
        "sees": agent.sees,
        "deterministic": is_deterministic(agent, scenarios[0].partner),
        "together": count if by_scenario else 0,
        "seconds": (time.perf_counter() - began) / len(batch),
        "provenance": collect_provenance()
        | {name: value for name, value in declared.items() if value}
        | {**(provenance or {})},
    }
    made: list[list[Continuation]] = [[] for _ in scenarios]
    arrays = (played.actions, played.utterances, played.rewards)
    for b, (s, identity) in enumerate(zip(batch, identities, strict=True)):
        actions, utterances, rewards = (array[b, : s.steps] for array in arrays)
        scene, log_probs = (
            played.scene[b, : s.steps + 1],
            played.log_probs[b, : s.steps][:, s.players],
        )
        episode = Episode(shape.domain, s.recording.state, actions, utterances, rewards, scene)
        continuation = make_continuation(s, identity, episode, log_probs=log_probs, **shared)
        made[order[b // count]].append(continuation)
    return [continuation for members in made for continuation in members]


def is_deterministic(
    agent: agents.Agent | AgentInfo,
    partner: str,
    find_agent: Callable[[str], agents.Agent | AgentInfo] = agents.load,
) -> bool:
    """Return True if all continuations are the same: neither the agent nor its partner draws."""
    return all(player.deterministic for player in _iter_agents(agent, partner, find_agent))


def is_reproducible(
    agent: agents.Agent | AgentInfo,
    partner: str,
    find_agent: Callable[[str], agents.Agent | AgentInfo] = agents.load,
) -> bool:
    """Return True unless the agent or its partner declares that it cannot repeat itself."""
    return all(player.reproducible for player in _iter_agents(agent, partner, find_agent))


def _iter_agents(
    agent: agents.Agent | AgentInfo,
    partner: str,
    find_agent: Callable[[str], agents.Agent | AgentInfo],
) -> Iterator[agents.Agent | AgentInfo]:
    """Yield an agent, and its partner if that is an agent, too."""
    yield agent
    if name := parse_partner_agent(partner):
        yield find_agent(name)


def parse_partner_agent(partner: str) -> str:
    """Return the agent's name from a partner policy `agent:NAME`, "" for any other policy."""
    kind, _, name = partner.partition(":")
    return name if kind == "agent" else ""


def make_teams(
    scenarios: Sequence[Scenario], agent: agents.Agent | None, identities: Sequence[Identity]
) -> list[Team]:
    """Return the deciding teams: the agent, unless it is None, and a partner that is an agent."""
    teams = []
    if agent is not None:
        streams = [identity.random_stream("agent", agent.name) for identity in identities]
        teams.append(Team(agent, [s.players for s in scenarios], np.array(streams, np.uint64)))
    if name := parse_partner_agent(scenarios[0].partner):
        everyone = range(scenarios[0].recording.n_players)
        others = [[p for p in everyone if p not in s.players] for s in scenarios]
        partner = agents.load(name)
        streams = [identity.random_stream("partner", partner.name) for identity in identities]
        teams.append(Team(partner, others, np.array(streams, np.uint64)))
    return teams


def make_script(domain: Domain, scenarios: Sequence[Scenario], *, recorded: bool = False) -> Script:
    """Return the forced actions: the context, then partners that stand still or repeat it.

    If `recorded`, the evaluated players repeat it too.

    Raises:
      ArgumentError: a recording that is repeated ends before the horizon; names the scenario.
    """
    size = len(scenarios), max(s.steps for s in scenarios), scenarios[0].recording.n_players
    actions = action_space(domain).fill(size, domain.noop)
    utterances, forced = silent_utterances(domain, size), np.zeros(size, np.bool_)
    for b, s in enumerate(scenarios):
        others = [p for p in range(size[2]) if p not in s.players]
        repeating = [*(s.players if recorded else ()), *(others if s.partner == "replay" else ())]
        context, rest = slice(s.context), np.arange(s.context, s.steps)[:, None]
        if recorded and s.recording.steps < s.steps:
            raise ArgumentError(
                f"scenario {s.id}: recorded needs a recording of {s.steps} steps, to the horizon, "
                f"found {s.recording.steps}"
            )
        for out, done in ((actions, s.recording.actions), (utterances, s.recording.utterances)):
            out[b, context] = done[context]
            if repeating:
                out[b][rest, repeating] = done[rest, repeating]
        forced[b, context] = True
        forced[b, s.context : s.steps, s.players] = recorded
        if not parse_partner_agent(s.partner):
            forced[b][rest, others] = True
    return Script(actions, utterances, forced)


def make_replay_check(scenarios: Sequence[Scenario]) -> Callable[[int, Worlds], None]:
    """Return a check of every replayed step against the recordings, and of the state at takeover.

    It is called with the number of a step and the worlds after it, which are the first of them;
    before the first step, with -1.
    """
    takeover = np.array([s.context for s in scenarios])
    recorded = stack_recordings([s.recording for s in scenarios], takeover.tolist())

    def check(step: int, worlds: Worlds) -> None:
        if step >= takeover.max():
            return
        mismatches = find_mismatches(worlds, recorded, step) if step >= 0 else {}
        for b, mismatch in mismatches.items():
            raise ReplayMismatch(
                f"scenario {scenarios[b].id} does not replay: {mismatch.description}", step=step
            )
        rows = np.flatnonzero(takeover[: len(worlds.rewards)] == step + 1)
        if rows.size:
            states = worlds.select(rows).states()
            hashes = {state: content_hash(state) for state in set(states)}
            for b, state in zip(rows.tolist(), states, strict=True):
                if hashes[state] != scenarios[b].takeover_hash:
                    raise ReplayMismatch(
                        f"scenario {scenarios[b].id}: the state at takeover (step {step + 1}) does "
                        "not match its hash",
                        step=step + 1,
                    )

    return check
