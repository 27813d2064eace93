"""Importer `lambdastar-2016`: episodes recorded by the published Λ* program, as trajectories.

A file holds JSON lines: a `start` line has the paths of Good and Evil and the start cells; a `step`
line has each team's cells and rewards after step `it`. Cells are 1-based there. Every team was
alone with Good and Evil, so each team and episode is one trajectory, and the paths are patterns of
cells.

Source: the program of Chmait et al. 2016, github.com/nader-chmait/LambdaStar (MIT licence).
"""

import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import (
    DamagedData,
    DamagedState,
    Episode,
    Player,
    Trajectory,
    collect_provenance,
    content_hash,
    make_trajectory,
    open_regular,
)
from sts_lambda_star import state as states
from sts_lambda_star.torus import first_move

TEAMS = {
    "random": "random",
    "local_search": "local-search",
    "fr": "stigmergy",
    "woc": "wisdom-of-the-crowd",
    "bidding": "bidding",
    "dictator": "dictatorship",
    "binary_tree": "binary-tree",
    "oracle": "oracle",
    "qlearning": "q-learning",
    "coop_q": "cooperative-q-learning",
    "sarsa": "sarsa",
    "coop_sarsa": "cooperative-sarsa",
    "imitative": "imitation",
}


def read(path: Path) -> list[Trajectory]:
    """Read one trajectory for each team of each episode in a file, which may end in .xz.

    Raises:
      DamagedData: a line violates the format; the message has its number.
    """
    lines = _read_lines(path)
    origin = collect_provenance() | {
        "file": path.name,
        "sha256": content_hash("\n".join(lines).encode()),
    }
    episodes = _split_episodes(path, lines)
    return [item for episode in episodes for item in _read_teams(path, *episode, origin)]


def _read_lines(path: Path) -> list[str]:
    try:
        with open_regular(path) as raw, lzma.open(raw) if path.suffix == ".xz" else raw as file:
            lines = file.read().decode("utf-8").splitlines()
    except (lzma.LZMAError, EOFError):
        raise DamagedData(f"{path} is not an .xz file, or is truncated") from None
    except UnicodeDecodeError:
        raise DamagedData(f"{path}: expected JSON lines, found a binary file") from None
    if not any(line.strip() for line in lines):
        raise DamagedData(f"{path}: expected JSON lines, found an empty file")
    return lines


class _Line(dict[str, Any]):
    """JSON object of a line, or a part of it, with its path and line number for errors."""

    def __init__(self, value: dict[str, Any], path: Path, number: int) -> None:
        super().__init__(value)
        self.path, self.number = path, number

    def make_error(self, problem: str) -> DamagedData:
        return DamagedData(f"{self.path}:{self.number}: {problem}")

    def get_integers(self, key: str, low: int, high: int) -> list[int]:
        value: Any = self.get(key)
        entries: list[int] = value if isinstance(value, list) else [value]
        if not entries or not all(type(e) is int and low <= e <= high for e in entries):
            raise self.make_error(
                f"expected {key} with integers from {low} to {high}, found {value!r:.60}"
            )
        return entries


def _split_episodes(path: Path, lines: list[str]) -> Iterator[tuple[_Line, list[_Line]]]:
    start: _Line | None = None
    steps: list[_Line] = []
    for number, text in enumerate(lines, 1):
        if not text.strip():
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DamagedData(f"{path}:{number}: not JSON: {error}") from None
        if not isinstance(value, dict) or value.get("ev") not in ("start", "step"):
            raise DamagedData(f"{path}:{number}: expected an object with ev start or step")
        line = _Line(value, path, number)
        if value["ev"] == "start":
            if start is not None:
                yield start, steps
            start, steps = line, []
        elif start is None:
            raise DamagedData(f"{path}:{number}: expected a start line before any step line")
        else:
            steps.append(line)
    if start is not None:
        yield start, steps


def _read_teams(
    path: Path, start: _Line, steps: list[_Line], origin: dict[str, Any]
) -> Iterator[Trajectory]:
    (n,) = start.get_integers("n", 3, 255)
    (count,) = start.get_integers("iterations", 1, 10**6)
    (episode,) = start.get_integers("episode", 0, 10**9)
    (people,) = start.get_integers("agents", 1, states.MAX_PLAYERS)
    paths = [start.get_integers(f"{name}_path", 1, n * n) for name in ("good", "evil")]
    cells = start.get_integers("start", 1, n * n)
    if len(cells) != people or any(len(p) != count + 1 for p in paths):
        raise start.make_error(f"expected {people} start cells and paths of {count + 1} cells")
    if [line.get("it") for line in steps] != list(range(1, count + 1)):
        raise start.make_error(
            f"expected steps 1 to {count} of episode {episode}, found {len(steps)} or another order"
        )
    objects = np.array(paths, np.int64).T - 1
    for key in TEAMS:
        yield _read_team(path, key, n, objects, cells, steps, origin | {"episode": episode})


def _read_team(
    path: Path,
    key: str,
    n: int,
    objects: NDArray[np.int64],
    cells: list[int],
    steps: list[_Line],
    origin: dict[str, Any],
) -> Trajectory:
    people = len(cells)
    rows = [_read_row(line, key, people, n * n) for line in steps]
    positions = np.array([cells, *(places for places, _ in rows)], np.int64) - 1
    rewards = np.array([halves for _, halves in rows], np.int8)
    try:
        state = states.State(
            height=n,
            width=n,
            radius=1,
            kind="cells",
            good=int(objects[0, 0]),
            evil=int(objects[0, 1]),
            good_pattern=tuple(objects[:, 0].tolist()),
            evil_pattern=tuple(objects[:, 1].tolist()),
            good_cursor=1,
            evil_cursor=1,
            step=0,
            horizon=len(steps),
            seed=0,
            counter=0,
            cells=tuple(positions[0].tolist()),
            actions=(-1,) * people,
            utterances=(0,) * people,
            rewards=(0,) * people,
        )
    except DamagedState as error:
        raise DamagedData(f"{path}: episode {origin['episode']}: {error}") from None
    episode = Episode(
        "lambda-star",
        states.encode(state),
        first_move(positions[:-1], positions[1:], n, n).astype(np.int8),
        np.zeros((len(steps), people), np.int8),
        rewards,
        np.concatenate((objects, positions), 1).astype(np.uint16),
    )
    return make_trajectory(
        episode,
        tuple(Player("agent", TEAMS[key]) for _ in range(people)),
        source=f"lambdastar-2016 {path.name} episode {origin['episode']} team {key}",
        provenance=origin,
    )


def _read_row(line: _Line, key: str, people: int, cells: int) -> tuple[list[int], list[int]]:
    """Return the cells of a team after a step, numbered from 1, and its rewards in halves."""
    team = line.get(key)
    if not isinstance(team, dict):
        raise line.make_error(f"team {key} is missing")
    inner = _Line(team, line.path, line.number)
    places = inner.get_integers("pos", 1, cells)
    received = team.get("r")
    if len(places) != people or not isinstance(received, list) or len(received) != people:
        raise line.make_error(f"team {key}: expected {people} cells and {people} rewards")
    if not all(type(r) in (int, float) and abs(r) <= 1 and 2 * r == int(2 * r) for r in received):
        raise line.make_error(
            f"team {key}: expected rewards -1, -0.5, 0, 0.5 or 1, found {received}"
        )
    return places, [int(2 * r) for r in received]
