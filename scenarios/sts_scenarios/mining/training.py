"""`--split train`: candidate steps at which the recording does what the instruction asks."""

from collections.abc import Iterator
from dataclasses import replace

from sts.trajectories.trajectory import Trajectory
from sts_scenarios.rules.category import Candidate, Category


def restrict_to_done(category: Category) -> Category:
    """Return the category restricted to steps whose recording its automatic label calls a success.

    A learner can take what was done there, unasked, for obedience to the instruction.
    """

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        for candidate in category.candidates(trajectory, context, horizon):
            episode = trajectory.episode
            until = episode.slice_steps(episode.state, 0, candidate.step + horizon)
            players = (candidate.player,)
            label = category.label(until, candidate.step, players, candidate.parameters)
            if label.verdict == "success":
                yield candidate

    return replace(category, candidates=candidates, prefilter=None)
