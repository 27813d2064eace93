"""Labels: what rules say of continuations, judged by nobody, kept part by part as these are.

A set of labels, `labels/1`, is what rules of one meaning say for one suite. To each part of
continuations it has a part of the same name, which never changes once it is there. A suite's table
is made from the parts of a set, and can be made from them again at any time.

Whatever reads a part raises `DamagedData` where it is damaged, or says what no rule does or
something of other continuations, and `NewerFormat` where a later version wrote it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

import sts
from sts.continuations import parts
from sts.continuations.index import Index, Lie
from sts.errors import DamagedData
from sts.ratings import VERDICTS
from sts.storage import arrow, parquet
from sts.storage.files import canonical_json, content_hash, parsed_json
from sts.storage.store import Store

FORMAT, VERSION = "labels", 1
FOLDER = "labels"
SCHEMA = {
    "content_hash": pa.binary(32),
    "verdict": pa.string(),
    "step": pa.int32(),
    "notes": pa.string(),
}
WORDS = ("", *VERDICTS)
"""What a rule says, or that there is none."""


class Label(NamedTuple):
    """What a rule says of a continuation.

    Attributes:
      content_hash: the continuation's.
      verdict: one of `sts.ratings.VERDICTS`; "" where there is no rule.
      step: 1..horizon from takeover for success and failure, else None.
      notes: what a report must say of the continuation's agent.
    """

    content_hash: str
    verdict: str
    step: int | None
    notes: tuple[str, ...] = ()


def set_of(suite: str, rules: Mapping[str, str]) -> str:
    """Return the name of a set, 24 hex digits: of a suite's hash and the meanings of its rules."""
    told = {"labels": VERSION, "sts": sts.__version__, "suite": suite, "rules": dict(rules)}
    return content_hash(canonical_json(told))[:24]


def name_of(set: str, part: str) -> str:
    """Return the name of what a set says of the continuations in a part."""
    return f"{FOLDER}/{set}/{part.removeprefix(f'{parts.FOLDER}/')}"


def put(store: Store, name: str, labels: Sequence[Label], *, anew: bool = False) -> None:
    """Keep labels of all the continuations of a suite in a part; the same again changes nothing.

    `anew` puts them in the place of what is there, as what made that is not known.

    Raises:
      DamagedData: the part is there, and says something else.
      OSError: it cannot be kept.
    """
    raw = _packed(name, labels)
    if anew:
        store.swap(name, raw)
    else:
        store.put_new(name, raw, lambda a, b: _unpacked(name, a).equals(_unpacked(name, b)))


def _packed(name: str, labels: Sequence[Label]) -> bytes:
    hashes = b"".join(bytes.fromhex(one.content_hash) for one in labels)
    written = {one.notes: canonical_json(one.notes).decode() for one in labels}
    made = {
        "content_hash": arrow.of_numpy(np.frombuffer(hashes, np.uint8).reshape(-1, 32)),
        "verdict": arrow.texts([one.verdict for one in labels]),
        "step": arrow.of_numpy(np.array([one.step or 0 for one in labels], np.int32)),
        "notes": arrow.texts([written[one.notes] for one in labels]),
    }
    return parquet.packed(name, FORMAT, VERSION, SCHEMA, made)


def _unpacked(name: str, raw: bytes) -> pa.Table:
    return parquet.unpacked(name, raw, FORMAT, VERSION, SCHEMA)


def read_part(store: Store, name: str) -> pa.Table:
    """Return a part as a table of `SCHEMA`, all of whose verdicts and notes can be read.

    Raises:
      FileNotFoundError: it is not there.
    """
    table = _unpacked(name, store.get(name))
    for verdict in pc.unique(table["verdict"]).to_pylist():
        if verdict not in WORDS:
            raise DamagedData(f"{name}: expected verdicts, found {verdict!r:.40}")
    try:
        for text in pc.unique(table["notes"]).to_pylist():
            notes_in(text)
    except ValueError as error:
        raise DamagedData(f"{name}: expected notes: {error}") from None
    return table


def notes_in(text: str) -> tuple[str, ...]:
    """Return the notes that a text of the column `notes` lists."""
    return tuple(map(str, parsed_json(text, list)))


def find(store: Store, name: str, content_hash: str) -> Label | None:
    """Return the label of a continuation in a part, None where there is none."""
    try:
        table = read_part(store, name)
    except FileNotFoundError:  # labels of another suite, or from before it was there
        return None
    own = table.filter(pc.equal(table["content_hash"], bytes.fromhex(content_hash)))
    for row in own.to_pylist():
        return Label(content_hash, row["verdict"], row["step"] or None, notes_in(row["notes"]))
    return None


def read(store: Store, set: str, index: Index, rows: NDArray[np.intp]) -> pa.Table:
    """Return what a set says of the continuations in rows of the index; reads their parts alone.

    The table has a row for each of them, of at least one.

    Raises:
      FileNotFoundError: a part of the set is not there.
    """
    hashes, tables, places = index.numbers("content_hash"), [], []
    for part, own in index.by_part(rows).items():
        name = name_of(set, part)
        table = read_part(store, name)
        tables.append(table.take(arrow.of_numpy(_matching(name, table, hashes[rows[own]]))))
        places.append(own)
    return pa.concat_tables(tables).take(arrow.of_numpy(np.argsort(np.concatenate(places))))


def _matching(name: str, table: pa.Table, hashes: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the rows of a part that have these content hashes, uint8[rows, 32]."""
    rows = {one: row for row, one in enumerate(table["content_hash"].to_pylist())}
    try:
        return np.array([rows[one.tobytes()] for one in hashes], np.intp)
    except KeyError:
        raise Lie(
            f"{name}: expected labels of the continuations in the part of that name, found others; "
            "move the file away and label again"
        ) from None
