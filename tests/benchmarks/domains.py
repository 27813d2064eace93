"""What it costs to step somebody's environment through the suite, beside the environment alone."""

from __future__ import annotations

import contextlib
import io
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from sts.domains.adapted import Adapted, Stepped
from sts.domains.gymnasium import GymnasiumEnvironment, named
from tests.benchmarks.measure import Sizes, Table, seconds

WORLDS = ("CartPole-v1", "minigrid:BabyAI-GoToLocal-v0")
STEPS = 8  # no world comes to its end in so few


class Rates(NamedTuple):
    """Steps a second: of Gymnasium's environment, of ours that can be restored, and of batches."""

    bare: float
    restorable: float
    stepped: float


def measured(id: str, sizes: Sizes) -> Rates:
    """Returns the rates of the environment that Gymnasium calls `id`."""
    kind, count = named(id), sizes.few * 5
    domain = Adapted(kind, f"gymnasium:{id}")
    moves = np.arange(STEPS * count).reshape(STEPS, count, 1).astype(np.int8) % 2

    def bare() -> list[Any]:
        made = [gymnasium.make(id, disable_env_checker=True) for _ in range(count)]
        for i, one in enumerate(made):
            one.reset(seed=i)
        return made

    def step_bare(made: list[Any]) -> None:
        for row in moves.tolist():
            for one, (move,) in zip(made, row, strict=True):
                one.step(move)

    def restorable() -> list[GymnasiumEnvironment]:
        made = [kind() for _ in range(count)]
        for i, one in enumerate(made):
            one.reset(i)
        return made

    def step_restorable(made: list[GymnasiumEnvironment]) -> None:
        for row in moves.tolist():
            for one, move in zip(made, row, strict=True):
                one.step(move)
                one.digest()

    def batch() -> Stepped:
        return domain.restore(domain.generate(count, seed=0))

    def step_batch(worlds: Stepped) -> None:
        for row in moves:
            worlds.step(row, np.zeros_like(row))
            worlds.rewards, worlds.scene  # noqa: B018

    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        taken = [
            seconds(work, prepare, runs=sizes.runs)
            for work, prepare in (
                (step_bare, bare),
                (step_restorable, restorable),
                (step_batch, batch),
            )
        ]
    return Rates(*(STEPS * count / one for one in taken))


def table(sizes: Sizes) -> Table:
    """Steps a second of each, and the share that batches reach of the other two."""
    rows = []
    for id in WORLDS:
        r = measured(id, sizes)
        shares = (r.stepped / r.restorable, r.stepped / r.bare)
        rows.append((f"`{id}`", *r, *(f"{100 * share:.0f}%" for share in shares)))
    return Table(
        "Environments of others",
        "Steps a second on one core. *Bare* is `step` of Gymnasium's environment; *restorable* is "
        "`step` and `digest` of the same as an `Environment`, which notes every move and hashes "
        "everything that comes out; *batch* is a batch of them as every command steps it, rewards "
        "checked and scenes kept.",
        ("environment", "bare", "restorable", "batch", "of restorable", "of bare"),
        rows,
    )
