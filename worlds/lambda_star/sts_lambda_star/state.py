"""Serialised state of a world: a versioned byte string with a checksum, and its JSON view.

Version 1, little-endian: `LSTA`, uint16 version; uint8 height, width, radius, pattern kind; uint16
players; uint32 step, horizon; uint64 seed, counter of the world's stream; uint16 Good's and
Evil's cells; uint32 lengths of their patterns; uint32 their cursors; then uint16 cells, int8 last
moves, int8 last said, int8 last rewards of the players; the two patterns, uint8 moves or
uint16 cells; and the first 8 bytes of the BLAKE2b digest of everything before it. Version 2, of
worlds in which Good and Evil need several players, has a uint16 of how many before the cells.
"""

import hashlib
import struct
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sts.plugin import DamagedState, NewerFormat
from sts_lambda_star.kernels import WorldArrays, zero_arrays

VERSION = 2
MOVES = (
    *("up-left", "up", "up-right"),
    *("left", "stay", "right"),
    *("down-left", "down", "down-right"),
)
TOKENS = ("silence", "yes", "no", *MOVES, *(str(n) for n in range(9)), "more")
KINDS = ("moves", "cells")
MAX_PLAYERS = 1000
_MAGIC = b"LSTA"
_HEADER = struct.Struct("<4sH4BH2I2Q2H2I2I")
_NEEDS = struct.Struct("<H")
_HEADER_FIELDS = (
    *("height", "width", "radius", "kind", "n_players", "step", "horizon", "seed", "counter"),
    *("good", "evil", "good_length", "evil_length", "good_cursor", "evil_cursor"),
)
_PLAYER_FIELDS = {"cells": "<u2", "actions": "i1", "utterances": "i1", "rewards": "i1"}
_PATTERNS = ("good_pattern", "evil_pattern")
_ENTRY_DTYPES = ("<u1", "<u2")
_CHECKSUM_BYTES = 8


@dataclass(frozen=True)
class State:
    """State of one world between two steps, as integers."""

    height: int  # rows, 3 to 255
    width: int  # columns, 3 to 255
    radius: int  # k of the Moore neighbourhood that players see
    kind: str  # "moves" or "cells", the kind of entries in the patterns
    good: int  # Good's cell; cells are row * width + column
    evil: int  # Evil's cell, different from Good's
    good_pattern: tuple[int, ...]  # Good's pattern, repeated cyclically
    evil_pattern: tuple[int, ...]  # Evil's pattern, repeated cyclically
    good_cursor: int  # index of Good's next entry
    evil_cursor: int  # index of Evil's next entry
    step: int  # number of steps taken
    horizon: int  # intended length of an episode, in steps
    seed: int  # seed of the world's own random stream
    counter: int  # number of draws taken from that stream
    cells: tuple[int, ...]  # each player's cell
    actions: tuple[int, ...]  # each player's last executed move, -1 before the first
    utterances: tuple[int, ...]  # each player's last token
    rewards: tuple[int, ...]  # each player's last reward in halves
    needs: int = 1  # players within 1 cell without whom Good, or Evil, has no effect

    def __post_init__(self) -> None:
        """Raise DamagedState if the fields are inconsistent."""
        fault = _find_fault(self)
        if fault:
            raise DamagedState(f"not a Λ* state: {fault}")


def _find_fault(s: State) -> str | None:
    cells = s.height * s.width
    patterns = (s.good_pattern, s.evil_pattern)
    highest = 9 if s.kind == "moves" else cells
    checks = (
        (3 <= s.height <= 255 and 3 <= s.width <= 255, "sides must be from 3 to 255"),
        (1 <= s.radius and 2 * s.radius + 1 <= min(s.height, s.width), "radius does not fit"),
        (s.kind in KINDS, "patterns must be of moves or of cells"),
        (0 <= s.good < cells and 0 <= s.evil < cells, "Good or Evil is off the grid"),
        (s.good != s.evil, "Good and Evil share a cell"),
        (all(0 < len(p) < 2**32 for p in patterns), "a pattern is empty"),
        (all(0 <= e < highest for p in patterns for e in p), "a pattern entry is out of range"),
        (0 <= s.good_cursor < len(s.good_pattern), "Good's cursor is outside its pattern"),
        (0 <= s.evil_cursor < len(s.evil_pattern), "Evil's cursor is outside its pattern"),
        (0 <= s.step < 2**32 and 0 <= s.horizon < 2**32, "the clock is out of range"),
        (0 <= s.seed < 2**64 and 0 <= s.counter < 2**63, "the stream is out of range"),
        (1 <= len(s.cells) <= MAX_PLAYERS, f"1 to {MAX_PLAYERS} players fit"),
        (all(0 <= c < cells for c in s.cells), "a player is off the grid"),
        (
            len(s.cells) == len(s.actions) == len(s.utterances) == len(s.rewards),
            "players' fields differ in length",
        ),
        (all(-1 <= m < 9 for m in s.actions), "a last move is out of range"),
        (all(0 <= t < len(TOKENS) for t in s.utterances), "a last token is out of range"),
        (all(-2 <= r <= 2 for r in s.rewards), "a last reward is out of range"),
        (1 <= s.needs <= MAX_PLAYERS, f"Good can need 1 to {MAX_PLAYERS} players"),
    )
    return next((text for good, text in checks if not good), None)


def encode(s: State) -> bytes:
    """Serialise a state; `decode` is the inverse."""
    kind = KINDS.index(s.kind)
    numbers = vars(s) | {
        "kind": kind,
        "n_players": len(s.cells),
        "good_length": len(s.good_pattern),
        "evil_length": len(s.evil_pattern),
    }
    version = 1 + (s.needs > 1)
    head = _HEADER.pack(_MAGIC, version, *(numbers[name] for name in _HEADER_FIELDS))
    head += _NEEDS.pack(s.needs) * (version - 1)
    types = _PLAYER_FIELDS | dict.fromkeys(_PATTERNS, _ENTRY_DTYPES[kind])
    body = b"".join(np.array(getattr(s, name), dtype).tobytes() for name, dtype in types.items())
    return head + body + _checksum(head + body)


def _checksum(raw: bytes) -> bytes:
    return hashlib.blake2b(raw, digest_size=_CHECKSUM_BYTES).digest()


def decode(raw: bytes) -> State:
    """Deserialise a state.

    Raises:
      DamagedState: the bytes are no Λ* state, truncated, extended or altered.
      NewerFormat: the format has a later version.
    """
    if len(raw) < 6 or raw[:4] != _MAGIC:
        raise DamagedState("expected a Λ* state, found other bytes")
    version = int.from_bytes(raw[4:6], "little")
    if version > VERSION:
        raise NewerFormat(
            f"Λ* state has format version {version}; this version of sts reads up to {VERSION}: "
            "update sts"
        )
    position = _HEADER.size + _NEEDS.size * (version == 2)
    if len(raw) < position + _CHECKSUM_BYTES:
        raise DamagedState(f"Λ* state is truncated: {len(raw)} bytes")
    if _checksum(raw[:-_CHECKSUM_BYTES]) != raw[-_CHECKSUM_BYTES:]:
        raise DamagedState("Λ* state is modified or truncated: its checksum does not match")
    fields: dict[str, Any] = dict(zip(_HEADER_FIELDS, _HEADER.unpack_from(raw)[2:], strict=True))
    kind, n_players = fields["kind"], fields.pop("n_players")
    if version < 1 or kind >= len(KINDS):
        raise DamagedState("Λ* state has an unknown format version or pattern kind")
    lengths = [fields.pop("good_length"), fields.pop("evil_length")]
    counts = [n_players] * len(_PLAYER_FIELDS) + lengths
    types = _PLAYER_FIELDS | dict.fromkeys(_PATTERNS, _ENTRY_DTYPES[kind])
    if version == 2:
        (fields["needs"],) = _NEEDS.unpack_from(raw, _HEADER.size)
        if fields["needs"] < 2:
            raise DamagedState("Λ* state of version 2 needs 2 players or more")
    for count, (name, dtype) in zip(counts, types.items(), strict=True):
        end = position + count * np.dtype(dtype).itemsize
        if end > len(raw) - _CHECKSUM_BYTES:
            raise DamagedState(f"Λ* state is truncated: {len(raw)} bytes")
        fields[name] = tuple(np.frombuffer(raw[position:end], dtype).tolist())
        position = end
    if position != len(raw) - _CHECKSUM_BYTES:
        raise DamagedState(f"Λ* state has {len(raw) - _CHECKSUM_BYTES - position} bytes too many")
    return State(**fields | {"kind": KINDS[kind]})


def to_json(s: State) -> dict[str, Any]:
    """Return the whole state as JSON values; `needs` is left out if it is 1."""
    fields = {name: value for name, value in asdict(s).items() if (name, value) != ("needs", 1)}
    return {"format": "lambda-star-state", "version": 1 + (s.needs > 1), **fields}


_ARRAY_POSITIONS: dict[str, tuple[str, Any]] = {
    "height": ("size", 0),
    "width": ("size", 1),
    "good": ("objects", 0),
    "evil": ("objects", 1),
    "good_cursor": ("cursor", 0),
    "evil_cursor": ("cursor", 1),
    **{name: (name, ...) for name in ("step", "horizon", "seed", "counter", *_PLAYER_FIELDS)},
    "needs": ("needs", ...),
}
"""The kernels' array that holds each field, and the index in a world's row of it."""


def states_to_arrays(states: Sequence[State]) -> WorldArrays:
    """Collect states with equal numbers of players into a batch of worlds."""
    patterns = [np.array(p) for s in states for p in (s.good_pattern, s.evil_pattern)]
    a = zero_arrays(len(states), len(states[0].cells), np.concatenate(patterns, dtype=np.int64))
    a.length[:] = np.reshape([p.size for p in patterns], (-1, 2))
    a.offset[:] = (a.length.cumsum() - a.length.ravel()).reshape(-1, 2)
    a.kind[:] = [KINDS.index(s.kind) for s in states]
    for name, (array, column) in _ARRAY_POSITIONS.items():
        target = getattr(a, array)
        target[:, column] = np.array([getattr(s, name) for s in states], target.dtype)
    return a


def select_rows(a: WorldArrays, rows: NDArray[np.intp]) -> WorldArrays:
    """Return the worlds of these rows, in this order; they share their patterns."""
    per_world = {name: array[rows] for name, array in a._asdict().items() if name != "patterns"}
    return a._replace(**per_world)


def find_distinct(a: WorldArrays) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return a row of each distinct world, and for each world its position among them.

    Worlds with equal patterns at different offsets count as distinct.
    """
    count = a.step.size
    columns = [
        np.ascontiguousarray(array).view(np.uint8).reshape(count, array[:1].nbytes)
        for name, array in a._asdict().items()
        if name != "patterns"
    ]
    rows = np.concatenate(columns, axis=1)
    keys = rows.view(np.dtype((np.void, rows.shape[1]))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return first, inverse


def arrays_to_states(a: WorldArrays, radius: int) -> list[State]:
    """Split a batch into states; the arrays do not hold the radius."""
    out = []
    for b in range(a.step.size):
        fields: dict[str, Any] = {
            name: getattr(a, array)[b, column].tolist()
            for name, (array, column) in _ARRAY_POSITIONS.items()
        }
        for index, name in enumerate(_PATTERNS):
            first = a.offset[b, index]
            fields[name] = a.patterns[first : first + a.length[b, index]].tolist()
        for name in (*_PLAYER_FIELDS, *_PATTERNS):
            fields[name] = tuple(fields[name])
        out.append(State(radius=radius, kind=KINDS[a.kind[b]], **fields))
    return out
