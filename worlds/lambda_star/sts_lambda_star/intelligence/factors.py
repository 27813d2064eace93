"""Factors of the intelligence test, by which scores are broken down.

Chmait et al. 2016, section 5.4, name the environment's algorithmic complexity K and uncertainty H,
the interaction time and the composition of collectives; their experiments vary the number of
agents. Section 5.1 adds how far agents see. K differs between the environments of one run. The
other factors are settings: each is varied alone, while the others keep their base value, the first
one given. The possible values of K depend on size and steps, so all runs draw K from their common
range: otherwise the effect of a factor would be confounded with that of complexity.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np

from sts.plugin import ArgumentError
from sts_lambda_star.generation.environments import measure_uncertainty
from sts_lambda_star.generation.patterns import Settings, check_settings, complexity_range

FACTORS = ("complexity", "uncertainty", "team", "steps", "sight")
MAX_CLASSES = 6


class Level(NamedTuple):
    """One value of a factor."""

    factor: str  # one of `FACTORS`
    value: float  # K (the middle of a class of several), H in bits, players, steps or k
    label: str  # the text to show: "2-5" for a class of K, the size for H


class Run(NamedTuple):
    """Settings of a run, and the factor level that they represent."""

    level: Level
    settings: Settings


def plan_runs(
    sizes: Sequence[tuple[int, int]],
    teams: Sequence[int],
    steps: Sequence[int],
    sights: Sequence[int] = (1,),
    *,
    complexity: tuple[int, int] | None = None,
    patterns: str = "paper",
    needs: int = 1,
) -> tuple[Settings, tuple[Run, ...]]:
    """Return the base settings, from each first value, and a run for each further value.

    Without a range of K, all runs draw from as much of [2, 23] as is reachable for all of them.

    Raises:
      ArgumentError: a value is given twice or is out of range, or the runs have no K in common.
    """
    named = (("size", sizes), ("team", teams), ("number of steps", steps), ("sight", sights))
    for name, values in named:
        if len(set(values)) < len(values):
            raise ArgumentError(f"a {name} is given twice; give each value once")
    (height, width), team, horizon = sizes[0], teams[0], steps[0]
    base = Settings(height, width, team, horizon, complexity, patterns, sights[0], needs)
    further = [
        *(("uncertainty", base._replace(height=h, width=w)) for h, w in sizes[1:]),
        *(("team", base._replace(n_players=p)) for p in teams[1:]),
        *(("steps", base._replace(horizon=t)) for t in steps[1:]),
        *(("sight", base._replace(radius=k)) for k in sights[1:]),
    ]
    if further and complexity is None and patterns == "paper":
        common = _common_range([base, *(settings for _, settings in further)])
        base = base._replace(complexity=common)
        further = [(factor, settings._replace(complexity=common)) for factor, settings in further]
    return base, tuple(Run(make_level(factor, settings), settings) for factor, settings in further)


def _common_range(all_settings: Iterable[Settings]) -> tuple[int, int]:
    """Return the range of K that all settings can draw."""
    ranges = {}
    for settings in all_settings:
        check_settings(settings)
        name = f"{settings.height}x{settings.width} at {settings.horizon} steps"
        ranges[name] = complexity_range(settings)
    lows, highs = zip(*ranges.values(), strict=True)
    if max(lows) > min(highs):
        listing = ", ".join(f"{name} {low} to {high}" for name, (low, high) in ranges.items())
        raise ArgumentError(
            f"the levels have no complexity K in common: {listing}; leave a level out"
        )
    return max(lows), min(highs)


def make_level(factor: str, settings: Settings) -> Level:
    """Return the level of a factor, other than complexity, that settings represent."""
    if factor == "uncertainty":
        bits = measure_uncertainty(settings.height, settings.width)
        return Level(factor, bits, f"{settings.height}x{settings.width}")
    values = {"team": settings.n_players, "steps": settings.horizon, "sight": settings.radius}
    value = values[factor]
    return Level(factor, value, str(value))


def add_base(base: Settings, further: Iterable[Run]) -> list[Run]:
    """Return the runs sorted by factor and value, with the base added to each varied factor."""
    runs = list(further)
    varied = {run.level.factor for run in runs}
    runs += [Run(make_level(factor, base), base) for factor in varied]
    return sorted(runs, key=lambda run: (FACTORS.index(run.level.factor), run.level.value))


def complexity_classes(
    met: Collection[int], drawn: tuple[int, int] | None
) -> list[tuple[Level, list[int]]]:
    """Return the non-empty classes of K, lowest first, and the values of K met in each.

    There are at most `MAX_CLASSES`, equally wide except that the first ones may have one value
    more. They divide the range `drawn`, or without one the range of the values met.
    """
    low, high = drawn or (min(met), max(met))
    count = min(MAX_CLASSES, high - low + 1)
    out = []
    for values in np.array_split(np.arange(low, high + 1), count):
        first, last = int(values[0]), int(values[-1])
        members = sorted(k for k in met if first <= k <= last)
        value = first if first == last else (first + last) / 2
        label = str(first) if first == last else f"{first}-{last}"
        if members:
            out.append((Level("complexity", value, label), members))
    return out
