"""Running agents over a suite: by a plan, in batches, in processes, resumable at any moment."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sts import agents
from sts.agents.facts import Facts, apart, gather
from sts.continuations import parts, store
from sts.continuations.plan import Chunk, planned
from sts.continuations.takeover import by_shape, continue_all, partner_of
from sts.continuations.types import Continuation
from sts.domains import domain as find_domain
from sts.domains import foreign
from sts.domains.random import Random
from sts.engine.session import check_domain, fit
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import LOCAL, executor
from sts.jobs.tasks import NotTried, work_off
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario

MOST = 10_000


class Failure(NamedTuple):
    """The id of a scenario that an agent could not continue, and why."""

    scenario: str
    error: StsError


class Done(NamedTuple):
    """What `run` made and found: continuations, and the fingerprint, per agent as it was named."""

    made: dict[str, int]
    kept: dict[str, int]
    fingerprints: dict[str, str]


def run(
    workspace: Workspace,
    scenarios: Sequence[Scenario],
    names: Sequence[str],
    *,
    count: int,
    seed: int,
    workers: int,
    progress: Callable[[int, int], None],
    suite: str = "",
    by: str = LOCAL,
    mention: Callable[[str, StsError], None] = lambda agent, error: None,
) -> Done:
    """Make what is missing of `count` continuations for each scenario and agent, and keeps it.

    Killed and started again it goes on where it was, to the same content hashes. A scenario that
    fails costs no other, until an agent has failed too often (`sts.jobs.tasks.ENOUGH`): what was
    made is kept before an error is raised. An agent that this distribution does not install is
    loaded and played in a worker process of its own, so that whatever it does costs no other agent.

    Args:
      workspace: keeps the continuations.
      scenarios: to continue.
      names: agents by name or `module:Class`.
      count: continuations a scenario; one where neither the agent nor its partner draws.
      seed: selects the agents' streams.
      workers: processes; 1 works in this one, unless a world is `foreign` or an agent a user's.
      progress: called with (continuations made, in all).
      suite: the hash of the suite that the scenarios are of.
      by: the name of the executor.
      mention: called with an agent and an error of it that was made good by another attempt.

    Raises:
      ArgumentError: a count or number of workers under 1, a count over `MOST`, a seed that does
        not fit 64 bits, one agent twice, no such executor, or an agent that does not `fit` the
        domain of a scenario: nothing has run then.
      DamagedData: a part is damaged, or disagrees with what was made.
      StsError: scenarios failed, or agents could not be loaded; it is the error of the first, and
        counts the others. It is `Unavailable` if a worker process died of it.
    """
    if count < 1 or workers < 1:
        raise ArgumentError(f"expected 1 or more, found {count} continuations, {workers} workers")
    if count > MOST:
        raise ArgumentError(f"expected at most {MOST} continuations a scenario, found {count}")
    if not -(2**63) <= seed < 2**63:
        raise ArgumentError(f"expected a seed from {-(2**63)} to {2**63 - 1}, found {seed}")
    known, lost = _known(names, scenarios)
    sound = [name for name in names if name not in lost]
    _check_domains({name: known[name] for name in sound}, scenarios)
    workspace.ensure()
    index = store.opened(workspace)
    plan = planned(index, scenarios, sound, known, count=count, seed=seed, suite=suite)
    total, finished = sum(plan.made.values()), 0
    progress(finished, total)
    failed: dict[str, list[Failure]] = {name: [] for name in names}
    work = functools.partial(perform, workspace)
    alone = any(foreign(one.shares[0].scenario.recording.domain) for one in plan.chunks)
    with executor(workers, len(plan.chunks), apart=alone, name=by) as there:
        chunks = work_off(
            plan.chunks,
            work,
            parts=lambda chunk: chunk.parts,
            owner=lambda chunk: chunk.agent,
            there=there,
            apart=_users_of,
            mention=lambda chunk, error: mention(chunk.agent, error),
        )
        for chunk, outcome in chunks:
            if isinstance(outcome, StsError):
                failed[chunk.agent] += [Failure(s.scenario.id, outcome) for s in chunk.shares]
            else:
                finished += outcome
                progress(finished, total)
    if finished:
        store.opened(workspace)  # whoever reads it next need not
    _raise_first(failed, lost, [s.id for s in scenarios])
    return Done(plan.made, plan.kept, {name: known[name].fingerprint for name in names})


def _users_of(chunk: Chunk) -> str:
    """Return the names of the agents in a chunk that are played in a process of their own."""
    partners = sorted({partner_of(share.scenario.partner) for share in chunk.shares})
    return " ".join(filter(None, [apart(chunk.agent), *map(apart, filter(None, partners))]))


def _known(
    names: Sequence[str], scenarios: Sequence[Scenario]
) -> tuple[dict[str, Facts], dict[str, StsError]]:
    """Return the facts of agents and their partners, and the errors of agents without any.

    Raises:
      ArgumentError: one is not an agent, or is named twice.
      StsError: a partner cannot be loaded.
    """
    partners = {partner_of(one.partner) for one in scenarios} - {""}
    found = gather([*names, *sorted(partners)])
    known = {name: own for name, own in found.items() if isinstance(own, Facts)}
    lost = {name: error for name, error in found.items() if isinstance(error, StsError)}
    if missing := sorted(partners & lost.keys()):
        raise lost[missing[0]]
    seen: dict[tuple[str, str], str] = {}
    for name in filter(known.get, names):
        who = known[name].name, known[name].fingerprint
        if who in seen:
            raise ArgumentError(f"one agent is named twice: {seen[who]} and {name}")
        seen[who] = name
    return known, lost


def _check_domains(known: Mapping[str, Facts], scenarios: Sequence[Scenario]) -> None:
    """Refuse agents that do not fit the scenarios' domains; none is loaded here that runs apart."""
    ours = [agents.load(name) for name in known if not apart(name)]
    players = [agent for agent in ours if isinstance(agent, Random)]
    for domain in sorted({one.recording.domain for one in scenarios}):
        for own in known.values():
            check_domain(own, domain)
        if not players:  # no other agent needs the world to be looked at
            continue
        try:
            world = find_domain(domain)
        except StsError:  # its scenarios fail by themselves, and cost no others
            continue
        for agent in players:
            fit(agent, world)


def _raise_first(
    failed: Mapping[str, Sequence[Failure]], lost: Mapping[str, StsError], order: Sequence[str]
) -> None:
    """Raise the first failure, in order of agents and scenarios, and count the others."""
    every = [
        (name, one)
        for name, own in failed.items()
        for one in sorted(own, key=lambda f: order.index(f.scenario))
    ]
    tried = [(name, one) for name, one in every if not isinstance(one.error, NotTried)]
    others = list(dict.fromkeys([*lost, *(name for name, _ in tried)]))
    if not others:
        return
    if lost:
        error, notes = lost[others[0]], [f"{len(tried)} scenarios failed"] if tried else []
    else:
        first = tried[0][1]
        error, notes = first.error.about(f"scenario {first.scenario}"), [f"agent {others[0]}"]
        notes += [f"{len(tried) - 1} more failed"] if len(tried) > 1 else []
    notes += [f"{other} failed, too" for other in others[1:]]
    left = Counter(name for name, one in every if isinstance(one.error, NotTried))
    notes += [f"{name} was not tried in {count} more" for name, count in left.items()]
    told = ", ".join(notes) + "; " if notes else ""
    raise error.saying(f"{error} ({told}all that was made is kept)")


def perform(workspace: Workspace, chunk: Chunk) -> int:
    """Make a chunk's continuations, keeps them as one part, and return how many they are.

    Raises:
      ArgumentError: the agent, or the suite, is another than was planned.
      DamagedData: the part is there, and holds others.
      StsError: a scenario failed; nothing is kept.
    """
    chunk.check()
    agent = agents.planned(chunk.agent, chunk.fingerprint)
    alike: dict[tuple[int, ...], list[Scenario]] = {}
    for scenario, indices in chunk.shares:
        alike.setdefault(indices, []).append(scenario)
    made: list[Continuation] = []
    for indices, scenarios in alike.items():
        for batch in by_shape(scenarios):
            made += _continued(chunk, agent, batch, indices)
    parts.put(workspace.store, parts.name_of(chunk.plan, chunk.number), made)
    return chunk.size


def _continued(
    chunk: Chunk, agent: agents.Agent, scenarios: Sequence[Scenario], indices: Sequence[int]
) -> list[Continuation]:
    """Return the continuations of a batch, which are of one shape.

    A user's agent also plays the first of them alone: where that differs, its results depend on the
    batch. Then each scenario is made as a whole by itself, so that nothing depends on which others
    are there, and each continuation says so.
    """
    made = continue_all(scenarios, agent, seed=chunk.seed, indices=indices)
    if chunk.agent in agents.installed() or len(made) == 1:
        return made
    (alone,) = continue_all(scenarios[:1], agent, seed=chunk.seed, indices=indices[:1])
    if alone.content_hash == made[0].content_hash:
        return made
    return [
        replace(one, together=len(indices))
        for scenario in scenarios
        for one in continue_all([scenario], agent, seed=chunk.seed, indices=indices)
    ]
