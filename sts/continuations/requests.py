"""Requests: how many continuations of each scenario `sts run` was asked for, by agent and seed.

They tell what is missing after a run in which an agent failed. A later run of the same agent
replaces the numbers of the scenarios that it names.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from sts.continuations.index import Index
from sts.errors import DamagedData
from sts.storage.files import canonical_json, content_hash
from sts.storage.store import KeyValueStore

FOLDER = "continuations/requests"


class Request(msgspec.Struct, frozen=True):
    """A number of continuations, by scenario, that an agent was asked for with a seed."""

    format: Literal["run-request/1"]  # of the file
    agent: str  # its name
    fingerprint: str  # of the agent
    seed: int  # of the run
    counts: dict[str, int]  # by the content hash of each scenario


def record_request(
    store: KeyValueStore, agent: str, fingerprint: str, seed: int, counts: Mapping[str, int]
) -> None:
    """Record how many continuations were asked for, by the content hash of each scenario."""
    name = f"{FOLDER}/{content_hash(canonical_json([agent, fingerprint, seed]))[:24]}.json"
    known = read_request(store, name).counts if name in store.list(FOLDER) else {}
    if not known.items() >= counts.items():
        request = Request("run-request/1", agent, fingerprint, seed, {**known, **counts})
        store.replace(name, canonical_json(msgspec.to_builtins(request)))


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
    missing: dict[tuple[str, str], Counter[str]] = {}
    for name in store.list(FOLDER):
        request = read_request(store, name)
        requested = {hash: n for hash, n in request.counts.items() if hash in scenarios}
        agent, largest = (request.agent, request.fingerprint), max(requested.values(), default=0)
        lacking = index.missing_indices(*agent, request.seed, largest)
        scenario_counts = missing.setdefault(agent, Counter())
        for scenario, count in requested.items():
            indices, _ = lacking.get(scenario, (range(count), False))
            scenario_counts[scenario] += sum(i < count for i in indices)
    return missing


def read_request(store: KeyValueStore, name: str) -> Request:
    """Read a request by its name; raise DamagedData if it is not one."""
    try:
        return msgspec.json.decode(store.get(name), type=Request)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise DamagedData(
            f"{name}: expected a request of sts run: {error}; remove it and run again"
        ) from None
