"""`sts annotators`: who takes part, what each does, and how they come in."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from sts.annotations.roles import DUTIES, ROLES
from sts.cli.arguments import say, table
from sts.cli.command import Command

if TYPE_CHECKING:
    from sts.annotations.store import Store
    from sts.annotations.types import Annotator
    from sts.storage.workspace import Workspace

_EXAMPLE = "sts annotators add Ana"
NO_SESSION, NO_CONSENT = "no session is open", "no annotator was asked to agree to anything"


def _configure(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(
        dest="action",
        required=True,
        metavar="add | ls | link | email | sessions | revoke | retire | forget | role | consents",
    )
    for name, words, example in (
        ("add", "add a person and show their invitation, once", "Ana --role curator"),
        ("link", "invite a person again, for another browser too; a retired one is back", "Ana"),
        ("revoke", "end a person's sessions, and the invitation that waits", "Ana"),
        ("retire", "let a person in no longer; their judgements stay", "Ana"),
        ("forget", "empty a person's name and words; their judgements stay", "Ana --yes"),
        ("role", "give a person a role, or take it away", "Ana lead"),
        ("email", "say by which address a person can sign in, or by none", "Ana ana@study.org"),
    ):
        leaf = actions.add_parser(
            name, help=words, description=words, example=f"sts annotators {name} {example}"
        )
        leaf.add_argument("name", metavar="NAME", help="1 to 64 printable characters")
        if name == "add":
            leaf.add_argument(
                "--role",
                action="append",
                choices=ROLES,
                help="what they do; repeatable (default: annotator)",
            )
            leaf.add_argument(
                "--email",
                metavar="ADDRESS",
                help="also sign in with the account of this address (default: none)",
            )
        if name == "email":
            leaf.add_argument("email", nargs="?", metavar="ADDRESS", help="default: none any more")
        if name == "forget":
            leaf.add_argument(
                "--yes", action="store_true", help="do it (default: say what would be done)"
            )
        if name == "role":
            leaf.add_argument("role", choices=ROLES, help=_duties())
            leaf.add_argument("--remove", action="store_true", help="take it away (default: give)")
    words = "list the browsers that people have entered with"
    leaf = actions.add_parser(
        "sessions", help=words, description=words, example="sts annotators sessions"
    )
    leaf.add_argument("name", nargs="?", metavar="NAME", help="whose (default: everybody's)")
    words = "count who agreed to which version of the study's text"
    actions.add_parser("consents", help=words, description=words, example="sts annotators consents")
    words = "list everyone, with what they do and how many continuations each has judged"
    actions.add_parser("ls", help=words, description=words, example="sts annotators ls")


def _duties() -> str:
    return ", ".join(f"{role} {duty}" for role, duty in DUTIES.items())


def _run(args: argparse.Namespace) -> int:
    from sts.storage.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    if args.action == "ls":
        _list(workspace, as_json=args.json)
        return 0
    store = _find_store(workspace, args)
    if store is None:
        _show_nothing(args)
        return 0
    with store:
        if args.action == "sessions":
            _sessions(store, args.name, as_json=args.json)
        elif args.action == "forget":
            _forget(store, args.name, sure=args.yes, as_json=args.json)
        elif args.action == "consents":
            _consents(store, as_json=args.json)
        elif args.action == "revoke":
            _revoke(store, args.name, as_json=args.json)
        else:
            _show(*_changed(store, args), as_json=args.json)
    return 0


def _changed(store: Store, args: argparse.Namespace) -> tuple[Annotator, str | None]:
    """Change a person; return them, and the address by which they sign in."""
    from sts.annotations import addresses, people

    name, now = args.name, store.now()
    with store.write(alone=True) as connection:
        if args.action == "add":
            doing = args.role or ROLES[:1]
            person = people.add_invited(connection, name, doing, args.email, now=now)
        elif args.action == "email":
            person = people.set_email(connection, name, args.email)
        elif args.action == "role":
            held = not args.remove
            person = people.set_role(connection, name, args.role, held=held, now=now)
        else:
            change = {"link": people.invite, "retire": people.retire}[args.action]
            person = change(connection, name, now=now)
        return person, addresses.of_everybody(connection).get(person.id)


def _find_store(workspace: Workspace, args: argparse.Namespace) -> Store | None:
    """Return the store that an action needs; only adding a person begins a study.

    Raises:
      ArgumentError: the name or the address of a new person cannot be kept.
      UnknownName: a person is named, and no study has begun.
    """
    from sts.annotations import addresses, people
    from sts.annotations.store import Store
    from sts.errors import UnknownName

    if args.action == "add":
        people.checked_name(args.name)
        if args.email is not None:
            addresses.checked(args.email)
        return Store.open(workspace)
    store = Store.find(workspace)
    if store is None and getattr(args, "name", None):
        raise UnknownName("annotator", args.name, ())
    return store


def _show_nothing(args: argparse.Namespace) -> None:
    """Print what there is to list before a study has begun."""
    if args.action == "sessions":
        say(args.json, {"sessions": []}, NO_SESSION)
    else:
        say(args.json, {"consents": []}, NO_CONSENT)


def _show(annotator: Annotator, email: str | None, *, as_json: bool) -> None:
    from sts.annotations.sessions import DAY, INVITATION

    name, link = annotator.name, f"/enter?t={annotator.token}" if annotator.token else None
    doing = ", ".join(annotator.roles) or "nothing"
    if annotator.retired:
        text = f"{name} is retired; `sts annotators link` would let them in again"
    elif link is None:
        text = (
            f"{name} is now: {doing}; signs in as {email}" if email else f"{name} is now: {doing}"
        )
    else:
        text = (
            f"{name} enters at the address that `sts annotate` prints, followed by\n  {link}\n"
            f"It lets one browser in, once, within {INVITATION / DAY:.0f} days, and is shown this "
            "once; `sts annotators link` makes another."
        )
        text += f"\nThey can also sign in as {email}, where that is offered." if email else ""
    value = {
        "id": annotator.id,
        "name": name,
        "pseudonym": annotator.pseudonym,
        "roles": list(annotator.roles),
        "email": email,
        "link": link,
    }
    say(as_json, value, text)


def _sessions(store: Store, name: str | None, *, as_json: bool) -> None:
    from sts.annotations import people, sessions

    with store.read() as connection:
        own = None if name is None else people.named(connection, name).name
        every = sessions.under_way(connection, now=store.now())
    found = [one for one in every if own in (None, one.name)]
    rows = [(one.name, _date(one.begun), _date(one.seen), _date(one.ends)) for one in found]
    header = ("annotator", "entered (UTC)", "last seen", "ends if not used")
    text = table(header, rows) if rows else NO_SESSION
    say(as_json, {"sessions": [one._asdict() for one in found]}, text)


def _revoke(store: Store, name: str, *, as_json: bool) -> None:
    from sts.annotations import people

    with store.write(alone=True) as connection:
        ended = people.revoke(connection, name)
    text = (
        f"{name}: {ended} session{'' if ended == 1 else 's'} ended; `sts annotators link` would "
        "let them in again"
    )
    say(as_json, {"name": name, "ended": ended}, text)


def _forget(store: Store, name: str, *, sure: bool, as_json: bool) -> None:
    from sts.annotations import people, views

    with store.read() as connection:
        person = people.named(connection, name)
        judged = views.count_judged(connection, person.id)
    if sure:
        with store.write(alone=True) as connection:
            people.forget(connection, name, now=store.now())
    text = (
        f"{person.name} {'is' if sure else 'would be'} forgotten: the name and their own words "
        f"{'are' if sure else 'would be'} emptied, they come in no more, and {judged} judged clips "
        f"stay under {person.pseudonym}"
    )
    if not sure:
        text += "; this cannot be undone: add --yes to do it"
    value = {"pseudonym": person.pseudonym, "judged": judged, "forgotten": sure}
    say(as_json, value, text)


def _consents(store: Store, *, as_json: bool) -> None:
    from sts.annotations.consent import counts

    with store.read() as connection:
        found = counts(connection)
    rows = [(one.version, one.people, _date(one.first), _date(one.last)) for one in found]
    header = ("version", "people", "first (UTC)", "last")
    text = table(header, rows) if rows else NO_CONSENT
    say(as_json, {"consents": [one._asdict() for one in found]}, text)


def _date(seconds: float) -> str:
    from datetime import UTC, datetime

    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"


def _list(workspace: Workspace, *, as_json: bool) -> None:
    from sts.annotations import addresses, members
    from sts.annotations.store import Store

    team: list[members.Member] = []
    emails: dict[int, str] = {}
    store = Store.find(workspace)
    if store is not None:
        with store, store.read() as connection:
            team = members.members(connection, now=store.now())
            emails = addresses.of_everybody(connection)
    rows: list[dict[str, Any]] = [
        {
            "annotator": one.person.name,
            "pseudonym": one.person.pseudonym,
            "roles": list(one.person.roles),
            "judged": one.total,
            "email": emails.get(one.person.id),
            "state": one.access,
        }
        for one in team
    ]
    shown = [name for name in rows[0] if name != "email" or emails] if rows else []
    cells = [[_cell(row[name]) for name in shown] for row in rows]
    text = table(shown, cells) if rows else "nobody yet; `sts annotators add NAME` adds a person"
    say(as_json, {"annotators": rows}, text)


def _cell(value: Any) -> Any:
    return ", ".join(value) if isinstance(value, list) else value


COMMAND = Command(
    summary="add, invite, list and retire the people of a study, and say what each does",
    example=_EXAMPLE,
    configure=_configure,
    run=_run,
)
