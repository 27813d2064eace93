"""The same work on one core and on two: threads in a kernel, processes under the score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sts.worlds.lambda_star.intelligence.score import score
from sts.worlds.lambda_star.play import practice
from tests.benchmarks.measure import Sizes, Table, seconds
from tests.benchmarks.paths import made, settings, streams

TEAM = 5
AGENTS = ("random", "local-search", "stigmergy", "bidding")
LEARNER = "q-learning"


def table(sizes: Sizes) -> Table:
    """Seconds on one and on two."""
    rehearsed = f"{LEARNER}, {sizes.learners} episodes rehearsed {sizes.rehearsals} times"
    scored = f"score of {len(AGENTS)} agents, {sizes.many // 2} episodes"
    rows = [_row(rehearsed, _learning(sizes)), _row(scored, _workers(sizes))]
    return Table(
        "Two cores",
        f"Seconds for the same work on one and on two, {TEAM} in a world. The first row is one "
        "kernel's threads, which share the episodes and nothing else; the last is `sts lambda-star "
        "score` with one and two `--workers`, which are processes, so that two also have to start. "
        "The results are the same. Where two cores are two threads of one, or are lent to others "
        "too, twice as quick is more than there is.",
        ("work", "one", "two", "times as quick"),
        rows,
    )


def _row(work: str, taken: tuple[float, float]) -> tuple[Any, ...]:
    return (work, *taken, taken[0] / taken[1])


def _both(work: Callable[[int], Callable[[Any], Any]], prepare: Any, runs: int) -> Any:
    """Return the seconds on one and on two; their results must be the same."""
    np.testing.assert_array_equal(work(1)(prepare()), work(2)(prepare()))
    return tuple(seconds(work(n), prepare, runs=runs) for n in (1, 2))


def _learning(sizes: Sizes) -> tuple[float, float]:
    worlds, own = made(TEAM, sizes.learners, sizes), streams(sizes.learners)

    def work(threads: int) -> Callable[[Any], Any]:
        return lambda arrays: (
            practice.play(
                LEARNER,
                arrays,
                own,
                steps=sizes.steps,
                rehearsals=sizes.rehearsals,
                threads=threads,
            ).rewards
        )

    return _both(work, worlds.copy_arrays, sizes.runs)


def _workers(sizes: Sizes) -> tuple[float, float]:
    def work(workers: int) -> Callable[[Any], Any]:
        return lambda _: [
            mean.mean
            for mean in score(
                AGENTS, settings(TEAM, sizes), episodes=sizes.many // 2, seed=1, workers=workers
            ).agents
        ]

    return _both(work, lambda: None, 1)
