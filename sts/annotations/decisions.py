"""Hash-chained, append-only log of the decisions about each draft."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select

from sts.annotations.schema import annotators
from sts.annotations.schema import decisions as table
from sts.errors import DamagedData, StoreError
from sts.storage.chains import START, Link
from sts.storage.files import parsed_json
from sts.suites.decisions import KINDS, OPINIONS, Decision, State, after, opinion_of, states

_BATCH_SIZE = 500
"""Number of candidates in one query."""


class Overtaken(StoreError):
    """Someone else has decided about the same candidate meanwhile; `state` is its current state."""

    def __init__(self, decision: Decision, state: State) -> None:
        who = f" by {state.by}" if state.by else ""
        why = f" ({state.reason})" if state.reason else ""
        super().__init__(
            f"{decision.candidate} has changed since you saw it: it is now {state.status}{who}{why}"
            "; look at it again"
        )
        self.decision, self.state = decision, state


def append(connection: Connection, draft: str, made: Sequence[Decision]) -> list[Decision]:
    """Append decisions to a draft's chain, all or none; return them as stored.

    The connection must be the only writer. Numbers and digests are assigned here. A decision that
    is already stored is returned unchanged.

    Raises:
      Overtaken: a decision does not follow the latest one about its candidate.
      StoreError: it undoes a decision that is not the last in force, or reuses another's uuid.
    """
    about = sorted({one.candidate for one in made})
    earlier: list[Decision] = []
    for at in range(0, len(about), _BATCH_SIZE):
        some = table.c.candidate.in_(about[at : at + _BATCH_SIZE])
        earlier += _select_decisions(connection, table.c.draft == draft, some)
    there, found = {one.uuid: one for one in earlier}, states(earlier)
    end = _chain_tip(connection, draft)
    kept, new = [], []
    for one in made:
        if one.uuid in there:
            kept.append(_check_same(there[one.uuid], one))
            continue
        state = found.get(one.candidate, State())
        _check_decision(one, state)
        chained = one.chained(end)
        found[one.candidate], there[one.uuid] = after(state, chained), chained
        end = Link(chained.number, chained.digest)
        kept.append(chained)
        new.append(_to_row(draft, chained))
    if new:
        connection.execute(insert(table), new)
    return kept


def _check_decision(one: Decision, state: State) -> None:
    """Raise unless the decision is allowed for a candidate in this state."""
    if one.kind not in KINDS:
        raise StoreError(f"expected a decision of {', '.join(KINDS)}, found {one.kind!r}")
    if one.kind == "opinion":
        if one.detail.get("opinion") not in OPINIONS:
            raise StoreError(f"{one.candidate}: expected an opinion of {' or '.join(OPINIONS)}")
        if one.scenario != state.meaning:
            raise Overtaken(one, state)
        return
    own, undoes = opinion_of(state, one.person), one.detail.get("undoes")
    if one.kind == "undo" and own is not None and own.uuid == undoes:
        return
    if one.follows != state.last:
        raise Overtaken(one, state)
    last = state.standing[-1].uuid if state.standing else None
    if one.kind == "undo" and undoes != last:
        raise StoreError(f"{one.candidate}: there is no such decision to undo")


def _check_same(kept: Decision, sent: Decision) -> Decision:
    """Return the stored decision if it equals the one sent; otherwise raise StoreError."""
    if kept[:6] != sent[:6] or dict(kept.detail) != dict(sent.detail):
        raise StoreError(f"{sent.candidate}: another decision has the uuid {sent.uuid}")
    return kept


_COLUMNS = {name: name for name in Decision._fields[:-1]} | {
    "person": "annotator",
    "at": "received",
}
"""Column of each field, except the author's name, which may change."""
_DECISIONS = select(
    *(table.c[column].label(name) for name, column in _COLUMNS.items()),
    annotators.c.name.label("by"),
).join(annotators, annotators.c.id == table.c.annotator)


def _to_row(draft: str, one: Decision) -> dict[str, Any]:
    row = {column: getattr(one, name) for name, column in _COLUMNS.items()}
    detail = json.dumps(dict(one.detail), ensure_ascii=False, sort_keys=True)
    return row | {"draft": draft, "detail": detail}


def of_draft(connection: Connection, draft: str, since: Decision | None = None) -> list[Decision]:
    """Load the decisions about a draft, or those after `since`, and verify their chain.

    Raises:
      DamagedData: one is missing or was altered.
    """
    later = table.c.number > (since.number if since else 0)
    return _verify_chain(_select_decisions(connection, table.c.draft == draft, later), since)


def _chain_tip(connection: Connection, draft: str) -> Link:
    """Return the last link of a draft's chain."""
    found = select(table.c.number, table.c.digest).where(table.c.draft == draft)
    row = connection.execute(found.order_by(table.c.number.desc()).limit(1)).one_or_none()
    return START if row is None else Link(*row)


def _select_decisions(connection: Connection, *which: ColumnElement[bool]) -> Iterator[Decision]:
    rows = connection.execute(_DECISIONS.where(*which).order_by(table.c.number))
    return (_from_row(row) for row in rows)


def _verify_chain(decisions: Iterable[Decision], since: Decision | None) -> list[Decision]:
    kept: list[Decision] = []
    end = Link(since.number, since.digest) if since else START
    for one in decisions:
        if one != one.chained(end):
            raise _altered_error(one.number, one.candidate)
        kept.append(one)
        end = Link(one.number, one.digest)
    return kept


def _altered_error(number: int, candidate: str) -> DamagedData:
    return DamagedData(
        f"decision {number} about {candidate} was altered, or one before it is missing: the "
        "annotation database was edited; restore it from a copy"
    )


def _from_row(row: Row[*tuple[Any, ...]]) -> Decision:
    try:
        detail = parsed_json(row.detail, dict)
    except (TypeError, ValueError):
        raise _altered_error(row.number, row.candidate) from None
    return Decision(**{**row._mapping, "detail": detail})
