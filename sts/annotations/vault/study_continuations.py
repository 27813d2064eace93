"""The continuations of a study, read from frozen suites and immutable files.

A continuation's agent and scenario are never taken from the annotation database.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sts.annotations.queue.rounds import RoundOrder, read_cells
from sts.annotations.study import DEFAULT_STUDY, StudySettings
from sts.continuations.index import Index, open_index
from sts.continuations.silence import find_silent
from sts.storage.chains import Link
from sts.storage.files import content_hash
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.folders import list_versions, read_erased

if TYPE_CHECKING:
    import pandas as pd

_WORDS = ("agent", "scenario", "scenario_id", "category", "kind", "sees")


class StudyContinuations(NamedTuple):
    """Continuations that show the requested clips."""

    # A row each, in the order of the index: `id` and `clip` in hexadecimal digits; the index's
    # agent, scenario (a hash), scenario_id, category, kind and sees as categories; horizon;
    # `member`, True in the requested suite, or if none is; `silent`, True for a question after
    # which no player speaks; `place`, in the order in which the suite's cells are judged, -1 for
    # other continuations.
    table: pd.DataFrame
    suite_hash: str | None  # of the requested suite, or None
    continuations: Link  # number and digest of the continuations of the suite, or of all
    # the trajectory of each scenario of the requested suite, by hash; without one, of all suites
    trajectories: Mapping[str, str]


def read_continuations(
    workspace: Workspace,
    suite: str | None,
    clips: Collection[str] | None,
    study: StudySettings = DEFAULT_STUDY,
) -> StudyContinuations:
    """Load the continuations that show clips, given by hash, and find those that belong to a suite.

    Without clips, load all continuations of the suite. A part of a suite counts as the whole. If
    the study auto-resolves silent ones, they are found as well.
    """
    index = open_index(workspace.store)
    rows, suite_hash, order = np.arange(len(index.ids)), None, None
    if suite is None:
        trajectories = _load_trajectories(workspace) if clips else {}
    else:
        loaded = frozen.load(workspace, suite.partition("+")[0])
        trajectories = {scenario.hash: scenario.trajectory for scenario in loaded.scenarios}
        rows, suite_hash = index.find_rows(trajectories), loaded.hash
        order = RoundOrder({s.hash: s.category for s in loaded.scenarios}, study.seed)
    clip_rows = rows if clips is None else index.rows_with_values("clip", clips)
    is_member = np.isin(clip_rows, rows)
    own = clip_rows[is_member]
    silent_ids = find_silent(workspace.store, index, own) if study.auto_resolve else ()
    table = _build_table(index, clip_rows, is_member, silent_ids)
    if order is not None:
        table.loc[is_member, "place"] = order.find_places(read_cells(index, own))
    return StudyContinuations(
        table,
        suite_hash,
        _digest_continuations(index, rows),
        trajectories,
    )


def _build_table(
    index: Index, rows: NDArray[np.intp], is_member: NDArray[np.bool_], silent_ids: Collection[str]
) -> pd.DataFrame:
    import pandas as pd  # slow to import

    ids = index.hex_digits("id", rows)
    words = {
        name: pd.Categorical.from_codes(
            index.read_codes(name)[rows], pd.Index(index.read_values(name), dtype="str")
        )
        for name in _WORDS
    }
    return pd.DataFrame(
        {
            "id": pd.Series(ids, dtype="str"),
            "clip": pd.Series(index.hex_digits("clip", rows), dtype="str"),
            **words,
            "horizon": index.read_numbers("horizon")[rows],
            "member": is_member,
            "silent": [id in silent_ids for id in ids] if silent_ids else False,
            "place": np.full(len(ids), -1),
        }
    )


def _load_trajectories(workspace: Workspace) -> dict[str, str]:
    """Return the trajectory of each scenario of every suite, by hash; the last suite counts."""
    folders = sorted(f for versions in list_versions(workspace).values() for f in versions.values())
    whole = [folder for folder in folders if not read_erased(folder)["scenarios"]]
    return {s.hash: s.trajectory for folder in whole for s in frozen.read(folder).scenarios}


def _digest_continuations(index: Index, rows: NDArray[np.intp]) -> Link:
    """Return the number of continuations and an order-independent digest of them."""
    contents = np.concatenate((index.ids[rows], index.read_numbers("content_hash")[rows]), axis=1)
    texts = np.ascontiguousarray(contents).view(f"S{contents.shape[1]}")  # to sort them as bytes
    return Link(len(rows), content_hash(np.sort(texts, axis=0).tobytes()))
