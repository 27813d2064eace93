"""The people of a study and their roles.

Functions that take a name raise `UnknownName` unless it is someone's name or pseudonym.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Exists,
    Row,
    bindparam,
    delete,
    exists,
    insert,
    or_,
    select,
    update,
)

from sts.annotations.database import schema
from sts.annotations.database.schema import (
    annotators,
    external_ids,
    invitations,
    item_players,
    rejected,
    roles,
    slots,
)
from sts.annotations.log import events
from sts.annotations.log.changes import ROLE, record_changes
from sts.annotations.people import addresses, deal, sessions
from sts.annotations.people.roles import ROLES
from sts.annotations.records import Annotator
from sts.errors import ArgumentError, UnknownName
from sts.names import clean_name, is_pseudonym, quote, replace_unprintable
from sts.spellings import find_spellings
from sts.storage.files import content_hash

if TYPE_CHECKING:
    from sts.annotations.database.annotation_store import AnnotationStore

# Built once: building a statement takes longer than running it.
_PERSON = select(annotators).where(annotators.c.id == bindparam("number"))
_LOCKED = _PERSON.with_for_update()
_HELD_SLOTS = (
    select(slots.c.id)
    .where(slots.c.annotator == bindparam("number"), slots.c.judged == 0)
    .with_for_update()
)
_ROLES = select(roles.c.role).where(roles.c.annotator == bindparam("number"))


def add_invited(
    connection: Connection,
    name: str,
    role_names: Collection[str] = ROLES[:1],
    email: str | None = None,
    *,
    now: float,
    is_checked: bool = False,
) -> Annotator:
    """Add a person and invite them; see `invite`. With an e-mail address they can also sign in.

    The connection must be the only writer, as for all functions that change people. If
    `is_checked`, the spelling of many names was compared at once; see `refuse_spellings`.

    Raises:
      ArgumentError: the name is taken, differs from another only in how it is written, or is not 1
        to 64 printable characters; or the address is invalid or taken.
    """
    if not is_checked:
        refuse_spellings(connection, [normalise_name(name)])
    person = add_person(connection, name, now=now, role_names=role_names)
    if email is not None:
        addresses.set_address(connection, person.id, email)
    return invite(connection, person.name, now=now)


def add_person(
    connection: Connection, name: str, *, now: float, role_names: Collection[str] = ROLES[:1]
) -> Annotator:
    """Add a person with these roles.

    A name in the form of a pseudonym, as another study assigned it, is also their pseudonym.

    Raises:
      ArgumentError: the name is taken or not 1 to 64 printable characters.
    """
    name = normalise_name(name)
    if find_person(connection, name) is not None:
        raise ArgumentError(f"annotator {name!r} already exists; choose another name")
    pseudonym = name if is_pseudonym(name) else _draw_pseudonym(connection)
    number = connection.execute(
        insert(annotators)
        .values(name=name, pseudonym=pseudonym, name_digest=hash_names(name, pseudonym), added=now)
        .returning(annotators.c.id)
    ).scalar_one()
    if role_names:
        connection.execute(
            insert(roles),
            [{"annotator": number, "role": role, "added": now} for role in role_names],
        )
        record_changes(connection, number, ROLE, [(role, 1) for role in sort_roles(role_names)])
    return Annotator(number, name, pseudonym=pseudonym, roles=sort_roles(role_names))


def refuse_spellings(connection: Connection, names: Collection[str]) -> None:
    """Raise ArgumentError if a new name differs from another only in how it is written."""
    columns = connection.execute(select(annotators.c.name, annotators.c.pseudonym)).all()
    known = {name for row in columns for name in row}
    new = {*names} - known
    for spellings in find_spellings(new | known):
        if fresh := next((name for name in reversed(spellings) if name in new), None):
            other = next(name for name in spellings if name != fresh)
            raise ArgumentError(
                f"annotators {quote(fresh)} and {quote(other)} differ only in how they are "
                "written; use one spelling for one person, or choose another name"
            )


def hash_names(name: str, pseudonym: str) -> str:
    """Hash a person's name and pseudonym, so that changes to them are detected."""
    return content_hash(name.encode(), pseudonym.encode())


def sort_roles(role_names: Collection[str]) -> tuple[str, ...]:
    """Return roles in the order of `ROLES`."""
    return tuple(role for role in ROLES if role in role_names)


def set_role(
    connection: Connection, name: str, role: str, *, is_granted: bool = True, now: float
) -> Annotator:
    """Give a person a role, or remove it unless `is_granted`; repeating it changes nothing.

    Removing the role of annotator releases their open clips; their judgements are kept.
    """
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    person = lock_person(connection, get_person(connection, name).id)
    assignment = roles.c.annotator == person.id, roles.c.role == role
    if is_granted and role not in person.roles:
        connection.execute(insert(roles).values(annotator=person.id, role=role, added=now))
        record_changes(connection, person.id, ROLE, [(role, 1)])
    elif not is_granted:
        if role in person.roles:
            record_changes(connection, person.id, ROLE, [(role, 0)])
        if role in deal.SEEING_ROLES and role in person.roles:
            deal.record_seen(connection, person.id)
        connection.execute(delete(roles).where(*assignment))
        if role == "annotator":
            release_slots(connection, person.id)
    return get_person(connection, name)


def normalise_name(name: str) -> str:
    """Normalise a name; raise ArgumentError unless it is 1 to 64 printable characters.

    One of them must be a letter or a digit: "-", say, is not someone's name.
    """
    name = clean_name(name, 64)
    if not any(map(str.isalnum, name)):
        raise ArgumentError(f"expected a name with a letter or a digit, found {quote(name)}")
    return name


def _draw_pseudonym(connection: Connection) -> str:
    """Return a random pseudonym that no person has."""
    while find_person(connection, pseudonym := f"annotator-{secrets.token_hex(3)}") is not None:
        pass
    return pseudonym


def find_person(connection: Connection, name: str) -> Annotator | None:
    """Return the person with this name or pseudonym, or None."""
    matches = or_(annotators.c.name == name, annotators.c.pseudonym == name)
    row = connection.execute(select(annotators).where(matches)).one_or_none()
    return None if row is None else _load_annotator(connection, row)


def get_person(connection: Connection, name: str) -> Annotator:
    """Return the person with this name or pseudonym; raise UnknownName without one."""
    person = find_person(connection, name)
    if person is None:
        raise UnknownName("annotator", name, [a.name for a in list_people(connection)])
    return person


def get_lead(connection: Connection, name: str) -> Annotator:
    """Return the study lead with this name or pseudonym.

    Raises:
      ArgumentError: the person is deactivated or not a lead.
    """
    person = find_person(connection, name)
    if person is None:
        leads = [lead.name for lead in list_people(connection) if lead.is_lead]
        raise UnknownName("study lead", name, leads)
    if not person.is_lead:
        raise ArgumentError(
            f"{person.name} is not a lead of this study; run sts annotators role {person.name} "
            "lead, or name a lead with --user"
        )
    return person


def find_by_session(store: AnnotationStore, secret: str) -> Annotator | None:
    """Return the person whose session has this secret, renewing it; None if it has ended."""
    now = store.now()
    with store.read() as connection:
        session = sessions.find_session_owner(connection, secret, now=now)
        if session is None:
            return None
        number, use_is_old = session
        row = connection.execute(_PERSON, {"number": number}).one()
        person = _load_annotator(connection, row)
    if use_is_old:
        with store.write() as connection:
            sessions.record_use(connection, secret, now=now)
    return person


def load_pseudonyms(connection: Connection) -> dict[str, str]:
    """Return everyone's pseudonym, by name."""
    return {person.name: person.pseudonym for person in list_people(connection)}


def list_people(connection: Connection) -> list[Annotator]:
    """List everyone who was ever added, in that order."""
    role_names: dict[int, list[str]] = {}
    for number, role in connection.execute(select(roles.c.annotator, roles.c.role)):
        role_names.setdefault(number, []).append(role)
    rows = connection.execute(select(annotators).order_by("id"))
    return [_make_annotator(row, role_names.get(row.id, ())) for row in rows]


def set_email(connection: Connection, name: str, email: str | None) -> Annotator:
    """Set the e-mail address that a person signs in with, replacing any other; None removes it.

    Raise ArgumentError if it is invalid or taken.
    """
    person = get_person(connection, name)
    if email is None:
        addresses.remove_address(connection, person.id)
    else:
        addresses.set_address(connection, person.id, email)
    return person


def sign_in(connection: Connection, email: str, previous_secret: str = "", *, now: float) -> str:
    """Start a session for the person with an e-mail address that an identity provider has verified.

    Return its secret, of which only the hash is stored; see `sessions.start_session`.

    Raises:
      ArgumentError: no person has that address, or they are deactivated.
    """
    number = addresses.find_person_id(connection, email)
    if number is None:
        raise ArgumentError(
            f"No member of this study has the address {replace_unprintable(email)}. Ask the study "
            "lead to add it, or sign in with another address."
        )
    return sessions.start_session(connection, number, previous_secret, now=now)


def end_sessions(connection: Connection, name: str) -> int:
    """End a person's sessions and their unused invitation; return the number of sessions."""
    return sessions.end_sessions(connection, get_person(connection, name).id)


def deactivate(connection: Connection, name: str, *, now: float) -> Annotator:
    """Deactivate a person, ending sessions and releasing clips; their judgements are kept."""
    person = lock_person(connection, get_person(connection, name).id)
    _set_deactivated(connection, person.id, now)
    sessions.end_sessions(connection, person.id)
    release_slots(connection, person.id)
    return get_person(connection, name)


def invite(connection: Connection, name: str, *, now: float) -> Annotator:
    """Invite a person; the result has the `token`, of which only the hash is stored.

    It replaces their unused invitation, keeps their sessions, and reactivates a deactivated person.
    """
    person = get_person(connection, name)
    if person.deactivated and person.name == person.pseudonym:
        raise ArgumentError(f"{name} was forgotten, or never had a name; add them as a new person")
    _set_deactivated(connection, person.id, None)
    token = sessions.create_invitation(connection, person.id, now=now)
    return replace(person, token=token, deactivated=False)


def anonymise(connection: Connection, name: str, *, now: float) -> Annotator:
    """Deactivate a person and erase their name, address, external id, and the texts they wrote.

    Their verdicts are kept under their pseudonym, which replaces the name. The digests of their
    texts are kept as well, so that the chain of their events can still be verified.
    """
    person = deactivate(connection, name, now=now)
    is_person = annotators.c.id == person.id
    names = {
        "name": person.pseudonym,
        "name_digest": hash_names(person.pseudonym, person.pseudonym),
    }
    connection.execute(update(annotators).where(is_person).values(names))
    is_sender = rejected.c.annotator == person.id
    connection.execute(update(rejected).where(is_sender).values(raw="", message="erased"))
    connection.execute(delete(invitations).where(invitations.c.annotator == person.id))
    pauses = schema.controls
    is_theirs = or_(pauses.c.person == person.id, pauses.c.annotator == person.id)
    is_pause = pauses.c.setting == "pause"
    connection.execute(update(pauses).where(is_theirs, is_pause).values(reason=""))
    connection.execute(delete(external_ids).where(external_ids.c.annotator == person.id))
    addresses.remove_address(connection, person.id)
    events.erase_texts(connection, person.id)
    return replace(person, name=person.pseudonym)


def has_played(item_id: ColumnElement[str] | str, annotator_id: int | BindParameter[int]) -> Exists:
    """Select items that a person played, and so may neither judge nor review."""
    own = select(annotators.c.pseudonym).where(annotators.c.id == annotator_id).scalar_subquery()
    return exists().where(item_players.c.item == item_id, item_players.c.pseudonym == own)


def _set_deactivated(connection: Connection, annotator_id: int, when: float | None) -> None:
    is_person = annotators.c.id == annotator_id
    connection.execute(update(annotators).where(is_person).values(deactivated=when))


def release_slots(
    connection: Connection, annotator_id: int, *conditions: ColumnElement[bool]
) -> None:
    """Release the open slots that meet the conditions, of a person whose rows are locked."""
    own_open = slots.c.annotator == annotator_id, slots.c.judged == 0
    released = update(slots).where(*own_open, *conditions)
    connection.execute(released.values(annotator=None, lease_until=None))


def lock_person(connection: Connection, annotator_id: int) -> Annotator:
    """Lock a person and the slots they hold against other transactions.

    Transactions never wait for any other rows, since they take other people's with SKIP LOCKED, so
    there are no deadlocks.

    Raises:
      UnknownName: there is no such person.
    """
    parameters = {"number": annotator_id}
    row = connection.execute(_LOCKED, parameters).one_or_none()
    if row is None:
        ids = [str(person.id) for person in list_people(connection)]
        raise UnknownName("annotator number", str(annotator_id), ids)
    connection.execute(_HELD_SLOTS, parameters).all()
    return _load_annotator(connection, row)


def _load_annotator(connection: Connection, row: Row[*tuple[Any, ...]]) -> Annotator:
    return _make_annotator(row, connection.scalars(_ROLES, {"number": row.id}).all())


def _make_annotator(row: Row[*tuple[Any, ...]], role_names: Collection[str]) -> Annotator:
    return Annotator(
        row.id,
        row.name,
        pseudonym=row.pseudonym,
        deactivated=row.deactivated is not None,
        roles=sort_roles(role_names),
    )
