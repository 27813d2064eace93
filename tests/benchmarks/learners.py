"""Training updates a second of the behaviours that rehearse an episode."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts import agents
from sts.engine.session import Team
from sts.worlds.lambda_star.play import practice
from sts.worlds.lambda_star.play.practice import LEARNERS
from sts.worlds.lambda_star.play.teams import play_after_practice
from tests.benchmarks import rival_learners, rivals
from tests.benchmarks.measure import Sizes, Table, seconds
from tests.benchmarks.paths import PEOPLE, batch, made, states, streams

AIM = 20.0
RIVALLED = "q-learning"

Rates = dict[tuple[str, int], float]


def measured(sizes: Sizes) -> Rates:
    """Return millions of updates a second, by the learner's name and the team's size."""
    found = {}
    for people in PEOPLE:
        worlds = made(people, sizes.learners, sizes)
        own = streams(sizes.learners)
        updates = sizes.learners * people * sizes.rehearsals * sizes.steps / 1e6
        for name in LEARNERS:

            def work(arrays: Any, name: str = name, own: Any = own) -> NDArray[np.int8]:
                return practice.play(
                    name, arrays, own, steps=sizes.steps, rehearsals=sizes.rehearsals
                ).rewards

            found[name, people] = updates / seconds(work, worlds.copy_arrays, runs=sizes.runs)
    return found


def table(rates: Rates, sizes: Sizes) -> Table:
    """Every learner, compiled with the world."""
    return Table(
        "Learning behaviours",
        f"Millions of training updates a second on one core: {sizes.learners} episodes of "
        f"{sizes.steps} steps on a 10x10 grid, each rehearsed {sizes.rehearsals} times and then "
        "played once. An update is a participant's whole step in a rehearsal: choosing, moving, "
        "receiving, learning. The pass that counts is in the time and not in the number. SARSA "
        "does here what Q-learning does, as the move it takes next is always a best one.",
        ("agent", "aim", "1 a world", "5 a world"),
        [(name, AIM, *(rates[name, people] for people in PEOPLE)) for name in LEARNERS],
    )


def compared(rates: Rates, sizes: Sizes) -> Table:
    """Q-learning against a plain NumPy batch and pure Python."""
    rows = []
    for people in PEOPLE:
        ours = rates[RIVALLED, people]
        general, arrays, plain = _slower(people, sizes)
        ratios = ours / arrays, general / arrays, ours / plain
        rows.append((f"{RIVALLED}, {people}", ours, general, arrays, plain, *ratios))
    return Table(
        "Learning against plain NumPy and pure Python",
        f"Millions of training updates a second on one core. NumPy and the general path rehearse "
        f"{sizes.abreast} episodes at once, {sizes.repeats} times; NumPy holds every state's "
        "values, which is why there are not more. Python rehearses one. All draw the same numbers "
        "and receive the same rewards, which is checked first.",
        (
            "agent, a world",
            "compiled",
            "general",
            "NumPy",
            "Python",
            "compiled / NumPy",
            "general / NumPy",
            "compiled / Python",
        ),
        rows,
    )


def _slower(people: int, sizes: Sizes) -> tuple[float, float, float]:
    """Return millions of updates a second of the general path, of NumPy and of pure Python."""
    worlds, own = made(people, sizes.abreast, sizes), streams(sizes.abreast)
    given = states(people, sizes.abreast, sizes)
    stacked = rivals.Stacked(given)
    repeats, steps, key = sizes.repeats, sizes.steps, int(own[0])
    team = Team(agents.load(RIVALLED), tuple(range(people)), own)

    def general(_: None) -> NDArray[np.int64]:
        played = play_after_practice(lambda: batch(worlds), [team], steps=steps, rehearsals=repeats)
        return played.rewards.sum(1, np.int64)

    def arrays(_: None) -> NDArray[np.int64]:
        return rival_learners.with_numpy(stacked, own, steps, repeats)

    def plain(_: None) -> list[int]:
        return rival_learners.in_python(given[0], key, steps, repeats)

    expected = practice.play(
        RIVALLED, worlds.copy_arrays(), own, steps=steps, rehearsals=repeats
    ).rewards.sum(1, np.int64)
    np.testing.assert_array_equal(general(None), expected)
    np.testing.assert_array_equal(arrays(None), expected)
    np.testing.assert_array_equal(plain(None), expected[0])
    one = people * repeats * steps / 1e6
    return (
        one * sizes.abreast / seconds(general, runs=sizes.slow),
        one * sizes.abreast / seconds(arrays, runs=sizes.slow),
        one / seconds(plain, runs=sizes.slow),
    )
