"""What only a category itself can say of moments in files: how difficult they are, what it asks."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES
from sts.trajectories import flat
from sts.trajectories.flat import Batch
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category
from sts_scenarios.mining.choice import Offer, Pick, Place, orders
from sts_scenarios.mining.making import naming
from sts_scenarios.mining.rows import Found, chosen_of, counted, is_open

Make = Callable[[], Sequence[Category]]


def each(there: Executor, tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """Yield the number of each task, a function and its arguments, with its result."""
    for number, (work, *given) in enumerate(tasks):
        there.submit(number, work, *given)
    for number, outcome in there.completed():
        if isinstance(outcome, StsError):
            raise outcome
        yield number, outcome


def spread(
    parts: Sequence[Batch],
    make: Make,
    there: Executor,
    work: Callable[[Make, Batch, list[Any]], list[Any]],
    items: Sequence[tuple[int, Any]],
) -> list[Any]:
    """Return what `work` makes of items in the parts that they are of, in their order."""
    own: dict[int, list[int]] = defaultdict(list)
    for n, (part, _) in enumerate(items):
        own[part].append(n)
    every = sorted(own)
    calls = [(work, make, parts[part], [items[n][1] for n in own[part]]) for part in every]
    out: dict[int, Any] = {}
    for number, made in each(there, calls):
        out.update(zip(own[every[number]], made, strict=True))
    return [out[n] for n in range(len(items))]


def asked_at(
    parts: Sequence[Batch],
    make: Make,
    categories: Sequence[Category],
    found: dict[str, Found],
    there: Executor,
) -> dict[str, tuple[int, int]]:
    """Asks categories whose screens are not exact at what these found; returns where not at all."""
    still = [c.name for c in categories if is_open(c)]
    items = [one for name in still for one in _places(name, found[name])]
    levels = iter(spread(parts, make, there, ask, items))
    sampled = {}
    for name in still:
        one, count = found[name], len(found[name].rows["part"])
        difficulty = np.fromiter(itertools.islice(levels, count), "i4", count)
        if count < one.screened:
            sampled[name] = count, one.screened
        one = one._replace(rows=one.rows | {"difficulty": difficulty})
        one = chosen_of(one, np.flatnonzero(difficulty >= 0))
        found[name] = one._replace(
            counts=counted(one.rows, one.words), worlds=np.unique(one.rows["world"])
        )
    return sampled


Asked = tuple[str, int, int, int, str]
"""Of a moment the category, the row, the takeover, the role and the answer."""


def _places(name: str, found: Found) -> list[tuple[int, Asked]]:
    """Return what a category is to be asked, with the part that it is in."""
    names = ("part", "row", "moment", "role", "answer")
    columns = (found.rows[one].tolist() for one in names)
    words = found.words["answer"]
    return [(part, (name, r, m, p, words[a])) for part, r, m, p, a in zip(*columns, strict=True)]


def ask(make: Make, part: Batch, moments: Sequence[Asked]) -> list[int]:
    """Return of each moment its difficulty, as an index; -1 where its category does not ask."""
    every, by_name = _rows(part, (row for _, row, *_ in moments)), {c.name: c for c in make()}
    return [
        difficulty_of(by_name[name], every[row], moment, role, answer)
        for name, row, moment, role, answer in moments
    ]


def _rows(part: Batch, numbers: Iterable[int]) -> dict[int, Trajectory]:
    rows = sorted({*numbers})
    return dict(zip(rows, flat.trajectories(part, rows), strict=True))


def difficulty_of(
    category: Category, trajectory: Trajectory, moment: int, role: int, answer: str
) -> int:
    """Return how difficult a moment is, of which alone its category is told; -1 if it is none."""
    one, context, horizon = trajectory.episode, category.context, category.horizon
    alone = replace(trajectory, episode=one.part(one.state, moment - context, moment + horizon))
    with naming(trajectory):
        for found in category.candidates(alone, context, horizon):
            if (found.role, found.answer) == (role, answer):
                return DIFFICULTIES.index(found.difficulty)
    return -1


def pick(make: Make, part: Batch, offers: Sequence[tuple[str, Offer, int]]) -> list[Pick]:
    """Return what is offered in a part by a category, with the seed of the choice."""
    every, by_name = _rows(part, (one.at.row for _, one, _ in offers)), {c.name: c for c in make()}
    out = []
    for name, offer, seed in offers:
        trajectory, place = every[offer.at.row], offer.at
        candidate = _candidate(by_name[name], trajectory, place, offer.order, seed)
        if candidate is None:
            raise StsError(
                f"category {name!r} does not ask at step {place.moment} of trajectory "
                f"{trajectory.id}, where its screen says so"
            )
        out.append(Pick(trajectory, candidate))
    return out


def _candidate(
    category: Category, trajectory: Trajectory, place: Place, order: int, seed: int
) -> Candidate | None:
    with naming(trajectory):
        every = category.moments(trajectory)
    own = [c for c in every if (c.moment, c.role) == (place.moment, place.role)]
    told = ((c.moment, c.role, canonical_json(c.parameters)) for c in own)
    ranks = orders(seed, category.name, [trajectory.id], told, ((0, n) for n in range(len(own))))
    return next((c for c, rank in zip(own, ranks.tolist(), strict=True) if rank == order), None)
