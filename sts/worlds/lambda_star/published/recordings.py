"""Recorded episodes of the published program, team by team, ready to be led through again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.domains import domain
from sts.engine.replay import verify
from sts.errors import ReplayMismatch
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star import state as states
from sts.worlds.lambda_star.published import importer
from sts.worlds.lambda_star.published.importer import TEAMS, Place


class Recording(NamedTuple):
    """B episodes of one team of P participants, of T steps each and on grids of one size.

    Attributes:
      places: where each stands.
      starts: the state in which each began.
      moves: int8[B, T, P].
    """

    places: tuple[Place, ...]
    starts: tuple[states.State, ...]
    moves: NDArray[np.int8]


def read(
    paths: Sequence[Path], *, progress: Callable[[int, int], None] = lambda done, total: None
) -> dict[str, list[Recording]]:
    """Returns each team's recordings, by the program's name for it; equal sizes stand together.

    Args:
      paths: files of the format `lambdastar-2016`.
      progress: called with (files read, in all).

    Raises:
      DamagedData: a file is not what the format has there.
      ReplayMismatch: a recorded position or reward is not what the moves lead to.
    """
    alike: dict[tuple[Any, ...], list[tuple[Place, states.State, NDArray[np.int8]]]]
    alike = defaultdict(list)
    for done, path in enumerate(paths, 1):
        trajectories = iter(_replayed(path))
        for place in importer.places(path):
            for team, trajectory in zip(TEAMS, trajectories, strict=False):
                start, moves = states.decode(trajectory.episode.state), trajectory.episode.moves
                alike[team, start.height, *moves.shape].append((place, start, moves))
        progress(done, len(paths))
    out: dict[str, list[Recording]] = defaultdict(list)
    for (team, *_), members in alike.items():
        places, starts, every = zip(*members, strict=True)
        out[team].append(Recording(places, starts, np.stack(every)))
    return out


def _replayed(path: Path) -> list[Trajectory]:
    """Returns the trajectories of a file, each replayed."""
    trajectories = importer.read(path)
    found = verify(domain("lambda-star"), [t.episode for t in trajectories])
    for trajectory, wrong in zip(trajectories, found, strict=True):
        if wrong:
            raise ReplayMismatch(f"{trajectory.source}: {wrong.what}", step=wrong.step)
    return trajectories
