"""`sts annotators`: who takes part, what each does, and how they come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sts.annotations.people.roles import DUTIES, ROLES
from sts.cli.arguments import format_table
from sts.cli.command import Result, argument, declare, group, option, repeatable, switch
from sts.commands.study import LEAD, REASON, get_lead, read_study
from sts.errors import ArgumentError, UnknownName
from sts.names import count_noun, format_time

if TYPE_CHECKING:
    from sts.annotations.database.annotation_store import AnnotationStore, Connection
    from sts.annotations.records import Annotator
    from sts.live.forgetting import Traces
    from sts.storage.workspace import Workspace

_PERSON = argument("NAME", "1 to 64 printable characters")


@declare("add Ana --role curator")
def add(
    workspace: Workspace,
    *,
    name: str | None = argument("NAME", "1 to 64 printable characters", nargs="?"),
    csv: Path | None = option("FILE", "people to add: columns name, role and email", type=Path),
    role: list[str] = repeatable(ROLES, "role; repeatable (default: annotator)"),
    email: str | None = option("ADDRESS", "email address that may sign in as this person"),
) -> Result:
    """Add a person, or those in a CSV file, and show their invitation links once."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.people import addresses, people
    from sts.annotations.people.sessions import DAY_S, INVITATION_LIFETIME_S
    from sts.storage.lines import map_lines, read_rows

    if (name is None) is (csv is None) or (csv and email is not None):
        raise ArgumentError("expected either NAME or --csv FILE, and --email only with NAME")

    def parse(cells: Mapping[str, str]) -> tuple[str, Sequence[str], str | None]:
        doing = cells["role"].split() or role or ROLES[:1]
        if unknown := [word for word in doing if word not in ROLES]:
            raise UnknownName("role", unknown[0], ROLES)
        address = addresses.normalise_email(cells["email"]) if cells["email"] else None
        return people.normalise_name(cells["name"]), doing, address

    if email is not None:
        addresses.normalise_email(email)
    rows = {1: {"name": name or "", "role": "", "email": email or ""}}
    if csv:
        rows = read_rows(csv, ("name",), ("role", "email"))
    new = map_lines(csv, rows, parse)
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        people.refuse_spellings(connection, [name for name, _, _ in new.values()])
        added = map_lines(
            csv,
            new,
            lambda person: people.add_invited(
                connection, *person, now=store.now(), is_checked=True
            ),
        ).values()
        described = [_describe_person(connection, person) for person in added]
    if not csv:
        return described[0]
    links = [(person.name, f"/enter?t={person.token}") for person in added]
    text = (
        f"{format_table(('annotator', 'link'), links)}\nEach link follows the address that "
        f"`sts annotate` prints, works once, within {INVITATION_LIFETIME_S / DAY_S:.0f} days, and "
        "is not shown again."
    )
    return Result({"annotators": [result.value for result in described]}, text)


@declare("invite Ana")
def invite(workspace: Workspace, *, name: str = _PERSON) -> Result:
    """Create a new invitation link, also for another browser; reactivates the person."""
    from sts.annotations.people import people

    return _change(workspace, name, people.invite)


@declare("deactivate Ana")
def deactivate(workspace: Workspace, *, name: str = _PERSON) -> Result:
    """End a person's access; their judgements are kept."""
    from sts.annotations.people import people

    return _change(workspace, name, people.deactivate)


@declare("role Ana lead")
def role(
    workspace: Workspace,
    *,
    name: str = _PERSON,
    role: str = argument(ROLES, ", ".join(f"{role} {duty}" for role, duty in DUTIES.items())),
    remove: bool = switch("remove the role (default: give it)"),
) -> Result:
    """Give a person a role or remove it."""
    from sts.annotations.people import people

    return _change(workspace, name, partial(people.set_role, role=role, is_granted=not remove))


@declare("recruit --people 50")
def recruit(
    workspace: Workspace,
    *,
    n_people: int | None = option(
        "N", "create a link for at most N people, replacing any other", flag="--people", least=1
    ),
    close: bool = switch("close the link; its participants stay signed in"),
) -> Result:
    """Create or close the link with which participants of a crowd platform join."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.people import external_ids

    if close is (n_people is not None):
        raise ArgumentError("expected either --people N or --close")
    with AnnotationStore.open(workspace) as store, store.write(exclusive=True) as connection:
        if n_people is None:
            closed = external_ids.close_link(connection)
            text = "the study link is closed" if closed else "there is no study link to close"
            return Result({"closed": closed}, text)
        token = external_ids.open_link(connection, n_people, now=store.now())
    link = f"/enter?t={token}&pid="
    text = (
        f"Give the platform the address that `sts annotate` prints, followed by\n  {link}\nand the "
        f"platform's placeholder for its participant id. At most {n_people} people can join. "
        "The link is not shown again."
    )
    return Result({"link": link, "people": n_people}, text)


@declare("hours --out hours.csv")
def hours(
    workspace: Workspace,
    *,
    out: Path = option("FILE", "CSV file to write", Path("hours.csv"), type=Path),
) -> Result:
    """Write the active hours of each pseudonym, for payment."""
    from sts.annotations.people import payable_time
    from sts.storage.csv_tables import format_csv
    from sts.storage.files import write_atomically

    rows = read_study(workspace, payable_time.load_payable_time) or []
    columns = payable_time.PayableTime._fields
    cells = [[round(c, 4) if isinstance(c, float) else c for c in row] for row in rows]
    write_atomically(out, format_csv(columns, cells))
    total = sum(row.hours for row in rows)
    text = f"{out}: {total:.2f} active hours of {count_noun(len(rows), 'annotator')}"
    return Result({"file": str(out), "annotators": [row._asdict() for row in rows]}, text)


@declare("exclude Ana --reason 'judged without watching'")
def exclude(
    workspace: Workspace,
    *,
    name: str = _PERSON,
    reason: str = REASON,
    author: str | None = LEAD,
    withdraw: bool = switch("count them again (default: exclude them)"),
) -> Result:
    """Exclude a person's judgements from all results; every report gives the reason."""
    from sts.annotations.findings.plan import validate_reason
    from sts.annotations.people import exclusions

    reason = validate_reason(reason)
    with _open_store(workspace, name) as store, store.write(exclusive=True) as connection:
        lead = get_lead(connection, author)
        decision = exclusions.set_excluded(
            connection, name, lead, reason, withdraw=withdraw, now=store.now()
        )
    count = count_noun(decision.judgements, "judgement")
    text = f"{decision.name} is excluded by {lead.name}: {count} no longer count"
    if withdraw:
        text = f"{decision.name} is no longer excluded: {count} count again"
    return Result(decision._asdict(), text)


@declare("email Ana ana@study.org")
def email(
    workspace: Workspace,
    *,
    name: str = _PERSON,
    email: str | None = argument("ADDRESS", "address (default: remove it)", nargs="?"),
) -> Result:
    """Set or remove the email address with which a person signs in."""
    from sts.annotations.people import people

    with _open_store(workspace, name) as store, store.write(exclusive=True) as connection:
        return _describe_person(connection, people.set_email(connection, name, email))


def _change(workspace: Workspace, name: str, change: Callable[..., Annotator]) -> Result:
    """Change a person, and return what holds for them now."""
    with _open_store(workspace, name) as store, store.write(exclusive=True) as connection:
        return _describe_person(connection, change(connection, name, now=store.now()))


def _open_store(workspace: Workspace, name: str) -> AnnotationStore:
    """Return the store in which a person may be; raise UnknownName if no study has begun."""
    from sts.annotations.database.annotation_store import AnnotationStore

    store = AnnotationStore.find(workspace)
    if store is None:
        raise UnknownName("annotator", name, ())
    return store


def _describe_person(connection: Connection, annotator: Annotator) -> Result:
    """Return a person's roles after a change, and how they sign in."""
    from sts.annotations.people import addresses
    from sts.annotations.people.sessions import DAY_S, INVITATION_LIFETIME_S

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


@declare("sign-out Ana")
def sign_out(workspace: Workspace, *, name: str = _PERSON) -> Result:
    """Sign a person out everywhere and cancel their invitation."""
    from sts.annotations.people import people

    with _open_store(workspace, name) as store, store.write(exclusive=True) as connection:
        ended = people.end_sessions(connection, name)
    sessions = count_noun(ended, "session")
    text = f"{name}: {sessions} ended; `sts annotators invite` would let them in again"
    return Result({"name": name, "ended": ended}, text)


@declare("anonymise Ana --yes")
def anonymise(
    workspace: Workspace,
    *,
    name: str = _PERSON,
    sure: bool = switch("erase (default: only show what would be erased)", flag="--yes"),
    suites: str | None = option(
        ("erase", "keep"),
        "erase or keep recordings of the person in frozen suites (default: refuse)",
    ),
) -> Result:
    """Erase a person's name, comments and live sessions; their judgements are kept."""
    from sts.annotations.people import consent, people
    from sts.annotations.queue import balance
    from sts.live import forgetting  # slow to import

    keep_suites = suites == "keep"
    with _open_store(workspace, name) as store:
        with store.read() as connection:
            person = people.get_person(connection, name)
            judged = balance.count_judged(connection, person.id)
            traces, file = forgetting.find_traces(workspace, person.pseudonym), store.study.consent
            if keep_suites and traces.suites:
                text = consent.load_text(workspace, file) if file else None
                if why := consent.find_objection(connection, person.id, text, traces.recorded):
                    raise ArgumentError(f"--suites keep is not allowed for {person.name}: {why}")
        if sure and traces.suites and suites is None:
            raise ArgumentError(_describe_suites(traces, person, None))
        rest = traces.without_suites() if keep_suites else traces
        forgetting.check_unused(workspace, rest)
        folders = forgetting.find_reports(workspace, person.pseudonym, rest.suites)
        if sure and traces.sessions:  # in two steps, so that they begin no other session
            with store.write(exclusive=True) as connection:
                people.deactivate(connection, name, now=store.now())
        if sure:
            forgetting.forget(workspace, person.pseudonym, keep_suites=keep_suites)
            with store.write(exclusive=True) as connection:
                people.anonymise(connection, name, now=store.now())
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
        *([_describe_suites(traces, person, suites)] if traces.suites else []),
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


@declare("sessions")
def sessions(
    workspace: Workspace, *, name: str | None = argument("NAME", "person (default: all)", nargs="?")
) -> Result:
    """List the browsers in which people are signed in."""
    from sts.annotations.database.annotation_store import AnnotationStore
    from sts.annotations.people import people
    from sts.annotations.people import sessions as entries

    store = _open_store(workspace, name) if name else AnnotationStore.find(workspace)
    selected = []
    if store is not None:
        with store, store.read() as connection:
            name = None if name is None else people.get_person(connection, name).name
            open_sessions = entries.list_open_sessions(connection, now=store.now())
            selected = [session for session in open_sessions if name in (None, session.name)]
    rows = [
        (session.name, *map(format_time, (session.started, session.last_seen, session.ends)))
        for session in selected
    ]
    header = ("annotator", "signed in (UTC)", "last seen", "expires if not used")
    text = format_table(header, rows) if rows else "no session is open"
    return Result({"sessions": [session._asdict() for session in selected]}, text)


@declare("consents")
def consents(workspace: Workspace) -> Result:
    """Count the consents to each version of the study's text."""
    from sts.annotations.people import consent

    counts = read_study(workspace, consent.count_consents) or []
    rows = [(*count[:2], format_time(count.first), format_time(count.last)) for count in counts]
    header = ("version", "people", "first (UTC)", "last")
    text = format_table(header, rows) if rows else "no annotator was asked to agree to anything"
    return Result({"consents": [count._asdict() for count in counts]}, text)


@declare("ls")
def ls(workspace: Workspace) -> Result:
    """List all people with their roles and numbers of judgements."""
    from sts.annotations.database.annotation_store import AnnotationStore

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
    from sts.annotations.people import addresses, external_ids, members

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


ANNOTATORS = group(
    "annotators add Ana",
    add,
    invite,
    sign_out,
    deactivate,
    anonymise,
    role,
    email,
    sessions,
    exclude,
    recruit,
    hours,
    consents,
    ls,
)
