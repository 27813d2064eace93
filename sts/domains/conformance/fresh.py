"""What a world does in a process that has never seen it before."""

from __future__ import annotations

import os
from typing import NamedTuple

from sts.domains.conformance.apart import Apart, Died
from sts.domains.conformance.runs import Broken, Moves, Played, Trial, play
from sts.errors import StsError


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
        jobs = [(point.step, point.state, point.made) for point in trial.points()]
        os.environ["PYTHONHASHSEED"] = "random"
        try:
            with Apart(Trial.of, trial.name, trial.seeds, trial.steps, trial.settings) as there:
                trial.elsewhere = there.ask(_work, jobs)
        except Died as error:
            raise Broken(f"in a fresh process {error}") from None
    found: Elsewhere = trial.elsewhere
    return found


def _work(trial: Trial, jobs: list[tuple[int, bytes, Moves]]) -> Elsewhere:
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
