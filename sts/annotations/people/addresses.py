"""E-mail addresses that identify people who sign in through OpenID Connect."""

import re

from sqlalchemy import Connection, delete, insert, select

from sts.annotations.database.schema import addresses, annotators
from sts.errors import ArgumentError
from sts.names import clean_name, quote

MAX_CHARS = 254
_PATTERN = re.compile(r"[^\s@<>,;]+@[^\s@<>,;]+")


def normalise_email(email: str) -> str:
    """Normalise an e-mail address to lower case; raise ArgumentError if it is invalid."""
    if not _PATTERN.fullmatch(email.strip()):
        raise ArgumentError(f"expected an e-mail address like ana@study.org, found {quote(email)}")
    return clean_name(email, MAX_CHARS).lower()


def set_address(connection: Connection, annotator_id: int, email: str) -> None:
    """Set a person's only address; raise ArgumentError if it is invalid or taken."""
    email = normalise_email(email)
    holder = connection.execute(
        select(annotators.c.id, annotators.c.name)
        .join(addresses, addresses.c.annotator == annotators.c.id)
        .where(addresses.c.email == email)
    ).one_or_none()
    if holder is not None and holder.id != annotator_id:
        raise ArgumentError(f"the address {email} belongs to {holder.name!r}; choose another")
    remove_address(connection, annotator_id)
    connection.execute(insert(addresses).values(annotator=annotator_id, email=email))


def remove_address(connection: Connection, annotator_id: int) -> None:
    """Delete a person's address, if they have one."""
    connection.execute(delete(addresses).where(addresses.c.annotator == annotator_id))


def find_person_id(connection: Connection, email: str) -> int | None:
    """Return the number of the person with an address, or None; deactivated people do not count."""
    return connection.execute(
        select(annotators.c.id)
        .join(addresses, addresses.c.annotator == annotators.c.id)
        .where(addresses.c.email == email.strip().lower(), annotators.c.deactivated.is_(None))
    ).scalar_one_or_none()


def load_addresses(connection: Connection) -> dict[int, str]:
    """Return the addresses of all people who have one, by person number."""
    rows = connection.execute(select(addresses.c.annotator, addresses.c.email))
    return {row.annotator: row.email for row in rows}
