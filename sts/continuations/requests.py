"""Requests: how many continuations of each scenario `sts run` was asked for, by agent and seed.

They tell what is missing after a run in which an agent failed. A later run of the same agent
replaces the numbers of the scenarios that it names.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from sts.continuations.index import Index
from sts.errors import DamagedData
from sts.storage.files import canonical_json, content_hash, parse_versioned_json
from sts.storage.store import KeyValueStore

FORMAT = "run-request/1"
FOLDER = "continuations/requests"


def record_request(
    store: KeyValueStore, agent: str, fingerprint: str, seed: int, counts: Mapping[str, int]
) -> None:
    """Record how many continuations were asked for, by the content hash of each scenario."""
    name = f"{FOLDER}/{content_hash(canonical_json([agent, fingerprint, seed]))[:24]}.json"
    known = _read_counts(store, name) if name in store.list(FOLDER) else {}
    if known.items() >= counts.items():
        return
    store.replace(
        name,
        canonical_json(
            {
                "format": FORMAT,
                "agent": agent,
                "fingerprint": fingerprint,
                "seed": seed,
                "counts": {**known, **counts},
            }
        ),
    )


def count_missing(
    store: KeyValueStore, index: Index, scenarios: Collection[str]
) -> dict[tuple[str, str], Counter[str]]:
    """Count continuations that were asked for and are not stored.

    Args:
      store: of the continuations.
      index: of them.
      scenarios: content hashes of those that count.

    Returns:
      The numbers by the name and fingerprint of each agent, and by scenario.

    Raises:
      DamagedData: a request is damaged; remove the file and run the agent again.
    """
    found: dict[tuple[str, str], Counter[str]] = {}
    for name in store.list(FOLDER):
        request = read_request(store, name)
        asked = {hash: n for hash, n in _read_counts(store, name).items() if hash in scenarios}
        agent, mark = str(request["agent"]), str(request["fingerprint"])
        most = max(asked.values(), default=0)
        lacking = index.missing_indices(agent, mark, int(request["seed"]), most)
        own = found.setdefault((agent, mark), Counter())
        for scenario, count in asked.items():
            indices, _ = lacking.get(scenario, (range(count), False))
            own[scenario] += sum(i < count for i in indices)
    return found


def _read_counts(store: KeyValueStore, name: str) -> dict[str, int]:
    return dict(read_request(store, name)["counts"])


def read_request(store: KeyValueStore, name: str) -> dict[str, Any]:
    """Read a request by its name; raise DamagedData if it is not one."""
    try:
        request = parse_versioned_json(store.get(name).decode(), dict)
        counts = request["counts"].values()
        if request["format"] == FORMAT and all(type(count) is int for count in counts):
            return dict(request)
    except (ValueError, KeyError, AttributeError):
        pass
    raise DamagedData(f"{name}: expected a request of format {FORMAT}; remove it and run again")
