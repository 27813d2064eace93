"""Scores of the intelligence test: mean reward per player and step over many environments.

Every agent plays the same environments, so differences are paired by episode.

Source: Chmait et al. 2016, section 4.4: definition 2 for an episode, definition 3 over episodes,
which have equal uncertainty H and complexity K from a range; section 5.4 for the factors.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sts.plugin import Agent, fingerprint
from sts_lambda_star.generation import patterns
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence import experiments, factors
from sts_lambda_star.intelligence.experiments import Experiment
from sts_lambda_star.intelligence.reward_sums import RewardSums, add_sums, estimate_mean
from sts_lambda_star.play.teams import load_team, team_name

PUBLISHED_AGENTS = (
    *("random", "local-search", "oracle", "q-learning", "sarsa", "imitation", "stigmergy"),
    *("wisdom-of-the-crowd", "bidding", "dictatorship", "binary-tree", "cooperative-q-learning"),
    "cooperative-sarsa",
)
"""Agents of the paper and of its program."""

_ACCESS_LEVELS = ("observation", "rehearsal", "recording", "world")

DEFAULT_PRACTICE_EPISODES = 100
"""Default number of practice episodes, that of the published program."""


class AgentScore(NamedTuple):
    """Score of an agent; no standard error, over episodes, for a single episode."""

    agent: str
    sees: str
    mean: float
    standard_error: float | None
    episodes: int


class Difference(NamedTuple):
    """Score of agent `a` minus that of agent `b` on the same environments."""

    a: str
    b: str
    difference: float
    standard_error: float | None


class LevelScore(NamedTuple):
    """Score of an agent at one level of one factor; see `factors.Level`."""

    factor: str
    value: float
    label: str
    agent: str
    sees: str
    mean: float
    standard_error: float | None
    episodes: int


class Scores(NamedTuple):
    """Results of the intelligence test."""

    agents: tuple[AgentScore, ...]  # scores in the order of the arguments
    differences: tuple[Difference, ...]  # differences of all pairs of agents
    breakdown: tuple[LevelScore, ...]  # scores by factor, level, and agent, the best first
    settings: dict[str, Any]  # the base settings, as JSON values
    # each agent's fingerprint; for a team those of its members, joined by commas
    fingerprints: tuple[str, ...]


def score_agents(
    names: Sequence[str],
    base: Settings,
    further: Sequence[factors.Run] = (),
    *,
    episodes: int,
    seed: int,
    rehearsals: int = DEFAULT_PRACTICE_EPISODES,
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Scores:
    """Score agents; the result depends on the seed, but not on the number of workers.

    Each of `names` is an agent by name or `module:Class`, which plays every player, or several
    joined by commas, assigned to the players in turn. `further` are additional runs for the
    breakdown by factors. There are `episodes` environments under each settings. `seed` selects them
    and the agents' random streams. Learning agents practise `rehearsals` episodes before each
    scored one. `progress` is called with (episodes played, total), over all settings.

    Raises:
      ArgumentError: there is nothing to play, an agent is given twice, settings are invalid, or an
        agent's code has no fingerprint or changed during the run.
      UnknownName: an agent is not installed.
    """
    teams = [load_team(name) for name in names]
    all_settings = [base, *(run.settings for run in further)]
    fingerprints = tuple(",".join(fingerprint(member) for member in team) for team in teams)
    experiment = Experiment(tuple(names), fingerprints, episodes, seed, rehearsals)
    experiments.check_experiment(experiment, teams, all_settings, workers)
    results = experiments.play_experiment(experiment, all_settings, workers, progress)
    agents = [(team_name(team), team_access(team, rehearsals)) for team in teams]
    sums = add_sums(results[base].values())
    means = _compute_means(agents, sums, base)
    ranked = sorted(range(len(means)), key=lambda i: -means[i].mean)
    return Scores(
        means,
        _compute_differences(means, sums, base),
        tuple(_break_down(agents, ranked, base, further, results)),
        _settings_record(base, experiment),
        fingerprints,
    )


def team_access(team: Sequence[Agent], rehearsals: int) -> str:
    """Return the widest access of any member of a team, by the order of `_ACCESS_LEVELS`.

    Agents with a method `finish` have access to a rehearsal if there are practice episodes.
    """
    access_names: set[str] = {member.sees for member in team}
    if rehearsals > 0 and any(hasattr(member, "finish") for member in team):
        access_names.add("rehearsal")
    return max(access_names, key=_ACCESS_LEVELS.index)


def _compute_means(
    agents: Sequence[tuple[str, str]], sums: RewardSums, settings: Settings
) -> tuple[AgentScore, ...]:
    """Return the score of every agent, given as (name, access), under one settings."""
    return tuple(
        AgentScore(*agent, *estimate_mean(sums, weights, _mean_divisor(settings)), sums.episodes)
        for agent, weights in zip(agents, np.eye(len(agents), dtype=np.int64), strict=True)
    )


def _compute_differences(
    means: Sequence[AgentScore], sums: RewardSums, settings: Settings
) -> tuple[Difference, ...]:
    weights, unit = np.eye(len(means), dtype=np.int64), _mean_divisor(settings)
    return tuple(
        Difference(
            means[i].agent, means[j].agent, *estimate_mean(sums, weights[i] - weights[j], unit)
        )
        for i, j in combinations(range(len(means)), 2)
    )


def _mean_divisor(settings: Settings) -> int:
    """Return the divisor from a team's halves per episode to reward per player and step."""
    return 2 * settings.n_players * settings.horizon


def _break_down(
    agents: Sequence[tuple[str, str]],
    order: Sequence[int],
    base: Settings,
    further: Sequence[factors.Run],
    results: dict[Settings, dict[int, RewardSums]],
) -> Iterator[LevelScore]:
    """Yield the score of every agent at every level."""
    by_k = results[base]
    complexity_range = patterns.complexity_range(base) if base.patterns == "paper" else None
    levels = [
        (level, add_sums(by_k[k] for k in members), base)
        for level, members in factors.complexity_classes(by_k, complexity_range)
    ]
    for run in factors.add_base(base, further):
        levels.append((run.level, add_sums(results[run.settings].values()), run.settings))
    for level, sums, settings in levels:
        means = _compute_means(agents, sums, settings)
        for i in order:
            yield LevelScore(level.factor, level.value, level.label, *means[i])


def _settings_record(base: Settings, experiment: Experiment) -> dict[str, Any]:
    used = base._asdict() | experiment._asdict()
    del used["names"], used["fingerprints"]
    if base.needs == 1:  # as in scores before it was a setting
        del used["needs"]
    used["complexity"] = list(patterns.complexity_range(base)) if base.patterns == "paper" else None
    return used
