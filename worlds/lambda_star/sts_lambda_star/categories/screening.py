"""Batched search for the steps at which a category of Λ* can be asked.

A category defines one search over many episodes (`FindFunction`). Mining uses it as a prefilter; a
single episode is a batch of one.
"""

import functools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from sts.plugin import DIFFICULTIES, Episode, EpisodeBatch, Trajectory
from sts_lambda_star.state import MOVES
from sts_scenarios.plugin import Candidate, CandidateColumns, Label, Prefilter, difficulty_by_steps

from .batches import Ints, StepBatch, TrackBatch, build_tracks
from .policies import MovePolicy, simulate
from .tracks import NONE, SIGHT, Cells, Track, make_track, read_grid

Kinds = Sequence[tuple[str, dict[str, Any]]]
FindFunction = Callable[[TrackBatch, int, int], CandidateColumns]
"""Maps tracks, C and L to every step at which the category can be asked."""
TemplateFields = Callable[[Episode, int, Mapping[str, Any]], dict[str, str]]
"""Maps an episode, the evaluated player and a candidate's parameters to template fields."""
LabelFunction = Callable[[Track, Mapping[str, Any]], Label]
"""Maps a track from the takeover on and a candidate's parameters to a label."""
ConfirmFunction = Callable[[Track, int, int, int], Label | None]
"""Maps a track, a step, C and L to the label of a success there, or None."""
NO_PARAMETERS: Kinds = (("", {}),)
DIRECTIONS: Kinds = tuple((move, {"answer": move}) for move in MOVES)
COUNTS: Kinds = tuple((str(n), {"answer": str(n)}) for n in range(9))
UNGRADED = -1
"""Difficulty of a hit that depends on the steps the solver needs."""


def build_search(
    find: FindFunction, words: TemplateFields | None = None, confirm: ConfirmFunction | None = None
) -> tuple[Callable[[Trajectory, int, int], Iterator[Candidate]], Prefilter]:
    """Return the candidate generator and the prefilter of a category.

    `confirm` keeps the steps of `find` at which a solver succeeds; the prefilter is then not exact.
    Two candidates of one step and player are a contrast pair.
    """

    def screened(episodes: EpisodeBatch, context: int, horizon: int) -> CandidateColumns:
        return find(build_tracks(episodes), context, horizon)

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        episode = trajectory.episode
        scene = episode.scene[None]
        batch = TrackBatch(EpisodeBatch(*read_grid(episode.state), episode.n_players, scene))
        hits = find(batch, context, horizon)
        difficulties = _confirm_hits(hits, episode, context, horizon, confirm)

        @functools.cache
        def filled(player: int, kind: int) -> dict[str, str]:
            fields = words(episode, player, hits.kinds[kind][1]) if words else {}
            return fields

        order = np.lexsort((hits.kind, hits.step, hits.player))
        ordered = np.stack((hits.player, hits.step, hits.kind), 1)[order].tolist()
        count = Counter((player, step) for player, step, _ in ordered)
        for player, step, kind in ordered:
            if (player, step) in difficulties:
                answer, parameters = hits.kinds[kind]
                yield Candidate(
                    step,
                    player,
                    DIFFICULTIES[difficulties[player, step]],
                    dict(parameters),
                    dict(filled(player, kind)),
                    answer,
                    pair="either" if count[player, step] == 2 else "",
                )

    return candidates, Prefilter(screened, exact=confirm is None)


def _confirm_hits(
    hits: CandidateColumns,
    episode: Episode,
    context: int,
    horizon: int,
    confirm: ConfirmFunction | None,
) -> dict[tuple[int, int], int]:
    """Return the difficulty of each confirmed player and step, an index of DIFFICULTIES."""
    columns = (column.tolist() for column in (hits.player, hits.step, hits.difficulty))
    levels = {(player, step): level for player, step, level in zip(*columns, strict=True)}
    if confirm is None:
        return levels
    by_role = {player: make_track(episode, player) for player, _ in levels}
    out = {}
    for (player, step), level in levels.items():
        label = confirm(by_role[player], step, context, horizon)
        if label is not None:
            difficulty = DIFFICULTIES.index(difficulty_by_steps(label.step, horizon))
            out[player, step] = difficulty if level == UNGRADED else level
    return out


def make_confirm(
    policy: MovePolicy, rule: LabelFunction, parameters: Mapping[str, Any], partner: str = "no-op"
) -> ConfirmFunction:
    """Return a check that a policy, given what it has seen, satisfies a rule."""

    def confirm(track: Track, step: int, context: int, horizon: int) -> Label | None:
        label = rule(simulate(track, step, context, horizon, policy, partner), parameters)
        return label if label.verdict == "success" else None

    return confirm


def make_hits(
    steps: StepBatch, difficulty: Any, kinds: Kinds = NO_PARAMETERS, kind: Any = 0
) -> CandidateColumns:
    """Return the hits of a prefilter; `kind` is an index of `kinds`."""
    count, players = len(steps.track), steps.tracks.players
    return CandidateColumns(
        steps.track // players,
        steps.track % players,
        steps.step,
        np.broadcast_to(np.asarray(difficulty, np.int32), (count,)),
        np.broadcast_to(np.asarray(kind), (count,)),
        kinds,
    )


def good_moves_seen(steps: StepBatch, context: int) -> Cells:
    """Return Good's moves in the context; NONE if either frame was not seen."""
    batch = steps.tracks
    good = steps.values_between(batch.good, -context, 1)
    near = steps.values_between(batch.to_good, -context, 1) <= SIGHT
    actions = batch.move_towards(good[:, :-1], good[:, 1:])
    out: Cells = np.where(near[:, :-1] & near[:, 1:], actions, NONE).astype(np.int64)
    return out


def grade_leaving(distance: Ints) -> Any:
    """Return the difficulty of following, by how long a player standing still stays near."""
    stays = (distance <= SIGHT).sum(1)
    return np.where(stays > 2, 0, np.where(stays == 2, 1, 2))
