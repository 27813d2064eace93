"""How people come in: an invitation, spent once, begins a session that lasts while it is used."""

from __future__ import annotations

import hashlib
import secrets
from typing import NamedTuple

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Double,
    and_,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
    update,
)

from sts.annotations.schema import annotators, invitations, sessions
from sts.errors import ArgumentError

DAY = 86400.0
INVITATION = 7 * DAY
"""Seconds for which an invitation can be spent."""
IDLE_TIMEOUT_S = 14 * DAY
"""Seconds without use after which a session has ended."""
LONGEST = 90 * DAY
"""Seconds after which a session has ended however much it is used."""
USE_INTERVAL_S = 300.0
"""Seconds of use between two notes of it."""

USED = "This invitation was used already. Each lets one browser in once: ask for a new one."
EXPIRED = "This invitation has lapsed. Ask for a new one."
UNKNOWN = "This is no invitation of this study, or no longer. Ask for a new one."


class Invitation(NamedTuple):
    """Whom a link invites; `refusal` tells why it lets nobody in, and is "" if it can be spent."""

    annotator: int
    name: str
    refusal: str


class Session(NamedTuple):
    """A browser that a person has entered with: when, its last use and its end, in UTC seconds.

    The last use is known to some minutes; the end is that of a session that is not used before.
    """

    id: int
    name: str
    begun: float
    seen: float
    ends: float


def create_invitation(connection: Connection, annotator_id: int, *, now: float) -> str:
    """Return the token of a new invitation; one of that person that was not spent ends.

    Only the token's hash is kept, so that a copied database lets nobody in.
    """
    token = secrets.token_urlsafe()
    _delete_invitation(connection, annotator_id)
    connection.execute(
        insert(invitations).values(
            token_hash=hash_token(token), annotator=annotator_id, made=now, expires=now + INVITATION
        )
    )
    return token


def invitation(connection: Connection, token: str, *, now: float) -> Invitation | None:
    """Whom a token invites, and whether it still does; None for an unknown token."""
    row = connection.execute(
        select(invitations, annotators.c.name, annotators.c.retired)
        .join(annotators, annotators.c.id == invitations.c.annotator)
        .where(invitations.c.token_hash == hash_token(token))
    ).one_or_none()
    if row is None or row.retired is not None:
        return None
    lapsed = EXPIRED if row.expires <= now else ""
    return Invitation(row.annotator, row.name, USED if row.used is not None else lapsed)


def enter(connection: Connection, token: str, held: str = "", *, now: float) -> str:
    """Spend an invitation; return the secret of the session that begins.

    Of two that spend one invitation at the same moment, one begins a session; `held` as in `begin`.

    Raises:
      ArgumentError: it was spent before, has lapsed, or is none.
    """
    found = invitation(connection, token, now=now)
    if found is None or found.refusal:
        raise ArgumentError(UNKNOWN if found is None else found.refusal)
    mine = invitations.c.token_hash == hash_token(token), invitations.c.used.is_(None)
    if connection.execute(update(invitations).where(*mine).values(used=now)).rowcount != 1:
        raise ArgumentError(USED)
    return begin(connection, found.annotator, held, now=now)


def begin(connection: Connection, annotator_id: int, held: str = "", *, now: float) -> str:
    """Begin a session of a person and return its secret, kept as a hash alone.

    `held` is the secret of the session that the browser held before. If it is another person's, it
    ends: their pages in that browser may still be open, and would go on writing as them.
    """
    others = and_(sessions.c.secret_hash == hash_token(held), sessions.c.annotator != annotator_id)
    connection.execute(delete(sessions).where(or_(_has_ended(now), others)))
    secret = secrets.token_urlsafe()
    connection.execute(
        insert(sessions).values(
            secret_hash=hash_token(secret), annotator=annotator_id, begun=now, seen=now
        )
    )
    return secret


def find_session_owner(
    connection: Connection, secret: str, *, now: float
) -> tuple[int, bool] | None:
    """Whose session a secret is of, and whether its use should be noted; None for no session."""
    row = connection.execute(_HOLDER, {"hash": hash_token(secret), "now": now}).one_or_none()
    return None if row is None else (row.annotator, row.seen + USE_INTERVAL_S <= now)


def record_use(connection: Connection, secret: str, *, now: float) -> None:
    """Note that a session is used, by which it lasts longer."""
    own = sessions.c.secret_hash == hash_token(secret)
    connection.execute(update(sessions).where(own).values(seen=now))


def under_way(connection: Connection, *, now: float) -> list[Session]:
    """The sessions of everybody, by the order in which people were added and these began."""
    rows = connection.execute(
        select(sessions, annotators.c.name)
        .join(annotators, annotators.c.id == sessions.c.annotator)
        .where(~_has_ended(now))
        .order_by(sessions.c.annotator, sessions.c.id)
    )
    return [
        Session(
            row.id,
            row.name,
            row.begun,
            row.seen,
            min(row.seen + IDLE_TIMEOUT_S, row.begun + LONGEST),
        )
        for row in rows
    ]


def last_use_by_person(connection: Connection) -> dict[int, float]:
    """When each person last used a session that is kept, UTC seconds."""
    latest = func.max(sessions.c.seen)
    rows = connection.execute(select(sessions.c.annotator, latest).group_by(sessions.c.annotator))
    return {row[0]: row[1] for row in rows}


def people_with_invitation(connection: Connection, *, now: float) -> set[int]:
    """Return the numbers of those whose invitation waits to be spent."""
    waiting = invitations.c.used.is_(None), invitations.c.expires > now
    return set(connection.scalars(select(invitations.c.annotator).where(*waiting)))


def end_sessions(connection: Connection, annotator_id: int) -> int:
    """End every session of a person, and the invitation that waits; return how many sessions."""
    _delete_invitation(connection, annotator_id)
    own = sessions.c.annotator == annotator_id
    return connection.execute(delete(sessions).where(own)).rowcount


def _delete_invitation(connection: Connection, annotator_id: int) -> None:
    own = invitations.c.annotator == annotator_id, invitations.c.used.is_(None)
    connection.execute(delete(invitations).where(*own))


def _has_ended(now: float | BindParameter[float]) -> ColumnElement[bool]:
    return or_(sessions.c.seen <= now - IDLE_TIMEOUT_S, sessions.c.begun <= now - LONGEST)


# Made once: to put a statement together costs more than to run it.
_HOLDER = (
    select(sessions.c.annotator, sessions.c.seen)
    .join(annotators, annotators.c.id == sessions.c.annotator)
    .where(
        sessions.c.secret_hash == bindparam("hash"),
        annotators.c.retired.is_(None),
        ~_has_ended(bindparam("now", type_=Double)),
    )
)


def hash_token(token: str) -> str:
    """Return the hash that is kept of a secret; 256 random bits need neither salt nor stretching.

    The digest is what is looked up, so how long that takes tells nothing about a secret.
    """
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
