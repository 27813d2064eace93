"""What a version changes, in words."""

from __future__ import annotations

from collections.abc import Sequence

from sts.suites.types import Change

_KINDS = ("added", "replaced", "retired")


def text(parent: str | None, changes: Sequence[Change], kept: int) -> str:
    """Returns a changelog in Markdown, one list for each kind of change.

    Args:
      parent: the version that is changed; None for the first.
      changes: to it.
      kept: how many scenarios stay as they are.
    """
    if parent is None:
        return "a first version: all of it is new"
    lines = [f"{kept} scenarios of {parent} are kept"]
    for kind in _KINDS:
        own = [one for one in changes if one.kind == kind]
        if own:
            lines += ["", f"{len(own)} {kind}:"]
            lines += [f"- {_line(one)}" for one in own]
    return "\n".join(lines)


def _line(one: Change) -> str:
    by = f" by {one.by}" if one.by else ""
    return f"{one.id}{by}{f': {one.reason}' if one.reason else ''}"
