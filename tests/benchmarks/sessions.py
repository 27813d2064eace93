"""What a session that is held open saves: a person's turns, and worlds made for learners."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import gymnasium
import numpy as np

from sts.continuations import human
from sts.suites.types import Scenario
from sts.worlds.lambda_star import gym
from tests.benchmarks.measure import Sizes, Table, alternating
from tests.examples import played, scenarios


def renewed(sizes: Sizes) -> Table:
    """Millions of steps a second of a vector of worlds, new ones or the same again."""
    moves = np.random.default_rng(0).integers(9, size=(sizes.steps + 1, sizes.new))
    ways, work = {"made at every episode": None, "each world comes round again": 1}, []
    for count in ways.values():
        envs = gymnasium.make_vec(gym.ID, sizes.new, steps=sizes.steps, worlds=count)
        envs.reset(seed=0)
        for row in moves[1:]:
            envs.step(row)
        work.append((partial(_episode, envs), lambda: moves))
    taken = alternating(work, runs=sizes.runs)
    count = sizes.steps * sizes.new
    return Table(
        "New worlds for learners",
        f"Millions of steps a second of the one learner in each of {sizes.new} worlds of a "
        f"Gymnasium vector, {sizes.steps} steps an episode and then new worlds, an observation "
        "made at every step. No learner learns meanwhile.",
        ("new worlds", "millions a second"),
        [(name, count / own / 1e6) for name, own in zip(ways, taken, strict=True)],
    )


def _episode(envs: Any, moves: Any) -> None:
    """Begins new worlds and takes every step."""
    for row in moves:
        envs.step(row)


def turns(sizes: Sizes) -> Table:
    """What a person's first and last turn cost, held open and replayed."""
    (one,) = scenarios(1, partner="agent:local-search", horizon=sizes.turns)
    made = [(t % 9, 0) for t in range(sizes.turns)]
    rows = []
    for n in (1, sizes.turns):
        held, replayed = alternating(
            [
                (lambda begun: _turn(begun, made), partial(played, one, made[: n - 1])),
                (lambda n: _replayed(one, made[:n]), partial(int, n)),
            ],
            runs=sizes.runs,
        )
        size = len(_turn(played(one, made[: n - 1]), made))
        whole = len(_replayed(one, made[:n]))
        steps = f"{1} and {one.takeover + n}"
        rows.append((f"turn {n}", steps, held * 1e3, replayed * 1e3, size / 1e3, whole / 1e3))
    return Table(
        "A person's turn",
        f"A person plays beside an agent, {sizes.turns} turns after a context of {one.takeover} "
        "steps. Between turns their session is held open: a turn is one step of the world, and "
        "what is sent is what it changed. Beside it what it would cost to replay the past at "
        "every turn and send all that was seen.",
        (
            "",
            "steps of the world, held open and replayed",
            "ms, held open",
            "ms, replayed",
            "kB sent, held open",
            "kB sent, replayed",
        ),
        rows,
    )


def _turn(begun: human.Play, made: list[tuple[int, int]]) -> str:
    """Take the next of `made`; return what a page is sent that has all that came before."""
    frames, turn = len(begun.frames), human.Turn(*made[len(begun.turns)])
    begun.take(turn)
    return json.dumps(begun.view(frames))


def _replayed(one: Scenario, made: list[tuple[int, int]]) -> str:
    return json.dumps(played(one, made).view())
