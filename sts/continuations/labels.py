"""Automatic labels of continuations, stored part by part as the continuations are.

A label set, `labels/1`, holds the labels of one suite by one version of each rule. It has a part
for each part of continuations, of the same name, which never changes once written. A suite's table
is made from the parts of a set and can be rebuilt from them at any time.

Functions that read a part raise `DamagedData` if it is damaged, holds an unknown verdict or labels
other continuations, and `NewerFormat` if a later version wrote it.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import sts
from sts.continuations import parts
from sts.continuations.index import Index, StaleIndex
from sts.errors import DamagedData
from sts.ratings import VERDICTS
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parse_versioned_json
from sts.storage.store import KeyValueStore

FORMAT, VERSION = "labels", 1
FOLDER = "labels"
SCHEMA = {
    "content_hash": pa.binary(32),
    "verdict": pa.string(),
    "step": pa.int32(),
    "notes": pa.string(),
}
WORDS = ("", *VERDICTS)
"""Verdicts of a rule; "" if there is no rule."""


class Label(NamedTuple):
    """The automatic label of a continuation."""

    content_hash: str  # the continuation's
    verdict: str  # one of `sts.ratings.VERDICTS`; "" if its category has no rule
    step: int | None  # 1..horizon from takeover for success and failure, else None
    notes: tuple[str, ...] = ()  # remarks that a report shows with the continuation's agent


def label_set_name(suite: str, rules: Mapping[str, str]) -> str:
    """Return the name of a label set, 24 hex digits, by a suite's hash and its rules' versions."""
    meaning = {"labels": VERSION, "sts": sts.__version__, "suite": suite, "rules": dict(rules)}
    return content_hash(canonical_json(meaning))[:24]


def label_part_name(set: str, part_name: str) -> str:
    """Return the name of the part of a label set for a part of continuations."""
    return f"{FOLDER}/{set}/{part_name.removeprefix(f'{parts.FOLDER}/')}"


def write_labels(
    store: KeyValueStore, name: str, labels: Sequence[Label], *, overwrite: bool = False
) -> None:
    """Write the labels of a suite's continuations in one part; writing the same again is allowed.

    `overwrite` replaces a part whose origin is unknown.

    Raises:
      DamagedData: the part exists and differs.
      OSError: it cannot be written.
    """
    raw = _encode(name, labels)
    if overwrite:
        store.replace(name, raw)
    else:
        store.put_new(name, raw, lambda a, b: _decode(name, a).equals(_decode(name, b)))


def _encode(name: str, labels: Sequence[Label]) -> bytes:
    hashes = b"".join(bytes.fromhex(label.content_hash) for label in labels)
    written = {label.notes: canonical_json(label.notes).decode() for label in labels}
    columns = {
        "content_hash": arrow.from_numpy(np.frombuffer(hashes, np.uint8).reshape(-1, 32)),
        "verdict": arrow.from_texts([label.verdict for label in labels]),
        "step": arrow.from_numpy(np.array([label.step or 0 for label in labels], np.int32)),
        "notes": arrow.from_texts([written[label.notes] for label in labels]),
    }
    return parquet.encode_table(name, FORMAT, VERSION, SCHEMA, columns)


def _decode(name: str, raw: bytes) -> pa.Table:
    return parquet.decode_table(name, raw, FORMAT, VERSION, SCHEMA)


def read_part(store: KeyValueStore, name: str) -> pa.Table:
    """Return a part as a table of `SCHEMA`, with its verdicts and notes validated.

    Raises:
      FileNotFoundError: there is no such part.
    """
    table = _decode(name, store.get(name))
    for verdict in pc.unique(table["verdict"]).to_pylist():
        if verdict not in WORDS:
            raise DamagedData(f"{name}: expected verdicts, found {verdict!r:.40}")
    try:
        for text in pc.unique(table["notes"]).to_pylist():
            parse_notes(text)
    except ValueError as error:
        raise DamagedData(f"{name}: expected notes: {error}") from None
    return table


def parse_notes(text: str) -> tuple[str, ...]:
    """Parse a text of the column `notes`."""
    return tuple(map(str, parse_versioned_json(text, list)))


def find_label(store: KeyValueStore, name: str, content_hash: str) -> Label | None:
    """Return the label of a continuation in a part, or None."""
    try:
        table = read_part(store, name)
    except FileNotFoundError:  # labelled in another suite, or not yet
        return None
    hashes = table["content_hash"].to_pylist()  # a comparison in pyarrow would import pandas
    if (wanted := bytes.fromhex(content_hash)) not in hashes:
        return None
    (row,) = table.slice(hashes.index(wanted), 1).to_pylist()
    return Label(content_hash, row["verdict"], row["step"] or None, parse_notes(row["notes"]))


def read_labels(store: KeyValueStore, set: str, index: Index, rows: NDArray[np.intp]) -> pa.Table:
    """Return a table of a label set's labels of the continuations in `rows` of the index.

    It has one row for each of `rows`, at least one; only the parts that hold them are read.

    Raises:
      FileNotFoundError: a part of the set is missing.
    """
    hashes, tables, order = index.read_numbers("content_hash"), [], []
    for part, positions in index.group_by_part(rows).items():
        name = label_part_name(set, part)
        table = read_part(store, name)
        tables.append(
            table.take(arrow.from_numpy(_find_rows(name, table, hashes[rows[positions]])))
        )
        order.append(positions)
    return pa.concat_tables(tables).take(arrow.from_numpy(np.argsort(np.concatenate(order))))


def _find_rows(name: str, table: pa.Table, hashes: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the rows of a part that have these content hashes, uint8[rows, 32]."""
    rows = {hash: row for row, hash in enumerate(table["content_hash"].to_pylist())}
    try:
        return np.array([rows[hash.tobytes()] for hash in hashes], np.intp)
    except KeyError:
        raise StaleIndex(
            f"{name}: expected labels of the continuations in the part of that name, found others; "
            "move the file away and run sts label again"
        ) from None
