"""Drafts: candidates in immutable files, and beside them `draft.json`, which says which there are.

What was decided about them stands in the annotation database, under the draft's id. An edited
candidate is a file of its own, named by what is in it, so that a decision can name it.

Whatever reads a draft raises `DamagedData` where a file of it is missing or cannot be read, or
`NewerFormat` where a later version wrote it. Whatever takes the name of one raises `ArgumentError`
where no suite may be called so.
"""

from __future__ import annotations

import re
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sts.domains import checked
from sts.errors import DamagedData, StsError, UnknownName
from sts.provenance import provenance
from sts.storage.files import content_hash, new_folder
from sts.storage.store import Store
from sts.storage.workspace import Workspace
from sts.suites import scenarios as files
from sts.suites.folders import (
    DRAFT_VERSION,
    contents,
    draft_contents,
    draft_file,
    drafts,
    encode_json,
    frozen,
    named,
    versions,
)
from sts.suites.types import Scenario, Summary
from sts.trajectories.types import split

_NUMBERED = re.compile(r"(.+)-([0-9]{1,9})")


@dataclass(frozen=True)
class Draft:
    """Candidates for the next version of a suite.

    Attributes:
      workspace: where it is.
      name: of the suite that it is to be a version of.
      id: by which decisions name it, 32 hex digits.
      parent: NAME@VERSION whose scenarios it began with; None for none.
      parts: how many candidates there are in each of its files.
      provenance: what began it.
    """

    workspace: Workspace
    name: str
    id: str
    parent: str | None
    parts: Mapping[str, int]
    provenance: Mapping[str, Any]

    @property
    def folder(self) -> str:
        """The name, in the workspace's store, below which its files stand."""
        return f"drafts/{self.name}/{self.id}"

    def summaries(self) -> list[Summary]:
        """Return every candidate as it was mined, without its recording, in order of their ids."""
        every = [one for part in self.parts for one in files.summaries(part, self._get(part))]
        return sorted(every, key=lambda one: one.id)

    def summary(self, id: str, edited: str) -> Summary:
        """Return a candidate as what it was edited to, the `row_hash` of which is `edited`."""
        if edited not in _EDITED:
            name = f"edited/{edited}.parquet"
            (one,) = files.summaries(name, self._get(name))
            _check_edited(self, one, id, edited)
            _EDITED[edited] = one
        return _EDITED[edited]

    def inherited(self) -> frozenset[str]:
        """Return the ids of its parent's scenarios; nothing but their list is read for it."""
        if self.parent is None:
            return frozenset()
        name, _, version = self.parent.partition("@")
        try:
            folder = versions(self.workspace)[name][int(version)]
            return frozenset(contents(folder)["scenarios"])
        except (OSError, LookupError, ValueError, TypeError) as error:
            raise DamagedData(
                f"draft {self.name} is from {self.parent}, which cannot be read: {error!r}"
            ) from None

    def candidate(self, id: str, edited: str = "") -> Scenario:
        """Return a candidate as it was mined, or as an edit made it: the one of that `row_hash`.

        Raises:
          UnknownName: there is none.
        """
        if edited:
            (one,) = files.unpacked(id, self._get(f"edited/{edited}.parquet"), check=checked)
            _check_edited(self, one, id, edited)
            return one
        for part in self.parts:
            for one in files.unpacked(part, self._get(part), id, check=checked):
                return one
        raise UnknownName(f"candidate of draft {self.name}", id, self.ids(), most=10)

    def scenarios(self, edited: Mapping[str, str]) -> list[Scenario]:
        """Return candidates in order of their ids, each file read once.

        `edited` has of each that is returned the `row_hash` of what an edit made of it, or "".
        """
        found = [
            one
            for part in self.parts
            for one in files.unpacked(part, self._get(part), check=checked)
            if edited.get(one.id) == ""
        ]
        found += [self.candidate(id, mark) for id, mark in edited.items() if mark]
        return sorted(found, key=lambda one: one.id)

    def ids(self) -> list[str]:
        """Return the ids of its candidates."""
        return [one.id for one in self.summaries()]

    def keep(self, edited: Scenario) -> None:
        """Keep what a candidate was edited to, for the decision that will name it."""
        name = f"edited/{edited.row_hash}.parquet"
        self.workspace.store.put_new(f"{self.folder}/{name}", files.packed(name, [edited]))

    def _get(self, name: str) -> bytes:
        try:
            return self.workspace.store.get(f"{self.folder}/{name}")
        except FileNotFoundError:
            raise DamagedData(f"draft {self.name}: {self.folder}/{name} is missing") from None


_EDITED: dict[str, Summary] = {}
"""What was read of edited candidates, by the `row_hash` that names each for ever."""


def _check_edited(draft: Draft, one: Summary, id: str, edited: str) -> None:
    if (one.id, one.row_hash) != (id, edited):
        raise DamagedData(f"{draft.folder}: {id} is not what it was edited to")


def find(workspace: Workspace, name: str) -> Draft | None:
    """Return the draft called `name`; None where there is none."""
    file = draft_file(workspace, name)
    if not file.exists():
        return None
    own = draft_contents(file.parent)
    return Draft(workspace, name, own["id"], own["parent"], own["parts"], own["provenance"])


def open_draft(workspace: Workspace, name: str) -> Draft:
    """Return the draft called `name`.

    Raises:
      UnknownName: there is none.
    """
    found = find(workspace, name)
    if found is None:
        raise UnknownName("draft", name, [folder.name for folder in drafts(workspace)])
    return found


def frozen_as(draft: Draft) -> str | None:
    """Return the version that a draft was frozen as; None as long as it is one."""
    return frozen(draft.workspace).get(draft.id)


def check_open(draft: Draft) -> None:
    """Raise StsError where a draft was frozen: what it holds is decided."""
    if (label := frozen_as(draft)) is not None:
        raise StsError(
            f"draft {draft.name} was frozen as {label}; the next version begins with sts draft "
            f"from {label}"
        )


@contextmanager
def held(draft: Draft) -> Iterator[Draft]:
    """Keep others from freezing or replacing a draft while it is changed; yields it as it is now.

    Raises:
      StsError: it was frozen or replaced since it was read.
    """
    with draft.workspace.locked():
        there = find(draft.workspace, draft.name)
        if there is None or there.id != draft.id:
            raise StsError(f"draft {draft.name} was replaced meanwhile; nothing was added to it")
        check_open(there)
        yield there


def begin(
    workspace: Workspace,
    name: str,
    candidates: Sequence[Scenario],
    *,
    parent: str | None = None,
    replaces: str | None = None,
) -> Draft:
    """Begin a draft in place of the one with the id `replaces`, None for none; return it.

    Raises:
      StsError: another draft stands there by now, or the candidates are of both sides.
    """
    draft = Draft(workspace, named(name), secrets.token_hex(16), parent, {}, provenance())
    with workspace.ensure().locked():
        there = find(workspace, name)
        if (there and there.id) != replaces:
            raise StsError(
                f"draft {name} was begun by another command meanwhile and stays as that one left it"
            )
        folder = workspace.path("drafts", name)
        if folder.exists():
            return _with(draft, candidates, folder)
        with new_folder(folder) as part:  # nobody meets a draft of which `draft.json` is missing
            return _with(draft, candidates, part)


def add(draft: Draft, candidates: Sequence[Scenario]) -> Draft:
    """Add candidates to a draft; return it as it is then.

    Raises:
      StsError: the draft was frozen or replaced meanwhile, has a candidate of the same id, or
        candidates of the other side.
    """
    with held(draft) as there:
        twice = {one.id for one in candidates} & set(there.ids())
        if twice:
            raise StsError(
                f"draft {draft.name} has a candidate {min(twice)} by now; nothing was added, so "
                "try again"
            )
        return _with(there, candidates, draft.workspace.path("drafts", draft.name))


def _with(draft: Draft, candidates: Sequence[Scenario], folder: Path) -> Draft:
    """Write candidates, if any, and then `draft.json`, which makes them part of the draft."""
    _check_one_side(draft, candidates)
    store = Store(folder)
    if candidates:
        name = f"candidates/{content_hash(*(s.row_hash.encode() for s in candidates))[:24]}.parquet"
        store.put_new(f"{draft.id}/{name}", files.packed(name, candidates))
        draft = replace(draft, parts={**draft.parts, name: len(candidates)})
    own = {
        "name": draft.name,
        "id": draft.id,
        "parent": draft.parent,
        "parts": dict(draft.parts),
        "provenance": dict(draft.provenance),
    }
    store.swap("draft.json", encode_json("draft", DRAFT_VERSION, own))
    return draft


def side(draft: Draft) -> str | None:
    """Return which side a draft's candidates are of, "test" or "train"; None without any."""
    for part in draft.parts:
        for one in files.summaries(part, draft._get(part)):
            return _side(draft.candidate(one.id))
    return None


def _side(one: Scenario) -> str:
    return split(one.world, one.provenance)


def _check_one_side(draft: Draft, candidates: Sequence[Scenario]) -> None:
    """Raise StsError where candidates would stand beside others of the other side."""
    sides = {_side(one) for one in candidates} | ({side(draft)} - {None} if candidates else set())
    if len(sides) > 1:
        raise StsError(
            f"draft {draft.name} would hold the train side and the test side: what is for learners "
            "goes into a draft of its own"
        )


def last_numbers(workspace: Workspace, name: str, ids: Iterable[str] = ()) -> dict[str, int]:
    """Return the highest number of an id of each category, over all versions of a suite.

    Those of `ids` count, too.
    """
    last: Counter[str] = Counter()
    taken = list(ids)
    for folder in versions(workspace).get(name, {}).values():
        own = contents(folder)
        taken += own["scenarios"]
        last |= Counter(own.get("last", {}))
    for id in taken:
        if found := _NUMBERED.fullmatch(id):
            last[found[1]] = max(last[found[1]], int(found[2]))
    return dict(last)
