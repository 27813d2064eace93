"""The terms of a selection, the steps to select from, and the resulting scenarios."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.errors import StsError
from sts.suites.types import Scenario, Summary
from sts_scenarios.mining.choice import Keep, OfferedSteps, Picks, Stratum, world_key
from sts_scenarios.mining.making import FAILURE_TAG


class Mined(NamedTuple):
    """Candidates for a draft, and statistics of the mining.

    Attributes:
      scenarios: the candidates.
      candidates: number of candidate steps of each category.
      offered: uint64, their worlds by category.
      strata: for each category and stratum, the number of steps and of selected ones.
      passed_over: for each category, the number of selected steps that `Terms.keep` rejected.
      unfit: for each category with an invalid scenario under this partner, the reason.
      unavailable: for each domain, the number of trajectories left out because their worlds are
        unavailable here, and the reason for the first.
      sampled: for each category that confirmed only a sample of its steps, the sample size and the
        number of steps; `candidates` counts the sample.
    """

    scenarios: tuple[Scenario, ...]
    candidates: dict[str, int]
    offered: dict[str, NDArray[np.uint64]]
    strata: dict[str, dict[Stratum, tuple[int, int]]]
    passed_over: dict[str, int]
    unfit: dict[str, str]
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]

    @property
    def worlds(self) -> dict[str, int]:
        """The number of worlds in which each category had candidate steps."""
        return {name: len(worlds) for name, worlds in self.offered.items()}

    def union(self, other: Mined) -> Mined:
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
class Terms:
    """The terms of a selection.

    Attributes:
      counts: maximum number of scenarios of each category.
      seed: of the selection.
      last: the highest number in an id of each category so far.
      there: existing candidates.
      per_world: maximum number of one category and world; worlds with fewer come first.
      strata: the fields of `Stratum`; a world offers one step for each combination of their values.
      side: "train" or "test", the split that is mined.
      keep: returns True to keep a selected step; None keeps all.
      rule: further provenance of the selection.
    """

    counts: Mapping[str, int]
    seed: int
    last: Mapping[str, int] = field(default_factory=dict)
    there: Collection[Summary] = ()
    per_world: int = 1
    strata: Collection[str] = Stratum._fields
    side: str = "test"
    keep: Keep | None = None
    rule: Mapping[str, Any] = field(default_factory=dict)

    @property
    def taken(self) -> dict[str, dict[str, list[int | None]]]:
        """The takeovers of existing candidates, by category and world.

        A candidate that was mined from a failure blocks its whole world, as its steps are counted
        in a continuation.
        """
        taken: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        for scenario in self.there:
            is_failure = FAILURE_TAG in scenario.tags
            step = None if is_failure else scenario.context_start + scenario.takeover
            taken[scenario.category][world_key(scenario.world)].append(step)
        return taken


class Gathered(NamedTuple):
    """The candidate steps to select from.

    Attributes:
      offered: by category.
      picks: returns offers as picks.
      unavailable: as in `Mined`.
      sampled: as in `Mined`.
    """

    offered: Mapping[str, OfferedSteps]
    picks: Picks
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]
