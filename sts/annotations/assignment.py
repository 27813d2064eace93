"""Who judges what, decided: how many judgements a clip gets, and which clip comes next.

Values come in and a choice comes out; `claims` and `queue` read the values and write the choice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from sts.annotations.study import Study
from sts.annotations.types import Item

FIRST, ORDINARY = 0, 1
"""Turns: what is judged twice so that agreement is known early, then all else."""
MAX_BATCH_SIZE = 20
"""The most that a person is given ahead."""
MIN_BATCH_SIZE = 3
_RANDOM_SHARE = 1 / 3
"""How often balance does not decide: Efron's biased coin, so that nobody can guess who is next."""


class Requirement(NamedTuple):
    """How many judgements are asked of a clip, and in which turn: FIRST or ORDINARY."""

    required: int
    turn: int


def requirement_for(study: Study, item: Item) -> Requirement:
    """Return what a study asks of an item: the highest number that applies to it."""
    required = study.required_for(item.suite, item.category)
    if hash_to_unit_interval(study.seed, "twice", item.clip) < study.twice:
        return Requirement(max(required, 2), FIRST)
    return Requirement(required, ORDINARY)


def batch_size(left: int) -> int:
    """Return how many clips a person is given at a time where so many are left for all."""
    return max(MIN_BATCH_SIZE, min(MAX_BATCH_SIZE, left // 10))


def hash_to_unit_interval(*parts: object) -> float:
    """Return a number in [0, 1) that these parts, the seed first, always give."""
    text = " ".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest()) / 2**64


class Candidate(NamedTuple):
    """A clip that a person may be given; it counts for each of its agents.

    `key` is its place in the person's own random order. `judged` tells whether somebody else has
    judged it; as an `anchor` it is open to compare who judges now with who judged then.
    """

    item: str
    continuation: str
    scenario: str
    agents: tuple[str, ...]
    key: int
    judged: bool = False
    anchor: bool = False


class Balance:
    """How many clips of each agent a person was given, against the judgements asked for of it."""

    def __init__(self, given: Mapping[str, int], wanted: Mapping[str, int]) -> None:
        self._wanted = {agent: number for agent, number in wanted.items() if number > 0}
        self._shares = {agent: given.get(agent, 0) / n for agent, n in self._wanted.items()}

    def add(self, agents: Iterable[str]) -> None:
        """Count one more clip of these agents."""
        for agent in agents:
            if agent in self._shares:
                self._shares[agent] += 1 / self._wanted[agent]

    def added_spread(self, agents: Iterable[str]) -> float:
        """Return what one more clip of these agents adds to the spread of the shares.

        The spread is the sum over agents of (share - mean share) squared; where every clip is of
        one agent, and there is as much of each, the least is that of the smallest share.
        """
        shares = self._shares
        if not shares:
            return 0.0
        mean = sum(shares.values()) / len(shares)
        steps = [(shares[one], 1 / self._wanted[one]) for one in agents if one in shares]
        moved = sum(step for _, step in steps)
        return sum(step * (2 * (at - mean) + step) for at, step in steps) - moved**2 / len(shares)


def choose_next(
    candidates: Sequence[Candidate], balance: Balance, recent: Collection[str], coin: float
) -> Candidate | None:
    """Return which clip to show next of one turn, or None if all are of scenarios met just now.

    What another has judged already comes first, so that it is soon judged twice. Anchors come as
    often as there are of them among all. Then decides, two times in three, after which clip the
    person's shares of the agents are the most equal, and else the lot alone (Efron 1971, Biometrika
    58:403): who always met the agent they had met least would learn to tell who it is.

    `candidates` are a random sample of what is open; `coin` is a number in [0, 1) of this place in
    the person's queue.
    """
    fresh = [one for one in candidates if one.scenario not in recent]
    if not fresh:
        return None
    lot = min(fresh, key=lambda one: one.key)
    alike = [one for one in fresh if one.anchor == lot.anchor]
    alike = [one for one in alike if one.judged] or alike
    if coin < _RANDOM_SHARE:
        return min(alike, key=lambda one: one.key)
    return min(alike, key=lambda one: (balance.added_spread(one.agents), one.key))
