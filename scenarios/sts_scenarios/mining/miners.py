"""`--miner module:NAME`: a function of anybody's that says at which moments a category asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sts import registry
from sts.errors import ArgumentError, StsError
from sts.names import shown
from sts.storage.files import canonical_json
from sts.suites.types import DIFFICULTIES
from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category

Miner = Callable[[Trajectory], Iterable[Candidate]]


def named(name: str) -> Miner:
    """Return the miner at `module:NAME`."""
    there: Any = registry.load_path("miner", name)
    if not callable(there):
        raise ArgumentError(
            f"miner {name!r}: expected a function of a trajectory, found {type(there).__name__}"
        )
    miner: Miner = there
    return miner


def asking(category: Category, name: str, miner: Miner) -> Category:
    """Return a category that asks where a miner says; whatever that raises becomes one line."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        with registry.blaming(f"miner {name!r} failed in trajectory {trajectory.id}"):
            every = list(miner(trajectory))
        for one in every:
            if (fault := _fault(one, category, trajectory, context, horizon)) is not None:
                raise StsError(f"miner {name!r} in trajectory {trajectory.id}: {fault}")
        return iter(every)

    return replace(category, candidates=candidates, screen=None)


def _fault(
    one: Any, category: Category, trajectory: Trajectory, context: int, horizon: int
) -> str | None:
    """Return why something is no candidate of a trajectory; None where it is one."""
    steps, people = trajectory.episode.steps, trajectory.episode.participants
    if not isinstance(one, Candidate):
        return f"expected a Candidate, found {shown(repr(one))}"
    if type(one.moment) is not int or not context <= one.moment <= steps - horizon:
        return f"expected a moment from {context} to {steps - horizon}, found {one.moment!r:.40}"
    if type(one.role) is not int or not 0 <= one.role < people:
        return f"expected a role from 0 to {people - 1}, found {one.role!r:.40}"
    if one.difficulty not in DIFFICULTIES:
        return f"expected {', '.join(DIFFICULTIES)}, found {one.difficulty!r:.40}"
    try:
        canonical_json(one.parameters)
        for wording in category.wordings:
            wording.format(**one.words)
    except (TypeError, ValueError, LookupError) as error:
        return f"its parameters or words do not fit {category.name}: {error!r:.80}"
    return None
