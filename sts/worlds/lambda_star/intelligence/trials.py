"""Runs of agents in the environments of a test: validation, then play in spans of episodes.

The division into spans does not depend on the workers, and only the moments of a span are kept. So
memory does not grow with the episodes, and results do not depend on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sts.agents import check_unchanged, planned
from sts.agents.facts import apart
from sts.agents.protocol import Agent
from sts.errors import ArgumentError, StsError
from sts.jobs.executors import Owned
from sts.jobs.pool import executor
from sts.worlds.lambda_star.generation import environments, patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence.moments import Moments, add_moments, compute_moments
from sts.worlds.lambda_star.play.teams import check_memory, load_team_for, team_name, total_rewards

SPAN = 500
"""Episodes that are played at once; results do not depend on it."""

MAX_EPISODES = 10_000_000
MAX_REHEARSALS = 100_000


class Trial(NamedTuple):
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

    trial: Trial
    settings: Settings
    start: int
    stop: int


def check_trial(
    trial: Trial, teams: Sequence[Sequence[Agent]], all_settings: Sequence[Settings], workers: int
) -> None:
    """Raise ArgumentError if a trial cannot be played, before any environment is made.

    `teams` are the agents of the trial's names, and `all_settings` the settings to play under.
    """
    episodes, rehearsals = trial.episodes, trial.rehearsals
    for count, things in ((episodes, "episodes"), (workers, "workers")):
        if count < 1:
            raise ArgumentError(f"expected 1 or more {things}, found {count}")
    if episodes > MAX_EPISODES:
        raise ArgumentError(f"expected at most {MAX_EPISODES} episodes, found {episodes}")
    if not 0 <= rehearsals <= MAX_REHEARSALS:
        raise ArgumentError(f"expected 0 to {MAX_REHEARSALS} rehearsals, found {rehearsals}")
    names = [team_name(team) for team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"agent {name!r} is given twice; give each agent once")
    at_once = min(workers, len(all_settings) * -(-episodes // SPAN))
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
                episodes=min(SPAN, episodes),
                rehearsals=rehearsals,
                at_once=at_once,
            )


def play_trial(
    trial: Trial,
    all_settings: Sequence[Settings],
    workers: int,
    progress: Callable[[int, int], None],
) -> dict[Settings, dict[int, Moments]]:
    """Play a trial that passed `check_trial`; return the moments of rewards by settings and K."""
    jobs = [
        _Job(trial, settings, start, min(start + SPAN, trial.episodes))
        for settings in all_settings
        for start in range(0, trial.episodes, SPAN)
    ]
    results: dict[Settings, dict[int, Moments]] = {settings: {} for settings in all_settings}
    done, total = 0, trial.episodes * len(all_settings)
    progress(done, total)
    for job, parts in _run_jobs(jobs, workers):
        by_k = results[job.settings]
        for k, part in parts.items():
            by_k[k] = add_moments([by_k[k], part]) if k in by_k else part
        done += job.stop - job.start
        progress(done, total)
    return results


def _run_jobs(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[_Job, dict[int, Moments]]]:
    """Yield each job and its result, as completed; users' agents play in worker processes."""
    members = ",".join(jobs[0].trial.names).split(",") if jobs else []
    users = " ".join(dict.fromkeys(filter(None, (apart(member.strip()) for member in members))))
    with executor(min(workers, len(jobs)), len(jobs)) as pool:
        for job in jobs:
            pool.submit(job, Owned(_play_job, users) if users else _play_job, job)
        for job, result in pool.completed():
            if isinstance(result, StsError):
                has_agent = not users or str(result).startswith("agent ")
                raise result if has_agent else result.about(f"agent {users}")
            yield job, result


def _play_job(job: _Job) -> dict[int, Moments]:
    """Play a span of episodes; return the moments of the teams' rewards, by K."""
    names, fingerprints, _, seed, rehearsals = job.trial
    worlds = environments.generate(job.settings, seed=seed, start=job.start, stop=job.stop)
    received = np.empty((job.stop - job.start, len(names)), np.int64)
    for i, (name, marks) in enumerate(zip(names, fingerprints, strict=True)):
        members = zip(name.split(","), marks.split(","), strict=True)
        team = [planned(member.strip(), mark) for member, mark in members]
        received[:, i] = total_rewards(team, worlds, seed=seed, rehearsals=rehearsals).sum(1)
        for agent in team:
            check_unchanged(agent)
    met = np.unique(worlds.complexity)
    return {int(k): compute_moments(received[worlds.complexity == k]) for k in met}
