"""Drafts: candidates in immutable files, which `draft.json` lists.

Decisions on candidates are stored in the annotation database, under the draft's id. An edited
candidate is a file of its own, named by its hash, so that a decision can refer to it.

Functions that read a draft raise `DamagedData` if a file of it is missing or unreadable, or
`NewerFormat` if a later version wrote it. Functions that take a draft's name raise `ArgumentError`
if it is not a valid suite name.
"""

import itertools
import re
import secrets
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sts.domains import validate_episodes
from sts.errors import DamagedData, StsError, UnknownName
from sts.provenance import collect_provenance
from sts.storage.files import content_hash, create_folder
from sts.storage.store import KeyValueStore
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites.folders import (
    DRAFT_VERSION,
    draft_file,
    encode_json,
    find_frozen_drafts,
    list_draft_folders,
    list_versions,
    read_draft_json,
    read_suite_json,
    validate_suite_name,
)
from sts.suites.suite import Scenario, Summary
from sts.trajectories.trajectory import get_split

_NUMBERED_ID = re.compile(r"(.+)-([0-9]{1,9})")


@dataclass(frozen=True)
class Draft:
    """Candidates for the next version of a suite."""

    workspace: Workspace
    name: str  # of the suite
    id: str  # 32 hex digits; decisions refer to it
    parent: str | None  # NAME@VERSION whose scenarios it started with, or None
    parts: Mapping[str, int]  # the number of candidates in each of its files
    provenance: Mapping[str, Any]

    @property
    def folder(self) -> str:
        """The name, in the workspace's store, of the folder of its files."""
        return f"drafts/{self.name}/{self.id}"

    def summaries(self) -> list[Summary]:
        """Return every candidate as mined, without its recording, sorted by id."""
        by_part = (files.decode_summaries(part, self._read(part)) for part in self.parts)
        return sorted(itertools.chain(*by_part), key=lambda summary: summary.id)

    def summary(self, id: str, edited: str) -> Summary:
        """Return the summary of a candidate as edited; `edited` is the `row_hash` of that edit."""
        if edited not in _EDITED_CACHE:
            name = f"edited/{edited}.parquet"
            (summary,) = files.decode_summaries(name, self._read(name))
            _check_edited(self, summary, id, edited)
            _EDITED_CACHE[edited] = summary
        return _EDITED_CACHE[edited]

    def inherited_ids(self) -> frozenset[str]:
        """Return the ids of its parent's scenarios, from the parent's `suite.json` alone."""
        if self.parent is None:
            return frozenset()
        name, _, version = self.parent.partition("@")
        try:
            folder = list_versions(self.workspace)[name][int(version)]
            return frozenset(read_suite_json(folder)["scenarios"])
        except (OSError, LookupError, ValueError, TypeError) as error:
            raise DamagedData(
                f"draft {self.name}: its parent {self.parent} cannot be read: {error!r}"
            ) from None

    def candidate(self, id: str, edited: str = "") -> Scenario:
        """Return a candidate as mined, or as edited if `edited` is the `row_hash` of an edit.

        Raises:
          UnknownName: there is no such candidate.
        """
        if edited:
            raw = self._read(f"edited/{edited}.parquet")
            (scenario,) = files.decode_scenarios(id, raw, check=validate_episodes)
            _check_edited(self, scenario, id, edited)
            return scenario
        for part in self.parts:
            for scenario in files.decode_scenarios(
                part, self._read(part), id, check=validate_episodes
            ):
                return scenario
        raise UnknownName(f"candidate of draft {self.name}", id, self.load_ids(), most=10)

    def scenarios(self, edit_hashes: Mapping[str, str]) -> list[Scenario]:
        """Return candidates sorted by id; each file is read once.

        `edit_hashes` has the ids of those to return, each with the `row_hash` of its edit, or "".
        """
        scenarios = [
            scenario
            for part in self.parts
            for scenario in files.decode_scenarios(part, self._read(part), check=validate_episodes)
            if edit_hashes.get(scenario.id) == ""
        ]
        scenarios += [
            self.candidate(id, row_hash) for id, row_hash in edit_hashes.items() if row_hash
        ]
        return sorted(scenarios, key=lambda scenario: scenario.id)

    def load_ids(self) -> list[str]:
        """Return the ids of its candidates."""
        return [summary.id for summary in self.summaries()]

    def save_edit(self, edited: Scenario) -> None:
        """Store an edited candidate, for the decision that will refer to it."""
        name = f"edited/{edited.row_hash}.parquet"
        raw = files.encode_scenarios(name, [edited])
        self.workspace.store.put_new(f"{self.folder}/{name}", raw)

    def _read(self, name: str) -> bytes:
        try:
            return self.workspace.store.get(f"{self.folder}/{name}")
        except FileNotFoundError:
            raise DamagedData(f"draft {self.name}: {self.folder}/{name} is missing") from None


_EDITED_CACHE: dict[str, Summary] = {}
"""Cache of edited candidates by `row_hash`, which identifies each permanently."""


def _check_edited(draft: Draft, summary: Summary, id: str, edited: str) -> None:
    if (summary.id, summary.row_hash) != (id, edited):
        raise DamagedData(f"{draft.folder}: {id} does not match the hash of its edit")


def find_draft(workspace: Workspace, name: str) -> Draft | None:
    """Return the draft called `name`, or None."""
    file = draft_file(workspace, name)
    if not file.exists():
        return None
    fields = read_draft_json(file.parent)
    values = (fields[key] for key in ("id", "parent", "parts", "provenance"))
    return Draft(workspace, name, *values)


def open_draft(workspace: Workspace, name: str) -> Draft:
    """Return the draft called `name`.

    Raises:
      UnknownName: there is no such draft.
    """
    draft = find_draft(workspace, name)
    if draft is None:
        known = [folder.name for folder in list_draft_folders(workspace)]
        error = UnknownName("draft", name, known)
        raise error.with_message(f"{error}; start an empty one with sts draft new NAME --domain D")
    return draft


def find_frozen_version(draft: Draft) -> str | None:
    """Return the version as which a draft was frozen, or None."""
    return find_frozen_drafts(draft.workspace).get(draft.id)


def check_open(draft: Draft) -> None:
    """Raise StsError if a draft has been frozen, since it can no longer change."""
    if (label := find_frozen_version(draft)) is not None:
        raise StsError(
            f"draft {draft.name} was frozen as {label}; start the next version with sts draft new "
            f"--from {label}"
        )


@contextmanager
def lock_draft(draft: Draft) -> Iterator[Draft]:
    """Lock a draft against freezing and replacement; yield it as it is now.

    Raises:
      StsError: it was frozen or replaced since it was read.
    """
    with draft.workspace.lock():
        current = find_draft(draft.workspace, draft.name)
        if current is None or current.id != draft.id:
            raise StsError(f"draft {draft.name} was replaced meanwhile; nothing was added")
        check_open(current)
        yield current


def create_draft(
    workspace: Workspace,
    name: str,
    candidates: Sequence[Scenario],
    *,
    parent: str | None = None,
    replaces: str | None = None,
    domain: str | None = None,
) -> Draft:
    """Create a draft, in place of the one with the id `replaces` unless that is None.

    With a `domain`, only scenarios of that domain can be added.

    Raises:
      StsError: another draft of that name exists by now, or the candidates are of both splits.
    """
    name, id = validate_suite_name(name), secrets.token_hex(16)
    origin = collect_provenance() | ({} if domain is None else {"domain": domain})
    draft = Draft(workspace, name, id, parent, {}, origin)
    with workspace.create().lock():
        current = find_draft(workspace, name)
        if (current and current.id) != replaces:
            raise StsError(
                f"draft {name} was created by another command meanwhile and is left unchanged"
            )
        folder = workspace.path("drafts", name)
        if folder.exists():
            return _write_draft(draft, candidates, folder)
        with create_folder(folder) as new:  # it appears with its `draft.json`, never without
            return _write_draft(draft, candidates, new)


def add_candidates(draft: Draft, candidates: Sequence[Scenario]) -> Draft:
    """Add candidates to a draft; return the draft with them.

    Raises:
      StsError: the draft was frozen or replaced meanwhile, has a candidate of the same id,
        candidates of the other split, or is of another domain.
    """
    with lock_draft(draft) as current:
        repeated = {scenario.id for scenario in candidates} & set(current.load_ids())
        if repeated:
            raise StsError(
                f"draft {draft.name} already has a candidate {min(repeated)}; nothing was "
                "added, try again"
            )
        return _write_draft(current, candidates, draft.workspace.path("drafts", draft.name))


def list_candidate_files(workspace: Workspace) -> list[Path]:
    """List the files of candidates and edits of all drafts, also of drafts that were replaced."""
    files = workspace.path("drafts").glob("[!.]*/*/*/*.parquet")
    return sorted(file for file in files if file.parent.name in ("candidates", "edited"))


def erase_candidates(workspace: Workspace, hashes: Collection[str]) -> None:
    """Erase candidates and edits, by content hash; the drafts list their ids.

    Files of drafts that were replaced are erased as a whole.
    """
    with workspace.lock():
        for file in list_candidate_files(workspace):
            scenarios, part = files.read(file), f"candidates/{file.name}"
            erased = {scenario.id for scenario in scenarios if scenario.hash in hashes}
            if not erased:
                continue
            draft = find_draft(workspace, file.parents[2].name)
            if draft and draft.id == file.parents[1].name and part in draft.parts:
                kept = [scenario for scenario in scenarios if scenario.id not in erased]
                erased |= {*draft.provenance.get("erased", ())}
                parts = {name: count for name, count in draft.parts.items() if name != part}
                origin = {**draft.provenance, "erased": sorted(erased)}
                _write_draft(replace(draft, parts=parts, provenance=origin), kept, file.parents[2])
            file.unlink()


def _write_draft(draft: Draft, candidates: Sequence[Scenario], folder: Path) -> Draft:
    """Write candidates, if any, and then `draft.json`, which makes them part of the draft."""
    store = KeyValueStore(folder)
    domain = draft.provenance.get("domain")
    for scenario in candidates:
        if domain not in (None, scenario.recording.domain):
            raise StsError(
                f"draft {draft.name} is for {domain}: expected no scenario of "
                f"{scenario.recording.domain}; start another draft with sts draft new NAME "
                f"--domain {scenario.recording.domain}"
            )
    if candidates:
        splits = {get_split(s.world, s.provenance) for s in candidates} | {get_draft_split(draft)}
        if len(splits - {None}) > 1:
            raise StsError(
                f"draft {draft.name} would mix the train and the test split; mine scenarios for "
                "training into a draft of their own"
            )
        name = f"candidates/{content_hash(*(s.row_hash.encode() for s in candidates))[:24]}.parquet"
        store.put_new(f"{draft.id}/{name}", files.encode_scenarios(name, candidates))
        draft = replace(draft, parts={**draft.parts, name: len(candidates)})
    fields: dict[str, Any] = {"name": draft.name, "id": draft.id, "parent": draft.parent}
    fields |= {"parts": dict(draft.parts), "provenance": dict(draft.provenance)}
    store.replace("draft.json", encode_json("draft", DRAFT_VERSION, fields))
    return draft


def get_draft_split(draft: Draft) -> str | None:
    """Return the split of a draft's candidates, "test" or "train"; None if it has none."""
    for part in draft.parts:
        for summary in files.decode_summaries(part, draft._read(part)):
            scenario = draft.candidate(summary.id)
            return get_split(scenario.world, scenario.provenance)
    return None


def find_last_numbers(workspace: Workspace, name: str, ids: Iterable[str] = ()) -> Counter[str]:
    """Return the highest number in an id of each category, over all versions of a suite.

    Those of `ids` count, too.
    """
    last: Counter[str] = Counter()
    used = list(ids)
    for folder in list_versions(workspace).get(name, {}).values():
        fields = read_suite_json(folder)
        used += fields["scenarios"]
        last |= Counter(fields.get("last", {}))
    for id in used:
        if match := _NUMBERED_ID.fullmatch(id):
            last[match[1]] = max(last[match[1]], int(match[2]))
    return last
