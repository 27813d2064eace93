"""Running agents over a suite: planned, batched, in processes, resumable at any time."""

import functools
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sts import agents
from sts.agents.info import AgentInfo, is_users, isolation_key, load_infos
from sts.continuations import parts
from sts.continuations.continuation import Continuation
from sts.continuations.index import PLANNING, open_index
from sts.continuations.plan import Chunk, make_plan, plan_count
from sts.continuations.replay import ReplayChecks
from sts.continuations.requests import record_request
from sts.continuations.takeover import (
    continue_all,
    group_by_shape,
    is_reproducible,
    parse_partner_agent,
)
from sts.domains import is_third_party, load_domain
from sts.domains.random import Random
from sts.engine.session import bind_agent, check_domain
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import LOCAL, create_executor
from sts.jobs.tasks import TaskSkipped, run_tasks
from sts.storage.workspace import Workspace
from sts.suites.suite import Scenario

MAX_PER_SCENARIO = 10_000


class Failure(NamedTuple):
    """A scenario, by id, that an agent could not continue, and the error."""

    agent: str
    scenario: str
    error: StsError


class RunResult(NamedTuple):
    """The result of `run`, by the names under which the agents were given."""

    new: dict[str, int]  # number of new continuations
    reused: dict[str, int]  # number of reused ones
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
    executor: str = LOCAL,
    replay: bool = True,
    on_recovery: Callable[[str, StsError], None] = lambda agent, error: None,
) -> RunResult:
    """Run agents until each scenario has `count` continuations of each, and store the new ones.

    A run that was killed resumes when it is started again and gives the same content hashes. A
    scenario that fails does not stop the others, until an agent has failed too often
    (`sts.jobs.tasks.MIN_FAILURES`); finished work is stored before an error is raised. An agent
    that this distribution does not install is loaded and played in a worker process of its own, so
    that its crashes affect no other agent.

    A scenario gets 1 continuation if neither the agent nor its partner draws. One worker is this
    process, unless a world is `is_third_party` or an agent a user's. `suite` is a hash, `executor`
    a name. `replay` plays some continuations of each user's agent again in another
    process, unless it declares that it is not reproducible. `progress` is called with
    (continuations made, in all), `on_recovery` with an agent and an error that a retry recovered
    from.

    Raises:
      ArgumentError: a count or number of workers under 1, a count over `MAX_PER_SCENARIO`, a seed
        that does not fit 64 bits, one agent twice, no such executor, or an agent that does not fit
        the domain of a scenario; nothing has run then.
      DamagedData: a part is damaged, or disagrees with the new continuations.
      StsError: scenarios failed, or agents could not be loaded or played again; it is the error of
        the first and counts the others. Nothing new is kept of an agent that played otherwise. It
        is `Unavailable` if a worker process died of it.
    """
    if count < 1 or workers < 1:
        raise ArgumentError(f"expected 1 or more, found {count} continuations, {workers} workers")
    if count > MAX_PER_SCENARIO:
        raise ArgumentError(
            f"expected at most {MAX_PER_SCENARIO} continuations a scenario, found {count}"
        )
    if not -(2**63) <= seed < 2**63:
        raise ArgumentError(f"expected a seed from {-(2**63)} to {2**63 - 1}, found {seed}")
    infos, lost = _gather_facts(names, scenarios)
    loaded = [name for name in names if name not in lost]
    _check_domains({name: infos[name] for name in loaded}, scenarios)
    workspace.create()
    index = open_index(workspace.store, columns=PLANNING)
    plan = make_plan(index, scenarios, loaded, infos, count=count, seed=seed, suite=suite)
    for name in loaded:
        counts = {s.hash: plan_count(infos[name], s, infos.__getitem__, count) for s in scenarios}
        record_request(workspace.store, infos[name].name, infos[name].fingerprint, seed, counts)
    total, finished = sum(plan.new.values()), 0
    progress(finished, total)
    failures: list[Failure] = []
    work = functools.partial(_run_in_process, workspace)
    is_foreign = any(is_third_party(c.shares[0].scenario.recording.domain) for c in plan.chunks)
    repeatable = {
        name: [s for s in scenarios if is_reproducible(infos[name], s.partner, infos.__getitem__)]
        for name in loaded
    }
    checked = {
        name: infos[name]
        for name in loaded
        if replay and any(_is_played_by_users(name, s.partner) for s in repeatable[name])
    }
    part_names: dict[str, list[str]] = {name: [] for name in checked}
    with (
        ReplayChecks(workspace.store, checked, repeatable, seed=seed, workers=workers) as replays,
        create_executor(workers, len(plan.chunks), isolated=is_foreign, name=executor) as jobs,
    ):
        for name in checked:
            if plan.reused[name]:
                replays.add_stored(index, name)
        chunks = run_tasks(
            [chunk._replace(replay=replay) for chunk in plan.chunks],
            work,
            split=Chunk.split,
            owner=lambda chunk: chunk.agent,
            executor=jobs,
            isolation_key=_isolated_agents,
            on_recovery=lambda chunk, error: on_recovery(chunk.agent, error),
        )
        for chunk, outcome in chunks:
            if isinstance(outcome, StsError):
                failures += [Failure(chunk.agent, s.scenario.id, outcome) for s in chunk.shares]
            else:
                finished += chunk.size
                progress(finished, total)
                if chunk.agent in checked:
                    part_names[chunk.agent].append(parts.part_name(chunk.plan, chunk.number))
                    replays.add_part(chunk.agent, outcome, part_names[chunk.agent][-1])
        differing = replays.finish()
    for name in differing:
        for part in part_names[name]:
            workspace.path(part).unlink(missing_ok=True)
    lost |= differing
    if finished:
        open_index(workspace.store)  # saves the next reader the update
    order = [s.id for s in scenarios]
    failures.sort(key=lambda f: (names.index(f.agent), order.index(f.scenario)))
    _raise_first(failures, lost, kept="other finished" if differing else "finished")
    return RunResult(plan.new, plan.reused, {name: infos[name].fingerprint for name in names})


def _is_played_by_users(name: str, partner: str) -> bool:
    """Return True unless this distribution contains both an agent and its partner."""
    return any(map(is_users, filter(None, (name, parse_partner_agent(partner)))))


def _isolated_agents(chunk: Chunk) -> str:
    """Return the names of a chunk's agents that are played in a process of their own."""
    partners = sorted({parse_partner_agent(share.scenario.partner) for share in chunk.shares})
    return " ".join(
        filter(None, [isolation_key(chunk.agent), *map(isolation_key, filter(None, partners))])
    )


def _gather_facts(
    names: Sequence[str], scenarios: Sequence[Scenario]
) -> tuple[dict[str, AgentInfo], dict[str, StsError]]:
    """Return the facts of agents and their partners, and the errors of agents that fail to load.

    Raises:
      ArgumentError: one is not an agent, or is named twice.
      StsError: a partner cannot be loaded.
    """
    partners = {parse_partner_agent(scenario.partner) for scenario in scenarios} - {""}
    gathered = load_infos([*names, *sorted(partners)])
    infos = {name: facts for name, facts in gathered.items() if isinstance(facts, AgentInfo)}
    lost = {name: error for name, error in gathered.items() if isinstance(error, StsError)}
    if missing := sorted(partners & lost.keys()):
        raise lost[missing[0]]
    first_names: dict[tuple[str, str], str] = {}
    for name in filter(infos.get, names):
        key = infos[name].name, infos[name].fingerprint
        if key in first_names:
            raise ArgumentError(
                f"{first_names[key]} and {name} are the same agent: name each agent once"
            )
        first_names[key] = name
    return infos, lost


def _check_domains(infos: Mapping[str, AgentInfo], scenarios: Sequence[Scenario]) -> None:
    """Raise an error if an agent does not fit a domain; third-party agents are not loaded here."""
    loaded = [agents.load(name) for name in infos if not isolation_key(name)]
    players = [agent for agent in loaded if isinstance(agent, Random)]
    for domain in sorted({scenario.recording.domain for scenario in scenarios}):
        for facts in infos.values():
            check_domain(facts, domain)
        if not players:  # only they depend on the action space
            continue
        try:
            world = load_domain(domain)
        except StsError:  # reported when its scenarios are run
            continue
        for agent in players:
            bind_agent(agent, world)


def _raise_first(failures: Sequence[Failure], lost: Mapping[str, StsError], kept: str) -> None:
    """Raise the first failure, with the number of others."""
    tried = [f for f in failures if not isinstance(f.error, TaskSkipped)]
    failed_names = list(dict.fromkeys([*lost, *(f.agent for f in tried)]))
    if not failed_names:
        return
    if lost:
        error, notes = lost[failed_names[0]], [f"{len(tried)} scenarios failed"] if tried else []
    else:
        first = tried[0]
        error = first.error.with_prefix(f"scenario {first.scenario}")
        notes = [f"agent {first.agent}"]
        notes += [f"{len(tried) - 1} more failed"] if len(tried) > 1 else []
    notes += [f"{other} also failed" for other in failed_names[1:]]
    skipped = Counter(f.agent for f in failures if isinstance(f.error, TaskSkipped))
    notes += [f"{name} skipped {count} more" for name, count in skipped.items()]
    summary = ", ".join(notes) + "; " if notes else ""
    raise error.with_message(f"{error} ({summary}{kept} continuations are kept)")


def _run_in_process(workspace: Workspace, chunk: Chunk) -> int:
    """Run a chunk and return the ID of this process."""
    run_chunk(workspace, chunk)
    return os.getpid()


def run_chunk(workspace: Workspace, chunk: Chunk) -> int:
    """Make a chunk's continuations, store them as one part, and return how many they are.

    Raises:
      ArgumentError: the agent or the suite differs from the planned one.
      DamagedData: the part exists and holds others.
      StsError: a scenario failed; nothing is stored.
    """
    chunk.check()
    agent = agents.load_planned(chunk.agent, chunk.fingerprint)
    by_indices: dict[tuple[int, ...], list[Scenario]] = {}
    for scenario, indices in chunk.shares:
        by_indices.setdefault(indices, []).append(scenario)
    continuations: list[Continuation] = []
    for indices, scenarios in by_indices.items():
        for batch in group_by_shape(scenarios):
            continuations += _continue_batch(chunk, agent, batch, indices)
    name = parts.part_name(chunk.plan, chunk.number)
    if all(is_reproducible(agent, share.scenario.partner) for share in chunk.shares):
        parts.write_part(workspace.store, name, continuations)
    else:  # a second attempt gives others: the stored ones stay
        raw = parts.encode_part(name, continuations)
        workspace.store.put_new(name, raw, lambda stored, new: True)
    return chunk.size


def _continue_batch(
    chunk: Chunk, agent: agents.Agent, scenarios: Sequence[Scenario], indices: Sequence[int]
) -> list[Continuation]:
    """Return the continuations of a batch of scenarios of one shape.

    A user's agent also plays the first of them alone. If the result differs, it depends on the
    batch: it is then given one scenario at a time, and its continuations are marked (`together`).
    An agent that is not reproducible, or whose partner is not, would differ anyway.
    """
    provenance: dict[str, Any] = {} if chunk.agent == agent.name else {"agent": chunk.agent}
    if not (reproducible := is_reproducible(agent, scenarios[0].partner)):
        provenance["reproducible"] = False
    elif not chunk.replay and _is_played_by_users(chunk.agent, scenarios[0].partner):
        provenance["replayed"] = False
    play = functools.partial(continue_all, agent=agent, seed=chunk.seed, provenance=provenance)
    continuations = play(scenarios, indices=indices)
    is_installed = chunk.agent in agents.list_installed()
    if is_installed or not reproducible or len(continuations) == 1:
        return continuations
    (single,) = play(scenarios[:1], indices=indices[:1])
    if single.content_hash == continuations[0].content_hash:
        return continuations
    return play(scenarios, indices=indices, by_scenario=True)
