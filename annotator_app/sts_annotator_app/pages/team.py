"""Team page of the study lead: members, remaining work, assignments and invitations."""

import logging
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from sts.annotations.answers import progress
from sts.annotations.answers.attention import Attention, list_attention
from sts.annotations.answers.quality import Accuracy, AnnotatorQuality, list_qualities
from sts.annotations.findings.plan import validate_reason
from sts.annotations.log.closings import ClosingEvent, find_closing
from sts.annotations.log.looks import load_race
from sts.annotations.people import people
from sts.annotations.people.consent import ConsentCount, count_consents
from sts.annotations.people.exclusions import Exclusion, load_exclusions, set_excluded
from sts.annotations.people.members import DAY_S, DailyWork, Member, count_assigned
from sts.annotations.people.members import list_members as members_of
from sts.annotations.people.members import load_daily_work as work_of
from sts.annotations.people.roles import ROLES
from sts.annotations.people.sessions import INVITATION_LIFETIME_S
from sts.annotations.queue.balance import list_agents
from sts.annotations.queue.controls import Control, list_pauses, set_pause
from sts.annotations.records import Annotator
from sts.annotations.study import base_suite
from sts.errors import StsError
from sts.names import count_noun, format_time
from sts.suites.suite import describe_unreviewed
from sts_annotator_app import state
from sts_annotator_app.pages.access import require_person
from sts_annotator_app.pages.changes import apply_change, show_link, show_outcome
from sts_annotator_app.pages.estimate import MIN_DAYS, estimate_hours
from sts_annotator_app.pages.race import show_race
from sts_annotator_app.pages.tables import escape_markdown, render_table
from sts_annotator_app.settings import get_settings

RECENT_DAYS = 14
"""Days of annotation time that are shown."""
_LOG = logging.getLogger(__name__)


def show_page() -> None:
    """Show the page to the study lead."""
    lead = require_person("lead")
    if lead is None:
        return
    try:
        _show(lead)
    except StsError as error:
        _LOG.error("%s", error)
        st.error(escape_markdown(f"This page cannot be displayed: {error}"))


def _show(lead: Annotator) -> None:
    store = state.get_store()
    suite = get_settings().queue
    now = store.now()
    with store.read() as connection:
        members, pauses = members_of(connection, now=now), list_pauses(connection)
        consents, exclusions = count_consents(connection), load_exclusions(connection)
        attention = list_attention(connection, store.study)
        qualities = list_qualities(connection, store.study)
        counts = progress.load_progress(connection, suite) if suite else None
        closing = find_closing(connection, suite) if suite else None
        work = work_of(connection, since=now - RECENT_DAYS * DAY_S) if suite else []
        counts_by_agent = count_assigned(connection, suite) if suite else {}
        raced = bool(suite) and store.study.goal != "all"
        race = load_race(connection, suite) if raced else None
        agents = list_agents(connection, base_suite(suite)) if raced else []
    show_outcome()
    st.subheader("Members")
    _show_members(members, lead, now, pauses, consents, attention, qualities, exclusions)
    for decision in exclusions.values():
        st.text(
            f"{decision.name}: excluded since {format_time(decision.decided)} UTC by {decision.by} "
            f"with {count_noun(decision.judgements, 'judgement')}: {decision.reason}"
        )
    _show_member_forms(members, lead, now)
    if counts is None:
        return
    st.subheader("Remaining work")
    if unreviewed := describe_unreviewed(state.get_suite(), ""):
        st.caption(f"{suite}: {unreviewed}.")
    if closing:
        _show_closing(closing, suite, members)
    _show_remaining(counts.judged, counts.annotations_required, counts.remaining, work)
    _show_throughput(work, members)
    if race is not None and len(agents) > 1:
        st.subheader("Race")
        show_race(race, base_suite(suite), lead, agents, store.study.goal, members, now)
    st.subheader("Pauses")
    _show_pauses(suite, members, lead, pauses, now)
    st.subheader("Assignments")
    _show_assignments(counts_by_agent, members)


def _show_members(
    members: Sequence[Member],
    lead: Annotator,
    now: float,
    pauses: Sequence[Control],
    consents: Sequence[ConsentCount],
    attention: Sequence[Attention],
    qualities: Sequence[AnnotatorQuality],
    exclusions: Mapping[int, Exclusion],
) -> None:
    builder = state.get_report_builder() if get_settings().suite else None
    built = builder.built_at if builder else None
    report = _read_report(builder.folder, built) if builder and built is not None else None
    measured = {quality.annotator: quality.right for quality in qualities}
    paused_people = {control.person for control in pauses}
    watching = {entry.annotator: entry for entry in attention}
    rows = [
        (
            member.person.name,
            member.person.pseudonym,
            ", ".join(member.person.roles) or "none",
            "excluded"
            if member.person.id in exclusions
            else _describe_access(
                member, member.person.id in paused_people, member.person.id == lead.id
            ),
            _format_age(member.last_seen, now),
            member.today,
            member.total,
            _format_duration(member.seconds),
            _format_accuracy(measured.get(member.person.name)),
            _format_attention(watching.get(member.person.name)),
            _format_open_clips(member, now),
        )
        for member in members
    ]
    header = ["Name", "Pseudonym", "Roles", "Status", "Last seen", "Today", "Total"]
    header += ["Active time (h:min)", "Accuracy", "Watched", "Open clips (expire in)"]
    st.html(render_table(header, rows))
    notes = ["Days start at midnight UTC. Watched: median share of their latest clips."]
    notes.append("Accuracy: share of references judged correctly, with 95% CI.")
    if report is None:
        notes.append("Agreement appears after the first report.")
    else:
        agreement = _format_agreement(report)
        notes.append(f"From the report of {format_time(built or 0)} UTC: {agreement}")
    if consents:
        newest = consents[-1]
        notes.append(f"Consent to version {newest.version} of the text: {newest.people}.")
    st.caption(" ".join(notes))


def _show_member_forms(members: Sequence[Member], lead: Annotator, now: float) -> None:
    """Show the forms for inviting, signing out and pausing members."""
    with st.expander("Invite someone"), st.form("invite", clear_on_submit=True, border=False):
        name = st.text_input("Name", max_chars=64)
        role_names = st.multiselect("Roles", ROLES, default=ROLES[:1])
        signing_in = get_settings().has_sign_in
        email = st.text_input("E-mail address for sign-in (optional)") if signing_in else ""
        if st.form_submit_button("Invite"):
            apply_change(
                _prepare_invitation, people.add_invited, name, role_names, email or None, now=now
            )
    with st.expander("Manage access: invite again, sign out, pause or exclude"):
        member_name = st.selectbox("Member", [member.person.name for member in members])
        person = next(member.person for member in members if member.person.name == member_name)
        reason = st.text_input("Reason for the pause or exclusion", max_chars=200)
        target = {"annotator_id": person.id, "author_id": lead.id}
        again, end, stop, go, out, back = st.columns(6)
        if again.button("New invitation", width="stretch"):
            apply_change(_prepare_invitation, people.invite, member_name, now=now)
        if end.button("Sign out everywhere", width="stretch"):
            apply_change(
                lambda n: f"{member_name}: signed out of {n} sessions.",
                people.end_sessions,
                member_name,
            )
        if stop.button("Pause", width="stretch"):
            words = f"{member_name} is paused and gets no new clips."
            apply_change(words, set_pause, **target, reason=reason, now=now)
        if go.button("Resume", width="stretch"):
            words = f"{member_name} gets new clips again."
            apply_change(words, set_pause, **target, now=now, resume=True)
        if out.button("Exclude", width="stretch"):
            words = f"{member_name} is excluded: their judgements no longer count."
            apply_change(
                words,
                lambda c: set_excluded(c, member_name, lead, validate_reason(reason), now=now),
            )
        if back.button("Readmit", width="stretch"):
            words = f"{member_name} is no longer excluded: their judgements count again."
            apply_change(
                words,
                lambda c: set_excluded(
                    c, member_name, lead, validate_reason(reason), withdraw=True, now=now
                ),
            )


def _show_remaining(judged: int, required: int, remaining: int, work: Sequence[DailyWork]) -> None:
    if not required:
        st.info("No clips are queued yet.")
        return
    st.progress(
        judged / required, f"{judged} of {required} judgements done, {remaining} remaining."
    )
    expected = estimate_hours(remaining, work)
    if expected is not None:
        hours, low, high = map(_format_hours, expected)
        st.write(
            f"Estimated active time: {hours} h (95% CI {low} to {high} h), "
            f"from the last {RECENT_DAYS} days."
        )
    elif remaining:
        st.caption(
            f"A time estimate appears after {MIN_DAYS} person-days of annotation (days of "
            "different people add up)."
        )


def _show_closing(closing: ClosingEvent, suite: str, members: Sequence[Member]) -> None:
    names = {member.person.pseudonym: member.person.name for member in members}
    by, reason = names.get(closing.by, closing.by), closing.reason.rstrip(".")
    st.info(
        escape_markdown(
            f"Closed early since {format_time(closing.received)} UTC by {by}: {reason}. "
            "No clips are assigned. To reopen it: "
        )
        + f"`sts annotations close {base_suite(suite)} --reopen --reason TEXT`"
    )


def _show_throughput(work: Sequence[DailyWork], members: Sequence[Member]) -> None:
    if not work:
        st.caption(f"No judgements in the last {RECENT_DAYS} days.")
        return
    names = {member.person.id: member.person.name for member in members}
    days = sorted({entry.day for entry in work}, reverse=True)
    rows = []
    for day in days:
        entries = [entry for entry in work if entry.day == day]
        contributions = ", ".join(
            f"{names.get(entry.annotator, '?')} {entry.judged}" for entry in entries
        )
        clips, seconds = sum(e.judged for e in entries), sum(e.seconds for e in entries)
        hourly = round(3600 * clips / seconds) if seconds else None
        rows.append(
            (format_time(day * DAY_S)[:10], clips, _format_duration(seconds), hourly, contributions)
        )
    header = ("Day", "Judgements", "Active time (h:min)", "Per active hour", "Annotators")
    st.html(render_table(header, rows))


def _show_pauses(
    suite: str, members: Sequence[Member], lead: Annotator, standing: Sequence[Control], now: float
) -> None:
    names = {member.person.id: member.person.name for member in members}
    if not standing:
        st.caption("Nothing is paused.")
    for number, control in enumerate(standing):
        subject = names.get(control.person or 0, "someone") if control.person else control.scope
        why = f", {control.reason}" if control.reason else ""
        by = names.get(control.author_id or 0, "the command line or an automatic rule")
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.text(f"{subject}: paused since {format_time(control.created_at)} UTC by {by}{why}")
        if button.button("Resume", key=f"resume {number}", width="stretch"):
            target = {"annotator_id": control.person, "author_id": lead.id}
            words = f"{subject}: resumed."
            apply_change(words, set_pause, control.scope, now=now, resume=True, **target)
    with st.expander("Pause a category or the whole suite"), st.form("pause", border=False):
        categories = sorted({scenario.category for scenario in state.get_suite().scenarios})
        everything = f"all of {suite}"
        subject = st.selectbox("Scope", [everything, *categories])
        reason = st.text_input("Reason", max_chars=200)
        if st.form_submit_button("Pause"):
            scope = suite if subject == everything else f"{suite}/{subject}"
            words = f"No new clips of {scope} are assigned."
            apply_change(words, set_pause, scope, author_id=lead.id, reason=reason, now=now)


def _show_assignments(
    counts_by_agent: Mapping[str, Mapping[int, int]], members: Sequence[Member]
) -> None:
    agents = [*counts_by_agent]
    rows = [
        (member.person.name, *(counts_by_agent[agent].get(member.person.id, 0) for agent in agents))
        for member in members
        if any(member.person.id in counts for counts in counts_by_agent.values())
    ]
    if not rows:
        st.caption("No clips have been assigned yet.")
        return
    st.html(render_table(("Name", *agents), rows))
    st.caption("Number of clips of each agent assigned to each person, annotated or not.")


def _format_accuracy(right: Accuracy | None) -> str | None:
    """Return a person's accuracy with its interval; None without references."""
    if right is None or right.share is None or right.interval is None:
        return None
    return "{:.0%} ({:.0%} to {:.0%})".format(right.share, *right.interval)


def _format_attention(entry: Attention | None) -> str | None:
    """Return the share of their clips that a person watches, with a warning if it is low."""
    if entry is None or entry.watched is None:
        return None
    return f"{entry.watched:.0%}{' (too little)' if entry.flagged else ''}"


def _format_agreement(report: Any) -> str:
    """Return what the report says about agreement; "" if no person has judged."""
    rows = [row for row in report.judging.rows if row.question == "Annotators agree"]
    if not rows:
        return ""
    ends = "" if rows[0].interval is None else " ({:.2f} to {:.2f})".format(*rows[0].interval)
    return f"Agreement: {rows[0].finding}{ends}. {rows[0].reading}"


@lru_cache(maxsize=2)
def _read_report(folder: Path, built: float) -> Any:
    """Return the report built at a time, or None if it is unreadable."""
    from sts_analysis.report.results import read_report

    try:
        return read_report(folder)
    except StsError as error:
        _LOG.error("%s", error)
        return None


def _describe_access(member: Member, paused: bool, looking: bool) -> str:
    """Return a member's status; the person `looking` at the page is signed in by any link."""
    if paused and not member.person.deactivated:
        return "paused"
    return "signed in" if looking else member.access


def _format_open_clips(member: Member, now: float) -> str | None:
    if not member.open_clips or member.next_expiry is None:
        return None
    return f"{member.open_clips}, {max(math.ceil((member.next_expiry - now) / 60), 1)} min"


def _prepare_invitation(person: Annotator) -> str:
    here = (st.context.url or "").rpartition("/")[0]
    show_link(f"{here}/enter?t={person.token}")
    days = f"{INVITATION_LIFETIME_S / DAY_S:.0f} days"
    return f"Send this link to {person.name}. It works once, within {days}:"


def _format_age(seconds: float | None, now: float) -> str | None:
    if seconds is None:
        return None
    minutes = max(now - seconds, 0.0) / 60
    if minutes < 10:
        return "just now"
    if minutes < 120:
        return f"{minutes:.0f} min ago"
    return f"{minutes / 60:.0f} h ago" if minutes < 2880 else f"{minutes / 1440:.0f} days ago"


def _format_duration(seconds: float) -> str:
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours}:{minutes:02d}"


def _format_hours(hours: float) -> str:
    return f"{hours:.0f}" if hours >= 10 else f"{hours:.1f}"
