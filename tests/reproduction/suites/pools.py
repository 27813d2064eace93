"""Pools of scenarios that the gates of a category are measured on."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from sts.suites.suite import Scenario
from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Category
from tests.mined import mine

POOL, PER_WORLD = 200, 4


def pool(
    category: Category,
    trajectories: Iterable[Trajectory],
    count: int = POOL,
    per_world: int = PER_WORLD,
) -> tuple[Scenario, ...]:
    """Return up to `count` scenarios that a category finds on the test side, mined as ever.

    No answer is there more often than its share of `count`, so there are fewer if one is rare, and
    no world more often than `per_world` times.
    """
    given: dict[str, Any] = {"seed": 0, "per_world": per_world, "strata": ("difficulty",)}
    mined = mine(trajectories, [category], per_category=count, **given)
    answers = category.controls.answers if category.controls else ()
    if not answers:
        return mined.scenarios
    by_answer: dict[str, list[Scenario]] = defaultdict(list)
    for one in mined.scenarios:
        by_answer[str(one.parameters["answer"])].append(one)
    share = math.ceil(count / len(answers))
    return tuple(one for own in by_answer.values() for one in own[:share])
