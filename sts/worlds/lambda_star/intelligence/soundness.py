"""Whether a class of generated environments has the properties that scores on it rest on.

What the properties are, and where they come from, stands in `properties`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.errors import ArgumentError
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.environments import Environments, generate, uncertainty
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence import trials
from sts.worlds.lambda_star.intelligence.moments import Estimate, estimate, moments, plus
from sts.worlds.lambda_star.intelligence.properties import Properties, measure
from sts.worlds.lambda_star.intelligence.trials import SPAN, Trial
from sts.worlds.lambda_star.play.teams import sums, team_of

MOST_Z = 4.0
"""How many standard errors from 0 a random agent may score; chance alone passes 1 in 16,000."""


_TOO_SHORT = "; for the others take more steps or a smaller grid"


class Finding(NamedTuple):
    """Whether a property holds, what it is, and what was found."""

    property: str
    holds: bool
    found: str


class Soundness(NamedTuple):
    """What was found of a class.

    Attributes:
      settings: what the environments were made to, how many, and their seed; JSON values.
      uncertainty: H(mu) in bits, the same in all of them.
      complexity: the least and greatest K drawn.
      random: the mean reward of a random agent, and its standard error.
      z: the mean in standard errors; None where there is no error to count in.
      sensitivity: the n for which the class is n-actions reward-sensitive; None where it is not.
      findings: property by property.
      holds: whether all of them do.
    """

    settings: dict[str, Any]
    uncertainty: float
    complexity: tuple[int, int]
    random: Estimate
    z: float | None
    sensitivity: int | None
    findings: tuple[Finding, ...]
    holds: bool


def examine(
    settings: Settings,
    *,
    episodes: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Soundness:
    """Returns what the environments of a seed are like; a random agent plays an episode of each.

    Args:
      settings: of the class.
      episodes: how many environments, at least 2.
      seed: names them, and the random agent's draws: those of `sts lambda-star score`.
      progress: called with (environments examined, in all).

    Raises:
      ArgumentError: the settings cannot be met, or there are too few or too many environments.
    """
    if episodes < 2:
        raise ArgumentError(f"expected 2 environments or more, found {episodes}")
    trials.check(Trial(("random",), episodes, seed, 0), [team_of("random")], [settings], 1)
    parts, received = [], []
    progress(0, episodes)
    for start in range(0, episodes, SPAN):
        some = generate(settings, seed=seed, start=start, stop=min(start + SPAN, episodes))
        parts.append(measure(some))
        received.append(moments(_received(some, seed)))
        progress(int(some.index[-1]) + 1, episodes)
    each = Properties(*(np.concatenate(column) for column in zip(*parts, strict=True)))
    unit = 2 * settings.participants * settings.horizon
    mean = estimate(plus(received), np.ones(1, np.int64), unit)
    return _judged(each, mean, settings, {"episodes": episodes, "seed": seed})


def _received(environments: Environments, seed: int) -> NDArray[np.int64]:
    """Returns int64[E, 1]: what a random agent's team received, in halves."""
    received: NDArray[np.int64] = sums("random", environments, seed=seed).sum(1)
    return received[:, None]


def _judged(each: Properties, mean: Estimate, s: Settings, asked: dict[str, int]) -> Soundness:
    published = s.patterns == "lambdastar-2016"
    low, high = int(each.complexity.min()), int(each.complexity.max())
    z = mean.mean / mean.standard_error if mean.standard_error else None
    same = int(each.same_moves.sum())
    n = int(each.sensitivity.max()) if (each.sensitivity > 0).all() else None
    findings = [
        _all("equal K", np.equal(*each.complexity.T), f", {low} to {high}"),
        _all("different paths", each.shift != 0, f", {same} with the same moves" if same else ""),
        _shifted(each, s) if published else _drawn(each, patterns.drawn_range(s)),
        _all("symmetric rewards", each.symmetric),
        _unbiased(mean, z),
        _all("reward-sensitive", each.sensitivity > 0, f", n = {n}" if n else _TOO_SHORT),
    ]
    used = s._asdict() | asked
    used["complexity"] = None if published else list(patterns.drawn_range(s))
    return Soundness(
        settings=used,
        uncertainty=uncertainty(s.height, s.width),
        complexity=(low, high),
        random=mean,
        z=z,
        sensitivity=n,
        findings=tuple(findings),
        holds=all(finding.holds for finding in findings),
    )


def _all(name: str, kept: NDArray[np.bool_], more: str = "") -> Finding:
    count = int(kept.sum())
    return Finding(name, count == kept.size, f"{count} of {kept.size} environments{more}")


def _drawn(each: Properties, asked: tuple[int, int]) -> Finding:
    low, high = asked
    within = (low <= each.complexity) & (each.complexity <= high)
    return _all("K in range", within[:, 0] & within[:, 1], f", {low} to {high}")


def _shifted(each: Properties, s: Settings) -> Finding:
    """Whether Evil's path is Good's shifted as the published program does it."""
    by = s.height * s.width // 3 + 1
    return _all("Evil's path is Good's shifted", each.shift == by, f", by {by} cells")


def _unbiased(mean: Estimate, z: float | None) -> Finding:
    holds = mean.mean == 0 if z is None else abs(z) <= MOST_Z
    error = "none" if mean.standard_error is None else f"{mean.standard_error:.5f}"
    found = f"mean {mean.mean:.5f}, standard error {error}"
    return Finding("random agent at 0", holds, found + ("" if z is None else f", z = {z:.2f}"))
