"""The factors of the intelligence test: what a score is broken down by.

Chmait et al. 2016, section 5.4, name the environment's algorithmic complexity K and uncertainty H,
the interaction time and, of collectives, what they are made of; their experiments vary the number
of agents. K differs from environment to environment within one run. The others are settings: each
is varied alone, while the others stay what they are in the base, the first value of each. How large
K can be depends on size and steps, so all runs draw it from the range that they have in common:
what a factor changes is then not the work of another complexity.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from sts.errors import ArgumentError
from sts.worlds.lambda_star.generation.environments import uncertainty
from sts.worlds.lambda_star.generation.patterns import Settings, check, drawn_range

FACTORS = ("complexity", "uncertainty", "team", "steps")
MOST_CLASSES = 6


class Level(NamedTuple):
    """One value of a factor.

    Attributes:
      factor: one of `FACTORS`.
      value: K (the middle of a class of several), H in bits, participants or steps.
      label: the same to be read: "2-5" of a class of K, the size beside H.
    """

    factor: str
    value: float
    label: str


class Run(NamedTuple):
    """Settings to be played, and the level of one factor that they stand for."""

    level: Level
    settings: Settings


def runs(
    sizes: Sequence[tuple[int, int]],
    teams: Sequence[int],
    steps: Sequence[int],
    *,
    complexity: tuple[int, int] | None = None,
    patterns: str = "paper",
) -> tuple[Settings, tuple[Run, ...]]:
    """Return the base, made of each first value, and a run for each further one.

    Without a range of K, all runs draw from as much of [2, 23] as every one of them can. A value
    that is given twice or cannot be met is refused, and so are runs that have no K in common.
    """
    for name, values in (("size", sizes), ("team", teams), ("number of steps", steps)):
        if len(set(values)) < len(values):
            raise ArgumentError(f"a {name} is given twice; give each value once")
    (height, width), team, horizon = sizes[0], teams[0], steps[0]
    base = Settings(height, width, team, horizon, complexity, patterns)
    further = [
        *(("uncertainty", base._replace(height=h, width=w)) for h, w in sizes[1:]),
        *(("team", base._replace(participants=p)) for p in teams[1:]),
        *(("steps", base._replace(horizon=t)) for t in steps[1:]),
    ]
    if further and complexity is None and patterns == "paper":
        common = _common_range([base, *(settings for _, settings in further)])
        base = base._replace(complexity=common)
        further = [(factor, settings._replace(complexity=common)) for factor, settings in further]
    return base, tuple(Run(level(factor, settings), settings) for factor, settings in further)


def _common_range(every: Iterable[Settings]) -> tuple[int, int]:
    """Return the range of K that all settings can draw."""
    drawn = {}
    for settings in every:
        check(settings)
        name = f"{settings.height}x{settings.width} at {settings.horizon} steps"
        drawn[name] = drawn_range(settings)
    lows, highs = zip(*drawn.values(), strict=True)
    if max(lows) > min(highs):
        found = ", ".join(f"{name} {low} to {high}" for name, (low, high) in drawn.items())
        raise ArgumentError(
            f"no complexity K can be drawn at every level: {found}; leave a level out"
        )
    return max(lows), min(highs)


def level(factor: str, settings: Settings) -> Level:
    """Return the level of a factor, other than complexity, that settings stand for."""
    if factor == "uncertainty":
        bits = uncertainty(settings.height, settings.width)
        return Level(factor, bits, f"{settings.height}x{settings.width}")
    value = {"team": settings.participants, "steps": settings.horizon}[factor]
    return Level(factor, value, str(value))


def with_base(base: Settings, further: Iterable[Run]) -> list[Run]:
    """Return the runs by factor and value; each factor that is varied has the base among them."""
    given = list(further)
    varied = {run.level.factor for run in given}
    every = given + [Run(level(factor, base), base) for factor in varied]
    return sorted(every, key=lambda run: (FACTORS.index(run.level.factor), run.level.value))


def classes(met: Collection[int], drawn: tuple[int, int] | None) -> list[tuple[Level, list[int]]]:
    """Return classes of K, lowest first, and the values met in each; an empty one is left out.

    Each K is a class where they are few, else neighbours share one and classes are equally wide,
    but for one value more in the first of them. If `drawn` is None, the range met counts.
    """
    low, high = drawn or (min(met), max(met))
    count = min(MOST_CLASSES, high - low + 1)
    width, more = divmod(high - low + 1, count)
    found, first = [], low
    for i in range(count):
        last = first + width - 1 + (i < more)
        members = sorted(k for k in met if first <= k <= last)
        value = first if first == last else (first + last) / 2
        label = str(first) if first == last else f"{first}-{last}"
        if members:
            found.append((Level("complexity", value, label), members))
        first = last + 1
    return found
