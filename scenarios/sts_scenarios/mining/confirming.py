"""Queries to categories about steps in trajectory files, beyond what their prefilters report."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.storage.files import canonical_json
from sts.suites.suite import DIFFICULTIES
from sts.trajectories import batches
from sts.trajectories.batches import Part
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.mining.building import name_trajectory
from sts_scenarios.mining.choice import Offer, Pick, Position, draw_step_ranks
from sts_scenarios.mining.rows import FoundSteps, count_strata, needs_confirmation, take_rows
from sts_scenarios.rules.category import Candidate, Category

MakeCategories = Callable[[], Sequence[Category]]
"""A function that makes the categories of a request, in any process."""


def run_in_pool(pool: Executor, tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """Submit tasks, each a function and its arguments; yield (task number, result) as they end."""
    for number, (work, *args) in enumerate(tasks):
        pool.submit(number, work, *args)
    for number, outcome in pool.completed():
        if isinstance(outcome, StsError):
            raise outcome
        yield number, outcome


def run_by_part(
    parts: Sequence[Part] | Mapping[int, Part],
    make_categories: MakeCategories,
    pool: Executor,
    work: Callable[[MakeCategories, Part, list[Any]], list[Any]],
    items: Sequence[tuple[int, Any]],
) -> list[Any]:
    """Apply `work` to (part, item) pairs, grouped by part; return the results in their order."""
    by_part: dict[int, list[int]] = defaultdict(list)
    for n, (part, _) in enumerate(items):
        by_part[part].append(n)
    numbers = sorted(by_part)
    calls = [
        (work, make_categories, parts[part], [items[n][1] for n in by_part[part]])
        for part in numbers
    ]
    results: dict[int, Any] = {}
    for number, outcomes in run_in_pool(pool, calls):
        results.update(zip(by_part[numbers[number]], outcomes, strict=True))
    return [results[n] for n in range(len(items))]


def confirm_steps(
    parts: Sequence[Part] | Mapping[int, Part],
    make_categories: MakeCategories,
    categories: Sequence[Category],
    steps_by_category: dict[str, FoundSteps],
    pool: Executor,
) -> dict[str, tuple[int, int]]:
    """Query categories with an inexact prefilter at the steps it found, and update these.

    Returns:
      Of categories that were queried at a sample only, the sample size and the number of steps.
    """
    names = [c.name for c in categories if needs_confirmation(c)]
    items = [query for name in names for query in _queries(name, steps_by_category[name])]
    levels = iter(run_by_part(parts, make_categories, pool, query_difficulties, items))
    sampled = {}
    for name in names:
        steps, count = steps_by_category[name], len(steps_by_category[name].rows["part"])
        difficulty = np.fromiter(itertools.islice(levels, count), "i4", count)
        if count < steps.screened:
            sampled[name] = count, steps.screened
        steps = steps._replace(rows=steps.rows | {"difficulty": difficulty})
        steps = take_rows(steps, np.flatnonzero(difficulty >= 0))
        steps_by_category[name] = steps._replace(
            counts=count_strata(steps.rows, steps.words), worlds=np.unique(steps.rows["world"])
        )
    return sampled


Query = tuple[str, int, int, int, str]
"""A query: category, row, step, player and answer."""


def _queries(name: str, steps: FoundSteps) -> list[tuple[int, Query]]:
    """Return the queries to a category, each with its part."""
    names = ("part", "row", "step", "player", "answer")
    columns = (steps.rows[column].tolist() for column in names)
    words = steps.words["answer"]
    return [(part, (name, r, s, p, words[a])) for part, r, s, p, a in zip(*columns, strict=True)]


def query_difficulties(
    make_categories: MakeCategories, part: Part, queries: Sequence[Query]
) -> list[int]:
    """Return the difficulty of each step, as an index; -1 if it is not a candidate.

    Steps with the same frames around them, as many continuations of a scenario have, are queried
    once.
    """
    trajectories = _load_rows(part, (row for _, row, *_ in queries))
    by_name = {c.name: c for c in make_categories()}
    answers: dict[tuple[str, bytes, bytes], dict[tuple[int, str], int]] = {}
    difficulties = []
    for name, row, step, player, answer in queries:
        category, episode = by_name[name], trajectories[row].episode
        frames = episode.scene[step - category.context : step + category.horizon + 1]
        key = name, episode.state, frames.tobytes()
        if key not in answers:
            answers[key] = query_step(category, trajectories[row], step)
        difficulties.append(answers[key].get((player, answer), -1))
    return difficulties


def _load_rows(part: Part, numbers: Iterable[int]) -> dict[int, Trajectory]:
    rows = sorted({*numbers})
    return dict(zip(rows, batches.read_rows(part, rows), strict=True))


def query_step(category: Category, trajectory: Trajectory, step: int) -> dict[tuple[int, str], int]:
    """Return the difficulties of a step's candidates by player and answer, from that step alone."""
    episode, context, horizon = trajectory.episode, category.context, category.horizon
    excerpt = replace(
        trajectory, episode=episode.slice_steps(episode.state, step - context, step + horizon)
    )
    with name_trajectory(trajectory):
        candidates = list(category.candidates(excerpt, context, horizon))
    return {(c.player, c.answer): DIFFICULTIES.index(c.difficulty) for c in reversed(candidates)}


def make_picks(
    make_categories: MakeCategories, part: Part, offers: Sequence[tuple[str, Offer, int]]
) -> list[Pick]:
    """Return the offers in a part as picks; each is (category, offer, seed of the choice)."""
    trajectories = _load_rows(part, (offer.position.row for _, offer, _ in offers))
    by_name = {c.name: c for c in make_categories()}
    picks = []
    for name, offer, seed in offers:
        trajectory, position = trajectories[offer.position.row], offer.position
        candidate = _find_candidate(by_name[name], trajectory, position, offer.order, seed)
        if candidate is None:
            raise StsError(
                f"category {name!r} has no candidate at step {position.step} of trajectory "
                f"{trajectory.id}, where its prefilter reports one"
            )
        picks.append(Pick(trajectory, candidate))
    return picks


def _find_candidate(
    category: Category, trajectory: Trajectory, position: Position, order: int, seed: int
) -> Candidate | None:
    with name_trajectory(trajectory):
        candidates = category.find_candidates(trajectory)
    matching = [c for c in candidates if (c.step, c.player) == (position.step, position.player)]
    keys = ((c.step, c.player, canonical_json(c.parameters)) for c in matching)
    ranks = draw_step_ranks(
        seed, category.name, [trajectory.id], keys, ((0, n) for n in range(len(matching)))
    )
    return next(
        (c for c, rank in zip(matching, ranks.tolist(), strict=True) if rank == order), None
    )
