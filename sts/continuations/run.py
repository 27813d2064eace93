"""Running agents over a suite: in batches, in processes, resumable at any moment."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import replace
from typing import NamedTuple

from sts import agents
from sts.continuations import store
from sts.continuations.engine import always_alike, by_shape, continue_all
from sts.continuations.types import Continuation, Identity
from sts.domains.guard import end_at_last
from sts.errors import ArgumentError, StsError, Unavailable
from sts.suites.types import Scenario
from sts.workers import WorkerDied, pool
from sts.workspace import Workspace

BATCH = 200
MOST = 10_000
ENOUGH = 3
"""Scenarios that an agent fails in before it is not tried further: a world may hang in each."""
DIED = (
    "its process died: the world or the agent ended it, or did not come back where nothing could "
    "interrupt it, or it wanted memory"
)


class Task(NamedTuple):
    """Scenarios of one shape that one agent continues in one batch."""

    agent: str
    scenarios: tuple[Scenario, ...]
    seed: int
    indices: tuple[int, ...]


class Failure(NamedTuple):
    """The id of a scenario that an agent could not continue, and why."""

    scenario: str
    error: StsError


class Outcome(NamedTuple):
    """What came of a task: how many continuations were kept, and what failed."""

    made: int
    failures: tuple[Failure, ...]


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

    Killed and started again it goes on where it was, to the same content hashes. A scenario that
    fails costs no other, until an agent has failed in `ENOUGH` of them and is not tried further:
    what was made is kept before an error is raised.

    Args:
      workspace: keeps the continuations.
      scenarios: to continue.
      names: agents by name or `module:Class`; each is made once in each process.
      count: continuations a scenario; one where neither the agent nor its partner draws.
      seed: selects the agents' streams.
      workers: processes; 1 works in this one.
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
    _check_named_once(names)
    workspace.ensure()
    tasks, made, kept = [], dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for name in names:
        for task in _missing(workspace, scenarios, name, count, seed, workers):
            tasks.append(task)
            made[name] += _size(task)
        agent = agents.load(name)
        kept[name] = sum(_wanted(agent, one, count) for one in scenarios) - made[name]
    total, done = sum(made.values()), 0
    progress(done, total)
    failed: dict[str, list[Failure]] = {name: [] for name in names}
    for name, outcome in _work(workspace, tasks, workers, failed):
        done += outcome.made
        progress(done, total)
        failed[name] += outcome.failures
    _raise_first(failed, [s.id for s in scenarios])
    return Done(made, kept)


def _check_named_once(names: Sequence[str]) -> None:
    found: dict[tuple[str, str], str] = {}
    for name in names:
        agent = agents.load(name)
        who = agent.name, agents.fingerprint(agent)
        if who in found:
            raise ArgumentError(f"one agent is named twice: {found[who]} and {name}")
        found[who] = name


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
    if not every:
        return
    name, first = every[0]
    notes = [f"agent {name}"]
    if len(every) > 1:
        notes.append(f"{len(every) - 1} more failed")
    notes += [f"{n} is not tried after {ENOUGH}" for n, own in failed.items() if len(own) >= ENOUGH]
    line = first.error.about(f"scenario {first.scenario}")
    raise first.error.saying(f"{line} ({', '.join(notes)}; all that was made is kept)")


def _missing(
    workspace: Workspace,
    scenarios: Sequence[Scenario],
    name: str,
    count: int,
    seed: int,
    workers: int,
) -> Iterator[Task]:
    """Yields what is not kept yet, in batches of one shape and one set of indices.

    There are as many as workers where there are as many scenarios.
    """
    agent = agents.load(name)
    mark = agents.fingerprint(agent)
    todo: dict[tuple[int, ...], list[Scenario]] = {}
    for scenario in scenarios:
        have = store.indices(workspace, Identity(scenario.hash, agent.name, mark, seed, 0))
        wanted = _wanted(agent, scenario, count)
        indices = tuple(i for i in range(wanted) if i not in have)
        if indices:
            todo.setdefault(indices, []).append(scenario)
    for indices, members in todo.items():
        for group in by_shape(members):
            step = max(1, min(BATCH // len(indices), -(-len(group) // workers)))
            for start in range(0, len(group), step):
                yield Task(name, tuple(group[start : start + step]), seed, indices)


def _work(
    workspace: Workspace,
    tasks: Sequence[Task],
    workers: int,
    failed: dict[str, list[Failure]],
) -> Iterator[tuple[str, Outcome]]:
    """Yields (agent, outcome) of each task; `failed` says which agents are not to be tried now."""
    left = deque(tasks)
    while workers == 1 and left:
        task = left.popleft()
        if len(failed[task.agent]) < ENOUGH:
            yield task.agent, perform(workspace, task)
    while left:
        for task in (yield from _together(workspace, left, workers, failed)):
            if len(failed[task.agent]) < ENOUGH:
                yield task.agent, _apart(workspace, task)


def _together(
    workspace: Workspace, left: deque[Task], workers: int, failed: dict[str, list[Failure]]
) -> Generator[tuple[str, Outcome], None, list[Task]]:
    """Works off what is `left` in a pool of processes, and yields as `_work` does.

    Returns what was in work when one of the processes died, which is nothing where none did.
    """
    busy: dict[Future[Outcome], Task] = {}
    try:
        with pool(min(workers, len(left)), end_at_last) as executor:
            while left or busy:
                while left and len(busy) <= workers:  # one waits, so that no process need
                    if len(failed[left[0].agent]) < ENOUGH:
                        busy[executor.submit(perform, workspace, left[0])] = left[0]
                    left.popleft()
                for future in wait(busy, return_when=FIRST_COMPLETED).done:
                    yield busy[future].agent, future.result()
                    del busy[future]
    except WorkerDied:
        return list(busy.values())
    return []


def _apart(workspace: Workspace, task: Task) -> Outcome:
    """Works off a task scenario by scenario, so that the one that a process dies of is known."""
    left, made, failures = deque(task.scenarios), 0, list[Failure]()
    while left and len(failures) < ENOUGH:
        try:
            with pool(1, end_at_last) as executor:
                while left and len(failures) < ENOUGH:
                    single = task._replace(scenarios=(left[0],))
                    one = executor.submit(perform, workspace, single).result()
                    made, failures = made + one.made, [*failures, *one.failures]
                    left.popleft()
        except WorkerDied:
            failures.append(Failure(left.popleft().id, Unavailable(DIED)))
    return Outcome(made, tuple(failures))


def perform(workspace: Workspace, task: Task) -> Outcome:
    """Continues a task's scenarios and keeps them; where that fails, one by one.

    So each that fails is known, and costs no other. After `ENOUGH` of them the rest is left.
    """
    try:
        found = _continued(task)
    except StsError as error:
        if len(task.scenarios) == 1:
            return Outcome(0, (Failure(task.scenarios[0].id, error),))
    else:
        store.save(workspace, found)
        return Outcome(_size(task), ())
    made, failures = 0, list[Failure]()
    for scenario in task.scenarios:
        if len(failures) < ENOUGH:
            one = perform(workspace, task._replace(scenarios=(scenario,)))
            made, failures = made + one.made, [*failures, *one.failures]
    return Outcome(made, tuple(failures))


def _continued(task: Task) -> list[Continuation]:
    """Returns the continuations of a task.

    A user's agent also plays the first of them alone: where that differs, its results depend on the
    batch, and each of its continuations says so.
    """
    agent = agents.load(task.agent)
    found = continue_all(task.scenarios, agent, seed=task.seed, indices=task.indices)
    if task.agent not in agents.known() and len(found) > 1:
        (alone,) = continue_all(task.scenarios[:1], agent, seed=task.seed, indices=task.indices[:1])
        if alone.content_hash != found[0].content_hash:
            found = [replace(one, batch_sensitive=True) for one in found]
    return found
