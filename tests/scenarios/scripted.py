"""Episodes to the letter: Good and Evil on given paths, participants on given moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sts.engine.lockstep import Script, play
from sts.episodes import Episode
from sts.worlds.lambda_star.domain import LambdaStar
from sts.worlds.lambda_star.state import MOVES, TOKENS, State, encode

HEIGHT, WIDTH = 6, 7
Cell = tuple[int, int]


def episode(
    *moves: str,
    start: Cell = (0, 0),
    good: Sequence[Cell] = ((2, 3),),
    evil: Sequence[Cell] = ((4, 3),),
    others: Sequence[tuple[Cell, str]] = (),
    says: Sequence[str] = (),
) -> Episode:
    """Return what happens on 6 rows of 7 when participant 0 makes `moves`, a word for each.

    Args:
      moves: as MOVES names them, all in one string or more.
      start: where participant 0 is at frame 0.
      good: Good's cells, frame by frame and round again.
      evil: likewise Evil's.
      others: start and moves of further participants; short ones stay at the end.
      says: what participant 0 says in each step; silence after the last.
    """
    lines = [" ".join(moves).split(), *(line.split() for _, line in others)]
    steps = len(lines[0])
    ways = np.full((1, steps, len(lines)), MOVES.index("stay"), np.int8)
    for p, line in enumerate(lines):
        ways[0, : len(line), p] = [MOVES.index(m) for m in line]
    words = np.zeros((1, steps, len(lines)), np.int8)
    words[0, : len(says), 0] = [TOKENS.index(w) for w in says]
    count = len(lines)
    paths = [tuple(r * WIDTH + c for r, c in path) for path in (good, evil)]
    state = encode(
        State(
            height=HEIGHT,
            width=WIDTH,
            radius=1,
            kind="cells",
            good=paths[0][0],
            evil=paths[1][0],
            good_pattern=paths[0],
            evil_pattern=paths[1],
            good_cursor=1 % len(paths[0]),
            evil_cursor=1 % len(paths[1]),
            step=0,
            horizon=steps,
            seed=0,
            counter=0,
            cells=tuple(r * WIDTH + c for r, c in (start, *(s for s, _ in others))),
            moves=(-1,) * count,
            says=(0,) * count,
            rewards=(0,) * count,
        )
    )
    domain = LambdaStar()
    script = Script(ways, words, np.ones((steps, count), np.bool_))
    played = play(domain, domain.restore([state]), [], steps=steps, script=script)
    return Episode(
        domain.name, state, played.moves[0], played.says[0], played.rewards[0], played.scene[0]
    )
