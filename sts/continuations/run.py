"""Running agents over a suite: in batches, in processes, resumable at any moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import replace
from typing import NamedTuple

from sts import agents
from sts.continuations import store
from sts.continuations.engine import by_shape, continue_all
from sts.continuations.types import Identity
from sts.errors import ArgumentError
from sts.suites.types import Scenario
from sts.workers import pool
from sts.workspace import Workspace

BATCH = 200
MOST = 10_000


class Task(NamedTuple):
    """Scenarios of one shape that one agent continues in one batch."""

    agent: str
    scenarios: tuple[Scenario, ...]
    seed: int
    indices: tuple[int, ...]


class Done(NamedTuple):
    """What `run` made and found: continuations per agent name."""

    made: dict[str, int]
    kept: dict[str, int]


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

    Killed and started again it goes on where it was, to the same content hashes.

    Args:
      workspace: keeps the continuations.
      scenarios: to continue.
      names: agents by name or `module:Class`; each is made once in each process.
      count: continuations a scenario; a deterministic agent gets one.
      seed: selects the agents' streams.
      workers: processes; 1 works in this one.
      progress: called with (continuations made, in all).

    Raises:
      ArgumentError: a count or number of workers under 1, a count over `MOST`, a seed that does
        not fit 64 bits, or one agent twice.
    """
    if count < 1 or workers < 1:
        raise ArgumentError(f"expected 1 or more, found {count} continuations, {workers} workers")
    if count > MOST:
        raise ArgumentError(f"expected at most {MOST} continuations a scenario, found {count}")
    if not -(2**63) <= seed < 2**63:
        raise ArgumentError(f"expected a seed from {-(2**63)} to {2**63 - 1}, found {seed}")
    if len(set(names)) < len(names):
        raise ArgumentError(f"an agent is named twice: {', '.join(names)}")
    workspace.ensure()
    tasks, made, kept = [], dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for name in names:
        for task in _missing(workspace, scenarios, name, count, seed):
            tasks.append(task)
            made[name] += _size(task)
        agent = agents.load(name)
        kept[name] = len(scenarios) * (1 if agent.deterministic else count) - made[name]
    total, done = sum(made.values()), 0
    progress(done, total)
    for task in _work(workspace, tasks, workers):
        done += _size(task)
        progress(done, total)
    return Done(made, kept)


def _size(task: Task) -> int:
    return len(task.scenarios) * len(task.indices)


def _missing(
    workspace: Workspace, scenarios: Sequence[Scenario], name: str, count: int, seed: int
) -> Iterator[Task]:
    """Yields what is not kept yet, in batches of one shape and one set of indices."""
    agent = agents.load(name)
    mark = agents.fingerprint(agent)
    wanted = range(1 if agent.deterministic else count)
    for group in by_shape(scenarios):
        todo: dict[tuple[int, ...], list[Scenario]] = {}
        for scenario in group:
            have = store.indices(workspace, Identity(scenario.hash, agent.name, mark, seed, 0))
            indices = tuple(i for i in wanted if i not in have)
            if indices:
                todo.setdefault(indices, []).append(scenario)
        for indices, members in todo.items():
            step = max(1, BATCH // len(indices))
            for start in range(0, len(members), step):
                yield Task(name, tuple(members[start : start + step]), seed, indices)


def _work(workspace: Workspace, tasks: Sequence[Task], workers: int) -> Iterator[Task]:
    if workers == 1 or len(tasks) < 2:
        for task in tasks:
            yield perform(workspace, task)
        return
    with pool(min(workers, len(tasks))) as executor:
        futures = [executor.submit(perform, workspace, task) for task in tasks]
        for future in as_completed(futures):
            yield future.result()


def perform(workspace: Workspace, task: Task) -> Task:
    """Continues a task's scenarios, keeps them, and returns the task.

    A user's agent also plays the first of them alone: where that differs, its results depend on the
    batch, and each of its continuations says so.
    """
    agent = agents.load(task.agent)
    found = continue_all(task.scenarios, agent, seed=task.seed, indices=task.indices)
    if task.agent not in agents.known() and len(found) > 1:
        (alone,) = continue_all(task.scenarios[:1], agent, seed=task.seed, indices=task.indices[:1])
        if alone.content_hash != found[0].content_hash:
            found = [replace(one, batch_sensitive=True) for one in found]
    store.save(workspace, found)
    return task
