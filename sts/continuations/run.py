"""Running agents over a suite: in batches, in processes, resumable at any moment."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from sts import agents
from sts.continuations import store
from sts.continuations.takeover import always_alike, by_shape, continue_all
from sts.continuations.types import Continuation, Identity
from sts.domains import foreign
from sts.errors import ArgumentError, StsError
from sts.jobs.pool import executor
from sts.jobs.tasks import NotTried, work_off
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario

BATCH = 200
MOST = 10_000


class Task(NamedTuple):
    """Scenarios of one shape that one agent continues in one batch.

    Attributes:
      agent: by name or `module:Class`.
      fingerprint: the agent's when this was planned; as another it is not done.
      scenarios: of one shape.
      seed: selects the agent's streams.
      indices: which continuations of each scenario.
    """

    agent: str
    fingerprint: str
    scenarios: tuple[Scenario, ...]
    seed: int
    indices: tuple[int, ...]


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
) -> Done:
    """Makes what is missing of `count` continuations for each scenario and agent, and keeps it.

    Killed and started again it goes on where it was, to the same content hashes. A scenario that
    fails costs no other, until an agent has failed too often (`sts.jobs.tasks.ENOUGH`): what was
    made is kept before an error is raised.

    Args:
      workspace: keeps the continuations.
      scenarios: to continue.
      names: agents by name or `module:Class`; each is made once in each process.
      count: continuations a scenario; one where neither the agent nor its partner draws.
      seed: selects the agents' streams.
      workers: processes; 1 works in this one, unless a world is `foreign`.
      progress: called with (continuations made, in all).

    Raises:
      ArgumentError: a count or number of workers under 1, a count over `MOST`, a seed that does
        not fit 64 bits, or one agent twice.
      StsError: scenarios failed; it is the error of the first, and counts the others. It is
        `Unavailable` where a worker process died of it.
    """
    if count < 1 or workers < 1:
        raise ArgumentError(f"expected 1 or more, found {count} continuations, {workers} workers")
    if count > MOST:
        raise ArgumentError(f"expected at most {MOST} continuations a scenario, found {count}")
    if not -(2**63) <= seed < 2**63:
        raise ArgumentError(f"expected a seed from {-(2**63)} to {2**63 - 1}, found {seed}")
    marks = _fingerprints(names)
    workspace.ensure()
    tasks, made, kept = [], dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for name in names:
        agent = agents.load(name)
        whole = Task(name, marks[name], tuple(scenarios), seed, tuple(range(count)))
        for task in _missing(workspace, whole, agent, workers):
            tasks.append(task)
            made[name] += _size(task)
        kept[name] = sum(_wanted(agent, one, count) for one in scenarios) - made[name]
    total, done = sum(made.values()), 0
    progress(done, total)
    failed: dict[str, list[Failure]] = {name: [] for name in names}
    work = functools.partial(perform, workspace)
    apart = any(foreign(task.scenarios[0].recording.domain) for task in tasks)
    with executor(workers, len(tasks), apart=apart) as there:
        for task, found in work_off(tasks, work, parts=_singly, owner=_agent_of, there=there):
            if isinstance(found, StsError):
                failed[task.agent] += [Failure(scenario.id, found) for scenario in task.scenarios]
            else:
                done += found
                progress(done, total)
    _raise_first(failed, [s.id for s in scenarios])
    return Done(made, kept, marks)


def _agent_of(task: Task) -> str:
    return task.agent


def _fingerprints(names: Sequence[str]) -> dict[str, str]:
    """Returns each agent's fingerprint; raises ArgumentError where one is named twice."""
    found: dict[tuple[str, str], str] = {}
    for name in names:
        agent = agents.load(name)
        who = agent.name, agents.fingerprint(agent)
        if who in found:
            raise ArgumentError(f"one agent is named twice: {found[who]} and {name}")
        found[who] = name
    return {name: mark for (_, mark), name in found.items()}


def _wanted(agent: agents.Agent, scenario: Scenario, count: int) -> int:
    return 1 if always_alike(agent, scenario.partner) else count


def _size(task: Task) -> int:
    return len(task.scenarios) * len(task.indices)


def _raise_first(failed: dict[str, list[Failure]], order: Sequence[str]) -> None:
    """Raises the first failure, in order of agents and scenarios, and counts the others."""
    every = [
        (name, one)
        for name, own in failed.items()
        for one in sorted(own, key=lambda f: order.index(f.scenario))
    ]
    tried = [(name, one) for name, one in every if not isinstance(one.error, NotTried)]
    if not tried:
        return
    name, first = tried[0]
    notes = [f"agent {name}"]
    if len(tried) > 1:
        notes.append(f"{len(tried) - 1} more failed")
    left = Counter(name for name, one in every if isinstance(one.error, NotTried))
    notes += [f"{name} was not tried in {count} more" for name, count in left.items()]
    line = first.error.about(f"scenario {first.scenario}")
    raise first.error.saying(f"{line} ({', '.join(notes)}; all that was made is kept)")


def _missing(
    workspace: Workspace, whole: Task, agent: agents.Agent, workers: int
) -> Iterator[Task]:
    """Yields what is not kept yet of a task, in batches of one shape and one set of indices.

    There are as many as workers where there are as many scenarios.
    """
    todo: dict[tuple[int, ...], list[Scenario]] = {}
    for scenario in whole.scenarios:
        one = Identity(scenario.hash, agent.name, whole.fingerprint, whole.seed, 0)
        have = store.indices(workspace, one)
        wanted = _wanted(agent, scenario, len(whole.indices))
        indices = tuple(i for i in range(wanted) if i not in have)
        if indices:
            todo.setdefault(indices, []).append(scenario)
    for indices, members in todo.items():
        for group in by_shape(members):
            step = max(1, min(BATCH // len(indices), -(-len(group) // workers)))
            for start in range(0, len(group), step):
                part = tuple(group[start : start + step])
                yield whole._replace(scenarios=part, indices=indices)


def perform(workspace: Workspace, task: Task) -> int:
    """Continues a task's scenarios, keeps what comes of it, and returns how much that is."""
    store.save(workspace, _continued(task))
    return _size(task)


def _singly(task: Task) -> list[Task]:
    return [task._replace(scenarios=(scenario,)) for scenario in task.scenarios]


def _continued(task: Task) -> list[Continuation]:
    """Returns the continuations of a task.

    A user's agent also plays the first of them alone: where that differs, its results depend on the
    batch, and each of its continuations says so.
    """
    agent = agents.planned(task.agent, task.fingerprint)
    found = continue_all(task.scenarios, agent, seed=task.seed, indices=task.indices)
    if task.agent not in agents.installed() and len(found) > 1:
        (alone,) = continue_all(task.scenarios[:1], agent, seed=task.seed, indices=task.indices[:1])
        if alone.content_hash != found[0].content_hash:
            found = [replace(one, batch_sensitive=True) for one in found]
    return found
