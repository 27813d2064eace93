"""The importer `ferry-log`: what ferrymen write down, a letter a move and a line a step.

    jetties 7
    ferries 0 6
    passengers 2-5 4-1
    >. 0
    >< 0

`.` waits, `<` and `>` go left and right, `+` loads and `-` lands. The number is how many passengers
have come home so far; a log whose count does not come out is refused. An empty line ends an
episode.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from sts.plugin import (
    ArgumentError,
    DamagedData,
    Episode,
    Player,
    Trajectory,
    collect_provenance,
    make_trajectory,
)
from sts_pond.domain import NAME, Ponds
from sts_pond.water import begun

LETTERS = ".<>+-"


def read(path: Path) -> list[Trajectory]:
    """Return a trajectory for each episode in a log.

    Raises:
      DamagedData: a line is not what the format has there, or the count does not come out.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise DamagedData(f"{path}: expected a log in UTF-8") from None
    blocks = [block.splitlines() for block in text.strip().split("\n\n")]
    return [_episode(f"{path.name} episode {n}", lines) for n, lines in enumerate(blocks, 1)]


def _episode(place: str, lines: list[str]) -> Trajectory:
    try:
        jetties, ferries, passengers = (_head(line, i) for i, line in enumerate(lines[:3]))
        ends = [[int(end) for end in one.split("-")] for one in passengers]
        water = begun(int(jetties[0]), [int(one) for one in ferries], ends)
        rows = [line.split() for line in lines[3:]]
        actions = np.array([[LETTERS.index(c) for c in letters] for letters, _ in rows], np.int8)
        counts = [int(count) for _, count in rows]
    except (ValueError, ArgumentError) as error:
        raise DamagedData(f"{place}: not a ferry log: {error}") from None
    if actions.shape != (len(rows), len(ferries)):
        raise DamagedData(f"{place}: expected a letter for each of {len(ferries)} ferries")
    ponds = Ponds([water])
    (state,) = ponds.states()
    scenes, rewards = zip(*_play_actions(ponds, actions), strict=True)
    if np.cumsum(np.sum(rewards[1:], 1)).tolist() != counts:
        raise DamagedData(f"{place}: its passengers do not come home when it says so")
    return make_trajectory(
        Episode(
            NAME, state, actions, np.zeros_like(actions), np.stack(rewards[1:]), np.stack(scenes)
        ),
        tuple(Player("human", f"ferry {f}") for f in range(len(ferries))),
        source=f"ferry-log {place}",
        provenance=collect_provenance(),
    )


def _head(line: str, number: int) -> list[str]:
    word, *values = line.split()
    if word != ("jetties", "ferries", "passengers")[number] or not values:
        raise ValueError(f"line {number + 1} is {line!r}")
    return values


def _play_actions(ponds: Ponds, actions: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield ponds.scene[0], ponds.rewards[0]
    for row in actions:
        ponds.step(row[None], np.zeros_like(row)[None])
        yield ponds.scene[0], ponds.rewards[0]
