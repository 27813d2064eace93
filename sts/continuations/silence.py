"""Silent continuations, in which no evaluated player says anything after the takeover."""

import numpy as np
from numpy.typing import NDArray

from sts.continuations import parts
from sts.continuations.continuation import Continuation
from sts.continuations.index import Index
from sts.episodes.columns import EPISODE_SCHEMA
from sts.storage import arrow, parquet
from sts.storage.store import KeyValueStore

QUESTION = "question"
_COLUMNS = {name: parts.SCHEMA[name] for name in ("id", "kind", "takeover", "roles")} | {
    name: EPISODE_SCHEMA[name] for name in ("participants", "says", "texts")
}


def is_silent(continuation: Continuation) -> bool:
    """Return True if no evaluated player says anything after the takeover."""
    players = list(continuation.players)
    spoken = continuation.episode.utterances[continuation.takeover :, players]
    return not spoken.astype(bool).any()


def find_silent(store: KeyValueStore, index: Index, rows: NDArray[np.intp]) -> set[str]:
    """Return the ids of silent continuations of questions in `rows` of the index.

    Of their parts only the utterances are read, a part at a time.
    """
    questions = rows[index.mask_where("kind", (QUESTION,))[rows]]
    silent_ids: set[str] = set()
    for name, groups, hashes in index.locate_rows(questions):
        table = parquet.decode_table(
            name, store.get(name), parts.FORMAT, parts.VERSION, _COLUMNS, groups=groups
        )
        ids, takeover, players, people, texts = (
            table.column(column).to_pylist()
            for column in ("id", "takeover", "roles", "participants", "texts")
        )
        for i, tokens in enumerate(arrow.split_list_column(table, "says")):
            if ids[i] in hashes:
                spoken = tokens if len(tokens) else np.array([bool(text) for text in texts[i]])
                after = spoken.reshape(-1, people[i])[takeover[i] :, players[i]]
                if not after.any():
                    silent_ids.add(ids[i])
    return silent_ids
