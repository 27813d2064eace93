"""The continuations of a workspace: kept as parts, found by the index, read part by part.

Whatever reads raises `DamagedData` where a part is damaged or two of them disagree on one
continuation, and `NewerFormat` where a later version wrote one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sts.continuations import index as indices
from sts.continuations import parts
from sts.continuations.index import Entry, Index, Lie
from sts.continuations.types import Continuation, Identity
from sts.errors import UnknownName
from sts.storage.workspace import Workspace

_ORDER = ("agent", "fingerprint", "scenario", "seed", "index")
T = TypeVar("T", Continuation, Entry)
R = TypeVar("R")
Rows = Callable[[Index], NDArray[np.intp]]
"""What chooses rows of an index."""

_NAMED = 5
"""Continuations that a line names of those that may be meant."""


def opened(workspace: Workspace, *, anew: bool = False) -> Index:
    """Return the index of all that is kept; `anew` makes it from the parts in any case."""
    return indices.opened(workspace.store, anew=anew)


def by_index(workspace: Workspace, work: Callable[[Index], R]) -> R:
    """Return what `work` makes of the index; where that lies, of one that is made anew."""
    try:
        return work(opened(workspace))
    except Lie:
        return work(opened(workspace, anew=True))


def save(workspace: Workspace, continuations: Sequence[Continuation]) -> list[Continuation]:
    """Keep continuations as a part that is named by who they are, and return what it holds.

    Where the same are kept so already, as where a person sends what they played twice, those stay.
    """
    name, space = parts.given([one.id for one in continuations]), workspace.ensure().store
    space.put_new(name, parts.packed(name, continuations), lambda there, new: True)
    return parts.unpacked(name, space.get(name))


def saved(workspace: Workspace, identity: Identity) -> bool:
    """Whether `save` has kept one continuation of this identity by itself."""
    name = parts.given([identity.id])
    return name in workspace.store.list(name.rpartition("/")[0])


def entries(
    workspace: Workspace, scenarios: Collection[str], index: Index | None = None
) -> Iterator[Entry]:
    """Yield what the index says of every continuation of scenarios, given by content hash.

    No part is opened for it.
    """
    index = index or opened(workspace)
    return index.entries(index.of(scenarios))


def stream(workspace: Workspace, scenarios: Collection[str]) -> Iterator[list[Continuation]]:
    """Yield the continuations of the scenarios with these content hashes, a part at a time."""
    return _read(workspace, lambda index: index.of(scenarios))


def among(workspace: Workspace, ids: Collection[str]) -> Iterator[list[Continuation]]:
    """Yield the continuations of these ids that are kept, a part at a time."""
    return _read(workspace, lambda index: index.among("id", {*ids}))


def in_part(workspace: Workspace, name: str, **some: Any) -> list[Continuation]:
    """Return the continuations in the part of this name, or `some` as `parts.unpacked` does."""
    try:
        raw = workspace.store.get(name)
    except FileNotFoundError:
        raise Lie(f"{name}: it was taken away while it was read; start again") from None
    return parts.unpacked(name, raw, **some)


def load(workspace: Workspace, scenarios: Collection[str]) -> list[Continuation]:
    """Return every continuation of the scenarios with these content hashes.

    In order of agent, fingerprint, scenario, seed and index.
    """
    return ordered([one for part in stream(workspace, scenarios) for one in part])


def ordered(continuations: Sequence[T]) -> list[T]:
    """Return them in order of agent, fingerprint, scenario, seed and index."""
    return sorted(continuations, key=lambda c: tuple(getattr(c.identity, n) for n in _ORDER))


def find(workspace: Workspace, id: str, index: Index | None = None) -> Continuation:
    """Return the continuation whose id begins with `id`, its first 4 digits or more.

    Raises:
      UnknownName: there is none, or more than one.
    """
    index = index or opened(workspace)
    hits = index.beginning(id)
    if len(hits) == 1:
        read = _read(workspace, lambda one: one.beginning(id), index)
        found = [one for part in read for one in part]
        if len(found) == 1:
            return found[0]
    like = hits if len(hits) else np.arange(len(index.ids))
    known = [one.id for one in index.entries(like[:_NAMED])]
    raise UnknownName("continuation", id, known, total=len(like))


def _read(
    workspace: Workspace, choose: Rows, index: Index | None = None
) -> Iterator[list[Continuation]]:
    """Yield the continuations in the rows that `choose` does; makes an index anew that lies."""
    seen: set[str] = set()
    for anew in (False, True):
        if anew or index is None:
            index = opened(workspace, anew=anew)
        try:
            for name, groups, hashes in index.places(choose(index)):
                if hashes := {id: told for id, told in hashes.items() if id not in seen}:
                    found = in_part(workspace, name, groups=groups, wanted=hashes)
                    if {one.id: one.content_hash for one in found} != hashes:
                        raise Lie(
                            f"{name}: expected row groups of {parts.GROUP} rows, found others"
                        )
                    yield found
                    seen |= hashes.keys()
            return
        except Lie:
            if anew:
                raise
