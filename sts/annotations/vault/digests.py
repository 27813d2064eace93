"""Digests of the inputs of a table or report, and comparison with the current workspace."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.vault import history, study_continuations
from sts.annotations.vault.history import History
from sts.annotations.vault.study_continuations import StudyContinuations
from sts.continuations import label_table
from sts.errors import DamagedData
from sts.storage.chains import Link
from sts.storage.files import (
    canonical_json,
    content_hash,
    parse_versioned_json,
    read_bytes,
    write_atomically,
)
from sts.storage.workspace import Workspace

DIGESTS_KEY = "digests"
"""The key of digests in a section of a report and in the file next to an exported table."""
_REPORT_SECTION = "provenance"
_MAX_BYTES = 2**30
_LINKS = ("continuations", "references")
_CHAINS = ("authors", "changes")


class Digests(NamedTuple):
    """Digests of the inputs of a table or a report."""

    suite: str | None  # NAME@VERSION, or None for all suites
    suite_hash: str | None  # the content hash of the suite
    continuations: Link  # the number of the suite's continuations, and the digest of their contents
    authors: Mapping[str, Link]  # the number and the digest of everyone's last event, by pseudonym
    references: Link  # the number and the digest of the last reference
    labels: str | None = None  # the digest of the table of automatic labels, if it was used
    scores: str | None = None  # the digest of the tables of scores, if they were used
    # the number and the digest of the last change of each chain, by pseudonym; "" for the study's
    changes: Mapping[str, Link] = {}


def compute_digests(
    suite: str | None, history: History, continuations: StudyContinuations
) -> Digests:
    """Compute the digests of the events in the database and of the continuations."""
    authors = {author.pseudonym: author.end for author in history.authors.values()}
    changes = {name: Link(len(chain), chain[-1]) for name, chain in history.changes.items()}
    made_of = suite, continuations.suite_hash, continuations.continuations
    return Digests(*made_of, authors, history.reference_tip, changes=changes)


def with_files(workspace: Workspace, digests: Digests) -> Digests:
    """Add the digests of the workspace's automatic labels and scores."""
    return digests._replace(
        labels=_digest_labels(workspace, digests.suite), scores=_digest_scores(workspace)
    )


def write_digests(file: Path, digests: Digests) -> None:
    """Write digests to a JSON file."""
    links = {name: getattr(digests, name)._asdict() for name in _LINKS}
    for kind in _CHAINS:
        links[kind] = {name: link._asdict() for name, link in getattr(digests, kind).items()}
    value = digests._asdict() | links
    write_atomically(file, canonical_json({DIGESTS_KEY: value}) + b"\n")


def read_digests(file: Path) -> Digests:
    """Read the digests in a report or in the file next to an exported table."""
    try:
        found = parse_versioned_json(read_bytes(file, _MAX_BYTES).decode(), dict)
        value = (found if DIGESTS_KEY in found else found[_REPORT_SECTION])[DIGESTS_KEY]
        value = {"changes": {}} | value  # which earlier versions did not write
        links: dict[str, Any] = {name: _parse_link(value[name]) for name in _LINKS}
        chains: dict[str, Any] = {
            kind: {name: _parse_link(link) for name, link in value[kind].items()}
            for kind in _CHAINS
        }
        texts = {name: value[name] for name in ("suite", "suite_hash", "labels", "scores")}
        if not all(text is None or isinstance(text, str) for text in texts.values()):
            raise ValueError("expected texts")
        return Digests(**texts, **links, **chains)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DamagedData(
            f"{file}: expected a report of a workspace, or the file next to an exported table"
        ) from None


def _parse_link(value: Mapping[str, Any]) -> Link:
    number, digest = value["number"], value["digest"]
    if type(number) is not int or number < 0 or not isinstance(digest, str):
        raise ValueError("expected a number and a digest")
    return Link(number, digest)


def iter_differences(workspace: Workspace, expected: Digests) -> Iterator[str]:
    """Yield the inputs that the workspace lacks by now, or has in another version.

    Events that were added since then are not reported.
    """
    current = study_continuations.read_continuations(workspace, expected.suite, ())
    if current.suite_hash != expected.suite_hash:
        yield f"suite {expected.suite}: its content hash has changed"
    if current.continuations != expected.continuations:
        yield (
            f"continuations: expected the same {expected.continuations.number}, found "
            f"{current.continuations.number}, or different ones"
        )
    now = with_files(workspace, expected)
    if expected.labels not in (None, now.labels):
        yield f"labels of {expected.suite}: they have changed"
    if expected.scores not in (None, now.scores):
        yield "scores: they have changed"
    store = AnnotationStore.find(workspace)
    if store is not None:
        with store:
            yield from iter_chain_differences(history.verify(store.database), expected)
    elif any(end.number for end in expected.authors.values()):
        yield "annotation database: it is missing"


def iter_chain_differences(history: History, expected: Digests) -> Iterator[str]:
    """Yield the authors whose chain in a database is shorter than in the digests, or different."""
    chains = {author.pseudonym: author.digests for author in history.authors.values()}
    for pseudonym, end in expected.authors.items():
        yield from _check_chain_end(f"{pseudonym}: event", end, chains.get(pseudonym, []))
    for pseudonym, end in expected.changes.items():
        subject = f"{pseudonym or 'study'}: change"
        yield from _check_chain_end(subject, end, history.changes.get(pseudonym, []))
    yield from _check_chain_end("reference", expected.references, history.reference_digests)


def _check_chain_end(subject: str, end: Link, digests: Sequence[str]) -> Iterator[str]:
    """Yield a difference if a chain does not contain an earlier end of it."""
    if end.number and digests[end.number - 1 : end.number] != [end.digest]:
        problem = "is missing" if end.number > len(digests) else "has changed"
        yield f"{subject} {end.number} {problem}; is the database an older copy?"


def _digest_labels(workspace: Workspace, suite: str | None) -> str | None:
    if suite is None:
        return None
    try:
        return content_hash(workspace.store.get(label_table.table_name(suite)))
    except FileNotFoundError:
        return None


def _digest_scores(workspace: Workspace) -> str | None:
    names = [name for name in workspace.store.list("scores") if name.endswith(".parquet")]
    raw = [part for name in names for part in (name.encode(), workspace.store.get(name))]
    return content_hash(*raw) if raw else None
