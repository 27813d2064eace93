"""The continuations of a study, read from frozen suites and immutable files.

A continuation's agent and scenario are never taken from the annotation database.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.continuations.index import Entry, Index
from sts.continuations.silence import find_silent
from sts.continuations.store import open_saved_index
from sts.storage.chains import Link
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import frozen


class StudyContinuations(NamedTuple):
    """Continuations that show the requested clips."""

    entries: tuple[Entry, ...]  # in the order of the index
    # ids of the entries that belong to the requested suite; of all entries without a suite
    members: frozenset[str]
    suite_hash: str | None  # of the requested suite, or None
    continuations: Link  # number and digest of the continuations of the suite, or of all
    silent: frozenset[str]  # ids of the entries that ask a question and in which no player speaks


def read_continuations(
    workspace: Workspace, suite: str | None, clips: Collection[str], *, auto_resolve: bool = False
) -> StudyContinuations:
    """Load the continuations that show clips, given by hash, and find those that belong to a suite.

    A part of a suite counts as the whole. With `auto_resolve`, the silent ones are found as well.
    """
    index = open_saved_index(workspace)
    rows, suite_hash = np.arange(len(index.ids)), None
    if suite is not None:
        loaded = frozen.load(workspace, suite.partition("+")[0])
        rows, suite_hash = (
            index.find_rows({scenario.hash for scenario in loaded.scenarios}),
            loaded.hash,
        )
    clip_rows = index.rows_with_values("clip", clips)
    inside = clip_rows[np.isin(clip_rows, rows)]
    quiet = find_silent(workspace.store, index, inside) if auto_resolve else set()
    return StudyContinuations(
        tuple(index.iter_entries(clip_rows)),
        frozenset(entry.id for entry in index.iter_entries(inside)),
        suite_hash,
        _digest_continuations(index, rows),
        frozenset(quiet),
    )


def _digest_continuations(index: Index, rows: NDArray[np.intp]) -> Link:
    """Return the number of continuations and an order-independent digest of them."""
    contents = np.concatenate((index.ids[rows], index.read_numbers("content_hash")[rows]), axis=1)
    return Link(len(rows), content_hash(*sorted(row.tobytes() for row in contents)))
