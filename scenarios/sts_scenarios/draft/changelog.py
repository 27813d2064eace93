"""Changelogs of versions, and comparisons of two suites."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sts.errors import ArgumentError, ErasedSuite, UnknownName
from sts.storage.workspace import Workspace
from sts.suites import frozen
from sts.suites.suite import Change, Suite

_KINDS = ("added", "replaced", "retired")


class Difference(NamedTuple):
    """The difference between two suites."""

    old: str  # NAME@VERSION of the earlier one
    new: str  # NAME@VERSION of the later one
    through: tuple[str, ...]  # versions from `old` to `new`, which comes last; () if unrelated
    kept: tuple[tuple[str, str], ...]  # (id in `old`, id in `new`) of scenarios of equal content
    changes: tuple[Change, ...]  # sorted by id; "retired" or "added" if unrelated
    missing: bool = False  # `old` is gone; this is what `new` records about it

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON values."""
        kept = [{"id": new, "was": old} for old, new in self.kept]
        changes = [change._asdict() for change in self.changes]
        header = {"from": self.old, "to": self.new, "through": list(self.through)}
        return header | {"missing": self.missing, "kept": kept, "changes": changes}

    def format_markdown(self) -> str:
        """Return it in Markdown."""
        if not self.through:
            return _format_unrelated(self)
        changelog = format_changelog(self.old, self.changes, len(self.kept))
        if not self.missing:
            return changelog
        return (
            f"{self.old}, the parent of {self.new}, is no longer shipped; this is what {self.new} "
            f"records about it\n\n{changelog}"
        )


def compare_suites(workspace: Workspace, old: str, new: str) -> Difference:
    """Compare two suites, NAME@VERSION each, the older one first.

    Raises:
      UnknownName: one of them, or a version between them, does not exist.
      TamperedSuite: one was modified.
      ArgumentError: they are the same, or the newer comes first.
    """
    last = frozen.load(workspace, new)
    try:
        first = frozen.load(workspace, old)
    except UnknownName:
        if last.parent != old or not last.changes:
            raise
        return _recorded_difference(last)
    if old == new:
        raise ArgumentError(f"expected two different suites, found {old} twice")
    through = _versions_between(workspace, first, last)
    if through is None and _versions_between(workspace, last, first) is not None:
        raise ArgumentError(f"{new} is older than {old}; run sts suite diff {new} {old}")
    return _compare_content(first, last, through or ())


def _recorded_difference(suite: Suite) -> Difference:
    """Return what a suite itself records about its parent, which is missing."""
    fresh = {change.by or change.id for change in suite.changes if change.kind != "retired"}
    kept = tuple((s.id, s.id) for s in suite.scenarios if s.id not in fresh)
    changes = tuple(suite.changes)
    return Difference(str(suite.parent), suite.label, (suite.label,), kept, changes, missing=True)


def _versions_between(workspace: Workspace, old: Suite, new: Suite) -> tuple[Suite, ...] | None:
    """Return the versions that lead from one suite to another; None if there is no such line."""
    line = [new]
    while line[-1].parent not in (None, old.label, *(suite.label for suite in line)):
        try:
            line.append(frozen.load(workspace, str(line[-1].parent)))
        except (ErasedSuite, UnknownName):
            return None
    return tuple(line[::-1]) if line[-1].parent == old.label else None


def _compare_content(old: Suite, new: Suite, through: Sequence[Suite]) -> Difference:
    old_ids = {s.hash: s.id for s in old.scenarios}
    kept = tuple((old_ids[s.hash], s.id) for s in new.scenarios if s.hash in old_ids)
    gone = set(old_ids.values()) - {was for was, _ in kept}
    fresh = {s.id for s in new.scenarios} - {now for _, now in kept}
    was, reasons = _history(through)
    became: dict[str, list[str]] = {}
    for id in was:
        for earlier in _id_line(id, was):
            became.setdefault(earlier, []).append(id)
    changes = []
    for id in fresh:
        line = _id_line(id, was)
        why = "; ".join(dict.fromkeys(r for earlier in line for r in reasons.get(earlier, [])))
        if through and line[0] in gone:
            gone.remove(line[0])
            changes.append(Change("replaced", line[0], id, why))
        else:
            changes.append(Change("added", id, "", why))
    for id in gone:
        line = [id, *became.get(id, [])]
        why = "; ".join(dict.fromkeys(r for earlier in line for r in reasons.get(earlier, [])))
        changes.append(Change("retired", id, "", why))
    labels = tuple(suite.label for suite in through)
    ordered = sorted(changes, key=lambda change: change.id)
    return Difference(old.label, new.label, labels, kept, tuple(ordered))


def _history(through: Sequence[Suite]) -> tuple[Mapping[str, str], Mapping[str, list[str]]]:
    """Return each scenario's previous id, and the reasons given, by id.

    An id is used only once in a line of versions, so it is a sufficient key.
    """
    was: dict[str, str] = {}
    reasons: dict[str, list[str]] = {}
    for suite in through:
        was |= {s.id: s.replaces for s in suite.scenarios if s.replaces}
        for change in suite.changes:
            if change.by:
                was[change.by] = change.id
            reasons.setdefault(change.id, []).extend(filter(None, [change.reason]))
    return was, reasons


def _id_line(id: str, was: Mapping[str, str]) -> list[str]:
    """Return the successive ids of a scenario, the first one first."""
    line = [id]
    while line[0] in was and was[line[0]] not in line:
        line.insert(0, was[line[0]])
    return line


def format_changelog(parent: str | None, changes: Sequence[Change], n_kept: int) -> str:
    """Return a changelog in Markdown, with a list for each kind of change.

    `parent` is the version that is changed, None for the first; `n_kept` is the number of unchanged
    scenarios.
    """
    if parent is None:
        return "a first version: all scenarios are new"
    lines = [f"{_count_scenarios(n_kept)} of {parent} {'is' if n_kept == 1 else 'are'} kept"]
    for kind in _KINDS:
        lines += _format_list(kind, [change for change in changes if change.kind == kind])
    return "\n".join(lines)


def _format_unrelated(diff: Difference) -> str:
    """Return a comparison in Markdown of two suites without a common line."""
    count = len(diff.kept)
    lines = [
        f"{diff.old} and {diff.new} share no version: compared by content",
        "",
        f"{_count_scenarios(count)} {'is' if count == 1 else 'are'} in both{':' if count else ''}",
    ]
    lines += [f"- {old}{'' if old == new else f', there {new}'}" for old, new in diff.kept]
    for label, kind in ((diff.old, "retired"), (diff.new, "added")):
        lines += _format_list(f"in {label} alone", [c for c in diff.changes if c.kind == kind])
    return "\n".join(lines)


def _format_list(heading: str, changes: Sequence[Change]) -> list[str]:
    lines = [f"- {_format_change(change)}" for change in changes]
    return ["", f"{len(changes)} {heading}:", *lines] if lines else []


def _count_scenarios(count: int) -> str:
    return f"{count} scenario{'' if count == 1 else 's'}"


def _format_change(change: Change) -> str:
    by = f" by {change.by}" if change.by else ""
    return f"{change.id}{by}{f': {change.reason}' if change.reason else ''}"
