"""What a version changes, and what lies between two of them, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sts.errors import ArgumentError, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.types import Change, Suite

_KINDS = ("added", "replaced", "retired")


class Difference(NamedTuple):
    """What lies between two suites.

    Attributes:
      old: the one that is compared with.
      new: the other.
      through: the versions that lead from the one to the other, the last of them `new`; empty
        where they share no line, and only content can be compared.
      kept: of each scenario that both hold, by content, its id in `old` and in `new`.
      changes: what makes `new` another than `old`, in order of ids; without a line what stands
        in one of them alone is "retired" or "added" too.
      missing: whether `old` is no longer shipped, so that this is what `new` records about it.
    """

    old: str
    new: str
    through: tuple[str, ...]
    kept: tuple[tuple[str, str], ...]
    changes: tuple[Change, ...]
    missing: bool = False

    def view(self) -> dict[str, Any]:
        """Return it as JSON values."""
        kept = [{"id": new, "was": old} for old, new in self.kept]
        changes = [one._asdict() for one in self.changes]
        own = {"from": self.old, "to": self.new, "through": list(self.through)}
        return own | {"missing": self.missing, "kept": kept, "changes": changes}

    def text(self) -> str:
        """Return it in Markdown."""
        if not self.through:
            return _unrelated(self)
        own = text(self.old, self.changes, len(self.kept))
        return f"{_note(self)}\n\n{own}" if self.missing else own


def difference(workspace: Workspace, old: str, new: str) -> Difference:
    """Return what lies between two suites, NAME@VERSION each, the older of one line first.

    Raises:
      UnknownName: there is none of them, or of what lies between them.
      TamperedSuite: one was edited.
      ArgumentError: they are one, or the newer comes first.
    """
    last = frozen.load(workspace, new)
    try:
        first = frozen.load(workspace, old)
    except UnknownName:
        if last.parent != old or not last.changes:
            raise
        return _recorded(last)
    if old == new:
        raise ArgumentError(f"expected two suites, found {old} twice")
    through = _between(workspace, first, last)
    if through is None and _between(workspace, last, first) is not None:
        raise ArgumentError(f"{new} is older than {old}: sts suite diff {new} {old}")
    return _difference(first, last, through or ())


def _recorded(suite: Suite) -> Difference:
    """Return what a suite itself records about its parent, which is no longer there."""
    fresh = {change.by or change.id for change in suite.changes if change.kind != "retired"}
    kept = tuple((one.id, one.id) for one in suite.scenarios if one.id not in fresh)
    changes = tuple(suite.changes)
    return Difference(str(suite.parent), suite.label, (suite.label,), kept, changes, missing=True)


def _note(one: Difference) -> str:
    return (
        f"{one.old}, the parent of {one.new}, is no longer shipped: this is what {one.new} records "
        "about it"
    )


def _between(workspace: Workspace, old: Suite, new: Suite) -> tuple[Suite, ...] | None:
    """Return the versions that lead from one suite to another; None if none do, or one is gone."""
    line = [new]
    while line[-1].parent not in (None, old.label, *(one.label for one in line)):
        try:
            line.append(frozen.load(workspace, str(line[-1].parent)))
        except UnknownName:
            return None
    return tuple(line[::-1]) if line[-1].parent == old.label else None


def _difference(old: Suite, new: Suite, through: Sequence[Suite]) -> Difference:
    there = {one.hash: one.id for one in old.scenarios}
    kept = tuple((there[one.hash], one.id) for one in new.scenarios if one.hash in there)
    gone = set(there.values()) - {was for was, _ in kept}
    fresh = {one.id for one in new.scenarios} - {now for _, now in kept}
    was, reasons = _said(through)
    became: dict[str, list[str]] = {}
    for id in was:
        for earlier in _line_of(id, was):
            became.setdefault(earlier, []).append(id)
    changes = []
    for id in fresh:
        line = _line_of(id, was)
        why = "; ".join(dict.fromkeys(r for one in line for r in reasons.get(one, [])))
        if through and line[0] in gone:
            gone.remove(line[0])
            changes.append(Change("replaced", line[0], id, why))
        else:
            changes.append(Change("added", id, "", why))
    for id in gone:
        line = [id, *became.get(id, [])]
        why = "; ".join(dict.fromkeys(r for one in line for r in reasons.get(one, [])))
        changes.append(Change("retired", id, "", why))
    labels = tuple(one.label for one in through)
    ordered = sorted(changes, key=lambda one: one.id)
    return Difference(old.label, new.label, labels, kept, tuple(ordered))


def _said(through: Sequence[Suite]) -> tuple[Mapping[str, str], Mapping[str, list[str]]]:
    """Return what each scenario was before, and the reasons that were given, by id.

    No id of a line is ever given twice, so it says enough.
    """
    was: dict[str, str] = {}
    reasons: dict[str, list[str]] = {}
    for suite in through:
        was |= {one.id: one.replaces for one in suite.scenarios if one.replaces}
        for change in suite.changes:
            if change.by:
                was[change.by] = change.id
            reasons.setdefault(change.id, []).extend(filter(None, [change.reason]))
    return was, reasons


def _line_of(id: str, was: Mapping[str, str]) -> list[str]:
    """Return the ids that a scenario had, the first of them first."""
    line = [id]
    while line[0] in was and was[line[0]] not in line:
        line.insert(0, was[line[0]])
    return line


def text(parent: str | None, changes: Sequence[Change], kept: int) -> str:
    """Return a changelog in Markdown, one list for each kind of change.

    `parent` is the version that is changed, None for the first; `kept` is how many scenarios stay.
    """
    if parent is None:
        return "a first version: all of it is new"
    lines = [f"{_scenarios(kept)} of {parent} {'is' if kept == 1 else 'are'} kept"]
    for kind in _KINDS:
        lines += _listed(kind, [one for one in changes if one.kind == kind])
    return "\n".join(lines)


def _unrelated(one: Difference) -> str:
    """Return what two suites of no common line have in common."""
    count = len(one.kept)
    lines = [
        f"{one.old} and {one.new} share no version: compared by content",
        "",
        f"{_scenarios(count)} {'is' if count == 1 else 'are'} in both{':' if count else ''}",
    ]
    lines += [f"- {old}{'' if old == new else f', there {new}'}" for old, new in one.kept]
    for label, kind in ((one.old, "retired"), (one.new, "added")):
        lines += _listed(f"in {label} alone", [c for c in one.changes if c.kind == kind])
    return "\n".join(lines)


def _listed(words: str, changes: Sequence[Change]) -> list[str]:
    return ["", f"{len(changes)} {words}:", *(f"- {_line(c)}" for c in changes)] if changes else []


def _scenarios(count: int) -> str:
    return f"{count} scenario{'' if count == 1 else 's'}"


def _line(one: Change) -> str:
    by = f" by {one.by}" if one.by else ""
    return f"{one.id}{by}{f': {one.reason}' if one.reason else ''}"
