"""Batched search for the moments at which a category of Λ* can be asked.

A category says once, for many episodes at a time, at which moments it can be asked (`Find`). Mining
uses that as it is; a single episode is a batch of one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from scenarios.categories.tried import margin
from scenarios.category import Candidate, Hits, Label, Screen
from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES
from sts.trajectories.flat import Abreast
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES

from .abreast import NONE, Ints, Spots, Tracks, tracks
from .playing import Moving, imagined
from .tracks import SIGHT, Track, grid

Kinds = Sequence[tuple[str, dict[str, Any]]]
Find = Callable[[Tracks, int, int], Hits]
"""Of tracks, C and L: every moment at which the category can be asked."""
Fill = Callable[[Episode, Mapping[str, Any]], dict[str, str]]
"""Of an episode and a candidate's parameters: what fills the wordings."""
Rule = Callable[[Episode, int, tuple[int, ...], dict[str, Any]], Label]
Confirm = Callable[[Episode, Track, int, int, int], Label | None]
"""Of an episode, a track, a moment, C and L: the label of a success there, or None."""
NOTHING: Kinds = (("", {}),)
DIRECTIONS: Kinds = tuple((move, {"answer": move}) for move in MOVES)
COUNTS: Kinds = tuple((str(n), {"answer": str(n)}) for n in range(9))
OPEN = -1
"""In place of a difficulty: it is by the steps that the probe needs."""


class Moments(NamedTuple):
    """The two ways in which a category is asked for its moments."""

    candidates: Callable[[Trajectory, int, int], Iterator[Candidate]]
    screen: Screen


def batched(
    find: Find, fill: Fill = lambda episode, parameters: {}, *, confirm: Confirm | None = None
) -> Moments:
    """Return the candidates and the screen of a category that is found in batches.

    Args:
      find: finds the moments, of many episodes at once.
      fill: fills the wordings of one candidate.
      confirm: keeps the moments of `find` at which a probe does what is asked; such a screen is not
        exact. Two candidates of one moment and participant are a pair.
    """

    def screened(every: Abreast, context: int, horizon: int) -> Hits:
        return find(tracks(every), context, horizon)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        episode = trajectory.episode
        scene = episode.scene[None]
        one = Tracks(Abreast(*grid(episode.state), episode.participants, scene))
        found = find(one, context, horizon)
        difficulties = _confirmed(found, episode, context, horizon, confirm)
        order = np.lexsort((found.kind, found.moment, found.role)).tolist()
        places = list(zip(found.role.tolist(), found.moment.tolist(), strict=True))
        for n in order:
            role, moment = places[n]
            answer, parameters = found.kinds[found.kind[n]]
            if (role, moment) in difficulties:
                yield Candidate(
                    moment,
                    role,
                    DIFFICULTIES[difficulties[role, moment]],
                    dict(parameters),
                    fill(episode, parameters),
                    answer,
                    pair="either" if places.count((role, moment)) == 2 else "",
                )

    return Moments(candidates, Screen(screened, exact=confirm is None))


def _confirmed(
    found: Hits, episode: Episode, context: int, horizon: int, confirm: Confirm | None
) -> dict[tuple[int, int], int]:
    """Return the difficulty of each participant and moment that stays, an index of DIFFICULTIES."""
    columns = (one.tolist() for one in (found.role, found.moment, found.difficulty))
    every = {(role, moment): level for role, moment, level in zip(*columns, strict=True)}
    if confirm is None:
        return every
    by_role = {role: Track(episode, role) for role, _ in every}
    out = {}
    for (role, moment), level in every.items():
        label = confirm(episode, by_role[role], moment, context, horizon)
        if label is not None:
            steps = margin(label.step, horizon)
            out[role, moment] = DIFFICULTIES.index(steps) if level == OPEN else level
    return out


def attempt(
    policy: Moving, rule: Rule, parameters: Mapping[str, Any], partner: str = "no-op"
) -> Confirm:
    """Return the check that a policy, by what it has seen, does what a rule asks."""

    def confirm(
        episode: Episode, track: Track, moment: int, context: int, horizon: int
    ) -> Label | None:
        made = imagined(episode, track, moment, context, horizon, policy, partner)
        label = rule(made, 0, (track.role,), dict(parameters))
        return label if label.verdict == "success" else None

    return confirm


def hits(spots: Spots, difficulty: Any, kinds: Kinds = NOTHING, kind: Any = 0) -> Hits:
    """Return moments as a screen answers; `kind` is an index of `kinds`."""
    count, people = len(spots.track), spots.every.people
    return Hits(
        spots.track // people,
        spots.track % people,
        spots.moment,
        np.broadcast_to(np.asarray(difficulty, np.int32), (count,)),
        np.broadcast_to(np.asarray(kind), (count,)),
        kinds,
    )


def ask_for_steps(count: int) -> Kinds:
    """Return what is asked where only the number of steps is."""
    return (("", {"steps": count}),)


def fill_steps(episode: Episode, parameters: Mapping[str, Any]) -> dict[str, str]:
    """Return the number of steps as wordings have it."""
    return {"steps": str(parameters["steps"])}


def seen_moves(spots: Spots, context: int) -> Ints:
    """Return Good's moves in the context; NONE where one of two frames was not seen."""
    every = spots.every
    good = spots.span(every.good, -context, 1)
    near = spots.span(every.to_good, -context, 1) <= SIGHT
    moves = every.toward(good[:, :-1], good[:, 1:])
    out: Ints = np.where(near[:, :-1] & near[:, 1:], moves, NONE)
    return out


def leaving(away: Ints) -> Any:
    """Return the difficulty of staying by something, by how long it stays by who stands still."""
    stays = (away <= SIGHT).sum(1)
    return np.where(stays > 2, 0, np.where(stays == 2, 1, 2))
