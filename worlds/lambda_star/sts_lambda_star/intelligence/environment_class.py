"""Λ* as a class of environments, by the complexity K of the patterns of Good and Evil."""

import functools
import itertools
import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from sts.plugin import get_split, stream
from sts_analysis.plugin import Chosen
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation import patterns, walks
from sts_lambda_star.generation.patterns import DEFAULT_COMPLEXITY, Settings
from sts_lambda_star.kernels import Ints


class LambdaStarClass:
    """Environments of 10 x 10 with the paper's patterns, which repeat after at most 25 steps.

    K is that of a path of 50 steps, however long an environment is played: a complexity must not
    depend on the time that an agent is given.
    """

    name = "lambda-star"
    domain = LambdaStar()
    highest = float(DEFAULT_COMPLEXITY[1])
    steps = Settings().horizon
    expert = "oracle"

    def choose(
        self,
        low: float,
        high: float,
        *,
        n_players: int,
        key: Sequence[int],
        used: AbstractSet[bytes],
    ) -> Chosen | None:
        """Return an environment; see `classes.EnvironmentClass`."""
        first, last = max(math.ceil(low), DEFAULT_COMPLEXITY[0]), int(min(high, self.highest))
        if first > last:
            return None
        settings = Settings(n_players=n_players, complexity=(first, last))
        for attempt in range(len(used) + 1):
            index = int(stream("class", *key, attempt))
            arrays = patterns.generate_worlds(settings, [(key[0], index)])
            (state,) = Batch(arrays, settings.radius).states()
            if state not in used:
                return Chosen(state, float(walks.path_complexities(arrays)[0, 0]))
        return None

    def draw_environments(self, split: str, key: Sequence[int]) -> Iterator[bytes]:
        """Yield environments of any complexity; see `classes.LearningClass`."""
        for block in itertools.count():
            for state, own_split in _generate_block(tuple(key), block):
                if own_split == split:
                    yield state

    def difficulty(self, training: Sequence[bytes], tests: Sequence[bytes]) -> float:
        """Return the generalisation difficulty, in Lempel-Ziv phrases of Good's intended paths."""
        known, paths = np.concatenate(self._paths(training)), self._paths(tests)
        before = walks.lz76(known)
        added = [(walks.lz76(np.append(known, p)) - before) / walks.lz76(p) for p in paths]
        return float(np.mean(added))

    def _paths(self, states: Sequence[bytes]) -> list[Ints]:
        arrays = self.domain.restore(states).arrays
        return [walks.intended_path(arrays, e, 0) for e in range(len(states))]


@functools.lru_cache(4096)
def _generate_block(key: tuple[int, ...], block: int) -> list[tuple[bytes, str]]:
    """Return environments of a key, in a fixed order, each with the split of its world."""
    seed = int(stream("learning", *key))
    names = [(seed, index) for index in range(64 * block, 64 * block + 64)]
    batch = Batch(patterns.generate_worlds(Settings(), names), Settings().radius)
    world_id = LambdaStar().world_id
    return [(state, get_split(world_id(state))) for state in batch.states()]
