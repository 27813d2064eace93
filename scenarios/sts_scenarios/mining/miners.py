"""`--miner module:NAME`: a user's function that yields a category's candidates."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

from sts import registry
from sts.errors import ArgumentError, StsError
from sts.names import quote
from sts.storage.files import canonical_json
from sts.suites.suite import DIFFICULTIES
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Candidate, Category

Miner = Callable[[Trajectory], Iterable[Candidate]]


def load_miner(name: str) -> Miner:
    """Load the miner at `module:NAME`."""
    loaded: Any = registry.load_path("miner", name)
    if not callable(loaded):
        raise ArgumentError(
            f"miner {name!r}: expected a function that takes a trajectory, found "
            f"{type(loaded).__name__}"
        )
    miner: Miner = loaded
    return miner


def use_miner(category: Category, name: str, miner: Miner) -> Category:
    """Return the category with a miner's candidates; errors of the miner become one line."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        with registry.translate_errors(f"miner {name!r} failed in trajectory {trajectory.id}"):
            results = list(miner(trajectory))
        for candidate in results:
            fault = _candidate_fault(candidate, category, trajectory, context, horizon)
            if fault is not None:
                raise StsError(f"miner {name!r} in trajectory {trajectory.id}: {fault}")
        return iter(results)

    return replace(category, candidates=candidates, prefilter=None)


def _candidate_fault(
    value: Any, category: Category, trajectory: Trajectory, context: int, horizon: int
) -> str | None:
    """Return why a value is not a valid candidate for a trajectory, or None."""
    steps, n_players = trajectory.episode.steps, trajectory.episode.n_players
    if not isinstance(value, Candidate):
        return f"expected a Candidate, found {quote(repr(value))}"
    if type(value.step) is not int or not context <= value.step <= steps - horizon:
        return f"expected a takeover from {context} to {steps - horizon}, found {value.step!r:.40}"
    if type(value.player) is not int or not 0 <= value.player < n_players:
        return f"expected a player from 0 to {n_players - 1}, found {value.player!r:.40}"
    if value.difficulty not in DIFFICULTIES:
        return f"expected {', '.join(DIFFICULTIES)}, found {value.difficulty!r:.40}"
    try:
        canonical_json(value.parameters)
        for wording in category.templates:
            wording.format(**value.fields)
    except (TypeError, ValueError, LookupError) as error:
        return f"its parameters or words do not match {category.name}: {error!r:.80}"
    return None
