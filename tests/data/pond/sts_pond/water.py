"""The pond itself, one of them: plain Python, all whole numbers."""

from __future__ import annotations

import json
import random
from dataclasses import asdict, dataclass

from sts.plugin import ArgumentError

MOVES = ("wait", "left", "right", "load", "land")
WAIT, LEFT, RIGHT, LOAD, LAND = range(len(MOVES))
NOBODY = -1


@dataclass
class Water:
    """What is where.

    Attributes:
      jetties: how many there are, side by side.
      ferries: at which jetty each ferry is.
      aboard: which passenger each ferry has, or NOBODY.
      passengers: at which jetty each passenger is, aboard or ashore.
      ends: the two jetties between which each passenger goes.
      bound: which of the two each passenger wants to, 0 or 1.
      made: the last move of each ferry; NOBODY before the first.
      steps: how many have been made.
    """

    jetties: int
    ferries: list[int]
    aboard: list[int]
    passengers: list[int]
    ends: list[list[int]]
    bound: list[int]
    made: list[int]
    steps: int = 0

    def encoded(self) -> bytes:
        """Return all of it as JSON."""
        return json.dumps(asdict(self), separators=(",", ":")).encode()

    def goal(self, passenger: int) -> int:
        """Return the jetty that a passenger wants to."""
        return self.ends[passenger][self.bound[passenger]]

    def waiting(self) -> list[int]:
        """Return the passengers who are ashore."""
        return [p for p in range(len(self.passengers)) if p not in self.aboard]

    def step(self, actions: list[int]) -> list[int]:
        """Move the ferries, the first first; return what each is paid: 1 for a passenger home."""
        paid = [0] * len(self.ferries)
        for ferry, move in enumerate(actions):
            at, who = self.ferries[ferry], self.aboard[ferry]
            if move in (LEFT, RIGHT):
                at = min(max(at + (1 if move == RIGHT else -1), 0), self.jetties - 1)
                self.ferries[ferry] = at
                if who != NOBODY:
                    self.passengers[who] = at
            elif move == LOAD and who == NOBODY:
                here = [p for p in self.waiting() if self.passengers[p] == at]
                self.aboard[ferry] = min(here, default=NOBODY)
            elif move == LAND and who != NOBODY:
                self.aboard[ferry] = NOBODY
                if at == self.goal(who):
                    paid[ferry], self.bound[who] = 1, 1 - self.bound[who]
        self.made, self.steps = list(actions), self.steps + 1
        return paid


def begun(jetties: int, ferries: list[int], ends: list[list[int]]) -> Water:
    """Return a pond on which every passenger waits at the first of their jetties.

    Raises:
      ArgumentError: there are too few or too many of something.
    """
    if not 3 <= jetties <= 40 or not 1 <= len(ferries) <= 9 or not 1 <= len(ends) <= 9:
        raise ArgumentError(
            "expected 3 to 40 jetties, 1 to 9 ferries and 1 to 9 passengers, found "
            f"{jetties}, {len(ferries)} and {len(ends)}"
        )
    places = [*ferries, *(end for pair in ends for end in pair)]
    if not all(0 <= place < jetties for place in places):
        raise ArgumentError(f"expected jetties 0 to {jetties - 1}, found {max(places)}")
    nobody = [NOBODY] * len(ferries)
    return Water(jetties, ferries, nobody, [a for a, _ in ends], ends, [1] * len(ends), nobody)


def draw_pond(seed: int, number: int, jetties: int, ferries: int, passengers: int) -> Water:
    """Return the pond of this number; equal for equal arguments."""
    dice = random.Random(f"pond {seed} {number}")
    places = range(max(jetties, 2))
    return begun(
        jetties,
        [dice.choice(places) for _ in range(ferries)],
        [dice.sample(places, 2) for _ in range(passengers)],
    )
