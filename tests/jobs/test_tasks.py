"""Task lists: equal results for any number of workers, and a bad task costs no other."""

import os
from collections import Counter

import pytest

from sts.errors import ArgumentError, StsError, Unavailable
from sts.jobs.pool import create_pool
from sts.jobs.tasks import MIN_FAILURES, TaskSkipped, run_tasks

Task = tuple[str, tuple[int, ...]]


def add(task: Task) -> int:
    """Add numbers; refuse negative ones, and die of those from 1000 on."""
    _, numbers = task
    if max(numbers) >= 1000:
        os._exit(9)
    if min(numbers) < 0:
        raise ArgumentError(f"{min(numbers)} is under 0")
    return sum(numbers)


def singly(task: Task) -> list[Task]:
    name, numbers = task
    return [(name, (number,)) for number in numbers]


def name_of(task: Task) -> str:
    return task[0]


def collect_outcomes(tasks: list[Task], workers: int) -> dict[Task, int | StsError]:
    with create_pool(workers, len(tasks)) as there:
        found = list(run_tasks(tasks, add, split=singly, owner=name_of, executor=there))
    assert len(dict(found)) == len(found)
    return dict(found)


TASKS: list[Task] = [("ann", (1, 2, 3)), ("bob", (4, 5)), ("ann", (6,)), ("cy", (7, 8, 9, 10))]


@pytest.mark.parametrize("workers", [1, 2, 8])
def test_every_task_comes_once_and_a_failing_one_part_by_part(workers) -> None:
    assert collect_outcomes(TASKS, workers) == dict(zip(TASKS, (6, 9, 6, 34), strict=True))
    assert not collect_outcomes([], workers)
    found = collect_outcomes([*TASKS, ("dan", (1, -2, 3))], workers)
    assert [found["dan", (1,)], found["dan", (3,)]] == [1, 3]
    error = found["dan", (-2,)]
    assert isinstance(error, ArgumentError) and str(error) == "-2 is under 0"
    assert len(found) == len(TASKS) + 3


def test_part_that_kills_its_process_is_reported_and_costs_no_other() -> None:
    found = collect_outcomes([*TASKS, ("dan", (1, 1000, 3)), ("eve", (-1,))], 2)
    assert isinstance(found["dan", (1000,)], Unavailable)
    assert [found["dan", (1,)], found["dan", (3,)]] == [1, 3]
    assert isinstance(found["eve", (-1,)], ArgumentError)
    sums = Counter[str]()
    for (name, _), result in found.items():
        sums[name] += result if isinstance(result, int) else 0
    assert sums == {"ann": 12, "bob": 9, "cy": 34, "dan": 4, "eve": 0}


@pytest.mark.parametrize(
    ("numbers", "workers"), [(tuple(range(-10, 0)), 1), (tuple(range(1000, 1010)), 2)]
)
def test_owner_with_failures_only_is_given_up(numbers, workers) -> None:
    found = collect_outcomes([("bad", numbers), *TASKS], workers)
    left = [one for one in found.values() if isinstance(one, TaskSkipped)]
    failed = [one for one in found.values() if isinstance(one, StsError)]
    assert (len(failed) - len(left), len(left)) == (MIN_FAILURES, len(numbers) - MIN_FAILURES)
    assert sum(one for one in found.values() if isinstance(one, int)) == 6 + 9 + 6 + 34


@pytest.mark.parametrize(
    ("tasks", "total"),
    [
        ([("ann", (1,) * 20), ("ann", (-1, -2, -3, 2, 3))], 25),
        ([("ann", (1, 2, -1, 3, 4, -2, 5, 6, -3, 7, 8, -4, 9))], 45),
    ],
)
def test_owner_with_more_successes_than_failures_is_not_given_up(tasks, total) -> None:
    found = collect_outcomes(tasks, 1)
    assert not [one for one in found.values() if isinstance(one, TaskSkipped)]
    assert sum(one for one in found.values() if isinstance(one, int)) == total
