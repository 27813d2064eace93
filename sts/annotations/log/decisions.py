"""Hash-chained, append-only log of the decisions about each draft."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, insert, select

from sts.annotations.database.database import iter_batches
from sts.annotations.database.schema import annotators
from sts.annotations.database.schema import decisions as table
from sts.errors import DamagedData, StoreError
from sts.names import isolate
from sts.storage.chains import START, Link
from sts.storage.files import parse_versioned_json
from sts.suites.decisions import (
    KINDS,
    RATINGS,
    CandidateState,
    Decision,
    apply_decision,
    find_rating,
    fold_decisions,
)


class DecisionConflict(StoreError):
    """Someone else has decided about the same candidate meanwhile; `state` is its current state."""

    def __init__(self, decision: Decision, state: CandidateState) -> None:
        author = f" by {isolate(state.by)}" if state.by else ""
        reason = f" ({isolate(state.reason)})" if state.reason else ""
        super().__init__(
            f"{decision.candidate} has changed since you saw it: it is now {state.status}{author}"
            f"{reason}; reload it and decide again"
        )
        self.decision, self.state = decision, state


def append_decisions(
    connection: Connection, draft: str, decisions: Sequence[Decision]
) -> list[Decision]:
    """Append decisions to a draft's chain, all or none; return them as stored.

    The connection must be the only writer. Numbers and digests are assigned here. A decision that
    is already stored is returned unchanged.

    Raises:
      DecisionConflict: a decision does not follow the latest one about its candidate.
      StoreError: it undoes a decision that is not the last in force, or reuses another's uuid.
    """
    earlier: list[Decision] = []
    for batch in iter_batches(sorted({decision.candidate for decision in decisions})):
        in_batch = table.c.candidate.in_(batch)
        earlier += _select_decisions(connection, table.c.draft == draft, in_batch)
    by_uuid, state_of = {decision.uuid: decision for decision in earlier}, fold_decisions(earlier)
    end = _chain_tip(connection, draft)
    stored, new = [], []
    for decision in decisions:
        if decision.uuid in by_uuid:
            stored.append(_check_same(by_uuid[decision.uuid], decision))
            continue
        state = state_of.get(decision.candidate, CandidateState())
        _check_decision(decision, state)
        chained = decision.chained(end)
        state_of[decision.candidate] = apply_decision(state, chained)
        by_uuid[decision.uuid] = chained
        end = Link(chained.number, chained.digest)
        stored.append(chained)
        new.append(_to_row(draft, chained))
    if new:
        connection.execute(insert(table), new)
    return stored


def _check_decision(decision: Decision, state: CandidateState) -> None:
    """Raise unless the decision is allowed for a candidate in this state."""
    if decision.kind not in KINDS:
        raise StoreError(f"expected a decision of {', '.join(KINDS)}, found {decision.kind!r}")
    if decision.kind == "rating":
        if decision.detail.get("rating") not in RATINGS:
            raise StoreError(f"{decision.candidate}: expected a rating of {' or '.join(RATINGS)}")
        if decision.scenario != state.meaning:
            raise DecisionConflict(decision, state)
        return
    rating, undoes = find_rating(state, decision.person), decision.detail.get("undoes")
    if decision.kind == "undo" and rating is not None and rating.uuid == undoes:
        return
    if decision.follows != state.last:
        raise DecisionConflict(decision, state)
    last = state.standing[-1].uuid if state.standing else None
    if decision.kind == "undo" and undoes != last:
        raise StoreError(
            f"{decision.candidate}: expected the latest decision to undo, found another"
        )


def _check_same(stored: Decision, sent: Decision) -> Decision:
    """Return the stored decision if it equals the one sent; otherwise raise StoreError."""
    if stored[:6] != sent[:6] or dict(stored.detail) != dict(sent.detail):
        raise StoreError(f"{sent.candidate}: uuid {sent.uuid} already belongs to another decision")
    return stored


_COLUMNS = {name: name for name in Decision._fields[:-1]} | {
    "person": "annotator",
    "at": "received",
}
"""Column of each field, except the author's name, which may change."""
_DECISIONS = select(
    *(table.c[column].label(name) for name, column in _COLUMNS.items()),
    annotators.c.name.label("by"),
).join(annotators, annotators.c.id == table.c.annotator)


def _to_row(draft: str, decision: Decision) -> dict[str, Any]:
    row = {column: getattr(decision, name) for name, column in _COLUMNS.items()}
    detail = json.dumps(dict(decision.detail), ensure_ascii=False, sort_keys=True)
    return row | {"draft": draft, "detail": detail}


def load_decisions(
    connection: Connection, draft: str, since: Decision | None = None
) -> list[Decision]:
    """Load a draft's decisions, or those after `since`; raise DamagedData if one was altered."""
    end = Link(since.number, since.digest) if since else START
    verified: list[Decision] = []
    later = table.c.draft == draft, table.c.number > end.number
    for decision in _select_decisions(connection, *later):
        if decision != decision.chained(end):
            raise _altered_error(decision.number, decision.candidate)
        verified.append(decision)
        end = Link(decision.number, decision.digest)
    return verified


def _chain_tip(connection: Connection, draft: str) -> Link:
    """Return the last link of a draft's chain."""
    query = select(table.c.number, table.c.digest).where(table.c.draft == draft)
    row = connection.execute(query.order_by(table.c.number.desc()).limit(1)).one_or_none()
    return START if row is None else Link(*row)


def _select_decisions(
    connection: Connection, *conditions: ColumnElement[bool]
) -> Iterator[Decision]:
    rows = connection.execute(_DECISIONS.where(*conditions).order_by(table.c.number))
    return (_from_row(row) for row in rows)


def _altered_error(number: int, candidate: str) -> DamagedData:
    return DamagedData(
        f"decision {number} about {candidate} was altered, or one before it is missing: the "
        "annotation database was edited; restore a backup"
    )


def _from_row(row: Row[*tuple[Any, ...]]) -> Decision:
    try:
        detail = parse_versioned_json(row.detail, dict)
    except (TypeError, ValueError):
        raise _altered_error(row.number, row.candidate) from None
    return Decision(**{**row._mapping, "detail": detail})
