"""Digests of the inputs of a table or report, and comparison with the current workspace."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sts.annotations import history, played
from sts.annotations.history import History
from sts.annotations.played import StudyContinuations
from sts.annotations.store import Store
from sts.continuations import label_table
from sts.errors import DamagedData
from sts.storage.chains import Link
from sts.storage.files import (
    canonical_json,
    content_hash,
    parsed_json,
    regular_bytes,
    write_atomically,
)
from sts.storage.workspace import Workspace

DIGESTS_KEY = "digests"
"""The key of digests in a report and in the file next to an exported table."""
_MAX_BYTES = 2**30
_LINKS = ("continuations", "references")


class Digests(NamedTuple):
    """Digests of the inputs of a table or a report.

    Attributes:
      suite: NAME@VERSION, or None for all suites.
      suite_hash: the content hash of the suite.
      continuations: the number of the suite's continuations, and the digest of their contents.
      authors: the number and the digest of everyone's last event, by pseudonym.
      references: the number and the digest of the last reference.
      labels: the digest of the table of automatic labels; None if it was not used.
      scores: the digest of the tables of scores; None if they were not used.
    """

    suite: str | None
    suite_hash: str | None
    continuations: Link
    authors: Mapping[str, Link]
    references: Link
    labels: str | None = None
    scores: str | None = None


def compute_digests(suite: str | None, found: History, there: StudyContinuations) -> Digests:
    """Compute the digests of the events in the database and of the continuations."""
    authors = {one.pseudonym: one.end for one in found.authors.values()}
    return Digests(suite, there.suite_hash, there.continuations, authors, found.reference_tip)


def with_files(workspace: Workspace, own: Digests) -> Digests:
    """Add the digests of the workspace's automatic labels and scores."""
    return own._replace(
        labels=_digest_labels(workspace, own.suite), scores=_digest_scores(workspace)
    )


def write(file: Path, own: Digests) -> None:
    """Write digests to a JSON file."""
    links = {name: getattr(own, name)._asdict() for name in _LINKS}
    ends = {name: one._asdict() for name, one in own.authors.items()}
    value = own._asdict() | links | {"authors": ends}
    write_atomically(file, canonical_json({DIGESTS_KEY: value}) + b"\n")


def read(file: Path) -> Digests:
    """Read the digests in a report or in the file next to an exported table."""
    try:
        own = parsed_json(regular_bytes(file, _MAX_BYTES).decode(), dict)[DIGESTS_KEY]
        ends = {name: _parse_link(one) for name, one in own["authors"].items()}
        continuations, references = (_parse_link(own[name]) for name in _LINKS)
        texts = {name: own[name] for name in ("suite", "suite_hash", "labels", "scores")}
        if not all(one is None or isinstance(one, str) for one in texts.values()):
            raise ValueError("expected texts")
        return Digests(authors=ends, continuations=continuations, references=references, **texts)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedData(
            f"{file}: expected a report of a workspace, or the file next to an exported table"
        ) from None


def _parse_link(value: Mapping[str, Any]) -> Link:
    number, digest = value["number"], value["digest"]
    if type(number) is not int or number < 0 or not isinstance(digest, str):
        raise ValueError("expected a number and a digest")
    return Link(number, digest)


def differences(workspace: Workspace, own: Digests) -> Iterator[str]:
    """Yield the inputs that the workspace lacks by now, or has in another version.

    Events that were added since then are not reported.
    """
    there = played.read_continuations(workspace, own.suite, ())
    if there.suite_hash != own.suite_hash:
        yield f"suite {own.suite}: it is not the one"
    if there.continuations != own.continuations:
        yield (
            f"continuations: expected the {own.continuations.number} that there were, found "
            f"{there.continuations.number}, or others"
        )
    now = with_files(workspace, own)
    if own.labels not in (None, now.labels):
        yield f"labels of {own.suite}: they are not the same"
    if own.scores not in (None, now.scores):
        yield "scores: they are not the same"
    store = Store.find(workspace)
    if store is not None:
        with store:
            yield from iter_lost_events(history.verify(store.database), own)
    elif any(end.number for end in own.authors.values()):
        yield "annotation database: it is missing"


def iter_lost_events(found: History, own: Digests) -> Iterator[str]:
    """Yield the authors whose chain in a database is shorter than in the digests, or different."""
    there = {author.pseudonym: author.digests for author in found.authors.values()}
    for pseudonym, end in own.authors.items():
        yield from _iter_chain_differences(f"{pseudonym}: event", end, there.get(pseudonym, []))
    yield from _iter_chain_differences("reference", own.references, found.reference_digests)


def _iter_chain_differences(what: str, end: Link, digests: Sequence[str]) -> Iterator[str]:
    """Yield a difference if a chain does not contain an earlier end of it."""
    if end.number and digests[end.number - 1 : end.number] != [end.digest]:
        how = "is missing" if end.number > len(digests) else "is another one"
        yield f"{what} {end.number} {how}; is the database an older copy?"


def _digest_labels(workspace: Workspace, suite: str | None) -> str | None:
    if suite is None:
        return None
    try:
        return content_hash(workspace.store.get(label_table.name_of(suite)))
    except FileNotFoundError:
        return None


def _digest_scores(workspace: Workspace) -> str | None:
    names = [name for name in workspace.store.list("scores") if name.endswith(".parquet")]
    raw = [part for name in names for part in (name.encode(), workspace.store.get(name))]
    return content_hash(*raw) if raw else None
