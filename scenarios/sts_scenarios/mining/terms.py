"""The terms of a selection, the steps to select from, and the resulting scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.errors import StsError
from sts.suites.suite import Scenario, Summary
from sts_scenarios.mining.building import FAILURE_TAG
from sts_scenarios.mining.choice import OfferedSteps, PickFilter, Picks, Stratum, world_key


class Mined(NamedTuple):
    """Candidates for a draft, and statistics of the mining."""

    scenarios: tuple[Scenario, ...]
    candidates: dict[str, int]  # number of candidate steps of each category
    offered: dict[str, NDArray[np.uint64]]  # uint64, their worlds by category
    strata: dict[str, dict[Stratum, tuple[int, int]]]  # (steps, selected) of each category
    passed_over: dict[str, int]  # selected steps of each category that `pick_filter` rejected
    unfit: dict[str, str]  # of each category with an invalid scenario, the reason
    # (trajectories left out, why the first is) by domain
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]  # (sample, steps) of categories that confirmed a sample

    @property
    def worlds(self) -> dict[str, int]:
        """The number of worlds in which each category had candidate steps."""
        return {name: len(worlds) for name, worlds in self.offered.items()}

    def merge(self, other: Mined) -> Mined:
        """Return the union with what was mined for the same categories elsewhere."""
        return Mined(
            (*self.scenarios, *other.scenarios),
            {name: n + other.candidates[name] for name, n in self.candidates.items()},
            {name: np.union1d(w, other.offered[name]) for name, w in self.offered.items()},
            {name: counts | other.strata[name] for name, counts in self.strata.items()},
            {name: n + other.passed_over[name] for name, n in self.passed_over.items()},
            other.unfit | self.unfit,
            other.unavailable | self.unavailable,
            self.sampled,
        )


@dataclass(frozen=True)
class MiningTerms:
    """The terms of a selection."""

    counts: Mapping[str, int]  # maximum number of scenarios of each category
    seed: int
    # highest number in an id of each category
    last: Mapping[str, int] = field(default_factory=dict)
    existing: Collection[Summary] = ()  # existing candidates
    per_world: int = 1  # maximum for one category and world; worlds with fewer come first
    strata: Collection[str] = Stratum._fields  # a world offers one step for each combination
    split: str = "test"  # "train" or "test", the split that is mined
    pick_filter: PickFilter | None = None  # returns True to keep a selected step; None keeps all
    rule: Mapping[str, Any] = field(default_factory=dict)  # further provenance of the selection
    from_failures: bool = False  # all are failed continuations, asked only after their takeovers

    @property
    def taken(self) -> dict[str, dict[str, list[int | None]]]:
        """The takeovers of existing candidates, by category and world.

        A candidate that was mined from a failure blocks its whole world, as its steps are counted
        in a continuation.
        """
        takeovers: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        for scenario in self.existing:
            is_failure = FAILURE_TAG in scenario.tags
            step = None if is_failure else scenario.step
            takeovers[scenario.category][world_key(scenario.world)].append(step)
        return takeovers


class GatheredSteps(NamedTuple):
    """The candidate steps to select from."""

    offered: Mapping[str, OfferedSteps]  # by category
    picks: Picks  # returns offers as picks
    unavailable: dict[str, tuple[int, StsError]]  # as in `Mined`, like the next
    sampled: dict[str, tuple[int, int]]
