"""What a world does in a process that has never seen it before."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

from sts.domains.conformance.runs import Broken, Moves, Played, Trial, play
from sts.domains.known import domain as find_domain
from sts.errors import StsError, Unavailable
from sts.workers import pool


class Elsewhere(NamedTuple):
    """What another process found: what came of it, or the line of its error.

    Attributes:
      played: for each of the trial's points.
      starts: the world of each of the trial's seeds.
    """

    played: list[Played | str]
    starts: list[bytes | str]


def survives(trial: Trial) -> None:
    """Raises Broken where a process that plays the trial's worlds dies of it."""
    _asked(_try, trial.name, trial.seeds, trial.steps, trial.settings)


def elsewhere(trial: Trial) -> Elsewhere:
    """Returns what a fresh process makes of the trial's points and seeds; it is asked once.

    Raises:
      Broken: the process died.
    """
    if trial.elsewhere is None:
        jobs = [(point.step, point.state, point.made) for point in trial.points()]
        trial.elsewhere = _asked(_work, trial.name, trial.seeds, trial.settings, jobs)
    found: Elsewhere = trial.elsewhere
    return found


def _asked(work: Callable[..., Any], *args: Any) -> Any:
    try:
        with pool(1) as executor:
            return executor.submit(work, *args).result()
    except Unavailable:
        raise Broken("a process of its own, in which it was played, has died of it") from None


def _try(name: str, seeds: int, steps: int, settings: dict[str, Any]) -> None:
    with contextlib.suppress(StsError):  # it is said where it is met again
        Trial(find_domain(name), name, seeds, steps, settings).play()


def _work(
    name: str, seeds: int, settings: dict[str, Any], jobs: list[tuple[int, bytes, Moves]]
) -> Elsewhere:
    domain = find_domain(name)
    trial = Trial(domain, name, seeds, 2, settings)
    played: list[Played | str] = []
    starts: list[bytes | str] = []
    for first, state, made in jobs:
        try:
            played.append(play(domain, state, made, first=first))
        except StsError as error:
            played.append(str(error))
    for seed in range(seeds):
        try:
            starts.append(trial.start(seed))
        except StsError as error:
            starts.append(str(error))
    return Elsewhere(played, starts)
