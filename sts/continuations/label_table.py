"""The table of a suite's labels: a ratings table, `ratings/1`, made from the parts of a set.

Whatever reads one raises `DamagedData` where it is no such table, and `NewerFormat` where a later
version made it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sts.continuations.index import Index
from sts.continuations.labels import FOLDER, notes_in, read
from sts.continuations.types import HUMAN
from sts.errors import DamagedData
from sts.ratings import columns
from sts.storage import arrow, parquet
from sts.storage.csv_tables import MOST_ROWS
from sts.storage.files import canonical_json, content_hash, parsed_json
from sts.storage.store import Store
from sts.suites.types import Scenario, Suite

FORMAT, VERSION = "ratings", 1
AUTOMATIC = "automatic"
_TYPES = {"str": pa.string(), "Int64": pa.int64(), "int64": pa.int64()}
SCHEMA = {n: _TYPES[kind] for n, kind in columns("kind", "source", "sees", "notes").items()}
_MADE_OF = "sts.labels"


class MadeOf(NamedTuple):
    """The name of the set that a table was made from, and a hash of the parts that it is about."""

    set: str
    parts: str


def name_of(suite: str) -> str:
    """Return the name of the table of a suite, NAME@VERSION."""
    return f"{FOLDER}/{suite.replace('@', '-')}.parquet"


def suite_of(name: str) -> str:
    """Return the suite, NAME@VERSION, of a table's name."""
    suite, _, version = name.removeprefix(f"{FOLDER}/").removesuffix(".parquet").rpartition("-")
    return f"{suite}@{version}"


def is_table(name: str) -> bool:
    """Whether what is kept under a name is a table of a suite's labels."""
    return name.startswith(f"{FOLDER}/") and name.count("/") == 1 and name.endswith(".parquet")


def made_of(set: str, index: Index, parts: Collection[str]) -> MadeOf:
    """Return what a table of a set is made from, of these parts of an index."""
    sizes = {name: index.sizes[name] for name in parts}
    return MadeOf(set, content_hash(canonical_json(sizes))[:24])


def made_from(name: str, raw: bytes) -> MadeOf:
    """Return what a table was made from; `DamagedData` if it does not say so."""
    try:
        return MadeOf(**parsed_json(parquet.metadata(name, raw)[_MADE_OF], dict))
    except (KeyError, TypeError, ValueError):
        raise DamagedData(
            f"{name}: expected a table that says which labels it was made from, as sts label "
            "writes it; label again"
        ) from None


def counts(name: str, raw: bytes, part: Collection[str] | None = None) -> dict[str, dict[str, int]]:
    """Return how many of each agent's continuations have each verdict, "" where there is no rule.

    Those of the scenarios with the ids in `part` count; None for all.
    """
    columns = ("agent", "verdict", "scenario")
    (agents, names), (verdicts, words), (which, ids) = parquet.read_coded(name, raw, columns)
    if part is not None:
        kept = np.array([id in part for id in ids], bool)[which]
        agents, verdicts = agents[kept], verdicts[kept]
        names = [word for i, word in enumerate(names) if i in {*agents.tolist()}]
        agents = np.unique(agents, return_inverse=True)[1]
    pairs = np.bincount(agents * len(words) + verdicts, minlength=len(names) * len(words))
    each = zip(names, pairs.reshape(len(names), len(words)).tolist(), strict=True)
    return {agent: dict(zip(words, own, strict=True)) for agent, own in sorted(each)}


def verdicts(
    name: str, raw: bytes, continuations: Collection[str]
) -> dict[str, tuple[str, int | None]]:
    """Return the verdict and the step of these continuations, as far as the table is about them."""
    asked = {column: SCHEMA[column] for column in ("continuation", "verdict", "step")}
    table = parquet.unpacked(name, raw, FORMAT, VERSION, asked, rows=MOST_ROWS, optional=("step",))
    wanted = pa.array(sorted(continuations), pa.string())
    own = table.filter(pc.is_in(table["continuation"], value_set=wanted))
    columns = (own[column].to_pylist() for column in asked)
    return {one: (verdict, step) for one, verdict, step in zip(*columns, strict=True)}


def check(store: Store, name: str, index: Index, suite: Suite) -> None:
    """Hold a table to what it was made from, as far as that is there.

    It is damaged, too, where a part of its set is missing.
    """
    raw = store.get(name)
    source, there = made_from(name, raw), _unpacked(name, raw)
    rows = {row.tobytes().hex(): at for at, row in enumerate(index.ids)}
    try:
        own = np.array([rows[id] for id in there["continuation"].to_pylist()], np.intp)
        said = read(store, source.set, index, own)
    except (KeyError, FileNotFoundError) as error:
        raise DamagedData(f"{name}: what it was made from is not there: {error}") from None
    made = packed(name, index, own, said, {s.hash: s for s in suite.scenarios}, source)
    if not _unpacked(name, made).equals(there):
        raise DamagedData(f"{name}: it is not what its labels say; label again")


def _unpacked(name: str, raw: bytes) -> pa.Table:
    return parquet.unpacked(name, raw, FORMAT, VERSION, SCHEMA, rows=MOST_ROWS, optional=("step",))


def packed(
    name: str,
    index: Index,
    rows: NDArray[np.intp],
    labels: pa.Table,
    scenarios: Mapping[str, Scenario],
    source: MadeOf,
) -> bytes:
    """Return the bytes of a table about the continuations in rows of the index, one or more.

    `labels` are theirs, and `scenarios` those of the suite by their hashes.

    Raises:
      StsError: there are more rows than are read.
    """
    table = index.table.take(arrow.of_numpy(rows))
    keys = {n: table[n].cast(pa.string()) for n in ("agent", "fingerprint", "scenario")}
    keys |= {n: table[n] for n in ("seed", "index")}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(n, "ascending") for n in keys])
    table, labels = table.take(order), labels.take(order)
    agents, codes = _agents(table)
    called, noted = agent_names(agents), _noted(codes, labels["notes"])
    coded = table["scenario"].combine_chunks()
    own = [scenarios.get(one) for one in coded.dictionary.to_pylist()]
    which = arrow.as_numpy(coded.indices)

    def told(attribute: str) -> pa.Array:
        words = [getattr(one, attribute) if one else "" for one in own]
        return arrow.coded(which, words).cast(pa.string())

    def everywhere(word: str) -> pa.Array:
        return arrow.coded(np.zeros(len(rows), np.int32), [word]).cast(pa.string())

    verdict = labels["verdict"]
    ruled = np.sign(arrow.as_numpy(pc.binary_length(verdict).combine_chunks()))
    steps = arrow.as_numpy(labels["step"].combine_chunks())
    horizons = np.array([one.horizon if one else 0 for one in own], np.int64)
    made = {
        "agent": arrow.coded(codes, [called[one] for one in agents]).cast(pa.string()),
        "scenario": told("id"),
        "category": told("category"),
        "continuation": arrow.digits(arrow.as_numpy(table["id"].combine_chunks())),
        "annotator": arrow.coded(ruled, ["", AUTOMATIC]).cast(pa.string()),
        "verdict": verdict,
        "step": arrow.of_numpy(steps.astype(np.int64), steps > 0),
        "horizon": arrow.of_numpy(horizons[which]),
        "kind": told("kind"),
        "source": everywhere(AUTOMATIC),
        "sees": table["sees"].cast(pa.string()),
        "notes": arrow.coded(codes, ["; ".join(sorted(one)) for one in noted]).cast(pa.string()),
    }
    says = {_MADE_OF: canonical_json(source._asdict()).decode()}
    return parquet.packed(name, FORMAT, VERSION, SCHEMA, made, rows=MOST_ROWS, metadata=says)


def _agents(table: pa.Table) -> tuple[list[tuple[str, str]], NDArray[np.intp]]:
    """Return each (agent, fingerprint) once, and which of them each row is of."""
    names, marks = (table[name].combine_chunks() for name in ("agent", "fingerprint"))
    pairs = arrow.as_numpy(names.indices).astype(np.int64) * len(marks.dictionary)
    each, codes = np.unique(pairs + arrow.as_numpy(marks.indices), return_inverse=True)
    words = names.dictionary.to_pylist(), marks.dictionary.to_pylist()
    both = (divmod(one, len(words[1])) for one in each.tolist())
    return [(words[0][name], words[1][mark]) for name, mark in both], codes


def _noted(codes: NDArray[np.intp], notes: pa.ChunkedArray) -> list[set[str]]:
    """Return all that is noted of each agent's continuations."""
    out: list[set[str]] = [set() for _ in range(int(codes.max()) + 1)]
    coded = notes.combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    for pair in np.unique(codes * len(texts) + arrow.as_numpy(coded.indices)).tolist():
        agent, text = divmod(pair, len(texts))
        out[agent].update(notes_in(texts[text]))
    return out


def agent_names(agents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return what reports call each (agent, fingerprint).

    That is its name, or NAME#12345678 by the fingerprint's first digits where it has several.
    People, whose fingerprints tell them apart, are one agent together.
    """
    marks: dict[str, set[str]] = defaultdict(set)
    for name, mark in agents:
        marks[name].add(mark)
    return {
        (name, mark): name if len(own) == 1 or name == HUMAN else f"{name}#{mark[:8]}"
        for name, own in marks.items()
        for mark in own
    }
