"""Annotators: who they are and how a personal link lets them in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from sts.annotations.schema import annotators, slots
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, UnknownName
from sts.names import clean_name


def add(connection: Connection, name: str, *, linked: bool, now: float) -> Annotator:
    """Adds a person, with the token of a personal link when `linked`.

    Only the token's hash is kept, so that a copied database lets nobody in; `renew` makes
    another when a link is lost.

    Raises:
      ArgumentError: the name is taken or not 1 to 64 printable characters.
    """
    name = checked_name(name)
    if find(connection, name) is not None:
        raise ArgumentError(f"annotator {name!r} already exists; choose another name")
    token = secrets.token_urlsafe() if linked else None
    number = connection.execute(
        insert(annotators)
        .values(name=name, token_hash=token and _hashed(token), added=now)
        .returning(annotators.c.id)
    ).scalar_one()
    return Annotator(number, name, token, linked)


def checked_name(name: str) -> str:
    """Returns `name` as it is kept: composed Unicode without outer spaces.

    Raises:
      ArgumentError: it is not 1 to 64 printable characters.
    """
    return clean_name(name, 64)


def find(connection: Connection, name: str) -> Annotator | None:
    """The person of that name."""
    row = connection.execute(select(annotators).where(annotators.c.name == name)).one_or_none()
    return None if row is None else _annotator(row)


def named(connection: Connection, name: str) -> Annotator:
    """The person of that name.

    Raises:
      UnknownName: there is none.
    """
    found = find(connection, name)
    if found is None:
        raise UnknownName("annotator", name, [a.name for a in everybody(connection)])
    return found


def everybody(connection: Connection) -> list[Annotator]:
    """Everyone ever added, in that order."""
    return [_annotator(row) for row in connection.execute(select(annotators).order_by("id"))]


def by_token(connection: Connection, token: str) -> Annotator | None:
    """Whose personal link this is; None for an unknown token or a retired person."""
    hashed = _hashed(token)
    row = connection.execute(
        select(annotators).where(annotators.c.token_hash == hashed, annotators.c.retired.is_(None))
    ).one_or_none()
    if row is None or not hmac.compare_digest(row.token_hash, hashed):
        return None
    return _annotator(row)


def renew(connection: Connection, name: str) -> Annotator:
    """Gives a person a new link, lets them in again if retired, and ends their old link."""
    person = named(connection, name)
    token = secrets.token_urlsafe()
    connection.execute(
        update(annotators)
        .where(annotators.c.id == person.id)
        .values(token_hash=_hashed(token), retired=None)
    )
    return Annotator(person.id, person.name, token)


def retire(connection: Connection, name: str, *, now: float) -> Annotator:
    """Ends a person's link and frees what waits for them; their judgements stay."""
    person = named(connection, name)
    connection.execute(
        update(annotators).where(annotators.c.id == person.id).values(retired=now, token_hash=None)
    )
    lock(connection, person.id)
    connection.execute(
        update(slots)
        .where(slots.c.annotator == person.id, slots.c.judged == 0)
        .values(annotator=None, lease_until=None)
    )
    return Annotator(person.id, person.name, linked=False, retired=True)


def lock(connection: Connection, annotator_id: int) -> Annotator:
    """Makes this the only transaction of that person, and takes the slots they hold.

    These are the only rows a transaction ever waits for; those of others are taken with SKIP
    LOCKED. So no two transactions wait for each other.

    Raises:
      UnknownName: there is no such person.
    """
    row = connection.execute(
        select(annotators).where(annotators.c.id == annotator_id).with_for_update()
    ).one_or_none()
    if row is None:
        known = [str(person.id) for person in everybody(connection)]
        raise UnknownName("annotator number", str(annotator_id), known)
    connection.execute(
        select(slots.c.id)
        .where(slots.c.annotator == annotator_id, slots.c.judged == 0)
        .with_for_update()
    ).all()
    return _annotator(row)


def _annotator(row: Row[*tuple[Any, ...]]) -> Annotator:
    return Annotator(
        row.id,
        row.name,
        linked=row.token_hash is not None,
        retired=row.retired is not None,
    )


def _hashed(token: str) -> str:
    # 256 random bits need neither salt nor stretching.
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
