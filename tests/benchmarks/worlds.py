"""What surrounds the playing: environments made, episodes for learners, Gymnasium's worlds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import sts.worlds.lambda_star.gym  # noqa: F401  registers LambdaStar-v0
from sts.worlds.lambda_star import rollout
from sts.worlds.lambda_star.generation import environments, patterns
from tests.benchmarks.measure import Sizes, Table, seconds
from tests.benchmarks.paths import Greedy, made

TEAM = 5


def generation(sizes: Sizes) -> Table:
    """Thousands of worlds a second, all at once and one by one."""
    every = {
        "paper, 10x10, 50 steps": patterns.Settings(participants=TEAM),
        "paper, 10x10, 50 steps, K = 10": patterns.Settings(participants=TEAM, complexity=(10, 10)),
        "paper, 20x20, 100 steps": patterns.Settings(20, 20, TEAM, 100),
        "lambdastar-2016, 10x10": patterns.Settings(participants=TEAM, patterns="lambdastar-2016"),
    }
    rows = [(name, *_generated(wanted, sizes)) for name, wanted in every.items()]
    return Table(
        "New environments",
        f"Thousands of environments a second on one core, with {TEAM} participants: together, as "
        "the intelligence test makes them, and one by one. The two make the same. Most of the time "
        "goes into patterns that are drawn and thrown away again until one has the K wished for.",
        ("environments", "together", "one by one"),
        rows,
    )


def _generated(wanted: patterns.Settings, sizes: Sizes) -> tuple[float, float]:
    """Return thousands of worlds a second, together and one by one."""
    few = max(1, sizes.new // 10)

    def together() -> Any:
        return environments.generate(wanted, seed=1, start=0, stop=sizes.new)

    def apart() -> Any:
        return [patterns.generate(wanted, seed=1, index=i) for i in range(few)]

    return (_rate(sizes.new, together, sizes) / 1e3, _rate(few, apart, sizes) / 1e3)


def learners(sizes: Sizes) -> Table:
    """Millions of agent-steps a second as other people's learners see them."""
    worlds = made(TEAM, sizes.episodes, sizes)
    steps = sizes.episodes * sizes.steps
    work: dict[str, Callable[[], Any]] = {
        "`rollout` of local-search": lambda: rollout("local-search", worlds),
        "`rollout` of a policy in NumPy": lambda: rollout(Greedy(), worlds),
        "the same, what is seen kept too": lambda: rollout(Greedy(), worlds, observe=True),
    }
    rows = [(name, _rate(steps * TEAM, run, sizes) / 1e6) for name, run in work.items()]
    for partner in (None, "local-search"):
        label = f"beside {TEAM - 1} of {partner}" if partner else "alone in its world"
        rows.append((f"Gymnasium, {label}", _gymnasium(partner, sizes) / 1e6))
    return Table(
        "For other people's learners",
        f"Millions of agent-steps a second on one core: {sizes.episodes} whole episodes as arrays "
        f"from `rollout`, {TEAM} in a world; and the one learner's steps in a Gymnasium vector of "
        f"{sizes.new} worlds, its moves drawn beforehand, an observation made at every step and "
        "new worlds after every episode.",
        ("what", "millions a second"),
        rows,
    )


def _gymnasium(partner: str | None, sizes: Sizes) -> float:
    """Return steps a second of the one learner in each of many worlds."""
    import gymnasium

    team = TEAM if partner else 1
    worlds = gymnasium.make_vec(
        "LambdaStar-v0", sizes.new, team=team, steps=sizes.steps, partner=partner
    )
    moves = np.random.default_rng(0).integers(9, size=(sizes.steps + 1, sizes.new))
    worlds.reset(seed=0)

    def work() -> None:  # one of its steps begins new worlds
        for row in moves:
            worlds.step(row)

    rate = _rate(sizes.steps * sizes.new, work, sizes)
    worlds.close()
    return rate


def _rate(count: int, work: Callable[[], Any], sizes: Sizes) -> float:
    return count / seconds(lambda _: work(), runs=sizes.runs)
