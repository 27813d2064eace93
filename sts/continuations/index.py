"""The index of continuations, `index/2`: the part and row group in which each is stored.

It is a cache: it can be rebuilt from the parts at any time. Reads through it are checked against
the parts, and an index that does not match them is rebuilt (`continuation_store`).
"""

import contextlib
import itertools
import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sts.continuations import parts
from sts.continuations.continuation import Identity
from sts.errors import DamagedData, NewerFormat
from sts.storage import arrow, parquet
from sts.storage.files import parse_versioned_json
from sts.storage.store import KeyValueStore

FORMAT, VERSION = "index", 2
NAME = f"{parts.FOLDER}/index.parquet"
MAX_CONTINUATIONS = 2**24
"""Limit of the rows of an index."""
_DICTIONARY = pa.dictionary(pa.int32(), pa.string())
_DICTIONARY_COLUMNS = tuple(
    "part scenario agent fingerprint scenario_id category kind sees".split()
)
_HASHES = {"id": pa.binary(12), "content_hash": pa.binary(32), "clip": pa.binary(16)}
_NUMBER_COLUMNS = ("seed", "index", "takeover", "horizon", "together")
SCHEMA = {
    **_HASHES,
    **dict.fromkeys(_DICTIONARY_COLUMNS, _DICTIONARY),
    "group": pa.int32(),
    **{name: parts.SUMMARY[name] for name in _NUMBER_COLUMNS},
}
LOOK_UP = ("id", "content_hash", "part", "group")
"""The columns that `rows_with_prefix`, `group_by_part` and `locate_rows` read."""
PLANNING = ("part", "agent", "fingerprint", "scenario", "seed", "index", "together")
"""The columns that `missing_indices` reads."""
_MIN_ID_DIGITS = 4
"""Minimum number of digits of an abbreviated id."""


class StaleIndex(DamagedData):
    """The index does not match the stored parts and has to be rebuilt."""


class Entry(NamedTuple):
    """A continuation's row in the index: its identity and summary, without the episode."""

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
        """The continuation's identity."""
        return Identity(*self[1:6])


@dataclass(frozen=True, eq=False)
class Index:
    """An index in memory, one row for each continuation."""

    sizes: dict[str, int]  # bytes of each part that it covers
    table: pa.Table  # the columns of `SCHEMA`, or some of them, each in one chunk

    @cached_property
    def ids(self) -> NDArray[np.uint8]:
        """uint8[rows, 12], each continuation's id."""
        return self.read_numbers("id")

    @cached_property
    def id_set(self) -> frozenset[bytes]:
        """The ids of all continuations as a set, for look-ups."""
        return frozenset(self.table.column("id").to_pylist())

    def read_numbers(self, column: str) -> NDArray[Any]:
        """Return a column that is not dictionary-encoded."""
        return arrow.to_numpy(self.table.column(column).combine_chunks())

    def read_codes(self, column: str) -> NDArray[np.int32]:
        """Return each row's index into `read_values` of a dictionary-encoded column."""
        return arrow.to_numpy(self.table.column(column).combine_chunks().indices)

    def read_values(self, column: str) -> list[str]:
        """Return the distinct values of a dictionary-encoded column."""
        return list(self.table.column(column).combine_chunks().dictionary.to_pylist())

    def mask_where(self, column: str, wanted: Collection[str]) -> NDArray[np.bool_]:
        """Return bool[rows], True for rows whose value is one of `wanted`."""
        matches = np.array([value in wanted for value in self.read_values(column)], np.bool_)
        codes, hits = self.read_codes(column), np.flatnonzero(matches)
        if len(hits) <= 1:  # a comparison is quicker
            return np.equal(codes, hits[0] if len(hits) else -1)
        return matches[codes]

    def find_rows(self, scenarios: Collection[str]) -> NDArray[np.intp]:
        """Return the rows of continuations of the scenarios with these content hashes."""
        return np.flatnonzero(self.mask_where("scenario", scenarios))

    def hex_digits(
        self, column: str, rows: NDArray[np.intp] | Sequence[int] | slice = slice(None)
    ) -> list[str]:
        """Return a column of bytes as hexadecimal digits, for all rows or some."""
        raw = self.read_numbers(column)[rows]
        text, width = raw.tobytes().hex(), 2 * raw.shape[1]
        return [text[at : at + width] for at in range(0, len(text), width)]

    def rows_with_values(self, column: str, wanted: Collection[str]) -> NDArray[np.intp]:
        """Return the rows whose hexadecimal value of a column is one of `wanted`."""
        return np.flatnonzero([digits in wanted for digits in self.hex_digits(column)])

    def rows_with_prefix(self, id: str) -> NDArray[np.intp]:
        """Return the rows of continuations whose id begins with `id`, at least 4 digits."""
        if not _MIN_ID_DIGITS <= len(id) <= 24 or not set(id) <= set("0123456789abcdef"):
            return np.empty(0, np.intp)
        low = np.frombuffer(bytes.fromhex(id.ljust(24, "0")), np.uint8)
        n_bytes = len(id) // 2
        rows = np.flatnonzero(np.equal(self.ids[:, 0], low[0]))
        ids = self.ids[rows]
        hits = (ids[:, :n_bytes] == low[:n_bytes]).all(1)
        if len(id) % 2:
            hits &= ids[:, n_bytes] >> 4 == low[n_bytes] >> 4
        matching: NDArray[np.intp] = rows[hits]
        return matching

    def missing_indices(
        self, agent: str, fingerprint: str, seed: int, count: int
    ) -> dict[str, tuple[list[int], bool]]:
        """Return which of `count` continuations of each scenario an agent lacks, by its hash.

        The second value is True if a continuation of the scenario depends on its batch. Scenarios
        that the agent never continued are left out.
        """
        mask = self.mask_where("agent", (agent,)) & self.mask_where("fingerprint", (fingerprint,))
        rows = np.flatnonzero(mask & (self.read_numbers("seed") == seed))
        codes, scenarios = self.read_codes("scenario")[rows], self.read_values("scenario")
        is_present = np.bincount(codes, minlength=len(scenarios)) > 0
        positions = (np.cumsum(is_present) - 1)[codes]
        exists = np.zeros((np.count_nonzero(is_present), count), np.bool_)
        indices = self.read_numbers("index")[rows]
        inside = (indices >= 0) & (indices < count)
        exists[positions[inside], indices[inside]] = True
        missing: list[list[int]] = [[] for _ in exists]
        for position, index in np.argwhere(~exists).tolist():
            missing[position].append(index)
        sensitive = {*codes[self.read_numbers("together")[rows] > 0].tolist()}
        present = np.flatnonzero(is_present).tolist()
        return {
            scenarios[code]: (lacking, code in sensitive)
            for code, lacking in zip(present, missing, strict=True)
        }

    def iter_entries(self, rows: NDArray[np.intp]) -> Iterator[Entry]:
        """Yield the entries of the continuations in `rows`."""
        words = {name: self.read_values(name) for name in _DICTIONARY_COLUMNS}
        for start in range(0, len(rows), ENTRIES_AT_ONCE):
            chunk = rows[start : start + ENTRIES_AT_ONCE]
            codes = {n: self.read_codes(n)[chunk].tolist() for n in _DICTIONARY_COLUMNS[1:]}
            columns = {n: [words[n][code] for code in codes[n]] for n in codes}
            columns |= {n: self.read_numbers(n)[chunk].tolist() for n in _NUMBER_COLUMNS}
            columns |= {n: self.hex_digits(n, chunk) for n in ("id", "clip")}
            yield from map(Entry, *(columns[name] for name in _ENTRY))

    def group_by_part(self, rows: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
        """Return, by the name of each part, the positions in `rows` of its continuations."""
        codes, part_names = self.read_codes("part")[rows], self.read_values("part")
        order = np.argsort(codes, kind="stable")
        edges = np.flatnonzero(np.diff(codes[order], prepend=-1, append=-1)).tolist()
        runs = itertools.pairwise(edges)
        return {part_names[codes[order[start]]]: order[start:stop] for start, stop in runs}

    def locate_rows(
        self, rows: NDArray[np.intp]
    ) -> Iterator[tuple[str, list[int], dict[str, str]]]:
        """Yield each part that holds some of `rows`: name, row groups, content hashes by id."""
        ids, hashes = self.hex_digits("id", rows), self.hex_digits("content_hash", rows)
        groups = self.read_numbers("group")[rows]
        for name, positions in self.group_by_part(rows).items():
            part_hashes = {ids[i]: hashes[i] for i in positions.tolist()}
            yield name, np.unique(groups[positions]).tolist(), part_hashes


_ENTRY = ("id", "scenario", *Entry._fields[2:])
ENTRIES_AT_ONCE = 50_000
"""Number of entries that are built at a time."""


def open_index(
    store: KeyValueStore, *, rebuild: bool = False, columns: Sequence[str] = tuple(SCHEMA)
) -> Index:
    """Return the index of all stored parts; save it if it was out of date.

    `rebuild` ignores the saved one and reads all parts. `columns` names those that are needed,
    "part" among them; the index may have more.

    Raises:
      DamagedData: a part is damaged, or two of them disagree on one continuation.
      NewerFormat: a part has a later version.
    """
    sizes = parts.list_parts(store)
    index = EMPTY if rebuild else _read_or_empty(store, columns)
    if index.sizes == sizes:
        return index
    if index.table.num_columns < len(SCHEMA):  # all are needed to extend it
        index = _read_or_empty(store)
    if not index.sizes.items() <= sizes.items():  # a part was removed or replaced
        index = EMPTY
    if new := [name for name in sizes if name not in index.sizes]:
        index = _add_parts(store, index, {name: sizes[name] for name in new})
        with contextlib.suppress(OSError):  # on a full disk the index is rebuilt each time
            store.replace(NAME, encode_index(index))
    return index


def from_parts(store: KeyValueStore) -> Index:
    """Build an index from the stored parts without saving it."""
    return _add_parts(store, EMPTY, parts.list_parts(store))


def read_saved_index(store: KeyValueStore) -> Index | None:
    """Return the saved index, an empty one if it cannot be read, None if there is none."""
    return _read_or_empty(store) if NAME in store.list(parts.FOLDER) else None


def covers_part(index: Index, name: str, raw: bytes) -> bool:
    """Return True if an index has exactly the rows that a part has."""
    inside = _locate_ids(_index_part(name, raw))
    indexed = index.table.filter(arrow.from_numpy(index.mask_where("part", (name,))))
    has_equal_rows = all(inside.get(id) == row for id, row in _locate_ids(indexed).items())
    return has_equal_rows and inside.keys() <= index.id_set


def _locate_ids(table: pa.Table) -> dict[bytes, tuple[object, ...]]:
    """Return the rows of an index as tuples, by id."""
    columns = [table.column(name).to_pylist() for name in SCHEMA]
    return dict(zip(columns[0], zip(*columns, strict=True), strict=True))


def encode_index(index: Index) -> bytes:
    """Return the bytes of an index file."""
    columns = {name: index.table.column(name) for name in SCHEMA}
    counts = _count_rows_per_part(index)
    metadata = {"sts.parts": json.dumps(index.sizes), "sts.rows": json.dumps(counts)}
    return parquet.encode_table(
        NAME, FORMAT, VERSION, SCHEMA, columns, max_rows=MAX_CONTINUATIONS, metadata=metadata
    )


def _count_rows_per_part(index: Index) -> dict[str, int]:
    """Return the number of rows of each part."""
    part_names = index.read_values("part")
    counts = np.bincount(index.read_codes("part"), minlength=len(part_names)).tolist()
    return dict(zip(part_names, counts, strict=True))


def _read_or_empty(store: KeyValueStore, columns: Sequence[str] = tuple(SCHEMA)) -> Index:
    """Return these columns of the saved index, or an empty one if it is missing or damaged."""
    schema = {column: SCHEMA[column] for column in columns}
    try:
        raw = store.get(NAME)
        table = parquet.decode_table(NAME, raw, FORMAT, VERSION, schema, max_rows=MAX_CONTINUATIONS)
        metadata = table.schema.metadata
        sizes, counts = (
            parse_versioned_json(metadata[k].decode(), dict) for k in (b"sts.parts", b"sts.rows")
        )
        index = Index(sizes, table)
        sound = all(type(size) is int for size in sizes.values())
        return index if sound and _count_rows_per_part(index) == counts else EMPTY
    except (OSError, DamagedData, NewerFormat, KeyError, ValueError):
        return EMPTY


def _add_parts(store: KeyValueStore, index: Index, new: dict[str, int]) -> Index:
    """Return the index with the rows of the parts `new` added."""
    tables = [index.table, *(_index_part(name, store.get(name)) for name in new)]
    table = pa.concat_tables(tables).unify_dictionaries().combine_chunks()
    if table.num_rows > MAX_CONTINUATIONS:
        raise DamagedData(
            f"{parts.FOLDER}: expected at most {MAX_CONTINUATIONS} rows, found {table.num_rows}"
        )
    extended = Index(index.sizes | new, table)
    return _drop_duplicates(extended)


def _index_part(name: str, raw: bytes) -> pa.Table:
    """Return the index rows of one part."""
    summary = parquet.decode_table(name, raw, parts.FORMAT, parts.VERSION, parts.SUMMARY)
    columns: dict[str, Any] = {n: summary.column(n) for n in _NUMBER_COLUMNS}
    columns |= {
        n: summary.column(n).combine_chunks().dictionary_encode() for n in _DICTIONARY_COLUMNS[1:]
    }
    columns |= {n: _decode_hex(name, summary.column(n), kind) for n, kind in _HASHES.items()}
    rows = np.arange(summary.num_rows, dtype=np.int32)
    columns["part"] = arrow.encode_dictionary(rows * 0, [name])
    columns["group"] = arrow.from_numpy(rows // parts.ROWS_PER_GROUP)
    return pa.Table.from_arrays([columns[n] for n in SCHEMA], schema=pa.schema(SCHEMA.items()))


def _decode_hex(name: str, digits: pa.ChunkedArray, kind: pa.DataType) -> pa.Array:
    """Decode a column of hexadecimal digits."""
    texts: list[str] = digits.to_pylist()
    try:
        raw = bytes.fromhex("".join(texts))
    except ValueError:
        raw = b""
    if any(len(text) != 2 * kind.byte_width for text in texts) or len(raw) % kind.byte_width:
        raise DamagedData(f"{name}: expected ids and hashes of hexadecimal digits, found others")
    return arrow.from_numpy(np.frombuffer(raw, np.uint8).reshape(-1, kind.byte_width))


def _drop_duplicates(index: Index) -> Index:
    """Return the index with one row for each continuation.

    A batch-sensitive continuation is run again when its scenario gets more of them; of its rows the
    one made together with the most is kept.

    Raises:
      DamagedData: two rows disagree.
    """
    beginnings = np.sort(np.ascontiguousarray(index.ids[:, :8]).view("<u8").ravel())
    if not (beginnings[1:] == beginnings[:-1]).any():
        return index
    keys = np.ascontiguousarray(index.ids).view("S12").ravel()
    together, hashes = index.read_numbers("together"), index.read_numbers("content_hash")
    order = np.lexsort((-together, keys))
    repeats = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    starts = np.arange(len(order))
    starts[repeats] = 0
    kept_rows, other_rows = order[np.maximum.accumulate(starts)[repeats]], order[repeats]
    superseded = (0 < together[other_rows]) & (together[other_rows] < together[kept_rows])
    differ = ~superseded & (hashes[other_rows] != hashes[kept_rows]).any(1)
    for pair in zip(kept_rows[differ].tolist(), other_rows[differ].tolist(), strict=True):
        first, second = (index.read_values("part")[index.read_codes("part")[row]] for row in pair)
        raise DamagedData(
            f"{second}: continuation {index.hex_digits('id', [pair[1]])[0]} differs from the one "
            f"in {first}: its agent draws random numbers of its own, or two machines compute "
            "differently; move one of the two files away"
        )
    keep = np.ones(len(keys), np.bool_)
    keep[other_rows] = False
    return Index(index.sizes, index.table.filter(arrow.from_numpy(keep)).combine_chunks())


EMPTY = Index({}, pa.table({name: pa.nulls(0, kind) for name, kind in SCHEMA.items()}))
