"""The table of a suite's labels, a ratings table `ratings/2`, made from the parts of a label set.

Functions that read one raise `DamagedData` if it is not such a table, and `NewerFormat` if a later
version wrote it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sts.continuations.continuation import HUMAN
from sts.continuations.index import Index
from sts.continuations.labels import FOLDER, parse_notes, read_labels
from sts.errors import DamagedData
from sts.ratings import column_types
from sts.storage import arrow, parquet
from sts.storage.csv_tables import MAX_ROWS
from sts.storage.files import canonical_json, content_hash, parse_versioned_json
from sts.storage.store import KeyValueStore
from sts.suites.suite import Scenario, Suite

FORMAT, VERSION = "ratings", 2
AUTOMATIC = "automatic"
_TYPES = {"str": pa.string(), "Int64": pa.int64(), "int64": pa.int64()}
_COLUMNS = column_types("kind", "trajectory", "source", "sees", "notes")
SCHEMA = {name: _TYPES[kind] for name, kind in _COLUMNS.items()}
_SOURCE_KEY = "sts.labels"


class TableSource(NamedTuple):
    """The source of a table: the name of its label set, and a hash of the parts that it covers."""

    set: str
    parts: str


def table_name(suite: str) -> str:
    """Return the name of the table of a suite, NAME@VERSION."""
    return f"{FOLDER}/{suite.replace('@', '-')}.parquet"


def parse_suite(name: str) -> str:
    """Return the suite, NAME@VERSION, from a table's name."""
    suite, _, version = name.removeprefix(f"{FOLDER}/").removesuffix(".parquet").rpartition("-")
    return f"{suite}@{version}"


def is_table(name: str) -> bool:
    """Return True if a stored name is that of a table of a suite's labels."""
    return name.startswith(f"{FOLDER}/") and name.count("/") == 1 and name.endswith(".parquet")


def current_source(set: str, index: Index, part_names: Collection[str]) -> TableSource:
    """Return the source that a table of a label set over these parts of an index would state."""
    sizes = {name: index.sizes[name] for name in part_names}
    return TableSource(set, content_hash(canonical_json(sizes))[:24])


def read_source(name: str, raw: bytes) -> TableSource:
    """Return the source that a table states; `DamagedData` for none, or another version."""
    metadata = parquet.read_metadata(name, raw)
    check_format(name, metadata.get("sts.format", ""))
    try:
        return TableSource(**parse_versioned_json(metadata[_SOURCE_KEY], dict))
    except (KeyError, TypeError, ValueError):
        raise DamagedData(
            f"{name}: the table does not state which labels it was made from; run sts label again"
        ) from None


def check_format(name: str, stored_format: str) -> None:
    """Raise DamagedData if `stored_format` is another version of the format of ratings."""
    kind, _, number = stored_format.partition("/")
    if kind == FORMAT and number != str(VERSION):
        raise DamagedData(
            f"{name}: ratings format {number}; this version reads {VERSION}: run sts label again"
        )


def count_verdicts(
    name: str, raw: bytes, scenario_ids: Collection[str] | None = None
) -> dict[str, dict[str, int]]:
    """Return each agent's number of continuations by verdict; "" counts those without a rule.

    Only scenarios whose ids are in `scenario_ids` count; None counts all.
    """
    columns = ("agent", "verdict", "scenario")
    (agents, names), (verdicts, kinds), (scenarios, ids) = parquet.read_coded(name, raw, columns)
    if scenario_ids is not None:
        mask = np.array([id in scenario_ids for id in ids], bool)[scenarios]
        agents, verdicts = agents[mask], verdicts[mask]
    pairs = np.bincount(agents * len(kinds) + verdicts, minlength=len(names) * len(kinds))
    rows = zip(names, pairs.reshape(len(names), len(kinds)).tolist(), strict=True)
    return {agent: dict(zip(kinds, row, strict=True)) for agent, row in sorted(rows) if any(row)}


def read_verdicts(
    name: str, raw: bytes, continuations: Collection[str]
) -> dict[str, tuple[str, int | None]]:
    """Return the verdict and the step of those continuations that the table contains."""
    names = ("continuation", "verdict", "step")
    table = _decode(name, raw, names)
    ids = pa.array(sorted(continuations), pa.string())
    rows = table.filter(pc.is_in(table["continuation"], value_set=ids))
    columns = (rows[column].to_pylist() for column in names)
    return {id: (verdict, step) for id, verdict, step in zip(*columns, strict=True)}


def check_table(store: KeyValueStore, name: str, index: Index, suite: Suite) -> None:
    """Check that a table follows from the labels that it was made from.

    Raises:
      DamagedData: it does not, or a part of its label set is missing.
    """
    raw = store.get(name)
    source, stored = read_source(name, raw), _decode(name, raw)
    rows = {id.tobytes().hex(): row for row, id in enumerate(index.ids)}
    try:
        positions = np.array([rows[id] for id in stored["continuation"].to_pylist()], np.intp)
        labels = read_labels(store, source.set, index, positions)
    except (KeyError, FileNotFoundError) as error:
        raise DamagedData(f"{name}: the labels it was made from are missing: {error}") from None
    scenarios = {s.hash: s for s in suite.scenarios}
    expected = encode_table(name, index, positions, labels, scenarios, source)
    if not _decode(name, expected).equals(stored):
        raise DamagedData(f"{name}: it does not match its labels; run sts label again")


def _decode(name: str, raw: bytes, columns: Collection[str] = tuple(SCHEMA)) -> pa.Table:
    schema = {column: SCHEMA[column] for column in columns}
    return parquet.decode_table(
        name, raw, FORMAT, VERSION, schema, max_rows=MAX_ROWS, optional=("step",)
    )


def encode_table(
    name: str,
    index: Index,
    rows: NDArray[np.intp],
    labels: pa.Table,
    scenarios: Mapping[str, Scenario],
    source: TableSource,
) -> bytes:
    """Return the bytes of a table of the continuations in `rows` of the index, at least one.

    `labels` has a row for each of `rows`; `scenarios` are the suite's, by hash.

    Raises:
      StsError: there are more rows than may be read.
    """
    table = index.table.take(arrow.from_numpy(rows))
    keys = {n: table[n].cast(pa.string()) for n in ("agent", "fingerprint", "scenario")}
    keys |= {n: table[n] for n in ("seed", "index")}
    order = pc.sort_indices(pa.table(keys), sort_keys=[(n, "ascending") for n in keys])
    table, labels = table.take(order), labels.take(order)
    agents, codes = _distinct_agents(table)
    names, notes = agent_names(agents), _notes_by_agent(codes, labels["notes"])
    coded = table["scenario"].combine_chunks()
    scenario_of_code = [scenarios.get(hash) for hash in coded.dictionary.to_pylist()]
    scenario_codes = arrow.to_numpy(coded.indices)

    def scenario_column(attribute: str) -> pa.Array:
        values = [getattr(s, attribute) if s else "" for s in scenario_of_code]
        return arrow.encode_dictionary(scenario_codes, values).cast(pa.string())

    verdict = labels["verdict"]
    has_rule = np.sign(arrow.to_numpy(pc.binary_length(verdict).combine_chunks()))
    steps = arrow.to_numpy(labels["step"].combine_chunks())
    horizons = np.array([s.horizon if s else 0 for s in scenario_of_code], np.int64)
    joined_notes = ["; ".join(sorted(texts)) for texts in notes]
    columns = {
        "agent": arrow.encode_dictionary(codes, [names[agent] for agent in agents]).cast(
            pa.string()
        ),
        "scenario": scenario_column("id"),
        "category": scenario_column("category"),
        "continuation": arrow.to_hex_texts(arrow.to_numpy(table["id"].combine_chunks())),
        "annotator": arrow.encode_dictionary(has_rule, ["", AUTOMATIC]).cast(pa.string()),
        "verdict": verdict,
        "step": arrow.from_numpy(steps.astype(np.int64), steps > 0),
        "horizon": arrow.from_numpy(horizons[scenario_codes]),
        "kind": scenario_column("kind"),
        "trajectory": scenario_column("trajectory"),
        "source": arrow.encode_dictionary(np.zeros(len(rows), np.int32), [AUTOMATIC]).cast(
            pa.string()
        ),
        "sees": table["sees"].cast(pa.string()),
        "notes": arrow.encode_dictionary(codes, joined_notes).cast(pa.string()),
    }
    metadata = {_SOURCE_KEY: canonical_json(source._asdict()).decode()}
    return parquet.encode_table(
        name, FORMAT, VERSION, SCHEMA, columns, max_rows=MAX_ROWS, metadata=metadata
    )


def _distinct_agents(table: pa.Table) -> tuple[list[tuple[str, str]], NDArray[np.intp]]:
    """Return the distinct (agent, fingerprint) pairs, and each row's index into them."""
    names, fingerprints = (table[name].combine_chunks() for name in ("agent", "fingerprint"))
    pairs = arrow.to_numpy(names.indices).astype(np.int64) * len(fingerprints.dictionary)
    distinct, codes = np.unique(pairs + arrow.to_numpy(fingerprints.indices), return_inverse=True)
    words = names.dictionary.to_pylist(), fingerprints.dictionary.to_pylist()
    splits = (divmod(code, len(words[1])) for code in distinct.tolist())
    return [(words[0][name], words[1][fingerprint]) for name, fingerprint in splits], codes


def _notes_by_agent(codes: NDArray[np.intp], notes: pa.ChunkedArray) -> list[set[str]]:
    """Return the distinct notes on each agent's continuations."""
    by_agent: list[set[str]] = [set() for _ in range(int(codes.max()) + 1)]
    coded = notes.combine_chunks().dictionary_encode()
    texts = coded.dictionary.to_pylist()
    for pair in np.unique(codes * len(texts) + arrow.to_numpy(coded.indices)).tolist():
        agent, text = divmod(pair, len(texts))
        by_agent[agent].update(parse_notes(texts[text]))
    return by_agent


def agent_names(agents: Iterable[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the name that reports show for each (agent, fingerprint).

    It is the agent's name, or NAME#12345678 with the fingerprint's first digits if the name has
    several. People have a fingerprint each and are shown as one agent.
    """
    by_name: dict[str, set[str]] = defaultdict(set)
    for name, fingerprint in agents:
        by_name[name].add(fingerprint)
    return {
        (name, own): name if len(fingerprints) == 1 or name == HUMAN else f"{name}#{own[:8]}"
        for name, fingerprints in by_name.items()
        for own in fingerprints
    }
