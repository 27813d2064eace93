"""The index: which part and row group each continuation stands in, `index/2`.

It is made from the parts and can be made from them again at any time; it is never the truth. What
is read by it is held to it, and one that lies is made anew (`sts.continuations.store`).
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.continuations import parts
from sts.continuations.types import Identity
from sts.errors import DamagedData, NewerFormat
from sts.storage import arrow, parquet
from sts.storage.files import parsed_json
from sts.storage.store import Store

FORMAT, VERSION = "index", 2
NAME = f"{parts.FOLDER}/index.parquet"
MOST = 2**24
"""Continuations of a workspace."""
_WORD = pa.dictionary(pa.int32(), pa.string())
_WORDS = ("part", "scenario", "agent", "fingerprint", "scenario_id", "category", "kind", "sees")
_HASHES = {"id": pa.binary(12), "content_hash": pa.binary(32), "clip": pa.binary(16)}
_NUMBERS = ("seed", "index", "takeover", "horizon", "together")
SCHEMA = {
    **_HASHES,
    **dict.fromkeys(_WORDS, _WORD),
    "group": pa.int32(),
    **{name: parts.SUMMARY[name] for name in _NUMBERS},
}
_FORMED = 4
"""Digits of an id that are asked for at least."""


class Lie(DamagedData):
    """An index does not say what is kept; it is made anew."""


class Entry(NamedTuple):
    """What the index says of a continuation: all but what happened in it."""

    id: str
    scenario_hash: str
    agent: str
    fingerprint: str
    seed: int
    index: int  # type: ignore[assignment]  # not the method of a tuple
    scenario_id: str
    category: str
    kind: str
    takeover: int
    horizon: int
    sees: str
    clip: str

    @property
    def identity(self) -> Identity:
        """What tells it from every other."""
        return Identity(*self[1:6])


@dataclass(frozen=True, eq=False)
class Index:
    """An index in memory, a row a continuation.

    Attributes:
      sizes: bytes of each part that it covers.
      table: the columns of `SCHEMA`, each in one piece.
    """

    sizes: dict[str, int]
    table: pa.Table

    @cached_property
    def ids(self) -> NDArray[np.uint8]:
        """uint8[rows, 12], each continuation's id."""
        return self.numbers("id")

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Each continuation's id, to look one up among all."""
        return frozenset(self.table.column("id").to_pylist())

    def numbers(self, column: str) -> NDArray[Any]:
        """Return a column that is no word."""
        return arrow.as_numpy(self.table.column(column).combine_chunks())

    def codes(self, column: str) -> NDArray[np.int32]:
        """Return where in `words` each row's word stands."""
        return arrow.as_numpy(self.table.column(column).combine_chunks().indices)

    def words(self, column: str) -> list[str]:
        """Return each word of a column once."""
        return list(self.table.column(column).combine_chunks().dictionary.to_pylist())

    def having(self, column: str, words: Collection[str]) -> NDArray[np.bool_]:
        """Return which rows have one of `words`."""
        own = np.array([word in words for word in self.words(column)], np.bool_)
        return own[self.codes(column)] if len(own) else np.zeros(len(self.ids), np.bool_)

    def of(self, scenarios: Collection[str]) -> NDArray[np.intp]:
        """Return the rows of continuations of the scenarios with these content hashes."""
        return np.flatnonzero(self.having("scenario", scenarios))

    def digits(self, column: str, rows: Any = slice(None)) -> list[str]:
        """Return a column of bytes as hexadecimal digits, or those of some rows."""
        raw = self.numbers(column)[rows]
        text, width = raw.tobytes().hex(), 2 * raw.shape[1]
        return [text[at : at + width] for at in range(0, len(text), width)]

    def among(self, column: str, wanted: Collection[str]) -> NDArray[np.intp]:
        """Return the rows whose digits in a column are among those wanted."""
        return np.flatnonzero([one in wanted for one in self.digits(column)])

    def beginning(self, id: str) -> NDArray[np.intp]:
        """Return the rows of continuations whose id begins with `id`, at least 4 digits."""
        if not _FORMED <= len(id) <= 24 or not set(id) <= set("0123456789abcdef"):
            return np.empty(0, np.intp)
        low = np.frombuffer(bytes.fromhex(id.ljust(24, "0")), np.uint8)
        whole = len(id) // 2
        hits = (self.ids[:, :whole] == low[:whole]).all(1)
        if len(id) % 2:
            hits &= self.ids[:, whole] >> 4 == low[whole] >> 4
        return np.flatnonzero(hits)

    def present(self, agent: str, mark: str, seed: int) -> dict[str, dict[int, int]]:
        """Return which continuations an agent has, by scenario and index, and their `together`."""
        mask = self.having("agent", (agent,)) & self.having("fingerprint", (mark,))
        rows = np.flatnonzero(mask & (self.numbers("seed") == seed))
        words, out = self.words("scenario"), defaultdict[str, dict[int, int]](dict)
        columns = self.codes("scenario"), self.numbers("index"), self.numbers("together")
        for code, number, together in zip(*(one[rows].tolist() for one in columns), strict=True):
            out[words[code]][number] = together
        return out

    def entries(self, rows: NDArray[np.intp]) -> Iterator[Entry]:
        """Yield what is said of the continuations in `rows`."""
        words = {name: self.words(name) for name in _WORDS}
        for start in range(0, len(rows), MOST_AT_ONCE):
            own = rows[start : start + MOST_AT_ONCE]
            said = {n: [words[n][c] for c in self.codes(n)[own].tolist()] for n in _WORDS[1:]}
            said |= {n: self.numbers(n)[own].tolist() for n in _NUMBERS}
            said |= {n: self.digits(n, own) for n in ("id", "clip")}
            yield from map(Entry, *(said[name] for name in _ENTRY))

    def by_lot(self, rows: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Return `count` of the rows, or all, drawn by lot, and the same ones every time.

        The lot is the id, a hash of whose continuation it is. More of them hold all of fewer.
        """
        lots = np.ascontiguousarray(self.ids[rows, :8]).view(">u8").ravel()
        return rows[np.argsort(lots, kind="stable")[:count]]

    def by_part(self, rows: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
        """Return where in `rows` those are that stand in each part, by its name."""
        codes, words = self.codes("part")[rows], self.words("part")
        order = np.argsort(codes, kind="stable")
        edges = np.flatnonzero(np.diff(codes[order], prepend=-1, append=-1)).tolist()
        each = itertools.pairwise(edges)
        return {words[codes[order[start]]]: order[start:stop] for start, stop in each}

    def places(self, rows: NDArray[np.intp]) -> Iterator[tuple[str, list[int], dict[str, str]]]:
        """Yield the parts that `rows` stand in: name, row groups, content hashes by id."""
        ids, hashes = self.digits("id", rows), self.digits("content_hash", rows)
        groups = self.numbers("group")[rows]
        for name, at in self.by_part(rows).items():
            own = {ids[i]: hashes[i] for i in at.tolist()}
            yield name, np.unique(groups[at]).tolist(), own


_ENTRY = ("id", "scenario", *Entry._fields[2:])
MOST_AT_ONCE = 50_000
"""Entries that are made of columns at a time."""


def opened(store: Store, *, anew: bool = False) -> Index:
    """Return the index of all parts that are there, and keep it where it was not so.

    `anew` makes it from the parts, whatever is kept of it.

    Raises:
      DamagedData: a part is damaged, or two of them disagree on one continuation.
      NewerFormat: a part of a later version.
    """
    there = {name: size for name, size in store.list(parts.FOLDER).items() if parts.is_part(name)}
    index = EMPTY if anew else _kept(store)
    if not index.sizes.items() <= there.items():  # a part was moved away or put in another's place
        index = EMPTY
    if new := [name for name in there if name not in index.sizes]:
        index = _with(store, index, {name: there[name] for name in new})
        with contextlib.suppress(OSError):  # a full disk costs time, and nothing else
            store.swap(NAME, packed(index))
    return index


def from_parts(store: Store) -> Index:
    """Return an index made from the parts that are there, which nobody keeps."""
    names = store.list(parts.FOLDER).items()
    return _with(store, EMPTY, {name: size for name, size in names if parts.is_part(name)})


def kept(store: Store) -> Index | None:
    """Return the index that is kept, an empty one of a wreck; None where there is none."""
    return _kept(store) if NAME in store.list(parts.FOLDER) else None


def fits(index: Index, name: str, raw: bytes) -> bool:
    """Return True if an index has each continuation of a part, as the part has it."""
    inside = _told(_table(name, raw))
    there = index.table.filter(arrow.of_numpy(index.having("part", (name,))))
    same = all(inside.get(id) == row for id, row in _told(there).items())
    return same and inside.keys() <= index.names


def _told(table: pa.Table) -> dict[bytes, tuple[object, ...]]:
    """Return all that rows of an index say, by the id of each."""
    columns = [table.column(name).to_pylist() for name in SCHEMA]
    return {row[0]: row for row in zip(*columns, strict=True)}


def packed(index: Index) -> bytes:
    """Return the bytes that an index is kept as."""
    columns = {name: index.table.column(name) for name in SCHEMA}
    told = {"sts.parts": json.dumps(index.sizes), "sts.rows": json.dumps(_counts(index))}
    return parquet.packed(NAME, FORMAT, VERSION, SCHEMA, columns, rows=MOST, metadata=told)


def _counts(index: Index) -> dict[str, int]:
    """Return how many rows stand in each part."""
    words = index.words("part")
    counts = np.bincount(index.codes("part"), minlength=len(words)).tolist()
    return dict(zip(words, counts, strict=True))


def _kept(store: Store) -> Index:
    """Return the index that is kept; an empty one where it is missing or cannot be read."""
    try:
        table = parquet.unpacked(NAME, store.get(NAME), FORMAT, VERSION, SCHEMA, rows=MOST)
        sizes, counts = (
            parsed_json(table.schema.metadata[key].decode(), dict)
            for key in (b"sts.parts", b"sts.rows")
        )
    except (OSError, DamagedData, NewerFormat, KeyError, ValueError):
        return EMPTY
    index = Index(sizes, table)
    sound = all(type(size) is int for size in sizes.values()) and _counts(index) == counts
    return index if sound else EMPTY


def _with(store: Store, index: Index, new: dict[str, int]) -> Index:
    tables = [index.table, *(_table(name, store.get(name)) for name in new)]
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    if table.num_rows > MOST:
        raise DamagedData(f"{parts.FOLDER}: expected at most {MOST} rows, found {table.num_rows}")
    joined = Index(index.sizes | new, table)
    return _single(joined)


def _table(name: str, raw: bytes) -> pa.Table:
    """Return the rows of an index for one part."""
    told = parts.summary(name, raw)
    columns: dict[str, Any] = {n: told.column(n) for n in _NUMBERS}
    columns |= {n: told.column(n).combine_chunks().dictionary_encode() for n in _WORDS[1:]}
    columns |= {n: _bytes(name, told.column(n), kind) for n, kind in _HASHES.items()}
    rows = np.arange(told.num_rows, dtype=np.int32)
    columns["part"] = arrow.coded(rows * 0, [name])
    columns["group"] = arrow.of_numpy(rows // parts.GROUP)
    return pa.Table.from_arrays([columns[n] for n in SCHEMA], schema=pa.schema(SCHEMA.items()))


def _bytes(name: str, digits: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Return hexadecimal digits as bytes."""
    every: list[str] = digits.to_pylist()
    try:
        raw = bytes.fromhex("".join(every))
    except ValueError:
        raw = b""
    if any(len(one) != 2 * kind.byte_width for one in every) or len(raw) % kind.byte_width:
        raise DamagedData(f"{name}: expected ids and hashes of hexadecimal digits, found others")
    return arrow.of_numpy(np.frombuffer(raw, np.uint8).reshape(-1, kind.byte_width))


def _single(index: Index) -> Index:
    """Return the index with one row a continuation.

    Of a batch-sensitive one, which is made anew as its scenario gets more, that is the row which
    was made together with the most.

    Raises:
      DamagedData: two rows disagree.
    """
    beginnings = np.sort(np.ascontiguousarray(index.ids[:, :8]).view("<u8").ravel())
    if not (beginnings[1:] == beginnings[:-1]).any():
        return index
    keys = np.ascontiguousarray(index.ids).view("S12").ravel()
    together, hashes = index.numbers("together"), index.numbers("content_hash")
    order = np.lexsort((-together, keys))
    again = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    at = np.arange(len(order))
    at[again] = 0
    firsts, others = order[np.maximum.accumulate(at)[again]], order[again]
    superseded = (0 < together[others]) & (together[others] < together[firsts])
    differ = ~superseded & (hashes[others] != hashes[firsts]).any(1)
    for pair in zip(firsts[differ].tolist(), others[differ].tolist(), strict=True):
        one, other = (index.words("part")[index.codes("part")[row]] for row in pair)
        raise DamagedData(
            f"{other}: continuation {index.digits('id', [pair[1]])[0]} is another one in {one}: an "
            "agent that draws by itself, or two machines that differ; move one of the files away"
        )
    keep = np.ones(len(keys), np.bool_)
    keep[others] = False
    return Index(index.sizes, index.table.filter(arrow.of_numpy(keep)).combine_chunks())


EMPTY = Index({}, pa.table({name: pa.nulls(0, kind) for name, kind in SCHEMA.items()}))
