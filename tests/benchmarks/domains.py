"""What it costs to step an environment through the suite, beside the environment alone."""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.synchronize import Barrier
from threading import BrokenBarrierError
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from sts.domains import domain
from sts.domains.adapted import Adapted, EnvironmentWorlds
from sts.errors import StsError
from sts.jobs.pool import Pool
from sts.trajectories.record import EPISODES_PER_TASK
from tests.benchmarks.measure import Sizes, Table, alternating

AIM = 80
"""Percent of the environment's own speed."""
WORKERS = 2
PATIENCE = 300.0
"""Seconds that one process waits for the others before a clock is started."""

Moves = NDArray[np.int8]
Told = tuple[NDArray[np.int8], NDArray[np.uint16]]
"""What a batch keeps of T steps: rewards int8[T, B, P] and digests uint16[T, B, K]."""


class Kind(NamedTuple):
    """How worlds of a domain are stepped.

    Attributes:
      domain: by name.
      steps: T; no world comes to its end in so few.
      moves: int8[T, B, P], given T and worlds where they begin, which may be used up.
      bare: returns what steps the package's own environments, given worlds where they begin.
    """

    domain: str
    steps: int
    moves: Callable[[int, Sequence[Any]], Moves]
    bare: Callable[[Sequence[Any], Moves], Callable[[], None]]


class Rates(NamedTuple):
    """Steps a second of the same worlds.

    Attributes:
      bare: of the package's own environments.
      step: of those that can be restored.
      own: of the same, each asked for its digest.
      batches: of a batch, in this process and in `WORKERS` others, each with one.
    """

    bare: float
    step: float
    own: float
    batches: tuple[float, float]


def _upright(steps: int, worlds: Sequence[Any]) -> Moves:
    """Return pushes to the side to which each pole falls."""
    moves = np.empty((steps, len(worlds), 1), np.int8)
    for i, world in enumerate(worlds):
        for t in range(steps):
            place, speed, angle, fall = world.live.unwrapped.state
            moves[t, i] = 0.1 * place + 0.2 * speed + 3 * angle + fall > 0
            world.step(moves[t, i].tolist())
    return moves


def _drawn(count: int) -> Callable[[int, Sequence[Any]], Moves]:
    def moves(steps: int, worlds: Sequence[Any]) -> Moves:
        shape = (steps, len(worlds), len(worlds[0].participants))
        return np.random.default_rng(0).integers(count, size=shape, dtype=np.int8)

    return moves


def _lives(worlds: Sequence[Any], moves: Moves) -> Callable[[], None]:
    """Gymnasium's and minigrid's own environments."""
    lives, rows = [world.live for world in worlds], moves[:, :, 0].tolist()

    def work() -> None:
        for row in rows:
            for one, move in zip(lives, row, strict=True):
                one.step(move)

    return work


def _kitchens(worlds: Sequence[Any], moves: Moves) -> Callable[[], None]:
    """The transitions of the package's own game."""
    from sts.worlds.overcooked.kitchen import ACTIONS, build_state, load_game

    games = [load_game(world.grid, "2019") for world in worlds]
    states = [build_state(mdp, one.facts()) for mdp, one in zip(games, worlds, strict=True)]
    rows = [[tuple(ACTIONS[move] for move in both) for both in row] for row in moves.tolist()]

    def work() -> None:
        for row in rows:
            for i, (mdp, both) in enumerate(zip(games, row, strict=True)):
                states[i], _ = mdp.get_state_transition(states[i], both)

    return work


KINDS = (
    Kind("gymnasium:CartPole-v1", 200, _upright, _lives),
    Kind("gymnasium:minigrid:BabyAI-GoToLocal-v0", 20, _drawn(2), _lives),  # turns
    Kind("babyai", 20, _drawn(2), _lives),
    Kind("overcooked", 50, _drawn(6), _kitchens),
)


def table(sizes: Sizes) -> Table:
    """Step a second of batches, and the share that they reach of each other way."""
    rows = []
    with _workers() as together:
        for kind in KINDS:
            rates = measured(kind, together, sizes)
            for count, rate in zip((1, WORKERS), rates.batches, strict=True):
                alone = (rates.own, rates.step, rates.bare)
                beside = [cell for one in alone for cell in (one, f"{100 * rate / one:.0f}%")]
                rows.append((f"`{kind.domain}`", str(count), rate, *beside))
    return Table(
        "Environments of others",
        f"Steps a second of {_worlds(sizes)} worlds through the adapter for any environment. "
        "*Batch* is a batch of them as every command steps it, rewards checked and digests kept: "
        f"in one process, and one in each of {WORKERS} worker processes, as `sts record --workers "
        f"{WORKERS}` has them, from when all stand ready until what they kept has come back. All "
        "others are in one process, one world after the other, with the same moves. *Own* is the "
        "speed of the environment itself, of which a batch is to reach more than "
        f"{AIM}%: its `step` and `digest`, as nothing is recorded without the digest of every "
        "step. *Step* is its `step` and no digest, and *bare* what the package steps without us: "
        "`step` of Gymnasium's or minigrid's environment, the transition of Overcooked's game. "
        "What a digest costs is in `step` for all but Overcooked. Batches here and there keep the "
        "same, which is checked first; then the five ways take turns.",
        (
            *("environment", "processes", "batch", "own", "of own"),
            *("step", "of step", "bare", "of bare"),
        ),
        rows,
    )


def _worlds(sizes: Sizes) -> int:
    return min(EPISODES_PER_TASK, 5 * sizes.few)


def measured(kind: Kind, together: tuple[Pool, Barrier], sizes: Sizes) -> Rates:
    """Return the rates of an environment; `together` is what `_workers` yields."""
    adapted = cast(Adapted, domain(kind.domain))
    pool, barrier = together

    def worlds() -> list[Any]:
        return [adapted.environment(state) for state in states]

    def step(made: list[Any]) -> None:
        for row in rows:
            for one, chosen in zip(made, row, strict=True):
                one.step(chosen)

    def own(made: list[Any]) -> None:
        for row in rows:
            for one, chosen in zip(made, row, strict=True):
                one.step(chosen)
                one.digest()

    def ready() -> None:
        """Return once every process has a batch and waits, or has waited too long for another."""
        for _ in range(WORKERS):
            pool.submit(None, _stepped, barrier, kind.domain, states, moves)
        while barrier.n_waiting < WORKERS and not barrier.broken:
            time.sleep(0.01)

    def all_stepped(_: None = None) -> list[Told]:
        with contextlib.suppress(BrokenBarrierError):  # one has failed, and says why
            barrier.wait(PATIENCE)
        came = [told for _, told in pool.completed()]
        for one in came:
            if isinstance(one, StsError):
                raise one
        return came

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        states = adapted.generate(_worlds(sizes), seed=0)
        moves = kind.moves(kind.steps, worlds())
        rows = moves.tolist()
        batch = adapted.restore(states)
        expected = _kept(batch, moves)
        assert not batch.ended.any()
        ready()
        for told in all_stepped():
            for here, there in zip(expected, told, strict=True):
                np.testing.assert_array_equal(here, there)
        bare, alone, asked, one, every = alternating(
            [
                (lambda work: work(), lambda: kind.bare(worlds(), moves)),
                (step, worlds),
                (own, worlds),
                (lambda made: _kept(made, moves), lambda: adapted.restore(states)),
                (all_stepped, ready),
            ],
            runs=sizes.slow,
        )
    steps = kind.steps * len(states)
    return Rates(steps / bare, steps / alone, steps / asked, (steps / one, WORKERS * steps / every))


def _kept(worlds: EnvironmentWorlds, moves: Moves) -> Told:
    """Make the moves, and return what a recording keeps of them."""
    silent = np.zeros_like(moves[0])
    rewards, digests = [], []
    for row in moves:
        worlds.step(row, silent)
        rewards.append(worlds.rewards)
        digests.append(worlds.scene)
    return np.array(rewards), np.array(digests)


@contextlib.contextmanager
def _workers() -> Iterator[tuple[Pool, Barrier]]:
    """Yield worker processes as commands have them, and where they wait, this process too."""
    with multiprocessing.Manager() as manager, Pool(WORKERS) as pool:
        yield pool, manager.Barrier(WORKERS + 1)  # type: ignore[misc]


def _stepped(barrier: Barrier, name: str, states: Sequence[bytes], moves: Moves) -> Told:
    """Step a batch in a worker, once all have theirs."""
    with contextlib.redirect_stderr(io.StringIO()):
        worlds = cast(Adapted, domain(name)).restore(states)
    barrier.wait(PATIENCE)
    return _kept(worlds, moves)
