"""Participants of a crowd platform: the study link, and the ids that the platform gives them.

Ids are kept apart from everything else that is known of a person, and are erased with their name.
An id is a weak secret. With the study link it starts a session of a person who was added by that
link and is nothing but an annotator, and it ends no other session.
"""

import re
import secrets
from typing import NamedTuple

from sqlalchemy import Connection, delete, exists, insert, select, update

from sts.annotations.database.schema import annotators, external_ids, study_links
from sts.annotations.people import people, sessions
from sts.errors import ArgumentError

_ID = re.compile(r"[A-Za-z0-9_-]{4,64}")
INVALID_ID = "Your participant id is missing or invalid. Open the study from its platform again."
FULL = "This study has all participants that it needs. Thank you for your interest."
REFUSED = "This link cannot sign you in. Ask the study lead."


class StudyLink(NamedTuple):
    """The link with which participants join: at most `people`, of whom `joined` have."""

    people: int
    joined: int
    created: float


def open_link(connection: Connection, limit: int, *, now: float) -> str:
    """Create the study link for at most `limit` people, replacing any other; return its token.

    The connection must be the only writer, as for all functions here that write.
    """
    token = secrets.token_urlsafe()
    close_link(connection)
    row = {"token_hash": sessions.hash_token(token), "people": limit, "joined": 0, "created": now}
    connection.execute(insert(study_links), row)
    return token


def close_link(connection: Connection) -> bool:
    """Delete the study link and keep sessions; return True if there was a link."""
    return connection.execute(delete(study_links)).rowcount > 0


def load_link(connection: Connection, token: str | None = None) -> StudyLink | None:
    """Return the study link, or None if it is closed or has another token than `token`."""
    query = select(study_links.c.people, study_links.c.joined, study_links.c.created)
    if token is not None:
        query = query.where(study_links.c.token_hash == sessions.hash_token(token))
    row = connection.execute(query).one_or_none()
    return None if row is None else StudyLink(*row)


def validate_id(external_id: str) -> str:
    """Return an external id; raise ArgumentError unless it is 4 to 64 letters, digits, - or _."""
    if not _ID.fullmatch(external_id):
        raise ArgumentError(INVALID_ID)
    return external_id


def find_person_id(connection: Connection, external_id: str) -> int | None:
    """Return the number of the person with an external id, or None."""
    query = select(external_ids.c.annotator).where(external_ids.c.external_id == external_id)
    return connection.execute(query).scalar_one_or_none()


def enter(
    connection: Connection, token: str, external_id: str, previous_secret: str = "", *, now: float
) -> tuple[str, bool]:
    """Start the session of a participant; return its secret, and True if they are new.

    A new participant is an annotator with a random name. See `sessions.start_session`.

    Raises:
      ArgumentError: the link is closed or full, the id is invalid, or the person is deactivated or
        has another role.
    """
    external_id, link = validate_id(external_id), load_link(connection, token)
    if link is None:
        raise ArgumentError(sessions.UNKNOWN_MESSAGE)
    number = find_person_id(connection, external_id)
    if number is not None:
        person = people.lock_person(connection, number)
        if person.deactivated or person.roles != ("annotator",):
            raise ArgumentError(REFUSED)
        return sessions.start_session(connection, number, previous_secret, now=now), False
    if link.joined >= link.people:
        raise ArgumentError(FULL)
    while people.find_person(connection, name := f"participant-{secrets.token_hex(3)}"):
        pass
    number = people.add_person(connection, name, now=now).id
    connection.execute(insert(external_ids).values(annotator=number, external_id=external_id))
    connection.execute(update(study_links).values(joined=link.joined + 1))
    return sessions.start_session(connection, number, previous_secret, now=now), True


def is_from_crowd(connection: Connection, annotator_id: int) -> bool:
    """Return True if a person joined by the study link."""
    query = select(exists().where(external_ids.c.annotator == annotator_id))
    return bool(connection.execute(query).scalar_one())


def load_external_ids(connection: Connection) -> dict[str, str]:
    """Return the external ids of all participants who have one, by name."""
    query = select(annotators.c.name, external_ids.c.external_id).join_from(
        external_ids, annotators
    )
    return {name: external_id for name, external_id in connection.execute(query)}
