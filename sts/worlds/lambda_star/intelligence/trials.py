"""Puts agents through environments: what can be played is checked, then played in spans.

A span is the same episodes whatever the workers, and what it leaves behind are moments, so memory
does not grow with the number of episodes and the result is the same for any number of workers.
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
from sts.worlds.lambda_star.intelligence.moments import Moments, moments, plus
from sts.worlds.lambda_star.play.teams import called, check_memory, sums, team_for

SPAN = 500
"""Episodes that are played at once; no result depends on it."""

MOST = 10_000_000
MOST_REHEARSALS = 100_000


class Trial(NamedTuple):
    """Who is tested, and how thoroughly.

    Teams travel to other processes by name, and by what their members' fingerprints were, between
    commas: under another nothing is played.
    """

    names: tuple[str, ...]
    fingerprints: tuple[str, ...]
    episodes: int
    seed: int
    rehearsals: int


class _Job(NamedTuple):
    """A span of episodes."""

    trial: Trial
    settings: Settings
    start: int
    stop: int


def check(
    trial: Trial, teams: Sequence[Sequence[Agent]], every: Sequence[Settings], workers: int
) -> None:
    """Refuse what cannot be played, before any environment is made; say what is expected.

    `teams` are those that the trial's names stand for, and `every` the settings to play it under.
    """
    episodes, rehearsals = trial.episodes, trial.rehearsals
    for count, things in ((episodes, "episodes"), (workers, "workers")):
        if count < 1:
            raise ArgumentError(f"expected 1 or more {things}, found {count}")
    if episodes > MOST:
        raise ArgumentError(f"expected at most {MOST} episodes, found {episodes}")
    if not 0 <= rehearsals <= MOST_REHEARSALS:
        raise ArgumentError(f"expected 0 to {MOST_REHEARSALS} rehearsals, found {rehearsals}")
    names = [called(team) for team in teams]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"agent {name!r} is named twice; name each once")
    at_once = min(workers, len(every) * -(-episodes // SPAN))
    for settings in every:
        patterns.check(settings)
        if settings.complexity is not None and settings.patterns != "paper":
            raise ArgumentError(
                f"K is not drawn under {settings.patterns} patterns; leave the complexity range "
                "out, or take the paper's patterns"
            )
        for team in teams:
            check_memory(
                team_for(team, settings),
                settings,
                episodes=min(SPAN, episodes),
                rehearsals=rehearsals,
                at_once=at_once,
            )


def play(
    trial: Trial, every: Sequence[Settings], workers: int, progress: Callable[[int, int], None]
) -> dict[Settings, dict[int, Moments]]:
    """Return what each agent's team received in halves, under each settings, by K.

    The arguments are those that `check` let pass.
    """
    jobs = [
        _Job(trial, settings, start, min(start + SPAN, trial.episodes))
        for settings in every
        for start in range(0, trial.episodes, SPAN)
    ]
    found: dict[Settings, dict[int, Moments]] = {settings: {} for settings in every}
    done, total = 0, trial.episodes * len(every)
    progress(done, total)
    for job, played in _results(jobs, workers):
        kept = found[job.settings]
        for k, part in played.items():
            kept[k] = plus([kept[k], part]) if k in kept else part
        done += job.stop - job.start
        progress(done, total)
    return found


def _results(jobs: Sequence[_Job], workers: int) -> Iterator[tuple[_Job, dict[int, Moments]]]:
    """Yield each job with what `_play` returns, as they come; users' agents play in workers."""
    members = ",".join(jobs[0].trial.names).split(",") if jobs else []
    users = " ".join(dict.fromkeys(filter(None, (apart(one.strip()) for one in members))))
    with executor(min(workers, len(jobs)), len(jobs)) as there:
        for job in jobs:
            there.submit(job, Owned(_play, users) if users else _play, job)
        for job, played in there.completed():
            if isinstance(played, StsError):
                named = not users or str(played).startswith("agent ")
                raise played if named else played.about(f"agent {users}")
            yield job, played


def _play(job: _Job) -> dict[int, Moments]:
    """Return what each agent's team received in a span of episodes, by K."""
    names, fingerprints, _, seed, rehearsals = job.trial
    worlds = environments.generate(job.settings, seed=seed, start=job.start, stop=job.stop)
    received = np.empty((job.stop - job.start, len(names)), np.int64)
    for i, (name, marks) in enumerate(zip(names, fingerprints, strict=True)):
        members = zip(name.split(","), marks.split(","), strict=True)
        team = [planned(member.strip(), mark) for member, mark in members]
        received[:, i] = sums(team, worlds, seed=seed, rehearsals=rehearsals).sum(1)
        for agent in team:
            check_unchanged(agent)
    met = np.unique(worlds.complexity)
    return {int(k): moments(received[worlds.complexity == k]) for k in met}
