"""Conversion of episodes to and from the columns of a table.

An episode is one row. Its arrays are flat row-major lists, which Arrow stores as one array with
offsets; their shapes follow from `steps`, `n_players`, `objects` and `action_shape`. Moves,
utterances and rewards have two columns each, of which one is empty in a row: one for int8, and one
for float64, which represents other actions and rewards exactly, or for texts.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.episodes.episode import ACTION_DTYPES, Episode, dtype_name
from sts.errors import DamagedData, StsError
from sts.storage.arrow import from_numpy, from_texts, split_list_column, to_list_column
from sts.storage.parquet import MAX_ITEMS

EPISODE_SCHEMA = {
    "domain": pa.string(),
    "state": pa.binary(),
    "steps": pa.int32(),
    "participants": pa.int32(),
    "objects": pa.int32(),
    "moves": pa.list_(pa.int8()),
    "says": pa.list_(pa.int8()),
    "rewards": pa.list_(pa.int8()),
    "scene": pa.list_(pa.uint16()),
    "action_dtype": pa.string(),
    "action_shape": pa.list_(pa.int32()),
    "actions": pa.list_(pa.float64()),
    "reward_dtype": pa.string(),
    "real_rewards": pa.list_(pa.float64()),
    "say_dtype": pa.string(),
    "texts": pa.list_(pa.string()),
}
_EMPTY = np.empty(0, np.int8)


def episodes_to_columns(episodes: Sequence[Episode]) -> dict[str, pa.Array]:
    """Convert episodes to the columns of EPISODE."""
    shapes = np.array([(e.steps, e.n_players, e.scene.shape[1]) for e in episodes], np.int32)
    steps, n_players, objects = map(from_numpy, shapes.reshape(-1, 3).T)
    return {
        "domain": from_texts([e.domain for e in episodes]),
        "state": from_texts([e.state for e in episodes]).cast(pa.binary()),
        "steps": steps,
        "participants": n_players,
        "objects": objects,
        **{
            name: to_list_column(flat, EPISODE_SCHEMA[name].value_type)
            for name, flat in _list_columns(episodes).items()
        },
        "action_dtype": from_texts([dtype_name(e.actions.dtype) for e in episodes]),
        "reward_dtype": from_texts([dtype_name(e.rewards.dtype) for e in episodes]),
        "say_dtype": from_texts([dtype_name(e.utterances.dtype) for e in episodes]),
        "texts": _text_column(episodes),
    }


def _text_column(episodes: Sequence[Episode]) -> pa.Array:
    """Return the column of utterances that are texts."""
    utterances = [
        e.utterances.ravel().tolist() if e.utterances.dtype != np.int8 else [] for e in episodes
    ]
    ends = np.cumsum([0, *map(len, utterances)], dtype=np.int64)
    if ends[-1] > MAX_ITEMS:
        raise StsError(f"expected at most {MAX_ITEMS} utterances in a column, found {ends[-1]}")
    flat = from_texts([text for row in utterances for text in row])
    return pa.ListArray.from_arrays(from_numpy(ends.astype(np.int32)), flat)


def _list_columns(episodes: Sequence[Episode]) -> dict[str, list[NDArray[Any]]]:
    """Return the list columns, with one array per row."""
    small = [(e.actions.dtype == np.int8, e.rewards.dtype == np.int8) for e in episodes]
    both = list(zip(episodes, small, strict=True))
    return {
        "moves": [e.actions if actions else _EMPTY for e, (actions, _) in both],
        "says": [e.utterances if e.utterances.dtype == np.int8 else _EMPTY for e in episodes],
        "rewards": [e.rewards if rewards else _EMPTY for e, (_, rewards) in both],
        "scene": [e.scene for e in episodes],
        "action_shape": [
            np.array(e.actions.shape[2:]) if e.actions.ndim > 2 else _EMPTY for e in episodes
        ],
        "actions": [_EMPTY if actions else e.actions for e, (actions, _) in both],
        "real_rewards": [_EMPTY if rewards else e.rewards for e, (_, rewards) in both],
    }


def table_to_episodes(table: pa.Table) -> list[Episode]:
    """Convert table rows to episodes.

    Raises:
      DamagedData: the columns of a row do not agree in length or type.
    """
    shapes = [table.column(n).to_pylist() for n in ("steps", "participants", "objects")]
    names = ("domain", "state", "action_dtype", "reward_dtype", "say_dtype", "texts")
    plain = [table.column(n).to_pylist() for n in names]
    numbers = [n for n, i in EPISODE_SCHEMA.items() if pa.types.is_list(i) and n != "texts"]
    flat = {name: list_values(table, name) for name in numbers}
    episodes = []
    for i, ((steps, people, objects), (domain, state, acted, rewarded, said, texts)) in enumerate(
        zip(zip(*shapes, strict=True), zip(*plain, strict=True), strict=True)
    ):
        try:
            actions = _restore_dtype(flat["moves"][i], flat["actions"][i], acted)
            rewards = _restore_dtype(flat["rewards"][i], flat["real_rewards"][i], rewarded)
            episodes.append(
                Episode(
                    domain,
                    state,
                    actions.reshape(steps, people, *flat["action_shape"][i].tolist()),
                    _tokens_or_texts(flat["says"][i], texts, said).reshape(steps, people),
                    rewards.reshape(steps, people),
                    flat["scene"][i].reshape(steps + 1, objects),
                )
            )
        except ValueError:
            raise DamagedData(f"row {i}: expected columns of {steps} steps, found others") from None
        except DamagedData as error:
            raise DamagedData(f"row {i}: {error}") from None
    return episodes


def _tokens_or_texts(tokens: NDArray[Any], texts: list[str], dtype: str) -> NDArray[Any]:
    """Return the utterances of a row, from the one of two columns that is not empty."""
    if dtype == "int8" and not texts:
        return tokens
    if dtype == "text" and not tokens.size:
        return np.array(texts, np.dtypes.StringDType())
    raise _mixed_types_error(dtype)


def _restore_dtype(small: NDArray[Any], real: NDArray[Any], dtype: str) -> NDArray[Any]:
    """Restore the dtype of a row's values, from the one of two columns that is not empty."""
    if dtype == "int8" and not real.size:
        return small
    if dtype not in ACTION_DTYPES or dtype == "int8" or small.size:
        raise _mixed_types_error(dtype)
    with np.errstate(all="ignore"):
        typed = real.astype(dtype)
    if not np.array_equal(typed, real, equal_nan=True):
        raise DamagedData(f"expected values of {dtype}, found others")
    return typed


def _mixed_types_error(dtype: str) -> DamagedData:
    return DamagedData(f"expected only values of type {dtype:.20}, found others")


def list_values(table: pa.Table, name: str) -> Sequence[NDArray[Any]]:
    """Return each row's list of a column, with a fast path for columns without values."""
    column = table.column(name)
    filled = any(len(chunk.flatten()) for chunk in column.chunks)
    return split_list_column(table, name) if filled else [_EMPTY] * table.num_rows
