"""The terms of a choice, the moments to choose from, and the scenarios made of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.errors import StsError
from sts.suites.types import Scenario, Summary
from sts_scenarios.mining.choice import Keep, Offered, Picks, Stratum, world_key
from sts_scenarios.mining.making import FAILED


class Mined(NamedTuple):
    """Candidates for a draft.

    Attributes:
      scenarios: of it.
      candidates: how many moments each category had.
      offered: uint64, in which worlds; one number each.
      strata: of each category and stratum, how many moments there are, and were chosen.
      passed_over: of each category, how many moments were to be chosen and not kept.
      unfit: of each category that refuses one of its scenarios with this partner, why.
      unavailable: of each domain, how many trajectories were left out as their worlds cannot be had
        here, and why the first of them cannot.
      sampled: of each category that was asked at some of the moments alone at which it may ask, the
        first in the order of the seed, at how many of how many; its candidates are of those.
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
        """In how many worlds each category had moments."""
        return {name: len(own) for name, own in self.offered.items()}

    def and_of(self, other: Mined) -> Mined:
        """Return these and others of the same categories, mined from other trajectories."""
        return Mined(
            (*self.scenarios, *other.scenarios),
            {name: n + other.candidates[name] for name, n in self.candidates.items()},
            {name: np.union1d(own, other.offered[name]) for name, own in self.offered.items()},
            {name: own | other.strata[name] for name, own in self.strata.items()},
            {name: n + other.passed_over[name] for name, n in self.passed_over.items()},
            other.unfit | self.unfit,
            other.unavailable | self.unavailable,
            self.sampled,
        )


@dataclass(frozen=True)
class Terms:
    """By what moments are chosen.

    Attributes:
      counts: how many of each category, at most.
      seed: of the choice.
      last: the highest number of an id of each category so far.
      there: candidates that there are already.
      per_world: how many of one category and world, at most; worlds that have fewer come first.
      strata: the fields of `Stratum` of each of which a world offers a moment.
      side: that is mined, "train" or "test".
      keep: whether to take a moment that is to be chosen; None takes each.
      rule: by what else they were chosen; their provenance says it.
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
        """Of each category and world the takeovers that there are.

        One that was mined from a failure takes its whole world: its steps are counted from another.
        """
        out: dict[str, dict[str, list[int | None]]] = defaultdict(lambda: defaultdict(list))
        for one in self.there:
            step = None if FAILED in one.tags else one.context_start + one.takeover
            out[one.category][world_key(one.world)].append(step)
        return out


class Gathered(NamedTuple):
    """The moments to choose from.

    Attributes:
      offered: of each category.
      picks: says what is offered.
      unavailable: as in `Mined`.
      sampled: as in `Mined`.
    """

    offered: Mapping[str, Offered]
    picks: Picks
    unavailable: dict[str, tuple[int, StsError]]
    sampled: dict[str, tuple[int, int]]
