"""Pairs of agents, scenario by scenario, some at a time: all of them at once would fill memory."""

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sts_analysis.statistics import sampling

_AT_ONCE = 100_000
"""Numbers held at once, pairs x scenarios: few enough for a processor's own memory."""
_DRAWN_AT_ONCE = 2_000_000
"""Numbers held at once, pairs x draws."""

Chance = Callable[[np.ndarray], Iterator[np.ndarray]]
"""Of some of P pairs, int64[n], what chance alone makes of the difference of each: float64[draws],
which may be written to, and holds until the next."""


class Shared(NamedTuple):
    """What some pairs share; one row stands for all of them where it is the same for every pair.

    Attributes:
      common: bool[n or 1, S], scenarios that both agents were judged on.
      weights: float64[n or 1, S], of these.
    """

    common: np.ndarray
    weights: np.ndarray


class Errors(NamedTuple):
    """How far the differences between the agents of P pairs can be off.

    Attributes:
      error: float64[P], standard errors.
      df: float64[P], degrees of freedom of these.
      chance: what chance alone makes of the differences.
    """

    error: np.ndarray
    df: np.ndarray
    chance: Chance


@dataclass(frozen=True)
class Paired:
    """Some pairs of agents.

    Attributes:
      pairs: int64[P, 2].
      judged: bool[A, S], where an agent was judged.
      category: int64[S].
      unit: of `sampling.units`.
    """

    pairs: np.ndarray
    judged: np.ndarray
    category: np.ndarray
    unit: np.ndarray | None = None

    @functools.cached_property
    def alike(self) -> bool:
        """Whether all agents were judged on the same scenarios, so that all pairs share these."""
        return len(self.judged) > 0 and bool((self.judged == self.judged[0]).all())

    def shared(self, pairs: np.ndarray) -> Shared:
        """What some pairs, int64[n, 2], share."""
        return self._same if self.alike else self._shared(pairs)

    @functools.cached_property
    def _same(self) -> Shared:
        return self._shared(np.zeros((1, 2), np.int64))

    def _shared(self, pairs: np.ndarray) -> Shared:
        common = self.judged[pairs[:, 0]] & self.judged[pairs[:, 1]]
        return Shared(common, sampling.scenario_weights(common, self.category))

    def weights_of(self, scenario: int) -> np.ndarray:
        """float64[P or 1], how much a scenario weighs in the rates of each pair."""
        if self.alike:
            return self._same.weights[:, scenario]
        common = self.judged[self.pairs, scenario].all(axis=1)
        return np.where(common, self._of_categories[:, self.category[scenario]], 0.0)

    @functools.cached_property
    def _of_categories(self) -> np.ndarray:
        """float64[P, C], how much one of its scenarios weighs."""
        member = self.category == np.arange(self.category.max() + 1)[:, None]
        return self.each(
            lambda pairs: (
                np.stack([self.shared(pairs).weights[:, own].max(axis=1) for own in member], 1),
            )
        )[0]

    def scenarios(self) -> np.ndarray:
        """int64[P], how many both were judged on."""
        return self.each(lambda pairs: (self.shared(pairs).common.sum(axis=1),))[0]

    def less(self, of_agents: np.ndarray, pairs: np.ndarray) -> np.ndarray:
        """float64[n, S], of each pair float64[A, S] of the first less that of the second."""
        apart = of_agents[pairs[:, 0]] - of_agents[pairs[:, 1]]
        return np.where(self.shared(pairs).common, apart, 0.0)

    def means(self, of_agents: np.ndarray) -> np.ndarray:
        """float64[P], the weighted means of what `less` gives; NaN where nothing is shared."""

        def work(pairs: np.ndarray) -> tuple[np.ndarray, ...]:
            weights = self.shared(pairs).weights
            return (sampling.weighted_mean(self.less(of_agents, pairs), weights),)

        return self.each(work)[0]

    def strata(self, pairs: np.ndarray) -> np.ndarray:
        """int64[n or 1, S], of `sampling.strata`."""
        return self._same_strata if self.alike else self._strata(pairs)

    @functools.cached_property
    def _same_strata(self) -> np.ndarray:
        return self._strata(np.zeros((1, 2), np.int64))

    def _strata(self, pairs: np.ndarray) -> np.ndarray:
        return sampling.strata(self.shared(pairs).common, self.category, self.unit)

    def spread(self, values: np.ndarray, pairs: np.ndarray) -> sampling.Spread:
        """How far the means of float64[n, S] can be off, as scenarios are a sample."""
        weights = self.shared(pairs).weights
        return sampling.sampling_spread(values, weights, self.strata(pairs), self.unit)

    def errors(
        self,
        values: Callable[[np.ndarray], np.ndarray],
        draws: int,
        rng: np.random.Generator,
    ) -> Errors:
        """Errors of the differences because their scenarios are a sample.

        Args:
          values: of pairs, int64[n, 2], float64[n, S], their differences on each scenario.
          draws: of chance.
          rng: for these.
        """
        parts = self.linear(lambda pairs: self.spread(values(pairs), pairs).parts)

        def work(pairs: np.ndarray) -> tuple[np.ndarray, ...]:
            common = self.shared(pairs).common
            return sampling.spread_of_parts(parts(pairs), common, self.strata(pairs), self.unit)[1:]

        error, df = self.each(work)
        return Errors(error, df, self._chance(parts, draws, rng))

    def linear(
        self, work: Callable[[np.ndarray], np.ndarray]
    ) -> Callable[[np.ndarray], np.ndarray]:
        """The same work, of pairs float64[n, F], where it is linear in what their agents did.

        Where all share their scenarios a pair's is the first's less the second's, held against any
        third, so it is done once an agent.
        """
        if not self.alike:
            return work
        agents = np.arange(len(self.judged))
        each = work(np.stack([agents, np.zeros_like(agents)], axis=1))
        return lambda pairs: each[pairs[:, 0]] - each[pairs[:, 1]]

    def each(self, work: Callable[[np.ndarray], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        """What `work` makes of all P pairs, which it gets some at a time; one row stands for all.

        Args:
          work: of int64[n, 2], arrays of n rows or of one.
        """
        size = max(_AT_ONCE // self.judged.shape[1], 1)
        blocks = [self.pairs[at : at + size] for at in range(0, max(len(self.pairs), 1), size)]
        parts = [
            [np.broadcast_to(part, (len(block), *part.shape[1:])) for part in work(block)]
            for block in blocks
        ]
        return tuple(np.concatenate(part) for part in zip(*parts, strict=True))

    def _chance(
        self, loads: Callable[[np.ndarray], np.ndarray], draws: int, rng: np.random.Generator
    ) -> Chance:
        """What chance makes of differences that load on scenarios, float64[n, S], linearly."""
        if self.alike:
            agents = np.arange(len(self.judged))
            each = loads(np.stack([agents, np.zeros_like(agents)], axis=1))
            return self._apart(drawn_alike(each, draws, rng))
        normal = rng.standard_normal((draws, self.judged.shape[1]))

        def chance(rows: np.ndarray) -> Iterator[np.ndarray]:
            size = max(_DRAWN_AT_ONCE // draws, 1)
            for at in range(0, len(rows), size):
                yield from loads(self.pairs[rows[at : at + size]]) @ normal.T

        return chance

    def _apart(self, drawn: np.ndarray) -> Chance:
        made = np.empty(drawn.shape[1])

        def chance(rows: np.ndarray) -> Iterator[np.ndarray]:
            for a, b in self.pairs[rows]:
                yield np.subtract(drawn[a], drawn[b], out=made)

        return chance


def drawn_alike(loads: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draws float64[A, draws] as if by `loads` of as many standard normals as there are scenarios.

    Where the transpose of `loads` is QR, that of R with A standard normals has their distribution.

    Args:
      loads: float64[A, S].
      draws: of each agent.
      rng: for these.
    """
    root: np.ndarray = np.linalg.qr(loads.T, mode="r")  # type: ignore[assignment]
    drawn: np.ndarray = root.T @ rng.standard_normal((len(root), draws))
    return drawn


def every_pair(agents: int) -> np.ndarray:
    """int64[P, 2], every two of A agents, a before b."""
    return np.stack(np.triu_indices(agents, 1), axis=1)
