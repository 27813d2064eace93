"""`--split train`: moments at which the recording does what is asked, for learners."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sts.trajectories.types import Trajectory
from sts_scenarios.category import Candidate, Category


def obeyed(category: Category) -> Category:
    """Return a category that asks only where whoever was recorded went on to do it, by its rule.

    What they did without having been asked is what a learner can take for obedience.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        for one in category.candidates(trajectory, context, horizon):
            episode = trajectory.episode
            until = episode.part(episode.state, 0, one.moment + horizon)
            if category.label(until, one.moment, (one.role,), one.parameters).verdict == "success":
                yield one

    return replace(category, candidates=candidates, screen=None)
