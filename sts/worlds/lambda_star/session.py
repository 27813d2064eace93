"""Worlds whose first participant is played from outside, step by step: a learner's seat.

All of them are at the same step, so B worlds begin, step and end together. What the learner sees is
one flat vector, which any function approximator takes; `layout` says what stands where in it.

Axes: B worlds, R roles, N numbers of an observation, M = (2k+1)^2 cells in sight, row by row.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.engine.lockstep import Script, play
from sts.engine.session import Team
from sts.errors import ArgumentError
from sts.numerics.draws import stream
from sts.worlds.lambda_star import state
from sts.worlds.lambda_star.domain import Batch, LambdaStar, Observation
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.kernels import Arrays, copied
from sts.worlds.lambda_star.play.teams import called, team_of

MOVES = len(state.MOVES)
_ME = (0,)


def layout(radius: int = 1) -> dict[str, slice]:
    """Returns what an observation holds, in its order.

    `good`, `evil` [M]: 1 where they are. `others` [M]: how many other participants are there.
    `reward` [M]: the reward there, -1 to 1. `place` [2]: the own row and column as parts of the
    grid's rows and columns, 0 to below 1. `time` [1]: the part of the episode that is over.
    `last_move` [9]: 1 at the own last move, all 0 before the first. `last_reward` [1]: -1 to 1.
    """
    cells = (2 * radius + 1) ** 2
    lengths = {
        "good": cells,
        "evil": cells,
        "others": cells,
        "reward": cells,
        "place": 2,
        "time": 1,
        "last_move": MOVES,
        "last_reward": 1,
    }
    ends = np.cumsum(list(lengths.values())).tolist()
    return {
        name: slice(end - length, end)
        for (name, length), end in zip(lengths.items(), ends, strict=True)
    }


class Bounds(NamedTuple):
    """The least and the greatest that each number of an observation can be: float32[N]."""

    low: NDArray[np.float32]
    high: NDArray[np.float32]


def bounds(settings: Settings) -> Bounds:
    """Returns what observations under `settings` lie within."""
    where = layout(settings.radius)
    size = where["last_reward"].stop
    low, high = np.zeros(size, np.float32), np.ones(size, np.float32)
    low[where["reward"]] = low[where["last_reward"]] = -1
    high[where["others"]] = max(1, settings.participants - 1)
    return Bounds(low, high)


def flat(seen: Observation, horizon: int) -> NDArray[np.float32]:
    """Returns float32[B, R, N]: what R roles see, as `layout` has it.

    Args:
      seen: what they see.
      horizon: the steps of an episode, which make the step a part of it; an agent that learnt in
        episodes of 50 steps goes on with 50 wherever it plays.
    """
    unit = np.float32(LambdaStar.reward_unit)
    shape = seen.cell.shape
    row, column = np.divmod(seen.cell, seen.width[:, None])
    parts = (
        seen.good,
        seen.evil,
        seen.team + seen.others,
        seen.reward * unit,
        np.stack((row / seen.height[:, None], column / seen.width[:, None]), -1),
        np.broadcast_to(seen.step[:, None, None] / horizon, (*shape, 1)),
        seen.last_move[..., None] == np.arange(MOVES),
        seen.last_reward[..., None] * unit,
    )
    return np.concatenate(parts, -1, dtype=np.float32, casting="unsafe")


class Seat:
    """B worlds whose participant 0 is played from outside, the others by partners or by nobody."""

    def __init__(self, settings: Settings, partner: Any = None, worlds: int | None = None) -> None:
        """Makes no world yet: `begin` does.

        Args:
          settings: what the worlds are made to.
          partner: who plays the other participants, whatever `teams.team_of` takes; None leaves
            them standing.
          worlds: how many worlds a seed has before the first comes round again, which saves making
            them anew; None for ever new ones.

        Raises:
          ArgumentError: the settings cannot be met, there is nobody for the partner to play, or
            there are no worlds.
          UnknownName: no agent of that name is installed.
        """
        patterns.check(settings)
        if worlds is not None and not (type(worlds) is int and worlds > 0):
            raise ArgumentError(f"expected 1 world or more, or None, found {worlds!r}")
        self.settings = settings
        self._partners = () if partner is None else team_of(partner)
        if len(self._partners) > settings.participants - 1:
            raise ArgumentError(
                f"partner {called(self._partners)}: expected a team of "
                f"{len(self._partners) + 1} or more, found {settings.participants}"
            )
        self._worlds = worlds
        self._kept: dict[int, Arrays] = {}
        self._episode = 0
        self._batch: Batch | None = None
        self._teams: list[Team] = []
        self.seeds: tuple[int, ...] = ()
        self.step = 0

    def begin(self, seeds: tuple[int, ...], *, anew: bool) -> NDArray[np.float32]:
        """Starts the next world of each of B seeds, as `generate` makes them; returns `look`.

        Args:
          seeds: other ones than before begin with their first worlds.
          anew: so do these, even where they are the same.
        """
        if seeds != self.seeds:
            self._kept = {}
        self._episode = 0 if anew or seeds != self.seeds else self._episode + 1
        self.seeds, self.step = seeds, 0
        self._batch = Batch.of(copied(self._made()), self.settings.radius)
        others, name = range(1, self.settings.participants), called(self._partners)
        named = [(seed, self._episode) for seed in seeds]
        self._teams = [
            Team(
                partner,
                tuple(others[i :: len(self._partners)]),
                np.array([stream("lambda-star gym", name, i, *one) for one in named], np.uint64),
            )
            for i, partner in enumerate(self._partners)
        ]
        return self.look()

    def _made(self) -> Arrays:
        """Returns the worlds of this episode; keeps them if they come round again."""
        index = self._episode if self._worlds is None else self._episode % self._worlds
        if index in self._kept:
            return self._kept[index]
        made = patterns.worlds(self.settings, [(seed, index) for seed in self.seeds])
        if self._worlds is not None:
            self._kept[index] = made
        return made

    @property
    def worlds(self) -> Batch:
        """The worlds, once begun."""
        assert self._batch is not None
        return self._batch

    @property
    def over(self) -> bool:
        """Whether there is no step left: none has begun, or the horizon is reached."""
        return self._batch is None or self.step == self.settings.horizon

    def act(self, moves: NDArray[np.int8]) -> NDArray[np.float64]:
        """Takes a step with the learner's moves, int8[B]; returns its rewards."""
        worlds = self.worlds
        batch, participants = worlds.rewards.shape
        done = np.full((batch, participants), LambdaStar.noop, np.int8)
        done[:, 0] = moves
        silence = np.zeros_like(done)
        if self._teams:
            forced = np.arange(participants)[None] == 0
            script = Script(done[:, None], silence[:, None], forced)
            played = play(LambdaStar(), worlds, self._teams, steps=1, script=script)
            self._teams = [
                team._replace(memory=memory, since=team.since + 1)
                for team, memory in zip(self._teams, played.memories, strict=True)
            ]
        else:
            worlds.step(done, silence)
        self.step += 1
        return worlds.rewards[:, 0] * np.float64(LambdaStar.reward_unit)

    def look(self) -> NDArray[np.float32]:
        """Returns float32[B, N]: what the learner sees now."""
        seen = self.worlds.observe(_ME, team=_ME, world=False)
        return flat(seen, self.settings.horizon)[:, 0]
