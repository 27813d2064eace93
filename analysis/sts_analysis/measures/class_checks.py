"""Checks that a class of environments is balanced, reward-sensitive, and chooses as it promises.

Balanced: a random agent's expected reward is 0. Reward-sensitive: different actions get different
sums up to some step; two random agents, the no-op and the class's `find_actions` are tried.

Source: Hernández-Orallo and Dowe 2010, Definitions 7 and 13, footnote 16.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.special import stdtrit

from sts.domains import reward_values, silent_utterances
from sts.domains.random import Random
from sts.engine.lockstep import Script, play_episodes
from sts.engine.session import Team
from sts.errors import ArgumentError
from sts.numerics.streams import streams
from sts_analysis.measures.classes import Chosen, EnvironmentClass, load_class
from sts_analysis.measures.measurement import Measurement, Table

STEPS = 200
CHANCE = 0.001
"""Probability that a balanced class fails the check of random agents, at one of its levels."""
THRESHOLD = 0.2  # difference of two sums of rewards that matters: a tenth of the range of rewards
MAX_LEVELS = 30  # of a class without a highest
_COLUMNS = ("complexity", "environments", "found", "random", "standard error", "reward-sensitive")


def check(
    agents: Sequence[str] = (),
    *,
    seed: int,
    class_: str = "",
    environments: int = 16,
    progress: Callable[[int, int], None] = lambda done, total: None,
    **_: Any,
) -> Measurement:
    """Check 2 or more `environments` of each complexity of a class; others are ignored."""
    if environments < 2:
        raise ArgumentError(f"expected 2 environments or more, found {environments}")
    classes, used = load_class(class_), set[bytes]()
    levels = math.ceil(classes.highest or MAX_LEVELS)
    rows, failures = list[tuple[Any, ...]](), list[str]()
    for level in range(levels):
        progress(level, levels)
        top = min(level + 1.0, classes.highest or math.inf)
        chosen, failed = list[Chosen](), Counter[str]()
        for index in range(environments):
            given: Any = {"n_players": 1, "key": (seed, index, level), "used": used}
            one, again = (classes.choose(top - 1, top, **given) for _ in range(2))
            failed["the same arguments choose different environments"] += one != again
            if one is None:
                break
            failed["a used environment is chosen"] += one.state in used
            failed["one of another complexity is chosen"] += not top - 1 <= one.complexity <= top
            used.add(one.state)
            chosen.append(one)
        is_short = top == classes.highest and len(chosen) < environments
        failed[f"no environment follows {len(chosen)}, but good agents stay here"] = is_short
        where = f"{top - 1:g} to {top:g}"
        if chosen:
            found = [one.complexity for one in chosen]
            cells = _play(classes, chosen, seed, CHANCE / levels, failed)
            rows.append((where, len(chosen), f"{min(found):.3g} to {max(found):.3g}", *cells))
        failures += [f"class {class_}, complexity {where}: {why}" for why in failed if failed[why]]
    failures += [] if rows else [f"class {class_} has no environment"]
    table, notes = Table(f"class {class_}", _COLUMNS, rows), failures or ["all checks hold"]
    return Measurement([], (table,), (*notes,), failed=bool(failures))


def _play(
    classes: EnvironmentClass,
    chosen: Sequence[Chosen],
    seed: int,
    chance: float,
    failed: Counter[str],
) -> tuple[float, float, str]:
    """Return random agents' mean, its standard error and the sensitive share; fill `failed`."""
    domain, states = classes.domain, [one.state for one in chosen]
    ways: list[Sequence[Sequence[Any]] | None] = [None, None, [()] * len(states)]
    if hasattr(classes, "find_actions"):
        ways.append([classes.find_actions(state) for state in states])
    steps = max(STEPS, *(len(actions) for way in ways for actions in way or ()))
    rewards = np.zeros((len(ways), len(states), steps))
    for number, way in enumerate(ways):
        own, script = streams(("check", seed, number), [(state,) for state in states]), None
        if way is not None:
            filled = [[*actions, *[domain.noop] * (steps - len(actions))] for actions in way]
            silent = silent_utterances(domain, (len(states), steps, 1))
            script = Script(np.array(filled)[:, :, None], silent, np.ones((steps, 1), np.bool_))
        worlds, teams = domain.restore(states), [Team(Random(), (0,), own)]
        played = play_episodes(domain, worlds, teams, steps=steps, script=script)
        rewards[number] = reward_values(domain, played.rewards)[:, :, 0]
    rewards -= np.array([one.offset for one in chosen])[:, None]
    means = rewards[:2].mean((0, 2))
    spread = float(means.std(ddof=1)) / math.sqrt(len(means)) if len(means) > 1 else 0.0
    # Rare rewards may all be missing: the error is at least what a single one would change.
    mean, error = float(means.mean()), max(spread, 1 / rewards[:2].size)
    insensitive = int((np.ptp(rewards.cumsum(2), axis=0).max(1) <= THRESHOLD).sum())
    least, greatest = rewards.min(), rewards.max()
    unbalanced = f"not balanced, random agents get {mean:.4f} (standard error {error:.4f})"
    limit = stdtrit(max(len(means) - 1, 1), 1 - chance / 2)
    failed[unbalanced] = not abs(mean) <= limit * error  # also if it is not a number
    failed[f"rewards from {least:g} to {greatest:g}, expected -1 to 1"] = not (
        -1 <= least <= greatest <= 1
    )
    failed[f"actions do not matter in {insensitive} of {len(states)}"] = insensitive > 0
    return mean, error, f"{1 - insensitive / len(states):.0%}"
