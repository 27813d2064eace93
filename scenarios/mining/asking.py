"""What only a category itself can say of moments in files: how difficult they are, what it asks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scenarios.category import Candidate, Category
from scenarios.mining.choice import Offer, Pick, Place, orders
from scenarios.mining.making import naming
from scenarios.mining.rows import Found, chosen_of, counted, is_open
from sts.errors import StsError
from sts.jobs.executors import Executor
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES
from sts.trajectories import flat
from sts.trajectories.flat import Batch
from sts.trajectories.types import Trajectory

Make = Callable[[], Sequence[Category]]


def each(there: Executor, tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
    """Yields the number of each task, a function and its arguments, with its result."""
    for number, (work, *given) in enumerate(tasks):
        there.submit(number, work, *given)
    for number, outcome in there.completed():
        if isinstance(outcome, StsError):
            raise outcome
        yield number, outcome


def asked_at(
    parts: Sequence[Batch],
    make: Make,
    categories: Sequence[Category],
    found: dict[str, Found],
    there: Executor,
) -> dict[str, tuple[int, int]]:
    """Asks categories whose screens are not exact at what these found; returns where not at all."""
    still = [c.name for c in categories if is_open(c)]
    tasks: dict[int, dict[str, NDArray[np.int64]]] = defaultdict(dict)
    for name in still:
        own = found[name].rows["part"]
        for part in np.unique(own).tolist():
            tasks[part][name] = np.flatnonzero(own == part)
    difficulty = {name: np.full(len(found[name].rows["part"]), -1, "i4") for name in still}
    every = sorted(tasks)
    calls = [
        (ask, make, parts[n], {name: _places(found[name], at) for name, at in tasks[n].items()})
        for n in every
    ]
    for number, told in each(there, calls):
        for name, at in tasks[every[number]].items():
            difficulty[name][at] = told[name]
    sampled = {}
    for name in still:
        one = found[name]
        if len(difficulty[name]) < one.screened:
            sampled[name] = len(difficulty[name]), one.screened
        one = one._replace(rows=one.rows | {"difficulty": difficulty[name]})
        one = chosen_of(one, np.flatnonzero(difficulty[name] >= 0))
        found[name] = one._replace(
            counts=counted(one.rows, one.words), worlds=np.unique(one.rows["world"])
        )
    return sampled


Asked = list[tuple[int, int, int, str]]
"""Of moments the row, the takeover, the role and the answer."""


def _places(found: Found, at: NDArray[np.int64]) -> Asked:
    names = ("row", "moment", "role", "answer")
    columns = (found.rows[name][at].tolist() for name in names)
    words = found.words["answer"]
    return [(r, m, p, words[a]) for r, m, p, a in zip(*columns, strict=True)]


def ask(make: Make, part: Batch, moments: Mapping[str, Asked]) -> dict[str, list[int]]:
    """Returns of each category and moment its difficulty, as an index; -1 where it is not asked."""
    rows = sorted({row for own in moments.values() for row, *_ in own})
    every = dict(zip(rows, flat.trajectories(part, rows), strict=True))
    by_name = {c.name: c for c in make()}
    return {
        name: [difficulty_of(by_name[name], every[row], t, role, a) for row, t, role, a in own]
        for name, own in moments.items()
    }


def difficulty_of(
    category: Category, trajectory: Trajectory, moment: int, role: int, answer: str
) -> int:
    """Returns how difficult a moment is, of which alone its category is told; -1 if it is none."""
    one, context, horizon = trajectory.episode, category.context, category.horizon
    alone = replace(trajectory, episode=one.part(one.state, moment - context, moment + horizon))
    with naming(trajectory):
        for found in category.candidates(alone, context, horizon):
            if (found.role, found.answer) == (role, answer):
                return DIFFICULTIES.index(found.difficulty)
    return -1


def picked(
    parts: Sequence[Batch],
    make: Make,
    seed: int,
    offers: Sequence[tuple[Category, Offer]],
    there: Executor,
) -> list[Pick]:
    """Returns what is offered, made by the categories themselves."""
    tasks: dict[int, list[int]] = defaultdict(list)
    for n, (_, offer) in enumerate(offers):
        tasks[offer.at.part].append(n)
    every = sorted(tasks)
    calls = [
        (pick, make, parts[n], seed, [(offers[i][0].name, offers[i][1]) for i in tasks[n]])
        for n in every
    ]
    out: dict[int, Pick] = {}
    for number, made in each(there, calls):
        out.update(zip(tasks[every[number]], made, strict=True))
    return [out[n] for n in range(len(offers))]


def pick(make: Make, part: Batch, seed: int, offers: Sequence[tuple[str, Offer]]) -> list[Pick]:
    """Return what is offered in a part."""
    by_name = {c.name: c for c in make()}
    rows = sorted({offer.at.row for _, offer in offers})
    every = dict(zip(rows, flat.trajectories(part, rows), strict=True))
    out = []
    for name, offer in offers:
        place = offer.at
        trajectory = every[place.row]
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
