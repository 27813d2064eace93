"""Decisions about candidates as they are made: by whom, after what, and why."""

from __future__ import annotations

import getpass
import secrets

from scenarios.freezing import Looked
from sts.annotations.store import Store
from sts.annotations.types import Annotator
from sts.errors import ArgumentError
from sts.names import one_line, shown
from sts.suites.decisions import REASON, Decision

_ONLY = {"reject": "candidates that are new", "retire": "scenarios of the parent"}


def author(store: Store, name: str | None) -> Annotator:
    """Returns the person called `name`, else by their login; who is new is added as a curator.

    Raises:
      ArgumentError: that person is no curator, or has retired.
    """
    called = name or getpass.getuser()
    for one in store.annotators():
        if one.name != called.strip():
            continue
        if one.retired or not {"curator", "lead"} & set(one.roles):
            raise ArgumentError(
                f"{one.name} is no curator of this study: sts annotators role {one.name} curator, "
                "or decide --as somebody else"
            )
        return one
    return store.add_annotator(called, ("curator",))


def checked_reason(text: str) -> str:
    """Returns a reason as it is kept.

    Raises:
      ArgumentError: it is not one line.
    """
    if not one_line(text, REASON):
        raise ArgumentError(
            f"expected a reason of one line, at most {REASON} letters that print, found "
            f"{shown(text)}"
        )
    return text.strip()


def decision(one: Looked, kind: str, person: Annotator, *, reason: str, at: float) -> Decision:
    """Returns the decision `kind`, "accept", "reject", "retire" or "undo", about a candidate.

    Raises:
      ArgumentError: it cannot be made on this one; says which can.
    """
    id, standing = one.summary.id, one.state.standing
    if kind in _ONLY and one.inherited != (kind == "retire"):
        other = "retire" if one.inherited else "reject"
        raise ArgumentError(f"{kind} is for {_ONLY[kind]}: {other} {id} instead")
    if kind == "accept" and one.inherited and one.status == "kept":
        raise ArgumentError(f"{id} is of the parent and stays unless it is retired")
    if kind == "undo" and not standing:
        raise ArgumentError(f"there is nothing to undo about {id}")
    detail = {"reason": reason} if reason else {}
    if kind == "undo":
        detail = {"undoes": standing[-1].uuid}
    return Decision(
        uuid=secrets.token_hex(16),
        candidate=id,
        kind=kind,
        person=person.id,
        follows=one.state.last,
        scenario="",
        detail=detail,
        at=at,
    )
