"""Invitations, which can be used once, and the browser sessions that they start."""

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

from sts.annotations.database.schema import annotators, invitations, sessions
from sts.errors import ArgumentError

DAY_S = 86400.0
INVITATION_LIFETIME_S = 7 * DAY_S
"""Seconds for which an invitation is valid."""
IDLE_TIMEOUT_S = 14 * DAY_S
"""Seconds without use after which a session ends."""
MAX_SESSION_S = 90 * DAY_S
"""Seconds after which a session ends even if it is used."""
USE_INTERVAL_S = 300.0
"""Minimum number of seconds between two records of a session's use."""

USED_MESSAGE = "This invitation was already used. Each works only once: ask for a new one."
EXPIRED_MESSAGE = "This invitation has expired. Ask for a new one."
UNKNOWN_MESSAGE = "This invitation is not valid for this study. Ask for a new one."


class Invitation(NamedTuple):
    """The person that a token invites; `refusal` is why it cannot be used any more, or ""."""

    annotator: int
    name: str
    refusal: str


class Session(NamedTuple):
    """A person's browser session: start, last use and end, in UTC seconds.

    The last use is accurate to a few minutes; the end assumes no further use.
    """

    id: int
    name: str
    started: float
    last_seen: float
    ends: float


def create_invitation(connection: Connection, annotator_id: int, *, now: float) -> str:
    """Create an invitation, replacing the person's unused one, and return its token.

    Only the token's hash is stored, so a copy of the database does not let anyone sign in.
    """
    token = secrets.token_urlsafe()
    _delete_invitation(connection, annotator_id)
    connection.execute(
        insert(invitations).values(
            token_hash=hash_token(token),
            annotator=annotator_id,
            created=now,
            expires=now + INVITATION_LIFETIME_S,
        )
    )
    return token


def find_invitation(connection: Connection, token: str, *, now: float) -> Invitation | None:
    """Return the invitation with this token; None if it is unknown or its person is deactivated."""
    row = connection.execute(
        select(invitations, annotators.c.name, annotators.c.deactivated)
        .join(annotators, annotators.c.id == invitations.c.annotator)
        .where(invitations.c.token_hash == hash_token(token))
    ).one_or_none()
    if row is None or row.deactivated is not None:
        return None
    lapsed = EXPIRED_MESSAGE if row.expires <= now else ""
    return Invitation(row.annotator, row.name, USED_MESSAGE if row.used is not None else lapsed)


def accept_invitation(
    connection: Connection, token: str, previous_secret: str = "", *, now: float
) -> str:
    """Use an invitation to start a session; return the session's secret.

    An invitation starts only one session, even if two requests use it at the same moment. See
    `start_session` for `previous_secret`.

    Raises:
      ArgumentError: it was used before, has expired, or is unknown.
    """
    invited_ = find_invitation(connection, token, now=now)
    if invited_ is None or invited_.refusal:
        raise ArgumentError(UNKNOWN_MESSAGE if invited_ is None else invited_.refusal)
    unused = invitations.c.token_hash == hash_token(token), invitations.c.used.is_(None)
    if connection.execute(update(invitations).where(*unused).values(used=now)).rowcount != 1:
        raise ArgumentError(USED_MESSAGE)
    return start_session(connection, invited_.annotator, previous_secret, now=now)


def start_session(
    connection: Connection, annotator_id: int, previous_secret: str = "", *, now: float
) -> str:
    """Start a session for a person and return its secret, of which only the hash is stored.

    `previous_secret` is that of the browser's previous session. If that was another person's, it
    ends: their pages may still be open in the browser and would continue to submit in their name.
    """
    is_other_person = and_(
        sessions.c.secret_hash == hash_token(previous_secret), sessions.c.annotator != annotator_id
    )
    connection.execute(delete(sessions).where(or_(_has_ended(now), is_other_person)))
    secret = secrets.token_urlsafe()
    connection.execute(
        insert(sessions).values(
            secret_hash=hash_token(secret), annotator=annotator_id, started=now, last_seen=now
        )
    )
    return secret


def find_session_owner(
    connection: Connection, secret: str, *, now: float
) -> tuple[int, bool] | None:
    """Return a session's owner, and True if its use is to be recorded; None if it has ended."""
    row = connection.execute(_SESSION_OWNER, {"hash": hash_token(secret), "now": now}).one_or_none()
    return None if row is None else (row.annotator, row.last_seen + USE_INTERVAL_S <= now)


def record_use(connection: Connection, secret: str, *, now: float) -> None:
    """Record that a session was used, which extends it."""
    is_session = sessions.c.secret_hash == hash_token(secret)
    connection.execute(update(sessions).where(is_session).values(last_seen=now))


def list_open_sessions(connection: Connection, *, now: float) -> list[Session]:
    """List open sessions, by the order in which people were added and sessions started."""
    rows = connection.execute(
        select(sessions, annotators.c.name)
        .join(annotators, annotators.c.id == sessions.c.annotator)
        .where(~_has_ended(now))
        .order_by(sessions.c.annotator, sessions.c.id)
    )
    out = []
    for row in rows:
        ends = min(row.last_seen + IDLE_TIMEOUT_S, row.started + MAX_SESSION_S)
        out.append(Session(row.id, row.name, row.started, row.last_seen, ends))
    return out


def last_use_by_person(connection: Connection) -> dict[int, float]:
    """Return each person's last use of a stored session, in UTC seconds."""
    latest = func.max(sessions.c.last_seen)
    rows = connection.execute(select(sessions.c.annotator, latest).group_by(sessions.c.annotator))
    return {person: last_use for person, last_use in rows}


def people_with_invitation(connection: Connection, *, now: float) -> set[int]:
    """Return the numbers of the people with an unused, valid invitation."""
    waiting = invitations.c.used.is_(None), invitations.c.expires > now
    return set(connection.scalars(select(invitations.c.annotator).where(*waiting)))


def end_sessions(connection: Connection, annotator_id: int) -> int:
    """End a person's sessions and their unused invitation; return the number of sessions."""
    _delete_invitation(connection, annotator_id)
    of_person = sessions.c.annotator == annotator_id
    return connection.execute(delete(sessions).where(of_person)).rowcount


def _delete_invitation(connection: Connection, annotator_id: int) -> None:
    unused = invitations.c.annotator == annotator_id, invitations.c.used.is_(None)
    connection.execute(delete(invitations).where(*unused))


def _has_ended(now: float | BindParameter[float]) -> ColumnElement[bool]:
    return or_(
        sessions.c.last_seen <= now - IDLE_TIMEOUT_S, sessions.c.started <= now - MAX_SESSION_S
    )


# Built once: building a statement takes longer than running it.
_SESSION_OWNER = (
    select(sessions.c.annotator, sessions.c.last_seen)
    .join(annotators, annotators.c.id == sessions.c.annotator)
    .where(
        sessions.c.secret_hash == bindparam("hash"),
        annotators.c.deactivated.is_(None),
        ~_has_ended(bindparam("now", type_=Double)),
    )
)


def hash_token(token: str) -> str:
    """Hash a secret for storage; with 256 random bits it needs neither salt nor stretching.

    Secrets are looked up by digest, so the time of a lookup reveals nothing about them.
    """
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
