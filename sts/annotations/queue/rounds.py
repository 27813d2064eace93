"""The order in which the cells of a suite are judged: in rounds, each of them shuffled.

Round k has one cell for each agent and scenario: the agent's k-th continuation there. Judged in
this order, the continuations whose cells have been reached are at any moment a random sample of
each agent's, however many of them look alike and share a clip.

Axis: C continuations.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sts.continuations.index import Index

PLACES_PER_ROUND = 2**31


class Cells(NamedTuple):
    """Cells of a suite: C of each array."""

    agents: Sequence[str]
    scenarios: Sequence[str]  # by hash
    agent: NDArray[np.int64]  # places among `agents`
    number: NDArray[np.int64]  # of the continuation, from 0 among those of its scenario
    scenario: NDArray[np.int64]  # places among `scenarios`


def read_cells(index: Index, rows: NDArray[np.intp]) -> Cells:
    """Read the cells of continuations, given by their rows in the index."""
    agent, scenario = (index.read_codes(n)[rows].astype(np.int64) for n in ("agent", "scenario"))
    numbers = index.read_numbers("index")[rows].astype(np.int64)
    names = index.read_values("agent"), index.read_values("scenario")
    return Cells(*names, agent, numbers, scenario)


class RoundOrder:
    """The places of the cells of a suite, which follow from its scenarios and the study's seed."""

    def __init__(self, categories: Mapping[str, str], seed: int) -> None:
        """Take the category of each scenario of the suite, by its hash."""
        self._seed = seed
        self._rows = {scenario: row for row, scenario in enumerate(sorted(categories))}
        names = {name: number for number, name in enumerate(sorted({*categories.values()}))}
        self._category = np.array([names[categories[s]] for s in self._rows], np.intp)
        self._places: dict[tuple[str, int], list[int]] = {}

    def find_place(self, agent: str, index: int, scenario: str) -> int:
        """Return the place of a cell; a smaller one is judged earlier.

        Raises:
          KeyError: the suite has no such scenario.
        """
        key = agent, index
        if key not in self._places:
            self._places[key] = self._draw_places(agent, index).tolist()
        return self._places[key][self._rows[scenario]]

    def find_places(self, cells: Cells) -> NDArray[np.int64]:
        """Return the place of each of many cells, int64[C]."""
        size = int(cells.number.max(initial=0)) + 1
        keys, which = np.unique(cells.agent * size + cells.number, return_inverse=True)
        drawn = [self._draw_places(cells.agents[key // size], int(key % size)) for key in keys]
        row = np.array([self._rows.get(name, 0) for name in cells.scenarios], np.intp)
        places = np.array(drawn, np.int64).reshape(len(keys), len(self._rows))
        return np.asarray(places[which, row[cells.scenario]])

    def _draw_places(self, agent: str, index: int) -> NDArray[np.int64]:
        """Draw an order of each category's scenarios, and spread it evenly over the round.

        So any beginning of a round has about the same share of every agent and category.
        """
        text = f"round {self._seed} {index} {agent}".encode()
        stream = int.from_bytes(hashlib.blake2b(text, digest_size=16).digest())
        size, sizes = len(self._category), np.bincount(self._category)
        # The raw words of a bit generator are the same in every version of NumPy.
        words = np.random.Philox(key=stream).random_raw(size + len(sizes))
        order = np.lexsort((words[:size], self._category))
        rank = np.empty(size)
        rank[order] = np.arange(size) - (np.cumsum(sizes) - sizes)[self._category[order]]
        start = words[size:] / 2.0**64
        share = (rank + start[self._category]) / sizes[self._category]
        return index * PLACES_PER_ROUND + (share * PLACES_PER_ROUND).astype(np.int64)


def find_reached(
    agent: np.ndarray, cell: np.ndarray, round: np.ndarray, known: np.ndarray
) -> np.ndarray | None:
    """Find the continuations that count in a study judged in rounds.

    A cell is reached when all cells of its agent before it are known. What is known behind the
    first that is not would count those early that look like others: two agents with a rate of .5,
    the failures of one and the successes of the other alike, would differ by 22 points when a third
    of the clips is judged. Each agent's order is its own, so that one that joins later takes
    nothing from the others.

    Args:
      agent: int64[C].
      cell: float64[C], its number in the order of judging, NaN for a continuation without.
      round: float64[C], its round, which stands for the cell in a table without numbers of cells.
      known: bool[C], it has a verdict, or everyone who saw it could not judge it.

    Returns:
      bool[C]; None without rounds. In a table without numbers of cells, all that is known of the
      first round counts until a round is complete.
    """
    numbered = bool(np.isfinite(cell).any())
    order = cell if numbered else round
    if not np.isfinite(order).any():
        return None
    first = np.full(agent.max() + 1, np.inf)
    waiting = ~known & np.isfinite(order)
    np.minimum.at(first, agent[waiting], order[waiting])
    if not numbered:
        first = np.maximum(first, np.nanmin(order) + 1)
    return np.asarray(known & (order < first[agent]))
