"""The people of a study: who they are, and what they do.

Functions that take a name raise `UnknownName` if it is neither a name nor a pseudonym of anyone.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, Row, bindparam, delete, insert, or_, select, update

from sts.annotations import addresses, events, sessions
from sts.annotations.roles import ROLES
from sts.annotations.schema import annotators, invitations, item_players, refused, roles, slots
from sts.annotations.types import Annotator
from sts.errors import ArgumentError, UnknownName
from sts.names import clean_name, printable
from sts.storage.files import content_hash

if TYPE_CHECKING:
    from sts.annotations.store import Store

# Made once: to put a statement together costs more than to run it.
_PERSON = select(annotators).where(annotators.c.id == bindparam("number"))
_LOCKED = _PERSON.with_for_update()
_HELD_SLOTS = (
    select(slots.c.id)
    .where(slots.c.annotator == bindparam("number"), slots.c.judged == 0)
    .with_for_update()
)
_ROLES = select(roles.c.role).where(roles.c.annotator == bindparam("number"))
_PSEUDONYM = re.compile(r"annotator-[0-9a-f]{6}")


def add_invited(
    connection: Connection,
    name: str,
    doing: Collection[str] = ROLES[:1],
    email: str | None = None,
    *,
    now: float,
) -> Annotator:
    """Add a person, who is invited; see `invite`. With an address they can sign in as well.

    The connection is alone in writing, as for all that changes who takes part.

    Raises:
      ArgumentError: the name is taken, or not 1 to 64 printable characters; or the address is
        invalid, or somebody else's.
    """
    person = add_person(connection, name, now=now, doing=doing)
    if email is not None:
        addresses.set_address(connection, person.id, email)
    return invite(connection, person.name, now=now)


def add_person(
    connection: Connection, name: str, *, now: float, doing: Collection[str] = ROLES[:1]
) -> Annotator:
    """Add a person in the roles `doing`.

    A name of the form of a pseudonym is one already, as another study has given it, and stays so.

    Raises:
      ArgumentError: the name is taken or not 1 to 64 printable characters.
    """
    name = checked_name(name)
    if find_person(connection, name) is not None:
        raise ArgumentError(f"annotator {name!r} already exists; choose another name")
    pseudonym = name if _PSEUDONYM.fullmatch(name) else _draw_pseudonym(connection)
    number = connection.execute(
        insert(annotators)
        .values(name=name, pseudonym=pseudonym, seal=hash_names(name, pseudonym), added=now)
        .returning(annotators.c.id)
    ).scalar_one()
    if doing:
        connection.execute(
            insert(roles), [{"annotator": number, "role": role, "added": now} for role in doing]
        )
    return Annotator(number, name, pseudonym=pseudonym, roles=sort_roles(doing))


def hash_names(name: str, pseudonym: str) -> str:
    """Return the digest of what a person is called, by which a change of it is found."""
    return content_hash(name.encode(), pseudonym.encode())


def _draw_pseudonym(connection: Connection) -> str:
    """Return one that nobody has; it is drawn, so it tells nothing about a name."""
    while True:
        drawn = f"annotator-{secrets.token_hex(3)}"
        if find_person(connection, drawn) is None:
            return drawn


def sort_roles(doing: Collection[str]) -> tuple[str, ...]:
    """Return roles in the order of `ROLES`."""
    return tuple(role for role in ROLES if role in doing)


def set_role(
    connection: Connection, name: str, role: str, *, held: bool = True, now: float
) -> Annotator:
    """Give a person a role, or takes it away; repeating it changes nothing.

    Who no longer judges frees what waits for them; their judgements stay.

    Raises:
      UnknownName: there is no such person, or no such role.
    """
    if role not in ROLES:
        raise UnknownName("role", role, ROLES)
    person = lock_person(connection, named(connection, name).id)
    own = roles.c.annotator == person.id, roles.c.role == role
    if held and role not in person.roles:
        connection.execute(insert(roles).values(annotator=person.id, role=role, added=now))
    elif not held:
        connection.execute(delete(roles).where(*own))
        if role == "annotator":
            _release_slots(connection, person.id)
    return named(connection, name)


def checked_name(name: str) -> str:
    """Return `name` as it is kept: composed Unicode without outer spaces.

    Raises:
      ArgumentError: it is not 1 to 64 printable characters.
    """
    return clean_name(name, 64)


def find_person(connection: Connection, name: str) -> Annotator | None:
    """The person of that name or pseudonym."""
    called = or_(annotators.c.name == name, annotators.c.pseudonym == name)
    row = connection.execute(select(annotators).where(called)).one_or_none()
    return None if row is None else _load_annotator(connection, row)


def named(connection: Connection, name: str) -> Annotator:
    """The person of that name or pseudonym.

    Raises:
      UnknownName: there is none.
    """
    found = find_person(connection, name)
    if found is None:
        raise UnknownName("annotator", name, [a.name for a in everybody(connection)])
    return found


def find_by_id(connection: Connection, annotator_id: int) -> Annotator | None:
    """The person of that number."""
    found = connection.execute(_PERSON, {"number": annotator_id}).one_or_none()
    return None if found is None else _load_annotator(connection, found)


def find_by_session(store: Store, secret: str) -> Annotator | None:
    """Return whose session a secret is of, which lasts longer by it; None if it has ended."""
    now = store.now()
    with store.read() as connection:
        held = sessions.find_session_owner(connection, secret, now=now)
        person = find_by_id(connection, held[0]) if held else None
    if held and held[1]:
        with store.write() as connection:
            sessions.record_use(connection, secret, now=now)
    return person


def pseudonyms(connection: Connection) -> dict[str, str]:
    """Return what exports call each person, by their name."""
    return {one.name: one.pseudonym for one in everybody(connection)}


def everybody(connection: Connection) -> list[Annotator]:
    """Everyone ever added, in that order."""
    doing: dict[int, list[str]] = {}
    for number, role in connection.execute(select(roles.c.annotator, roles.c.role)):
        doing.setdefault(number, []).append(role)
    rows = connection.execute(select(annotators).order_by("id"))
    return [_make_annotator(row, doing.get(row.id, ())) for row in rows]


def set_email(connection: Connection, name: str, email: str | None) -> Annotator:
    """Have a person sign in by an e-mail address in place of any other; None: by none.

    Raises:
      ArgumentError: it is invalid, or somebody else's.
      UnknownName: there is no such person.
    """
    person = named(connection, name)
    if email is None:
        addresses.remove_address(connection, person.id)
    else:
        addresses.set_address(connection, person.id, email)
    return person


def sign_in(connection: Connection, email: str, held: str = "", *, now: float) -> str:
    """Begin a session of the person with an address, which a provider has verified.

    Return its secret, kept as a hash alone; `held` as in `sessions.begin`.

    Raises:
      ArgumentError: no person has that address, or they have retired.
    """
    number = addresses.find_person_id(connection, email)
    if number is None:
        raise ArgumentError(
            f"Nobody takes part in this study as {printable(email)}. Ask whoever leads it "
            "to add that address, or sign in with another."
        )
    return sessions.begin(connection, number, held, now=now)


def revoke(connection: Connection, name: str) -> int:
    """End a person's sessions, and the invitation that waits; return how many sessions."""
    return sessions.end_sessions(connection, named(connection, name).id)


def retire(connection: Connection, name: str, *, now: float) -> Annotator:
    """Lets a person in no longer and frees what waits for them; their judgements stay."""
    person = lock_person(connection, named(connection, name).id)
    _set_deactivated(connection, person.id, now)
    sessions.end_sessions(connection, person.id)
    _release_slots(connection, person.id)
    return named(connection, name)


def invite(connection: Connection, name: str, *, now: float) -> Annotator:
    """Invite a person; the `token` of the result is shown once, since only its hash is kept.

    An invitation that they have not spent ends, their sessions go on; who was retired is back.
    """
    person = named(connection, name)
    _set_deactivated(connection, person.id, None)
    token = sessions.create_invitation(connection, person.id, now=now)
    return replace(person, token=token, retired=False)


def forget(connection: Connection, name: str, *, now: float) -> Annotator:
    """Retires a person and empties what tells who they are: name, address, and their own words.

    Their verdicts stay under the pseudonym, which takes the place of the name, and so do the
    digests of their words, by which the chain of their events still holds.
    """
    person = retire(connection, name, now=now)
    mine = annotators.c.id == person.id
    called = {"name": person.pseudonym, "seal": hash_names(person.pseudonym, person.pseudonym)}
    connection.execute(update(annotators).where(mine).values(called))
    connection.execute(
        update(item_players).where(item_players.c.name == person.name).values(name=person.pseudonym)
    )
    aside = refused.c.annotator == person.id
    connection.execute(update(refused).where(aside).values(raw="", message="forgotten"))
    connection.execute(delete(invitations).where(invitations.c.annotator == person.id))
    addresses.remove_address(connection, person.id)
    events.erase_texts(connection, person.id)
    return replace(person, name=person.pseudonym)


def _set_deactivated(connection: Connection, annotator_id: int, when: float | None) -> None:
    own = annotators.c.id == annotator_id
    connection.execute(update(annotators).where(own).values(retired=when))


def _release_slots(connection: Connection, annotator_id: int) -> None:
    """Lets others have what waits for a person whose rows are locked."""
    connection.execute(
        update(slots)
        .where(slots.c.annotator == annotator_id, slots.c.judged == 0)
        .values(annotator=None, lease_until=None)
    )


def lock_person(connection: Connection, annotator_id: int) -> Annotator:
    """Make this the only transaction of that person, and takes the slots they hold.

    These are the only rows a transaction ever waits for; those of others are taken with SKIP
    LOCKED. So no two transactions wait for each other.

    Raises:
      UnknownName: there is no such person.
    """
    own = {"number": annotator_id}
    row = connection.execute(_LOCKED, own).one_or_none()
    if row is None:
        known = [str(person.id) for person in everybody(connection)]
        raise UnknownName("annotator number", str(annotator_id), known)
    connection.execute(_HELD_SLOTS, own).all()
    return _load_annotator(connection, row)


def _load_annotator(connection: Connection, row: Row[*tuple[Any, ...]]) -> Annotator:
    return _make_annotator(row, connection.scalars(_ROLES, {"number": row.id}).all())


def _make_annotator(row: Row[*tuple[Any, ...]], doing: Collection[str]) -> Annotator:
    return Annotator(
        row.id,
        row.name,
        pseudonym=row.pseudonym,
        retired=row.retired is not None,
        roles=sort_roles(doing),
    )
