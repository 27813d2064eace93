"""What a world does in a process that has never seen it before."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from sts.domains.conformance.runs import Broken, Moves, Played, Trial, play
from sts.errors import StsError
from sts.jobs.pool import Died, Pool


class Elsewhere(NamedTuple):
    """What another process found: what came of it, or the line of its error.

    Attributes:
      played: for each of the trial's points.
      starts: the world of each of the trial's seeds.
    """

    played: list[Played | str]
    starts: list[bytes | str]


def elsewhere(trial: Trial) -> Elsewhere:
    """Returns what a fresh process makes of the trial's points and seeds; it is asked once.

    It hashes text otherwise than this one, even where PYTHONHASHSEED is set.

    Raises:
      Broken: the process died.
    """
    if trial.elsewhere is None:
        asked = trial.name, trial.seeds, trial.steps, trial.settings
        jobs = [(point.step, point.state, point.made) for point in trial.points()]
        os.environ["PYTHONHASHSEED"] = "random"
        try:
            with Pool(1, limited=True, method="spawn") as there:
                trial.elsewhere = there.ask(_work, asked, jobs)
        except Died as error:
            raise Broken(f"in a fresh process {error}") from None
    found: Elsewhere = trial.elsewhere
    return found


def _work(
    asked: tuple[str, int, int, dict[str, Any]], jobs: list[tuple[int, bytes, Moves]]
) -> Elsewhere:
    trial = Trial.of(*asked)
    played: list[Played | str] = []
    starts: list[bytes | str] = []
    for first, state, made in jobs:
        try:
            played.append(play(trial.domain, state, made, first=first))
        except StsError as error:
            played.append(str(error))
    for seed in range(trial.seeds):
        try:
            starts.append(trial.start(seed))
        except StsError as error:
            starts.append(str(error))
    return Elsewhere(played, starts)
