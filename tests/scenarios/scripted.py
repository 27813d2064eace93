"""Hand-made episodes: Good and Evil on given paths, players with given moves and words."""

from collections.abc import Sequence

import numpy as np

from sts.engine.lockstep import Script, play_episodes
from sts.episodes import Episode
from sts.suites.suite import Scenario
from sts_lambda_star.domain import LambdaStar
from sts_lambda_star.state import MOVES, TOKENS, State, encode
from sts_scenarios.rules.category import CONTEXT

HEIGHT, WIDTH = 6, 7
STAY = MOVES.index("stay")
Cell = tuple[int, int]


def episode(
    *actions: str,
    start: Cell = (0, 0),
    good: Sequence[Cell] = ((2, 3),),
    evil: Sequence[Cell] = ((4, 3),),
    others: Sequence[tuple[Cell, str]] = (),
    utterances: Sequence[str] = (),
) -> Episode:
    """Return the episode on 6 rows and 7 columns in which player 0 makes `actions`.

    Args:
      actions: as MOVES names them, all in one string or more.
      start: the cell of player 0 at frame 0.
      good: Good's cells, frame by frame, repeated.
      evil: Evil's cells, in the same way.
      others: start and actions of further players; short ones stay at the end.
      utterances: the words of player 0 in each step; silence after the last.
    """
    lines = [" ".join(actions).split(), *(line.split() for _, line in others)]
    steps, count = len(lines[0]), len(lines)
    ways = np.full((1, steps, count), STAY, np.int8)
    for p, line in enumerate(lines):
        ways[0, : len(line), p] = [MOVES.index(m) for m in line]
    words = np.zeros((1, steps, count), np.int8)
    words[0, : len(utterances), 0] = [TOKENS.index(w) for w in utterances]
    paths = [tuple(r * WIDTH + c for r, c in path) for path in (good, evil)]
    state = State(
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
        actions=(-1,) * count,
        utterances=(0,) * count,
        rewards=(0,) * count,
    )
    return _play(encode(state), ways, words)


def continued(scenario: Scenario, actions: list[int], utterances: list[int]) -> Episode:
    """Return the scenario's recording up to takeover, and then these actions and words."""
    recording, start = scenario.recording, scenario.context
    shape = (1, start + scenario.horizon, recording.n_players)
    ways, words = np.full(shape, STAY, np.int8), np.zeros(shape, np.int8)
    ways[0, :start], words[0, :start] = recording.actions[:start], recording.utterances[:start]
    (player,) = scenario.players
    ways[0, start:, player], words[0, start:, player] = actions, utterances
    return _play(recording.state, ways, words)


def _play(state: bytes, ways: np.ndarray, words: np.ndarray) -> Episode:
    world, steps = LambdaStar(), ways.shape[1]
    script = Script(ways, words, np.ones(ways.shape[1:], np.bool_))
    made = play_episodes(world, world.restore([state]), [], steps=steps, script=script)
    return Episode(
        world.name, state, made.actions[0], made.utterances[0], made.rewards[0], made.scene[0]
    )


def cut(what: Episode, category: str, **parameters: object) -> Scenario:
    """Return a bare scenario of a hand-made episode, for `why_invalid` alone."""
    return Scenario(
        id="x",
        category=category,
        kind="",
        instruction=None,  # type: ignore[arg-type]
        parameters=dict(parameters),
        trajectory="",
        world="",
        context_start=0,
        context=CONTEXT,
        horizon=5,
        players=(0,),
        partner="no-op",
        difficulty="easy",
        tags=(),
        takeover_hash="",
        recording=what,
        provenance={},
    )
