"""The intelligence test: mean reward per participant and step over many environments.

Every agent meets the same environments, so differences are paired by episode. The test behind the
score is Chmait et al. 2016, section 4.4: definition 2 for an episode, definition 3 over episodes,
which have equal uncertainty H and complexity K from a range; section 5.4 for the factors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sts.agents import fingerprint
from sts.agents.protocol import Agent
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence import factors, trials
from sts.worlds.lambda_star.intelligence.moments import Moments, estimate, plus
from sts.worlds.lambda_star.intelligence.trials import Trial
from sts.worlds.lambda_star.play.teams import called, team_of

PUBLISHED = (
    "random",
    "local-search",
    "oracle",
    "q-learning",
    "sarsa",
    "imitation",
    "stigmergy",
    "wisdom-of-the-crowd",
    "bidding",
    "dictatorship",
    "binary-tree",
    "cooperative-q-learning",
    "cooperative-sarsa",
)
"""The behaviours of the paper and of its program."""

_SHOWN = ("observation", "rehearsal", "recording", "world")

REHEARSALS = 100
"""How often a learning behaviour practises unless told: as the published program has it."""


class Mean(NamedTuple):
    """An agent's score; the standard error, over episodes, is None for a single one."""

    agent: str
    sees: str
    mean: float
    standard_error: float | None
    episodes: int


class Difference(NamedTuple):
    """How much more `a` scores than `b` on the same environments."""

    a: str
    b: str
    difference: float
    standard_error: float | None


class Part(NamedTuple):
    """An agent's score at one level of one factor; see `factors.Level`."""

    factor: str
    value: float
    label: str
    agent: str
    sees: str
    mean: float
    standard_error: float | None
    episodes: int


class Scores(NamedTuple):
    """What was measured, and under which settings (JSON values).

    Attributes:
      agents: in the order asked for.
      differences: of each two of them.
      breakdown: by factor, level, and agent, the best first.
      settings: of the base.
      fingerprints: of each agent; of a team its members', between commas.
    """

    agents: tuple[Mean, ...]
    differences: tuple[Difference, ...]
    breakdown: tuple[Part, ...]
    settings: dict[str, Any]
    fingerprints: tuple[str, ...]


def score(
    names: Sequence[str],
    base: Settings,
    further: Sequence[factors.Run] = (),
    *,
    episodes: int,
    seed: int,
    rehearsals: int = REHEARSALS,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Scores:
    """Return the agents' scores; the same for the same seed, whatever the workers.

    Args:
      names: agents by name or `module:Class`, each playing every participant, or several between
        commas, dealt to the participants in turn.
      base: what the environments are made to.
      further: what else to play for the breakdown by factors.
      episodes: how many environments of each settings, at least 1.
      seed: names the environments and the agents' streams.
      rehearsals: how often a learning behaviour practises each episode first.
      workers: processes; 1 works in this one.
      progress: called with (episodes played, in all), over all settings.

    Raises:
      ArgumentError: nothing to do, an agent twice, settings that cannot be met, or an agent whose
        code does not say what it is, or was changed meanwhile.
      UnknownName: an agent that is not installed.
    """
    teams = [team_of(name) for name in names]
    every = [base, *(run.settings for run in further)]
    marks = tuple(",".join(fingerprint(member) for member in team) for team in teams)
    trial = Trial(tuple(names), marks, episodes, seed, rehearsals)
    trials.check(trial, teams, every, workers)
    found = trials.play(trial, every, workers, progress)
    agents = [(called(team), sees(team, rehearsals)) for team in teams]
    whole = plus(found[base].values())
    means = _means(agents, whole, base)
    ranked = sorted(range(len(means)), key=lambda i: -means[i].mean)
    return Scores(
        means,
        _differences(means, whole, base),
        tuple(_breakdown(agents, ranked, base, further, found)),
        _used(base, trial),
        marks,
    )


def sees(team: Sequence[Agent], rehearsals: int) -> str:
    """Return the most that any member of a team is shown: the last of these kinds in `_SHOWN`.

    A rehearsal is what agents that can `finish` make of the episodes before the one that counts.
    """
    shown: set[str] = {member.sees for member in team}
    if rehearsals > 0 and any(hasattr(member, "finish") for member in team):
        shown.add("rehearsal")
    return max(shown, key=_SHOWN.index)


def _means(
    agents: Sequence[tuple[str, str]], sums: Moments, settings: Settings
) -> tuple[Mean, ...]:
    """Return the score of every agent, (name, what it sees), under one settings."""
    return tuple(
        Mean(*agent, *estimate(sums, weights, _unit(settings)), sums.episodes)
        for agent, weights in zip(agents, np.eye(len(agents), dtype=np.int64), strict=True)
    )


def _differences(
    means: Sequence[Mean], sums: Moments, settings: Settings
) -> tuple[Difference, ...]:
    one, unit = np.eye(len(means), dtype=np.int64), _unit(settings)
    return tuple(
        Difference(means[i].agent, means[j].agent, *estimate(sums, one[i] - one[j], unit))
        for i, j in combinations(range(len(means)), 2)
    )


def _unit(settings: Settings) -> int:
    """Return what turns halves received in an episode into a participant's in a step."""
    return 2 * settings.participants * settings.horizon


def _breakdown(
    agents: Sequence[tuple[str, str]],
    order: Sequence[int],
    base: Settings,
    further: Sequence[factors.Run],
    found: dict[Settings, dict[int, Moments]],
) -> Iterator[Part]:
    """Yield the score of every agent at every level."""
    by_k = found[base]
    drawn = patterns.drawn_range(base) if base.patterns == "paper" else None
    levels = [
        (level, plus(by_k[k] for k in members), base)
        for level, members in factors.classes(by_k, drawn)
    ]
    for run in factors.with_base(base, further):
        levels.append((run.level, plus(found[run.settings].values()), run.settings))
    for level, sums, settings in levels:
        means = _means(agents, sums, settings)
        for i in order:
            yield Part(level.factor, level.value, level.label, *means[i])


def _used(base: Settings, trial: Trial) -> dict[str, Any]:
    used = base._asdict() | trial._asdict()
    del used["names"], used["fingerprints"]
    used["complexity"] = list(patterns.drawn_range(base)) if base.patterns == "paper" else None
    return used
