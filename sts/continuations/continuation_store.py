"""The continuations of a workspace: written as parts, found by the index, read part by part.

Functions that read raise `DamagedData` if a part is damaged or two of them disagree on one
continuation, and `NewerFormat` if a later version wrote one.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sts.continuations import labels, parts
from sts.continuations.continuation import Continuation, Identity
from sts.continuations.index import LOOK_UP, NAME, Entry, Index, StaleIndex, open_index
from sts.errors import UnknownName
from sts.storage import parquet
from sts.storage.workspace import Workspace

_ORDER = ("agent", "fingerprint", "scenario", "seed", "index")
T = TypeVar("T", Continuation, Entry)
R = TypeVar("R")
Rows = Callable[[Index], NDArray[np.intp]]
"""A function that selects rows of an index."""

_MAX_SUGGESTIONS = 5
"""Number of similar ids that an error message suggests."""


def use_index(workspace: Workspace, work: Callable[[Index], R]) -> R:
    """Return `work(index)`; if the index turns out to be stale, rebuild it and try again."""
    try:
        return work(open_index(workspace.store))
    except StaleIndex:
        return work(open_index(workspace.store, rebuild=True))


def save(workspace: Workspace, continuations: Sequence[Continuation]) -> list[Continuation]:
    """Save continuations as a part named by their ids, and return what that part holds.

    If these ids are stored already, as when a person submits a play twice, the stored ones stay.
    """
    name, space = parts.compute_part_name([c.id for c in continuations]), workspace.create().store
    space.put_new(name, parts.encode_part(name, continuations), lambda stored, new: True)
    return parts.decode_part(name, space.get(name))


def erase(workspace: Workspace, scenarios: Collection[str]) -> None:
    """Erase continuations of scenarios, by content hash, their labels, and candidates' profiles."""
    space, column = workspace.store, {"scenario": parts.SCHEMA["scenario"]}
    profiles = [n for n in space.list("drafts") if "/profiles/" in n and n.endswith(".parquet")]
    for name in [*parts.list_parts(space), *profiles]:
        table = parquet.decode_table(
            name, raw := space.get(name), parts.FORMAT, parts.VERSION, column
        )
        if {*scenarios}.isdisjoint(table["scenario"].to_pylist()):
            continue
        stored = parts.decode_part(name, raw)
        kept = [c for c in stored if c.scenario_hash not in scenarios]
        hashes = {bytes.fromhex(c.content_hash) for c in stored if c.scenario_hash in scenarios}
        for file in workspace.path(labels.FOLDER).glob(f"*/{name.partition('/')[2]}"):
            labelled = labels.read_part(space, file.relative_to(workspace.root).as_posix())
            if not hashes.isdisjoint(labelled["content_hash"].to_pylist()):
                file.unlink()
        if kept:
            space.replace(name, parts.encode_part(name, kept))
        else:
            workspace.path(name).unlink()
            workspace.path(name).with_suffix(".json").unlink(missing_ok=True)
    workspace.path(NAME).unlink(missing_ok=True)


def is_saved(workspace: Workspace, identity: Identity) -> bool:
    """Return True if `save` has stored a continuation of this identity by itself."""
    name = parts.compute_part_name([identity.id])
    return name in workspace.store.list(name.rpartition("/")[0])


def iter_entries(
    workspace: Workspace, scenarios: Collection[str], index: Index | None = None
) -> Iterator[Entry]:
    """Yield the index entries of all continuations of scenarios, by content hash; opens no part."""
    index = index or open_index(workspace.store)
    return index.iter_entries(index.find_rows(scenarios))


def stream(workspace: Workspace, scenarios: Collection[str]) -> Iterator[list[Continuation]]:
    """Yield the continuations of the scenarios with these content hashes, a part at a time."""
    return _stream_rows(workspace, lambda index: index.find_rows(scenarios))


def load_by_ids(workspace: Workspace, ids: Collection[str]) -> Iterator[list[Continuation]]:
    """Yield the stored continuations with these ids, a part at a time."""
    return _stream_rows(workspace, lambda index: index.rows_with_values("id", {*ids}))


def read_part(workspace: Workspace, name: str, **some: Any) -> list[Continuation]:
    """Return the continuations in the part of this name, or `some`, as `parts.decode_part` does."""
    try:
        raw = workspace.store.get(name)
    except FileNotFoundError:
        raise StaleIndex(f"{name} was removed while it was being read; start again") from None
    return parts.decode_part(name, raw, **some)


def load(workspace: Workspace, scenarios: Collection[str]) -> list[Continuation]:
    """Return every continuation of the scenarios with these content hashes.

    They are sorted by agent, fingerprint, scenario, seed and index.
    """
    return sort_continuations([c for part in stream(workspace, scenarios) for c in part])


def sort_continuations(continuations: Sequence[T]) -> list[T]:
    """Sort continuations or entries by agent, fingerprint, scenario, seed and index."""
    return sorted(continuations, key=lambda c: tuple(getattr(c.identity, n) for n in _ORDER))


def find_continuation(workspace: Workspace, id: str, index: Index | None = None) -> Continuation:
    """Return the continuation whose id begins with `id`, its first 4 digits or more.

    Raises:
      UnknownName: there is none, or more than one.
    """
    index = index or open_index(workspace.store, columns=LOOK_UP)
    hits = index.rows_with_prefix(id)
    if len(hits) == 1:
        read = _stream_rows(workspace, lambda index: index.rows_with_prefix(id), index)
        matches = [c for part in read for c in part]
        if len(matches) == 1:
            return matches[0]
    similar = hits if len(hits) else np.arange(len(index.ids))
    suggestions = index.hex_digits("id", similar[:_MAX_SUGGESTIONS])
    raise UnknownName("continuation", id, suggestions, total=len(similar))


def _stream_rows(
    workspace: Workspace, choose: Rows, index: Index | None = None
) -> Iterator[list[Continuation]]:
    """Yield the continuations in the rows that `choose` selects; rebuild a stale index."""
    yielded_ids: set[str] = set()
    for rebuild in (False, True):
        if rebuild or index is None:
            index = open_index(workspace.store, rebuild=rebuild)
        try:
            for name, groups, hashes in index.locate_rows(choose(index)):
                if hashes := {id: hash for id, hash in hashes.items() if id not in yielded_ids}:
                    continuations = read_part(workspace, name, groups=groups, wanted=hashes)
                    if {c.id: c.content_hash for c in continuations} != hashes:
                        raise StaleIndex(
                            f"{name}: expected row groups of {parts.ROWS_PER_GROUP} rows, "
                            "found others"
                        )
                    yield continuations
                    yielded_ids |= hashes.keys()
            return
        except StaleIndex:
            if rebuild:
                raise
