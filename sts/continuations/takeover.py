"""Replay and takeover: the context is replayed and checked, then the agent takes control.

Source: Abramson et al. 2022, section 3.2.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import numpy as np

from sts import agents
from sts.agents.info import AgentInfo
from sts.continuations.recorded import Recorded, force_recording
from sts.continuations.types import Continuation, Identity, make_continuation
from sts.domains import Domain, Worlds, action_space, observation_shapes, silent_utterances
from sts.domains import load_domain as find_domain
from sts.engine.lockstep import Script, play_episodes
from sts.engine.replay import find_mismatches
from sts.engine.session import Team
from sts.episodes import Episode
from sts.errors import ArgumentError, ReplayMismatch
from sts.provenance import collect_provenance
from sts.storage.files import content_hash
from sts.suites.types import Scenario


class Shape(NamedTuple):
    """The properties that scenarios of one batch have in common; see also `group_by_shape`."""

    domain: str
    n_players: int
    objects: int
    takeover: int
    horizon: int
    players: tuple[int, ...]
    partner: str


def compute_shape(scenario: Scenario) -> Shape:
    """Return the scenario's shape."""
    recording = scenario.recording
    size = recording.domain, recording.n_players, recording.scene.shape[1]
    return Shape(*size, scenario.takeover, scenario.horizon, scenario.players, scenario.partner)


def continue_all(
    scenarios: Sequence[Scenario], agent: agents.Agent, *, seed: int, indices: Sequence[int]
) -> list[Continuation]:
    """Return a continuation of each scenario at each index, in that order.

    The scenarios are of one shape; see `group_by_shape`. The agent observes every replayed step, so
    its memory is warm at takeover, and keeps no mutable state outside it. `seed` selects its
    streams; the worlds' streams are the scenarios'.

    Raises:
      ArgumentError: the scenarios have several shapes.
      ReplayMismatch: a replayed step differs from the recording, or the state at takeover from the
        scenario's hash of it; names the scenario and the step.
      StsError: an agent changed its declared attributes while it played.
    """
    began = time.perf_counter()
    form = compute_shape(scenarios[0])
    if any(compute_shape(s) != form for s in scenarios):
        raise ArgumentError(
            "expected scenarios of one shape, found several; group them with group_by_shape"
        )
    domain = find_domain(form.domain)
    batch = [s for s in scenarios for _ in indices]
    mark = agents.fingerprint(agent)
    names = [Identity(s.hash, agent.name, mark, seed, i) for s in scenarios for i in indices]
    worlds = domain.restore([s.recording.state for s in batch])
    watch = make_replay_check(batch, form.takeover)
    watch(-1, worlds)
    script, repeats = make_script(domain, form, batch), isinstance(agent, Recorded)
    if repeats:
        script = force_recording(script, form.players, batch)
    instructions = None if repeats else [s.instructions for s in batch]
    teams = make_teams(form, None if repeats else agent, names)
    steps = form.takeover + form.horizon
    played = play_episodes(
        domain, worlds, teams, steps=steps, script=script, told=instructions, watch=watch
    )
    for team in teams:
        agents.check_unchanged(team.agent)
    declared = {name: getattr(agent, name, None) for name in ("trained_on", "played_by")}
    shared = {
        "sees": agent.sees,
        "deterministic": is_deterministic(agent, form.partner),
        "seconds": (time.perf_counter() - began) / len(batch),
        "provenance": collect_provenance()
        | {name: value for name, value in declared.items() if value},
    }
    continuations = []
    arrays = (played.actions, played.utterances, played.rewards, played.scene)
    for b, (s, name) in enumerate(zip(batch, names, strict=True)):
        episode = Episode(form.domain, s.recording.state, *(array[b] for array in arrays))
        log_probs = played.log_probs[b][:, form.players]
        continuations.append(make_continuation(s, name, episode, log_probs=log_probs, **shared))
    return continuations


def group_by_shape(scenarios: Sequence[Scenario]) -> list[list[Scenario]]:
    """Group scenarios so that each group can be continued in one batch."""
    groups: dict[tuple[Shape, Hashable], list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        groups[compute_shape(scenario), observation_shapes(scenario.recording)].append(scenario)
    return list(groups.values())


def is_deterministic(
    agent: agents.Agent | AgentInfo,
    partner: str,
    find: Callable[[str], agents.Agent | AgentInfo] = agents.load,
) -> bool:
    """Return True if all continuations are the same: neither the agent nor its partner draws."""
    name = parse_partner_agent(partner)
    return agent.deterministic and (not name or find(name).deterministic)


def parse_partner_agent(partner: str) -> str:
    """Return the agent's name from a partner policy `agent:NAME`, "" for any other policy."""
    kind, _, name = partner.partition(":")
    return name if kind == "agent" else ""


def make_teams(form: Shape, agent: agents.Agent | None, names: Sequence[Identity]) -> list[Team]:
    """Return the deciding teams: the agent, unless it is None, and a partner that is an agent."""
    teams = []
    if agent is not None:
        streams = np.array([name.random_stream("agent", agent.name) for name in names], np.uint64)
        teams.append(Team(agent, form.players, streams))
    if name := parse_partner_agent(form.partner):
        partner_players = tuple(p for p in range(form.n_players) if p not in form.players)
        partner = agents.load(name)
        streams = np.array([i.random_stream("partner", partner.name) for i in names], np.uint64)
        teams.append(Team(partner, partner_players, streams))
    return teams


def make_script(domain: Domain, form: Shape, scenarios: Sequence[Scenario]) -> Script:
    """Return the forced actions: the context, then partners that stand still or repeat it."""
    steps = form.takeover + form.horizon
    size = (len(scenarios), steps, form.n_players)
    actions = action_space(domain).fill(size, domain.noop)
    utterances = silent_utterances(domain, size)
    recorded_steps = steps if form.partner == "replay" else form.takeover
    for b, scenario in enumerate(scenarios):
        actions[b, :recorded_steps] = scenario.recording.actions[:recorded_steps]
        utterances[b, :recorded_steps] = scenario.recording.utterances[:recorded_steps]
    forced = np.zeros((steps, form.n_players), np.bool_)
    forced[: form.takeover] = True
    if not parse_partner_agent(form.partner):
        forced[form.takeover :] = True
        forced[form.takeover :, form.players] = False
    return Script(actions, utterances, forced)


def make_replay_check(
    scenarios: Sequence[Scenario], takeover: int
) -> Callable[[int, Worlds], None]:
    """Return a check of every replayed step against the recordings, and of the state at takeover.

    It is called with the number of a step and the worlds after it; before the first, with -1.
    """
    recordings = [s.recording for s in scenarios]

    def check(step: int, worlds: Worlds) -> None:
        if step >= takeover:
            return
        mismatches = find_mismatches(worlds, recordings, step) if step >= 0 else {}
        for b, mismatch in mismatches.items():
            raise ReplayMismatch(
                f"scenario {scenarios[b].id} does not replay: {mismatch.description}", step=step
            )
        if step == takeover - 1:
            for scenario, state in zip(scenarios, worlds.states(), strict=True):
                if content_hash(state) != scenario.takeover_hash:
                    raise ReplayMismatch(
                        f"scenario {scenario.id}: the state at takeover (step {takeover}) does "
                        "not match its hash",
                        step=takeover,
                    )

    return check
