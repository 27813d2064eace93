"""The lead's page: who is at work, what is left, what was given to whom, and who comes in."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from sts.annotations import people, views
from sts.annotations.consent import Agreed, counts
from sts.annotations.controls import Control, pause, paused
from sts.annotations.members import DAY, Member, Work, served
from sts.annotations.members import members as members_of
from sts.annotations.members import work as work_of
from sts.annotations.roles import ROLES
from sts.annotations.sessions import INVITATION
from sts.annotations.types import Annotator
from sts.errors import StsError
from sts_annotator_app import state
from sts_annotator_app.estimate import MIN_DAYS, estimate_hours
from sts_annotator_app.pages.visitor import require_person
from sts_annotator_app.tables import escape_markdown, render_table

RECENT_DAYS = 14
"""Days of which the work is shown."""
_DONE, _LINK = "sts_team_done", "sts_team_link"
_T = TypeVar("_T")
_LOG = logging.getLogger(__name__)


def page() -> None:
    """Show the page to who leads the study."""
    lead = require_person("lead")
    if lead is None:
        return
    try:
        _show(lead)
    except StsError as error:
        _LOG.error("%s", error)
        st.error(escape_markdown(f"The page cannot be shown: {error}"))


def _show(lead: Annotator) -> None:
    store = state.store()
    suite = state.settings().part or state.settings().suite
    now = store.now()
    with store.read() as connection:
        members, pauses = members_of(connection, now=now), paused(connection)
        consents = counts(connection)
        progress = views.progress(connection, suite) if suite else None
        work = work_of(connection, since=now - RECENT_DAYS * DAY) if suite else []
        given = served(connection, suite) if suite else {}
    _show_outcome()
    st.subheader("People")
    _show_members(members, lead, now, pauses, consents)
    _show_member_forms(members, lead, now)
    if progress is None:
        return
    st.subheader("What is left")
    left = progress.required - progress.judged
    _show_remaining(progress.judged, progress.required, left, work)
    _show_throughput(work, members)
    st.subheader("Pauses")
    _show_pauses(suite, members, lead, pauses, now)
    st.subheader("What was given to whom")
    _show_assignments(given, members)


def _show_members(
    members: Sequence[Member],
    lead: Annotator,
    now: float,
    pauses: Sequence[Control],
    consents: Sequence[Agreed],
) -> None:
    if not members:
        st.info("Nobody takes part yet. Invite somebody below.")
        return
    report = _load_report() if state.settings().suite else None
    measured = {} if report is None else {one.annotator: one for one in report.annotators}
    held_up = {one.person for one in pauses}
    rows = [
        (
            one.person.name,
            one.person.pseudonym,
            ", ".join(one.person.roles) or "nothing",
            _describe_access(one, one.person.id in held_up, one.person.id == lead.id),
            _format_age(one.seen, now),
            one.today,
            one.total,
            _format_duration(one.seconds),
            _format_accuracy(measured.get(one.person.pseudonym)),
            _format_open_clips(one, now),
        )
        for one in members
    ]
    header = ("name", "pseudonym", "roles", "state", "last seen", "today", "in all")
    st.html(render_table((*header, "active, h:min", "accuracy", "holds, free in"), rows))
    notes = ["Today begins at midnight, UTC."]
    if report is None:
        notes.append("Accuracy and agreement come with the first report.")
    else:
        notes.append(
            "Accuracy is balanced, on reference episodes where there are any, with its 95% "
            f"interval; it is of the report of {_format_time(state.builder().built_at or 0)} UTC. "
            f"{_format_agreement(report)}"
        )
    if consents:
        newest = consents[-1]
        notes.append(f"{newest.people} agreed to version {newest.version} of the consent text.")
    st.caption(" ".join(notes))


def _show_member_forms(members: Sequence[Member], lead: Annotator, now: float) -> None:
    """Invites, revokes and pauses."""
    with st.expander("Invite somebody"), st.form("invite", clear_on_submit=True, border=False):
        name = st.text_input("Name", max_chars=64)
        doing = st.multiselect("Roles", ROLES, default=ROLES[:1])
        signing_in = bool(state.settings().signing_in)
        email = st.text_input("E-mail address to sign in by, if any") if signing_in else ""
        if st.form_submit_button("Invite"):
            _apply_change(
                _prepare_invitation, people.add_invited, name, doing, email or None, now=now
            )
    names = [one.person.name for one in members]
    if not names:
        return
    with st.expander("Let somebody in again, end their sessions, or pause them"):
        chosen = st.selectbox("Person", names)
        person = next(one.person for one in members if one.person.name == chosen)
        reason = st.text_input("Reason of a pause", max_chars=200)
        again, end, stop, go = st.columns(4)
        if again.button("New invitation", width="stretch"):
            _apply_change(_prepare_invitation, people.invite, chosen, now=now)
        if end.button("End sessions", width="stretch"):
            _apply_change(lambda n: f"{chosen}: {n} sessions ended.", people.revoke, chosen)
        if stop.button("Pause", width="stretch"):
            words = f"{chosen} is given nothing more."
            _apply_change(
                lambda _: words, pause, person=person.id, by=lead.id, reason=reason, now=now
            )
        if go.button("Resume", width="stretch"):
            words = f"{chosen} is given work again."
            _apply_change(
                lambda _: words, pause, person=person.id, by=lead.id, now=now, resume=True
            )


def _show_remaining(judged: int, required: int, left: int, work: Sequence[Work]) -> None:
    if not required:
        st.info("Nothing is to be judged yet.")
        return
    st.progress(judged / required, f"{judged} of {required} judgements are in, {left} are left.")
    expected = estimate_hours(left, work)
    if expected is not None:
        low, high = _format_hours(expected.low), _format_hours(expected.high)
        st.write(
            f"Estimated active time: {_format_hours(expected.hours)} h (95% CI {low} to {high} h), "
            f"from the last {RECENT_DAYS} days."
        )
    elif left:
        st.caption(
            f"A time estimate appears after {MIN_DAYS} person-days of annotation (days of "
            "different people add up)."
        )


def _show_throughput(work: Sequence[Work], members: Sequence[Member]) -> None:
    if not work:
        st.caption(f"Nobody has judged in the last {RECENT_DAYS} days.")
        return
    names = {one.person.id: one.person.name for one in members}
    days = sorted({one.day for one in work}, reverse=True)
    rows = []
    for day in days:
        own = [one for one in work if one.day == day]
        who = ", ".join(f"{names.get(one.annotator, '?')} {one.judged}" for one in own)
        clips, seconds = sum(one.judged for one in own), sum(one.seconds for one in own)
        hourly = round(3600 * clips / seconds) if seconds else None
        rows.append((_format_time(day * DAY)[:10], clips, _format_duration(seconds), hourly, who))
    st.html(render_table(("day", "judgements", "active, h:min", "an active hour", "by whom"), rows))


def _show_pauses(
    suite: str, members: Sequence[Member], lead: Annotator, standing: Sequence[Control], now: float
) -> None:
    names = {one.person.id: one.person.name for one in members}
    if not standing:
        st.caption("Nothing is paused.")
    for number, one in enumerate(standing):
        what = names.get(one.person or 0, "somebody") if one.person else one.scope
        why = f", {one.reason}" if one.reason else ""
        by = names.get(one.by or 0, "the command line or the study's own rule")
        text, button = st.columns([4, 1], vertical_alignment="center")
        text.text(f"{what} is paused since {_format_time(one.made)} UTC by {by}{why}")
        if button.button("Resume", key=f"resume {number}", width="stretch"):
            own = {"person": one.person, "by": lead.id}
            _apply_change(_resumed_message(what), pause, one.scope, now=now, resume=True, **own)
    with st.expander("Pause a category, or all"), st.form("pause", border=False):
        categories = sorted({one.category for one in state.suite().scenarios})
        everything = f"all of {suite}"
        what = st.selectbox("What", [everything, *categories])
        reason = st.text_input("Reason", max_chars=200)
        if st.form_submit_button("Pause"):
            scope = suite if what == everything else f"{suite}/{what}"
            words = f"Nothing more is given of {scope}."
            _apply_change(lambda _: words, pause, scope, by=lead.id, reason=reason, now=now)


def _show_assignments(given: Mapping[str, Mapping[int, int]], members: Sequence[Member]) -> None:
    agents = [*given]
    rows = [
        (one.person.name, *(given[agent].get(one.person.id, 0) for agent in agents))
        for one in members
        if any(one.person.id in own for own in given.values())
    ]
    if not rows:
        st.caption("Nothing was given to anybody yet.")
        return
    st.html(render_table(("name", *agents), rows))
    st.caption("Clips of each agent that each person was given, judged or not.")


def _format_accuracy(measured: Any) -> str | None:
    """How accurate a person is; None where nobody has said yet what they should have seen."""
    if measured is None or measured.balanced_accuracy is None:
        return None
    low, high = measured.interval
    return f"{measured.balanced_accuracy:.0%} ({low:.0%} to {high:.0%})"


def _format_agreement(report: Any) -> str:
    alpha = report.annotators_together.alpha
    if alpha.alpha is None:
        return f"Agreement: {alpha.reason}."
    ends = "" if alpha.interval is None else " ({:.2f} to {:.2f})".format(*alpha.interval)
    return f"Agreement is alpha = {alpha.alpha:.2f}{ends} on {alpha.continuations} judged twice."


def _load_report() -> Any:
    """The report that was built last; None where there is none that can be read."""
    builder = state.builder()
    return None if builder.built_at is None else _read_report(builder.folder, builder.built_at)


@lru_cache(maxsize=2)
def _read_report(folder: Path, built: float) -> Any:
    from sts_analysis.report.json_form import read

    try:
        return read(folder)
    except StsError as error:
        _LOG.error("%s", error)
        return None


def _describe_access(one: Member, paused: bool, looking: bool) -> str:
    """What a member's access is; who looks at the page is in, by whatever link."""
    if one.person.retired:
        return "retired"
    if paused:
        return "paused"
    return "entered" if looking else one.access


def _format_open_clips(one: Member, now: float) -> str | None:
    if not one.held or one.until is None:
        return None
    return f"{one.held}, {max(math.ceil((one.until - now) / 60), 1)} min"


def _apply_change(
    words: Callable[[_T], str], change: Callable[..., _T], *given: object, **more: object
) -> None:
    """Make a change and runs the page anew, which then says what was done or why it was not."""
    try:
        with state.store().write(alone=True) as connection:
            done = change(connection, *given, **more)
        st.session_state[_DONE] = words(done)
    except StsError as error:
        st.error(escape_markdown(str(error)))
        return
    st.rerun()


def _resumed_message(what: str) -> Callable[[object], str]:
    return lambda _: f"{what} goes on."


def _prepare_invitation(person: Annotator) -> str:
    here = (st.context.url or "").rpartition("/")[0]
    st.session_state[_LINK] = f"{here}/enter?t={person.token}"
    days = f"{INVITATION / DAY:.0f} days"
    return f"Send this to {person.name}. It lets one browser in, once, within {days}:"


def _show_outcome() -> None:
    words, link = (st.session_state.pop(key, None) for key in (_DONE, _LINK))
    if words:
        st.success(escape_markdown(words))
    if link:
        st.code(link, language=None, wrap_lines=True)


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


def _format_time(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
