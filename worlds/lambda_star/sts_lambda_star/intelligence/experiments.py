"""Runs of agents in the environments of a test: validation, then play in spans of episodes.

The division into spans does not depend on the workers, and only the moments of a span are kept. So
memory does not grow with the episodes, and results do not depend on the number of workers.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from sts.plugin import (
    Agent,
    ArgumentError,
    OwnedTask,
    StsError,
    check_unchanged,
    create_pool,
    isolation_key,
    load_planned,
)
from sts_lambda_star.generation import environments, patterns
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence.reward_sums import RewardSums, add_sums, sum_rewards
from sts_lambda_star.play.teams import check_memory, load_team_for, team_name, total_rewards

EPISODES_PER_JOB = 500
"""Episodes that are played at once; results do not depend on it."""

MAX_EPISODES = 10_000_000
MAX_PRACTICE_EPISODES = 100_000


class Experiment(NamedTuple):
    """Teams to test, and the size of the test.

    Worker processes receive teams by name, and by their members' fingerprints, joined by commas; a
    worker refuses to play an agent whose fingerprint differs.
    """

    names: tuple[str, ...]
    fingerprints: tuple[str, ...]
    episodes: int
    seed: int
    rehearsals: int


class _Job(NamedTuple):
    """Span of episodes under one settings."""

    experiment: Experiment
    settings: Settings
    start: int
    stop: int


def check_experiment(
    experiment: Experiment,
    teams: Sequence[Sequence[Agent]],
    all_settings: Sequence[Settings],
    workers: int,
) -> None:
    """Raise ArgumentError if an experiment cannot be played, before any environment is made.

    `teams` are the agents of the experiment's names, and `all_settings` the settings to play under.
    """
    episodes, rehearsals = experiment.episodes, experiment.rehearsals
    for count, things in ((episodes, "episodes"), (workers, "workers")):
        if count < 1:
            raise ArgumentError(f"expected 1 or more {things}, found {count}")
    if episodes > MAX_EPISODES:
        raise ArgumentError(f"expected at most {MAX_EPISODES} episodes, found {episodes}")
    if not 0 <= rehearsals <= MAX_PRACTICE_EPISODES:
        raise ArgumentError(f"expected 0 to {MAX_PRACTICE_EPISODES} rehearsals, found {rehearsals}")
    names = [team_name(team) for team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"agent {name!r} is given twice; give each agent once")
    at_once = min(workers, len(all_settings) * -(-episodes // EPISODES_PER_JOB))
    for settings in all_settings:
        patterns.check_settings(settings)
        if settings.complexity is not None and settings.patterns != "paper":
            raise ArgumentError(
                f"{settings.patterns} patterns do not support a complexity range; leave it out, "
                "or use the paper's patterns"
            )
        for team in teams:
            check_memory(
                load_team_for(team, settings),
                settings,
                episodes=min(EPISODES_PER_JOB, episodes),
                rehearsals=rehearsals,
                at_once=at_once,
            )


def play_experiment(
    experiment: Experiment,
    all_settings: Sequence[Settings],
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[Settings, dict[int, RewardSums]]:
    """Play a checked experiment; return the sums of rewards by settings and K.

    Users' agents play in worker processes.
    """
    jobs = [
        _Job(experiment, settings, start, min(start + EPISODES_PER_JOB, experiment.episodes))
        for settings in all_settings
        for start in range(0, experiment.episodes, EPISODES_PER_JOB)
    ]
    results: dict[Settings, dict[int, RewardSums]] = {settings: {} for settings in all_settings}
    done, total = 0, experiment.episodes * len(all_settings)
    progress(done, total)
    members = ",".join(experiment.names).split(",")
    users = " ".join(
        dict.fromkeys(filter(None, (isolation_key(member.strip()) for member in members)))
    )
    with create_pool(min(workers, len(jobs)), len(jobs)) as pool:
        for job in jobs:
            pool.submit(job, OwnedTask(_play_job, users) if users else _play_job, job)
        for job, result in pool.completed():
            if isinstance(result, StsError):
                has_agent = not users or str(result).startswith("agent ")
                raise result if has_agent else result.with_prefix(f"agent {users}")
            by_k = results[job.settings]
            for k, part in result.items():
                by_k[k] = add_sums([by_k[k], part]) if k in by_k else part
            done += job.stop - job.start
            progress(done, total)
    return results


def _play_job(job: _Job) -> dict[int, RewardSums]:
    """Play a span of episodes; return the moments of the teams' rewards, by K."""
    names, fingerprints, _, seed, rehearsals = job.experiment
    worlds = environments.generate_environments(
        job.settings, seed=seed, start=job.start, stop=job.stop
    )
    received = np.empty((job.stop - job.start, len(names)), np.int64)
    for i, (name, of_members) in enumerate(zip(names, fingerprints, strict=True)):
        members = zip(name.split(","), of_members.split(","), strict=True)
        team = [load_planned(member.strip(), fingerprint) for member, fingerprint in members]
        received[:, i] = total_rewards(team, worlds, seed=seed, rehearsals=rehearsals).sum(1)
        for agent in team:
            check_unchanged(agent)
    met = np.unique(worlds.complexity)
    return {int(k): sum_rewards(received[worlds.complexity == k]) for k in met}
