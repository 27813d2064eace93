"""Which continuations are silent: who is evaluated says nothing after the takeover."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sts.continuations import parts
from sts.continuations.index import Index
from sts.continuations.types import Continuation
from sts.episodes.columns import EPISODE
from sts.storage import arrow, parquet
from sts.storage.store import Store

QUESTION = "question"
_COLUMNS = {name: parts.SCHEMA[name] for name in ("id", "kind", "takeover", "roles")} | {
    name: EPISODE[name] for name in ("participants", "says", "texts")
}


def is_silent(one: Continuation) -> bool:
    """Whether nobody who is evaluated says anything after the takeover."""
    return not one.episode.says[one.takeover :, list(one.roles)].astype(bool).any()


def silent(store: Store, index: Index, rows: NDArray[np.intp]) -> set[str]:
    """Return the ids of the continuations that ask a question and are silent.

    Of their parts no more is read than what was said, a part at a time.
    """
    asked = rows[index.having("kind", (QUESTION,))[rows]]
    found: set[str] = set()
    for name, groups, hashes in index.places(asked):
        table = parquet.unpacked(
            name, store.get(name), parts.FORMAT, parts.VERSION, _COLUMNS, groups=groups
        )
        ids, takeover, roles, people, texts = (
            table.column(column).to_pylist()
            for column in ("id", "takeover", "roles", "participants", "texts")
        )
        for i, tokens in enumerate(arrow.unlist(table, "says")):
            if ids[i] in hashes:
                said = tokens if len(tokens) else np.array([bool(one) for one in texts[i]])
                after = said.reshape(-1, people[i])[takeover[i] :, roles[i]]
                if not after.any():
                    found.add(ids[i])
    return found
