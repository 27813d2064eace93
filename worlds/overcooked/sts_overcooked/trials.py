"""The trials of 2019 from the installed package, and a check that the game replays them.

A row of a table has a state, both actions and the reward. Tables of the package also have the next
state. In public tables of today it is in the next row, so the last action of a trial is left out:
nothing shows what it did. Some counters of cooking steps in the recordings continue past the end;
comparisons cap them on both sides.
"""

import ast
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sts.plugin import (
    ArgumentError,
    DamagedData,
    Mismatch,
    MissingExtra,
    content_hash,
    read_csv,
)
from sts_overcooked.constants import COOKED, HATS
from sts_overcooked.environment import Overcooked
from sts_overcooked.kitchen import ACTIONS, VisibleState, load_game
from sts_overcooked.loader import read_table

SOURCE_NAME = "overcooked-2019"
SPLITS = ("train", "test")
RECORDED_DELIVERY_REWARD = 5
"""Reward for a delivered soup in the recordings."""
_KEY = ("run", "workerid_num", "round_num")
_MALFORMED = (
    *(ValueError, TypeError, LookupError, SyntaxError, AttributeError),
    *(RecursionError, MemoryError),  # from deeply nested brackets
)
_WANTED = (*_KEY, "layout", "layout_name", "state", "next_state", "joint_action", "reward")
_PUBLIC_KEY = ("trial_id",)
_PUBLIC_WORKERS = ("player_0_id", "player_1_id")
_ARE_HUMAN = ("player_0_is_human", "player_1_is_human")
_PUBLIC_WANTED = (
    *(*_PUBLIC_KEY, *_PUBLIC_WORKERS, *_ARE_HUMAN),
    *("layout", "layout_name", "state", "joint_action", "reward"),
)
"""Columns of the public tables of today."""


class RecordedEpisode(NamedTuple):
    """One recorded trial of T steps."""

    name: str  # such as "test trial 7"
    split: str  # its split in the source
    workers: tuple[str, ...]  # 8 hex digits for each; for the one who led it, if only this is known
    kinds: tuple[str, ...]  # "human" or "agent", for each cook
    layout: str  # the kitchen's name in the source
    grid: tuple[str, ...]  # the kitchen's rows, as recorded
    actions: NDArray[np.int8]  # int8[T, 2], the actions
    deliveries: NDArray[np.int8]  # int8[T], soups that the recorder counted at each step
    states: tuple[VisibleState, ...]  # the visible facts before each step and after the last, T + 1

    @property
    def steps(self) -> int:
        """T."""
        return len(self.actions)


class ReplayResult(NamedTuple):
    """Comparison of a trial with its replay."""

    steps_alike: int  # number of steps after which all facts and the deliveries match
    first_difference: Mismatch | None  # None for a trial that replays exactly
    rewards: NDArray[np.int8]  # int8[T, 2]


def installed_files() -> tuple[Path, ...]:
    """Return the installed files of trials, the training split first."""
    folder = Path(str(resources.files("overcooked_ai_py"))) / "data" / "human_data"
    files = tuple(folder / f"clean_{split}_trials.pickle" for split in SPLITS)
    for file in files:
        if not file.is_file():
            raise MissingExtra(
                f"expected the recordings of 2019 at {file}; install the version that has them: "
                "pip install 'standardised-test-suite[overcooked]'"
            )
    return files


def parse_split(path: Path) -> str:
    """Return the split that a file's name contains, one of SPLITS."""
    splits = [split for split in SPLITS if split in path.stem.split("_")]
    if len(splits) != 1:
        raise ArgumentError(
            f"{path}: expected train or test in the file name, as in clean_train_trials.pickle; "
            "rename a file of both"
        )
    return splits[0]


def read_trials(path: Path) -> list[RecordedEpisode]:
    """Return the trials in a file, in order.

    Raises:
      DamagedData: the file uses names that no table needs, or a row is malformed; names the trial
        and the step.
      ArgumentError: the file's name does not contain its split.
    """
    split, rows = parse_split(path), _read_rows(path)
    is_public = _PUBLIC_KEY[0] in rows
    _check_columns(path, rows, _PUBLIC_WANTED if is_public else _WANTED)
    key = _PUBLIC_KEY if is_public else _KEY
    try:
        groups = [group for _, group in rows.groupby(list(key), sort=False)]
    except TypeError:  # a list cannot be a key
        groups = []
    if sum(map(len, groups)) < len(rows):
        raise DamagedData(
            f"{path}: a row does not identify its trial: expected values for {', '.join(key)}"
        )
    return [
        _parse_trial(path, f"{split} trial {number}", split, group)
        for number, group in enumerate(groups, 1)
    ]


def _read_rows(path: Path) -> Any:
    """Return the table in a pickle, or in a CSV file."""
    if path.suffix.lower() != ".csv":
        return read_table(path)
    table = read_csv(path, str(path))
    rows = pd.DataFrame(table.rows, columns=table.header, dtype=object).replace("", None)
    if "reward" in rows:
        rows["reward"] = pd.to_numeric(rows["reward"], errors="coerce")
    return rows


def _check_columns(path: Path, rows: Any, columns: Sequence[str]) -> None:
    for column in columns:
        if column not in rows:
            raise DamagedData(f"{path}: column {column} is missing")


def count_workers(paths: tuple[Path, ...]) -> tuple[int, int]:
    """Return the number of workers who played in any of these files, and in all of them."""
    workers_by_file = []
    for path in paths:
        rows = _read_rows(path)
        columns = _PUBLIC_WORKERS if _PUBLIC_KEY[0] in rows else ("workerid_num",)
        _check_columns(path, rows, columns)
        workers_by_file.append({str(worker) for column in columns for worker in rows[column]})
    return len(set.union(*workers_by_file)), len(set.intersection(*workers_by_file))


def start_trial(trial: RecordedEpisode, rules: str = "2019") -> Overcooked:
    """Return the kitchen at the start of a trial, limited to the trial's length."""
    world = Overcooked()
    world.begin(trial.grid, rules=rules, episode=f"{SOURCE_NAME} {trial.name}", length=trial.steps)
    return world


def replay_trial(trial: RecordedEpisode, rules: str = "2019") -> ReplayResult:
    """Replay the actions of a trial and compare every step with the recording."""
    world = start_trial(trial, rules)
    rewards = np.zeros(trial.actions.shape, np.int8)
    steps_alike, first = 0, None
    if world.visible_state() != trial.states[0]:
        first = Mismatch(0, "step 0: the initial state differs from the recording")
    for t, actions in enumerate(trial.actions.tolist()):
        rewards[t] = world.step(actions)
        delivered = sum(event.kind == "soup_delivery" for event in world.events)
        difference = _describe_difference(world.visible_state(), trial.states[t + 1])
        if not difference and delivered != trial.deliveries[t]:
            difference = f"expected {trial.deliveries[t]} delivered soups, found {delivered}"
        steps_alike += not difference
        if difference and first is None:
            first = Mismatch(t, f"step {t}: {difference}")
    return ReplayResult(steps_alike, first, rewards)


def _describe_difference(replayed: VisibleState, recorded: VisibleState) -> str:
    """Return a short description of how two states differ, "" if they are equal."""
    if replayed == recorded:
        return ""
    cooks = zip(Overcooked.players, replayed.players, recorded.players, strict=False)
    for name, actual, expected in cooks:
        if actual != expected:
            return f"{name}: expected {expected}, found {actual}"
    return f"objects: expected {recorded.objects}, found {replayed.objects}"


def _parse_trial(path: Path, name: str, split: str, rows: pd.DataFrame) -> RecordedEpisode:
    """Return the trial in these rows."""
    is_public, states = _PUBLIC_KEY[0] in rows, rows["state"].tolist()
    nexts = states[1:] if is_public else rows["next_state"].tolist()
    kitchens = list(zip(rows["layout_name"], rows["layout"], strict=True))
    step = 0
    try:
        if not nexts:
            raise ValueError("expected a trial of 2 steps or more")
        rows = rows.iloc[: len(nexts)]
        grid = tuple(str(row) for row in _parse_layout(kitchens[0][1]))
        load_game(grid, "2019")
        for step in range(1, len(rows)):
            if kitchens[step] != kitchens[0]:
                raise ValueError("its layout differs from that of the previous steps")
            if states[step] != nexts[step - 1]:
                raise ValueError("its state is not the next state of the previous step")
        step = 0
        facts = [_parse_visible_state(states[0])]
        for step, text in enumerate(nexts):  # noqa: B007
            facts.append(facts[-1] if text == states[step] else _parse_visible_state(text))
        actions = np.empty((len(rows), 2), np.int8)
        for step, text in enumerate(rows["joint_action"]):
            first, second = _parse_literal(text)
            actions[step] = _parse_action(first), _parse_action(second)
        rewards = rows["reward"].to_numpy(np.float64) / RECORDED_DELIVERY_REWARD
        for step, reward in enumerate(rewards):  # noqa: B007
            if reward not in (0.0, 1.0, 2.0):
                raise ValueError(f"expected a reward of {RECORDED_DELIVERY_REWARD} for each soup")
        workers = _PUBLIC_WORKERS if is_public else ("workerid_num",)
        are_human = [str(rows[column].iloc[0]) for column in _ARE_HUMAN if is_public]
        return RecordedEpisode(
            name,
            split,
            tuple(
                content_hash(SOURCE_NAME.encode(), str(rows[column].iloc[0]).encode())[:8]
                for column in workers
            ),
            tuple("agent" if value == "False" else "human" for value in are_human or HATS),
            str(kitchens[0][0]),
            grid,
            actions,
            rewards.astype(np.int8),
            tuple(facts),
        )
    except _MALFORMED as error:
        public_id = f" (trial_id {rows['trial_id'].iloc[0]!s:.80})" if is_public else ""
        raise DamagedData(f"{path}: {name}{public_id}, step {step}: {error!s:.200}") from None


def _parse_layout(text: str) -> list[Any]:
    """Return a kitchen's rows; raise ValueError for one that is not of 2019."""
    rows = ast.literal_eval(text)
    if rows and isinstance(rows, list) and all(isinstance(row, list) for row in rows):
        raise ValueError(
            "its kitchen is one of 2020, which has tomatoes, orders and values of its own; only "
            "those of 2019 can be imported"
        )
    if not rows:
        raise ValueError("expected a layout of rows, found none")
    return list(rows)


def _parse_literal(text: str) -> Any:
    """Return a Python literal of lists, texts and numbers, parsed as JSON, which is much faster."""
    for python, json_text in (("'", '"'), ("False", "false"), ("True", "true"), ("None", "null")):
        text = text.replace(python, json_text)
    return json.loads(text)


def _parse_action(action: Any) -> int:
    return ACTIONS.index(action.lower() if isinstance(action, str) else tuple(action))


def _parse_visible_state(text: str) -> VisibleState:
    """Return the facts of a recorded state."""
    state = _parse_literal(text)
    players = [
        [*player["position"], *player["orientation"], _parse_thing(player.get("held_object"))]
        for player in state["players"]
    ]
    objects = state["objects"]
    objects = objects.values() if isinstance(objects, dict) else objects
    things = sorted((tuple(thing["position"]), _parse_thing(thing)) for thing in objects)
    return VisibleState(players, [[*place, thing] for place, thing in things])


def _parse_thing(thing: Any) -> Any:
    if thing is None or thing["name"] != "soup":
        return thing and thing["name"]
    if "state" in thing:
        kind, count, cooked = thing["state"]
        ingredients = [kind] * count
    else:
        ingredients = [ingredient["name"] for ingredient in thing["_ingredients"]]
        cooked = thing["_cooking_tick"]
    return ["soup", ingredients, min(cooked, COOKED) if cooked > 0 else -1]
