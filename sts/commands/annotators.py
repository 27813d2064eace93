"""`sts annotators`: who takes part, what each does, and how they come in."""

from __future__ import annotations

import argparse
import getpass
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sts.annotations.database.annotation_store import AnnotationStore, Connection
from sts.annotations.findings.plan import validate_reason
from sts.annotations.people import (
    addresses,
    consent,
    exclusions,
    external_ids,
    members,
    payable_time,
    people,
)
from sts.annotations.people import sessions as entries
from sts.annotations.people.roles import ROLES
from sts.annotations.people.sessions import DAY_S, INVITATION_LIFETIME_S
from sts.annotations.queue import balance
from sts.annotations.records import Annotator
from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.commands.study import read_study
from sts.errors import ArgumentError, UnknownName
from sts.names import count_noun, format_time
from sts.storage.csv_tables import format_csv
from sts.storage.files import write_atomically
from sts.storage.lines import map_lines, read_rows
from sts.storage.workspace import Workspace

if TYPE_CHECKING:
    from sts.live.forgetting import Traces


def add(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Add people, which alone begins a study; nothing is begun if one of them cannot be kept."""
    if (args.name is None) is (args.csv is None) or (args.csv and args.email is not None):
        raise ArgumentError("expected either NAME or --csv FILE, and --email only with NAME")

    def parse(cells: Mapping[str, str]) -> tuple[str, Sequence[str], str | None]:
        doing = cells["role"].split() or args.role or ROLES[:1]
        if unknown := [role for role in doing if role not in ROLES]:
            raise UnknownName("role", unknown[0], ROLES)
        email = addresses.normalise_email(cells["email"]) if cells["email"] else None
        return people.normalise_name(cells["name"]), doing, email

    if args.email is not None:
        addresses.normalise_email(args.email)
    rows = {1: {"name": args.name, "role": "", "email": args.email}}
    if args.csv:
        rows = read_rows(args.csv, ("name",), ("role", "email"))
    new = map_lines(args.csv, rows, parse)
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        people.refuse_spellings(connection, [name for name, _, _ in new.values()])
        added = map_lines(
            args.csv,
            new,
            lambda person: people.add_invited(
                connection, *person, now=store.now(), is_checked=True
            ),
        ).values()
        described = [_describe_person(connection, person) for person in added]
    if not args.csv:
        return described[0]
    links = [(person.name, f"/enter?t={person.token}") for person in added]
    text = (
        f"{format_table(('annotator', 'link'), links)}\nEach link follows the address that "
        f"`sts annotate` prints, works once, within {INVITATION_LIFETIME_S / DAY_S:.0f} days, and "
        "is not shown again."
    )
    return Result({"annotators": [result.value for result in described]}, text)


def invite(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Invite a person again."""
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        return _describe_person(connection, people.invite(connection, args.name, now=store.now()))


def deactivate(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Let a person in no longer."""
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        return _describe_person(
            connection, people.deactivate(connection, args.name, now=store.now())
        )


def role(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Give a person a role, or take it away."""
    is_granted = not args.remove
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        now = store.now()
        person = people.set_role(connection, args.name, args.role, is_granted=is_granted, now=now)
        return _describe_person(connection, person)


def recruit(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Create or close the link with which participants of a crowd platform join."""
    if bool(args.people) is args.close:
        raise ArgumentError("expected either --people N or --close")
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        if args.close:
            closed = external_ids.close_link(connection)
            text = "the study link is closed" if closed else "there is no study link to close"
            return Result({"closed": closed}, text)
        token = external_ids.open_link(connection, args.people, now=store.now())
    link = f"/enter?t={token}&pid="
    text = (
        f"Give the platform the address that `sts annotate` prints, followed by\n  {link}\nand the "
        f"platform's placeholder for its participant id. At most {args.people} people can join. "
        "The link is not shown again."
    )
    return Result({"link": link, "people": args.people}, text)


def hours(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Write the active hours of each pseudonym as CSV."""
    rows = read_study(workspace, payable_time.load_payable_time) or []
    columns = payable_time.PayableTime._fields
    cells = [[round(c, 4) if isinstance(c, float) else c for c in row] for row in rows]
    write_atomically(args.out, format_csv(columns, cells))
    total = sum(row.hours for row in rows)
    text = f"{args.out}: {total:.2f} active hours of {count_noun(len(rows), 'annotator')}"
    return Result({"file": str(args.out), "annotators": [row._asdict() for row in rows]}, text)


def exclude(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Exclude a person's judgements in the name of a lead, or count them again."""
    reason = validate_reason(args.reason)
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        lead = people.get_lead(connection, args.author or getpass.getuser())
        decision = exclusions.set_excluded(
            connection, args.name, lead, reason, withdraw=args.withdraw, now=store.now()
        )
    count = count_noun(decision.judgements, "judgement")
    text = f"{decision.name} is excluded by {lead.name}: {count} no longer count"
    if args.withdraw:
        text = f"{decision.name} is no longer excluded: {count} count again"
    return Result(decision._asdict(), text)


def email(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Keep by which address a person can sign in, or that they have no address."""
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        return _describe_person(connection, people.set_email(connection, args.name, args.email))


def _open_store(workspace: Workspace, name: str) -> AnnotationStore:
    """Return the store in which a person may be; raise UnknownName if no study has begun."""
    store = AnnotationStore.find(workspace)
    if store is None:
        raise UnknownName("annotator", name, ())
    return store


def _describe_person(connection: Connection, annotator: Annotator) -> Result:
    """Return a person's roles after a change, and how they sign in."""
    email = addresses.load_addresses(connection).get(annotator.id)
    name, link = annotator.name, f"/enter?t={annotator.token}" if annotator.token else None
    doing = ", ".join(annotator.roles) or "nothing"
    if annotator.deactivated:
        text = f"{name} is deactivated; `sts annotators invite` reactivates them"
    elif link is None:
        text = f"{name} is now: {doing}" + (f"; signs in as {email}" if email else "")
    else:
        text = (
            f"{name} signs in at the address that `sts annotate` prints, followed by\n  {link}\n"
            f"The link works once, within {INVITATION_LIFETIME_S / DAY_S:.0f} days, and is not "
            "shown again; `sts annotators invite` makes another."
        )
        text += (
            f"\nIf sign-in with an account is set up, they can also use {email}." if email else ""
        )
    value = {"id": annotator.id, "name": name, "pseudonym": annotator.pseudonym}
    value |= {"roles": list(annotator.roles), "email": email, "link": link}
    return Result(value, text)


def sign_out(args: argparse.Namespace, workspace: Workspace) -> Result:
    """End a person's sessions and cancel their invitation."""
    with _open_store(workspace, args.name) as store, store.write(exclusive=True) as connection:
        ended = people.end_sessions(connection, args.name)
    sessions = count_noun(ended, "session")
    text = f"{args.name}: {sessions} ended; `sts annotators invite` would let them in again"
    return Result({"name": args.name, "ended": ended}, text)


def anonymise(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Erase what identifies a person, and their live sessions, or show what that would do."""
    from sts.live import forgetting  # slow to import

    sure, keep_suites = args.yes, args.suites == "keep"
    with _open_store(workspace, args.name) as store:
        with store.read() as connection:
            person = people.get_person(connection, args.name)
            judged = balance.count_judged(connection, person.id)
            traces, file = forgetting.find_traces(workspace, person.pseudonym), store.study.consent
            if keep_suites and traces.suites:
                text = consent.load_text(workspace, file) if file else None
                if why := consent.find_objection(connection, person.id, text, traces.recorded):
                    raise ArgumentError(f"--suites keep is not allowed for {person.name}: {why}")
        if sure and traces.suites and args.suites is None:
            raise ArgumentError(_describe_suites(traces, person, None))
        rest = traces.without_suites() if keep_suites else traces
        forgetting.check_unused(workspace, rest)
        folders = forgetting.find_reports(workspace, person.pseudonym, rest.suites)
        if sure and traces.sessions:  # in two steps, so that they begin no other session
            with store.write(exclusive=True) as connection:
                people.deactivate(connection, args.name, now=store.now())
        if sure:
            forgetting.forget(workspace, person.pseudonym, keep_suites=keep_suites)
            with store.write(exclusive=True) as connection:
                people.anonymise(connection, args.name, now=store.now())
    are = "are" if sure else "would be"
    reports = [folder.relative_to(workspace.root).as_posix() for folder in folders]
    others = len(rest.people - {person.pseudonym})
    counts = {"session": len(rest.sessions), "recording": len(rest.recordings)}
    counts["candidate"] = sum(not label for label, _ in rest.cut_scenarios)
    counted = ", ".join(count_noun(count, noun) for noun, count in counts.items())
    partners, listed = count_noun(others, "other participant"), ", ".join(reports)
    lines = [
        f"{person.name} {'is' if sure else 'would be'} anonymised: name, address and comments "
        f"{are} erased and access ends; verdicts on {judged} clips are kept under "
        f"{person.pseudonym}",
        *([f"of their live sessions, {counted} {are} erased"] if traces.sessions else []),
        *([f"actions and texts of {partners} {are} erased, too"] if others else []),
        *([f"reports {are} erased; sts report makes them again: {listed}"] if reports else []),
        *([_describe_suites(traces, person, args.suites)] if traces.suites else []),
        *([] if sure else ["this cannot be undone: add --yes to do it"]),
    ]
    value = {"pseudonym": person.pseudonym, "judged": judged, "forgotten": sure}
    value |= {"erased": counts, "suites": traces.suites, "others": others, "reports": reports}
    return Result(value, "\n".join(lines))


def _describe_suites(traces: Traces, person: Annotator, choice: str | None) -> str:
    """Return what happens to scenarios in frozen suites, or between what to choose."""
    suites = ", ".join(f"{label} ({', '.join(ids)})" for label, ids in traces.suites.items())
    if choice == "erase":
        return f"erased from suites, of which versions without them are frozen: {suites}"
    if choice == "keep":
        return (
            f"kept, with {person.pseudonym} and the texts in them: {suites}, their continuations, "
            f"and the recordings {', '.join(sorted(traces.in_suites))}"
        )
    return (
        f"recordings of {person.name} are in {suites}: with --suites erase, versions without these "
        "scenarios are frozen, and the old ones can no longer be verified; with --suites keep, "
        "the recordings stay, if the consent text allowed it"
    )


def sessions(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List the browsers that people have entered with."""
    store = _open_store(workspace, args.name) if args.name else AnnotationStore.find(workspace)
    selected = []
    if store is not None:
        with store, store.read() as connection:
            name = None if args.name is None else people.get_person(connection, args.name).name
            open_sessions = entries.list_open_sessions(connection, now=store.now())
            selected = [session for session in open_sessions if name in (None, session.name)]
    rows = [
        (session.name, *map(format_time, (session.started, session.last_seen, session.ends)))
        for session in selected
    ]
    header = ("annotator", "signed in (UTC)", "last seen", "expires if not used")
    text = format_table(header, rows) if rows else "no session is open"
    return Result({"sessions": [session._asdict() for session in selected]}, text)


def consents(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Count who agreed to which version of the study's text."""
    counts = read_study(workspace, consent.count_consents) or []
    rows = [(*count[:2], format_time(count.first), format_time(count.last)) for count in counts]
    header = ("version", "people", "first (UTC)", "last")
    text = format_table(header, rows) if rows else "no annotator was asked to agree to anything"
    return Result({"consents": [count._asdict() for count in counts]}, text)


def ls(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List everyone, with what they do."""
    store, rows = AnnotationStore.find(workspace), []
    if store is not None:
        with store, store.read() as connection:
            rows = _annotator_table(connection, store.now())
    if not rows:
        return Result({"annotators": []}, "no members yet: add one with sts annotators add NAME")
    optional = [name for name in ("email", "external_id") if not any(row[name] for row in rows)]
    columns = [name for name in rows[0] if name not in optional]
    shown = [row | {"roles": ", ".join(row["roles"])} for row in rows]
    cells = [[row[name] for name in columns] for row in shown]
    return Result({"annotators": rows}, format_table(columns, cells))


def _annotator_table(connection: Connection, now: float) -> list[dict[str, Any]]:
    emails = addresses.load_addresses(connection)
    external = external_ids.load_external_ids(connection)
    return [
        {
            "annotator": member.person.name,
            "pseudonym": member.person.pseudonym,
            "roles": list(member.person.roles),
            "judged": member.total,
            "email": emails.get(member.person.id),
            "external_id": external.get(member.person.name),
            "state": member.access,
        }
        for member in members.list_members(connection, now=now)
    ]
