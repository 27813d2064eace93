"""Encoding of a trajectory as an episode of a Minari dataset, `minari/3`.

In addition to Minari's own fields, `infos` holds what is needed to restore the trajectory: `scene`
for each frame and, in the row of the frame that they lead to, `moves`, `says`, `rewards` and
`intended` moves of all players (the first row has none: 0, and -1 for the number of a move); and
once, as bytes in `sts`, the `state` before step 0 and a `record` in JSON. For readers, it also has
the columns of `observed.describe_steps` for the exported player.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import load_domain
from sts.domains.registry import is_code_path
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, DamagedData
from sts.storage.files import canonical_json, parse_versioned_json
from sts.trajectories.observed import describe_steps
from sts.trajectories.trajectory import Player, Trajectory
from sts.trajectories.trajectory_store import check_worlds

KEY, FORMAT, VERSION = "sts_format", "minari", 3
_KINDS = {"id": str, "domain": str, "world": str, "source": str, "provenance": dict}
_COLUMNS = ("moves", "says", "rewards")


def encode_infos(t: Trajectory, player: int) -> dict[str, Any]:
    """Return the infos of a trajectory's episode of a player; arrays have T + 1 rows."""
    record: dict[str, Any] = {
        "id": t.id,
        "domain": t.episode.domain,
        "world": t.world,
        "source": t.source,
        "people": [[p.kind, p.name] for p in t.players],
        "instructions": [i.to_json() for i in t.instructions],
        "provenance": t.provenance,
    }
    if (utterances := t.episode.utterances).dtype != np.int8:  # Minari has no arrays of texts
        record["texts"] = utterances.tolist()
        utterances = np.zeros(utterances.shape, np.int8)
    unknown = np.full(t.episode.actions.shape[:2], -1, np.int8)
    no_move = -1 if load_domain(t.episode.domain).action_names else 0
    return {
        "scene": t.episode.scene,
        "moves": np.insert(t.episode.actions, 0, no_move, axis=0),
        "says": np.insert(utterances, 0, 0, axis=0),
        "rewards": np.insert(t.episode.rewards, 0, 0, axis=0),
        "intended": np.insert(unknown if t.intended is None else t.intended, 0, -1, axis=0),
        **describe_steps(t, player),
        "sts": {"state": _numbers(t.episode.state), "record": _numbers(canonical_json(record))},
    }


def restore_trajectory(infos: dict[str, Any], named: str | None = None) -> Trajectory:
    """Restore the trajectory from an episode's infos.

    `named` is the world's `module:Class` if the user gave it: no other code is imported.

    Raises:
      DamagedData: something is missing or was modified.
      ArgumentError: its world is code that `named` does not name.
    """
    try:
        record = _check_types(parse_versioned_json(_bytes(infos["sts"]["record"]).decode(), dict))
        actions, utterances, rewards = (np.asarray(infos[name])[1:] for name in _COLUMNS)
        if "texts" in record:
            utterances = np.array(record["texts"], np.dtypes.StringDType()).reshape(
                utterances.shape
            )
        intended = np.asarray(infos.get("intended", [-1]))[1:]  # absent before minari/3
        state, scene = _bytes(infos["sts"]["state"]), np.asarray(infos["scene"])
        trajectory = Trajectory(
            Episode(record["domain"], state, actions, utterances, rewards, scene),
            tuple(Player(*p) for p in record["people"]),
            tuple(Instruction(**i) for i in record["instructions"]),
            record["world"],
            record["source"],
            record["provenance"],
            None if (intended == -1).all() else intended,
        )
        mark, _ = record["id"], trajectory.split
    except (KeyError, TypeError, ValueError, IndexError, DamagedData) as error:
        raise DamagedData(f"not an exported trajectory: {type(error).__name__}: {error}") from None
    if trajectory.id != mark:
        raise DamagedData(f"trajectory {mark} has been modified: its hash is {trajectory.id}")
    if is_code_path(record["domain"]) and record["domain"] != named:  # loading it would run it
        raise ArgumentError(
            f"its world is the Python class {record['domain']!r:.80}; if you have it and trust it, "
            "add --domain module:Class"
        )
    check_worlds([trajectory], [f"trajectory {mark}"])
    return trajectory


def _check_types(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record after checking the types of its fields."""
    for name, kind in _KINDS.items():
        if not isinstance(record[name], kind):
            raise TypeError(f"{name} is {type(record[name]).__name__}, expected {kind.__name__}")
    return record


def _numbers(raw: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(raw, np.uint8)


def _bytes(numbers: Any) -> bytes:
    return np.asarray(numbers, np.uint8).tobytes()
