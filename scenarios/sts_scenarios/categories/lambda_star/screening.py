"""Batched search for the moments at which a category of Λ* can be asked.

A category says once, for many episodes at a time, at which moments it can be asked (`Find`). Mining
uses that as it is; a single episode is a batch of one.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sts.episodes import Episode
from sts.suites.types import DIFFICULTIES
from sts.trajectories.flat import Abreast
from sts.trajectories.types import Trajectory
from sts.worlds.lambda_star.state import MOVES
from sts_scenarios.categories.tried import difficulty_by_steps
from sts_scenarios.category import Candidate, Hits, Label, Screen, Word

from .abreast import Ints, MomentBatch, TrackBatch, build_tracks
from .playing import MovePolicy, simulate
from .tracks import NONE, SIGHT, Cells, Track, make_track, read_grid

Kinds = Sequence[tuple[str, dict[str, Any]]]
Find = Callable[[TrackBatch, int, int], Hits]
"""Of tracks, C and L: every moment at which the category can be asked."""
TemplateFields = Callable[[Episode, int, Mapping[str, Any]], dict[str, Word]]
"""Of an episode, who is asked and a candidate's parameters: what fills the wordings."""
LabelRule = Callable[[Track, Mapping[str, Any]], Label]
"""Of a track from the takeover on and a candidate's parameters: whether it was done."""
Confirm = Callable[[Track, int, int, int], Label | None]
"""Of a track, a moment, C and L: the label of a success there, or None."""
NO_PARAMETERS: Kinds = (("", {}),)
DIRECTIONS: Kinds = tuple((move, {"answer": move}) for move in MOVES)
COUNTS: Kinds = tuple((str(n), {"answer": str(n)}) for n in range(9))
UNGRADED = -1
"""In place of a difficulty: it is by the steps that the probe needs."""


class MomentSearch(NamedTuple):
    """The two ways in which a category is asked for its moments."""

    candidates: Callable[[Trajectory, int, int], Iterator[Candidate]]
    screen: Screen


def build_search(
    find: Find, words: TemplateFields | None = None, confirm: Confirm | None = None
) -> MomentSearch:
    """Return the candidates and the screen of a category that is found in batches.

    `confirm` keeps the moments of `find` at which a probe does what is asked; such a screen is not
    exact. Two candidates of one moment and participant are a pair.
    """

    def screened(every: Abreast, context: int, horizon: int) -> Hits:
        return find(build_tracks(every), context, horizon)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        episode = trajectory.episode
        scene = episode.scene[None]
        one = TrackBatch(Abreast(*read_grid(episode.state), episode.participants, scene))
        found = find(one, context, horizon)
        difficulties = _confirm_hits(found, episode, context, horizon, confirm)

        @functools.cache
        def filled(role: int, kind: int) -> dict[str, str]:
            own = words(episode, role, found.kinds[kind][1]) if words else {}
            return {field: word.text for field, word in own.items()}

        order = np.lexsort((found.kind, found.moment, found.role))
        ordered = np.stack((found.role, found.moment, found.kind), 1)[order].tolist()
        count = Counter((role, moment) for role, moment, _ in ordered)
        for role, moment, kind in ordered:
            if (role, moment) in difficulties:
                answer, parameters = found.kinds[kind]
                yield Candidate(
                    moment,
                    role,
                    DIFFICULTIES[difficulties[role, moment]],
                    dict(parameters),
                    dict(filled(role, kind)),
                    answer,
                    pair="either" if count[role, moment] == 2 else "",
                )

    return MomentSearch(candidates, Screen(screened, exact=confirm is None))


def _confirm_hits(
    found: Hits, episode: Episode, context: int, horizon: int, confirm: Confirm | None
) -> dict[tuple[int, int], int]:
    """Return the difficulty of each participant and moment that stays, an index of DIFFICULTIES."""
    columns = (one.tolist() for one in (found.role, found.moment, found.difficulty))
    every = {(role, moment): level for role, moment, level in zip(*columns, strict=True)}
    if confirm is None:
        return every
    by_role = {role: make_track(episode, role) for role, _ in every}
    out = {}
    for (role, moment), level in every.items():
        label = confirm(by_role[role], moment, context, horizon)
        if label is not None:
            steps = difficulty_by_steps(label.step, horizon)
            out[role, moment] = DIFFICULTIES.index(steps) if level == UNGRADED else level
    return out


def make_confirm(
    policy: MovePolicy, rule: LabelRule, parameters: Mapping[str, Any], partner: str = "no-op"
) -> Confirm:
    """Return the check that a policy, by what it has seen, does what a rule asks."""

    def confirm(own: Track, moment: int, context: int, horizon: int) -> Label | None:
        label = rule(simulate(own, moment, context, horizon, policy, partner), parameters)
        return label if label.verdict == "success" else None

    return confirm


def make_hits(
    spots: MomentBatch, difficulty: Any, kinds: Kinds = NO_PARAMETERS, kind: Any = 0
) -> Hits:
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


def good_moves_seen(spots: MomentBatch, context: int) -> Cells:
    """Return Good's moves in the context; NONE where one of two frames was not seen."""
    every = spots.every
    good = spots.span(every.good, -context, 1)
    near = spots.span(every.to_good, -context, 1) <= SIGHT
    moves = every.toward(good[:, :-1], good[:, 1:])
    out: Cells = np.where(near[:, :-1] & near[:, 1:], moves, NONE).astype(np.int64)
    return out


def grade_leaving(away: Ints) -> Any:
    """Return the difficulty of staying by something, by how long it stays by who stands still."""
    stays = (away <= SIGHT).sum(1)
    return np.where(stays > 2, 0, np.where(stays == 2, 1, 2))
