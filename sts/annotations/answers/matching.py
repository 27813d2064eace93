"""Lookup of the continuations that the lines of a ratings table refer to."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from sts.annotations.answers.imports import Rating, annotator_names
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.people import people
from sts.annotations.queue import queue
from sts.annotations.queue.items import find_players, make_item
from sts.annotations.queue.rounds import RoundOrder
from sts.annotations.records import Item
from sts.continuations import continuation_store as continuations
from sts.errors import DamagedData, ErasedSuite, MissingExtra
from sts.names import quote
from sts.storage.workspace import Workspace
from sts.suites import folders
from sts.suites import suite_store as suites


def match_to_continuations(
    workspace: Workspace, store: AnnotationStore, ratings: Sequence[Rating]
) -> tuple[list[Rating], list[Item]]:
    """Return the ratings with their continuations' identities, and the items to enqueue for them.

    A line may give its continuation's identity or index, or neither if its agent and scenario have
    only one continuation.

    Raises:
      DamagedData: a line matches no continuation, or several; the message has the line.
    """
    with store.read() as connection:
        enqueued = queue.find_enqueued(connection, {rating.continuation for rating in ratings})
        names = [person.pseudonym for person in people.list_people(connection)]
    if all(rating.continuation in enqueued for rating in ratings):
        return list(ratings), []
    candidates = iter_candidates(workspace, {*names, *annotator_names(ratings)}, store.study.seed)
    return match_ratings(ratings, enqueued, candidates)


def iter_candidates(
    workspace: Workspace, names: Collection[str], seed: int
) -> Iterable[tuple[Item, int]]:
    """Yield every continuation and its index, once for each suite that contains its scenario.

    Suites that cannot be read here are skipped. `names` are possible players; `seed` is the
    study's.
    """
    for versions in folders.list_versions(workspace).values():
        for folder in versions.values():
            try:
                suite = suites.read(folder)
            except (ErasedSuite, MissingExtra):
                continue
            order = RoundOrder({s.hash: s.category for s in suite.scenarios}, seed)
            for entry in continuations.iter_entries(workspace, {s.hash for s in suite.scenarios}):
                yield (
                    make_item(entry, suite.label, find_players(entry, names), order=order),
                    entry.identity.index,
                )


def match_ratings(
    ratings: Sequence[Rating], enqueued: Collection[str], candidates: Iterable[tuple[Item, int]]
) -> tuple[list[Rating], list[Item]]:
    """Match each line to a continuation that is enqueued or in the workspace."""
    by_id: dict[str, list[Item]] = defaultdict(list)
    indices: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for item, index in candidates:
        by_id[item.continuation].append(item)
        indices[item.agent, item.scenario][item.continuation] = index
    out, additions = [], {}
    for rating in ratings:
        identity = rating.continuation
        if identity not in by_id and identity not in enqueued:
            identity = _match_by_index(rating, indices.get((rating.agent, rating.scenario), {}))
        additions[identity] = by_id.get(identity, [])
        out.append(rating._replace(continuation=identity))
    return out, [item for group in additions.values() for item in group]


def _match_by_index(rating: Rating, indices: Mapping[str, int]) -> str:
    name = rating.continuation
    matches = [identity for identity, index in indices.items() if name in ("", str(index))]
    if len(matches) == 1:
        return matches[0]
    target = f"continuation {quote(name)}" if name else "one continuation"
    source = f"of agent {quote(rating.agent)} in scenario {quote(rating.scenario)}"
    if not matches:
        raise DamagedData(
            f"{rating.location}: {target} {source} is not in this workspace; run it first: sts run"
        )
    raise DamagedData(
        f"{rating.location}: expected {target} {source}, found {len(matches)}; give its identity, "
        f"such as {matches[0]}"
    )
