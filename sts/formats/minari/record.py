"""How a trajectory of ours stands in an episode of a Minari dataset, `minari/1`.

Beside what Minari asks for, `infos` holds what leads back: for each frame `scene`, and, in the row
of the frame that they lead to, `moves`, `says` and `rewards` of all participants (the first row has
none: 0, and -1 for the number of a move); and once, as bytes in `sts`, the `state` before step 0
and a `record` in JSON.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.domains import domain
from sts.domains.registry import is_code
from sts.episodes import Episode, Instruction
from sts.errors import ArgumentError, DamagedData
from sts.storage.files import canonical_json, parsed_json
from sts.trajectories.store import check_worlds
from sts.trajectories.types import Participant, Trajectory

KEY, FORMAT, VERSION = "sts_format", "minari", 2
_KINDS = {"id": str, "domain": str, "world": str, "source": str, "provenance": dict}
_COLUMNS = ("moves", "says", "rewards")


def infos(t: Trajectory) -> dict[str, Any]:
    """Return the infos of a trajectory's episode; arrays have T + 1 rows."""
    own: dict[str, Any] = {
        "id": t.id,
        "domain": t.episode.domain,
        "world": t.world,
        "source": t.source,
        "people": [[p.kind, p.name] for p in t.participants],
        "instructions": [i.view() for i in t.instructions],
        "provenance": t.provenance,
    }
    if (says := t.episode.says).dtype != np.int8:  # which Minari has no arrays of
        own["texts"] = says.tolist()
        says = np.zeros(says.shape, np.int8)
    return {
        "scene": t.episode.scene,
        "moves": np.insert(t.episode.moves, 0, _before(t.episode), axis=0),
        "says": np.insert(says, 0, 0, axis=0),
        "rewards": np.insert(t.episode.rewards, 0, 0, axis=0),
        "sts": {"state": _numbers(t.episode.state), "record": _numbers(canonical_json(own))},
    }


def _before(episode: Episode) -> int:
    return -1 if domain(episode.domain).moves else 0


def trajectory_of(infos: dict[str, Any], named: str | None = None) -> Trajectory:
    """Return the trajectory whose infos these are; refuse what is missing or was altered.

    `named` is the `module:Class` that whoever reads it has named as its world, if any: no other
    code is imported.
    """
    try:
        own = _checked(parsed_json(_bytes(infos["sts"]["record"]).decode(), dict))
        moves, says, rewards = (np.asarray(infos[name])[1:] for name in _COLUMNS)
        if "texts" in own:
            says = np.array(own["texts"], np.dtypes.StringDType()).reshape(says.shape)
        state, scene = _bytes(infos["sts"]["state"]), np.asarray(infos["scene"])
        found = Trajectory(
            Episode(own["domain"], state, moves, says, rewards, scene),
            tuple(Participant(*p) for p in own["people"]),
            tuple(Instruction(**i) for i in own["instructions"]),
            own["world"],
            own["source"],
            own["provenance"],
        )
        mark, _ = own["id"], found.split
    except (KeyError, TypeError, ValueError, IndexError, DamagedData) as error:
        raise DamagedData(f"no trajectory of ours: {type(error).__name__}: {error}") from None
    if found.id != mark:
        raise DamagedData(f"trajectory {mark} was altered: it hashes to {found.id}")
    if is_code(own["domain"]) and own["domain"] != named:  # to look there would run it
        raise ArgumentError(
            f"its world is {own['domain']!r:.80}, which is code; if you have it and trust it, name "
            "it: --domain module:Class"
        )
    check_worlds([found], [f"trajectory {mark}"])
    return found


def _checked(own: dict[str, Any]) -> dict[str, Any]:
    """Return a record whose parts are of the types that they should be."""
    for name, kind in _KINDS.items():
        if not isinstance(own[name], kind):
            raise TypeError(f"{name} is {type(own[name]).__name__}, expected {kind.__name__}")
    return own


def _numbers(raw: bytes) -> NDArray[np.uint8]:
    return np.frombuffer(raw, np.uint8)


def _bytes(numbers: Any) -> bytes:
    return np.asarray(numbers, np.uint8).tobytes()
