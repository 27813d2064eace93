"""Counterbalanced orders: which agents each person meets, and in which order.

With as many sessions as agents, they start from a Williams design: each agent is equally often at
each place and directly after each other agent. With fewer, they start from a cyclic incomplete
block design. A deterministic search then evens out what the numbers leave uneven.

Sources: Williams 1949, Aust. J. Chem. 2:149; Cochran and Cox 1957, Experimental Designs, chapters
4 and 11.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

_ROUNDS = 4
"""Searches, of which the best counts."""
_TRIES, _MAX_TRIES = 300, 100_000
"""Exchanges that a search tries, for each session and at most."""
_TEMPERATURE = 4.0
"""Mean growth of the squares that is allowed at the start of the search."""
_PLACE_WEIGHT = 4
"""Weight of an uneven place, where an uneven order has 1."""
Range = tuple[int, int]
Feature = tuple[str, int, int]


class Evenness(NamedTuple):
    """The minimum and maximum count of each feature of a design; equal where it is balanced."""

    replications: Range  # sessions of an agent
    pairs: Range  # people who meet both of two agents
    places: Range  # sessions of an agent at one place of the order
    orders: Range  # sessions of an agent directly after one other agent


def make_design(agents: int, people: int, sessions: int, seed: int) -> list[list[int]]:
    """Return the indices of the agents that each person meets, in order.

    Args:
      agents: A, the number of agents.
      people: P.
      sessions: K of each person, at most A, so that no person meets an agent twice.
      seed: of the search and of the order of agents and people.

    Returns:
      P lists of K indices.
    """
    rng = np.random.default_rng(seed)
    rows = _start(agents, people, sessions)
    names = rng.permutation(agents)
    for list_features, across in ((_list_pairs, True), (_list_places, False)):
        for _ in range(_ROUNDS):
            _, pairs, places, orders = _spreads(rows, agents)
            if (pairs if across else max(places, orders)) <= 1:
                break
            tried = _even_out(rows, list_features, rng, across=across)
            rows = min(rows, tried, key=lambda each: _spreads(each, agents))
    rng.shuffle(rows)
    return [[int(names[agent]) for agent in row] for row in rows]


def measure_evenness(design: Sequence[Sequence[int]], agents: int) -> Evenness:
    """Count the features of a design of `agents` agents."""
    counts = Counter(f for row in design for f in _list_pairs(row) | _list_places(row))
    counts.update(("agent", agent, 0) for row in design for agent in row)
    agent_indices, places = range(agents), range(len(design[0]))
    pairs = list(combinations(agent_indices, 2))
    keys = {
        "agent": [(a, 0) for a in agent_indices],
        "pair": pairs,
        "place": [(a, k) for a in agent_indices for k in places],
        "order": [*pairs, *((b, a) for a, b in pairs)],
    }
    ranges = []
    for kind, cells in keys.items():
        feature_counts = [counts[kind, *cell] for cell in cells] or [0]
        ranges.append((min(feature_counts), max(feature_counts)))
    return Evenness(*ranges)


def _spreads(rows: Sequence[Sequence[int]], agents: int) -> tuple[int, ...]:
    """Return maximum minus minimum of each count, the most important first."""
    return tuple(high - low for low, high in measure_evenness(rows, agents))


def _start(agents: int, people: int, sessions: int) -> list[list[int]]:
    """Return the rows of a Williams design, or cyclic blocks of consecutive agents."""
    if sessions < agents:
        return [[(p * sessions + k) % agents for k in range(sessions)] for p in range(people)]
    zigzag = [(k + 1) // 2 if k % 2 else -(k // 2) for k in range(agents)]
    rows = [[(shift + step) % agents for step in zigzag] for shift in range(agents)]
    if agents % 2:
        rows += [row[::-1] for row in rows]
    return [list(rows[p % len(rows)]) for p in range(people)]


def _list_pairs(row: Sequence[int]) -> set[Feature]:
    """Return the pairs of agents that a person meets."""
    return {("pair", a, b) for a, b in combinations(sorted(row), 2)}


def _list_places(row: Sequence[int]) -> set[Feature]:
    """Return the place of each agent in a person's order, and which agent follows which."""
    orders = {("order", a, b) for a, b in zip(row, row[1:], strict=False)}
    return orders | {("place", agent, place) for place, agent in enumerate(row)}


def _even_out(
    start: Sequence[Sequence[int]],
    list_features: Callable[[Sequence[int]], set[Feature]],
    rng: np.random.Generator,
    *,
    across: bool,
) -> list[list[int]]:
    """Exchange agents, across or within rows, to lower the sum of squares; return the new rows.

    It is simulated annealing: at first some exchanges that raise it are accepted, in the end none.
    """
    rows = [list(row) for row in start]
    features = [list_features(row) for row in rows]
    counts = Counter(feature for row in features for feature in row)
    people, sessions = len(rows), len(rows[0])
    tries = min(_TRIES * people * sessions, _MAX_TRIES)
    draws = rng.integers((people, people, sessions, sessions), size=(tries, 4))
    allowed = rng.exponential(_TEMPERATURE, tries) * np.linspace(1, 0, tries)
    for (p, other, i, j), allowance in zip(draws.tolist(), allowed.tolist(), strict=True):
        q = other if across else p
        a, b = rows[p][i], rows[q][j]
        if a == b or (across and (b in rows[p] or a in rows[q])):
            continue
        changed = {p: list(rows[p]), q: list(rows[q])}
        changed[p][i], changed[q][j] = b, a
        after = {r: list_features(row) for r, row in changed.items()}
        gained = {feature for r in changed for feature in after[r] - features[r]}
        lost = {feature for r in changed for feature in features[r] - after[r]}
        gained, lost = gained - lost, lost - gained
        growth = sum(_weigh(feature) * (2 * counts[feature] + 1) for feature in gained)
        growth -= sum(_weigh(feature) * (2 * counts[feature] - 1) for feature in lost)
        if growth <= allowance:
            counts.update(gained)
            counts.subtract(lost)
            for r, row in changed.items():
                rows[r], features[r] = row, after[r]
    return rows


def _weigh(feature: Feature) -> int:
    return _PLACE_WEIGHT if feature[0] == "place" else 1
