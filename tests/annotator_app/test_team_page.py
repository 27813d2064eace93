"""The lead's page: members, work and the live report, and what can be changed from it."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.findings.plan import close_suite
from sts.annotations.log.looks import load_race
from sts.annotations.people import members, people, sessions
from sts.annotations.people.members import DailyWork
from sts.annotations.queue.leaving import record_look
from sts.annotations.races import DIFFERENT, Look, PairLook
from sts.storage.workspace import Workspace
from sts_annotator_app import state
from sts_annotator_app.pages import team
from sts_annotator_app.pages.estimate import MIN_DAYS, estimate_hours
from sts_annotator_app.pages.tables import escape_markdown, render_table
from sts_annotator_app.reporting import ReportBuilder
from tests.access.attempts import attempt
from tests.annotations.examples import SUITE, Clock, a_submission, an_item, some_items
from tests.annotator_app.scripted import open_page, serve
from tests.stores import add_person, ask, change, claim_items, enqueue, submit
from tests.waiting import wait_until

pytestmark = pytest.mark.usefixtures("main_module")


@pytest.fixture
def study(
    workspace: Workspace, store: AnnotationStore, monkeypatch: pytest.MonkeyPatch
) -> AnnotationStore:
    """The store of a study whose lead is at the page."""
    lead = add_person(store, "Lena", ("lead",))
    categories = SimpleNamespace(category="go-to-good"), SimpleNamespace(category="walk")
    serve(
        monkeypatch,
        workspace,
        SUITE,
        current_person=lead,
        get_report_builder=ReportBuilder(workspace, SUITE),
        get_store=store,
        get_suite=SimpleNamespace(scenarios=categories, unreviewed=()),
    )
    return store


def script() -> None:
    from sts_annotator_app.pages.team import show_page

    show_page()


def html(page: AppTest) -> str:
    return " ".join(one.proto.body for one in page.get("html"))


def click(page: AppTest, label: str) -> None:
    next(one for one in page.button if one.label == label).click().run()


def test_empty_study_has_empty_states(study: AnnotationStore) -> None:
    page = open_page(script)
    said = " ".join(one.value for one in (*page.info, *page.caption))
    assert "No clips are queued yet" in said and "No clips have been assigned yet" in said
    assert "No judgements in the last 14 days" in said and "Nothing is paused" in said


def test_unreviewed_suite_is_stated(study: AnnotationStore, monkeypatch) -> None:
    enqueue(study, some_items(5))
    captions = [one.value for one in open_page(script).caption]
    assert not any("not reviewed" in text for text in captions)
    suite = SimpleNamespace(scenarios=state.get_suite().scenarios, unreviewed=("walk-01",))
    monkeypatch.setattr(state, "get_suite", lambda: suite)
    stated = f"{SUITE}: instructions not reviewed by a second person: 1 of 2."
    assert stated in [one.value for one in open_page(script).caption]


def test_closing_of_the_study_is_stated_with_its_lead_and_reason(study: AnnotationStore) -> None:
    enqueue(study, some_items(5))
    ana, lead = add_person(study, "Ana"), add_person(study, "Max", ("lead",))
    first, *_ = claim_items(study, ana.id, suite=SUITE)
    submit(study, ana.id, [a_submission(first)])
    hashes = {item.scenario_hash for item in some_items(5)}
    assert not any("Closed early" in one.value for one in open_page(script).info)
    change(study, close_suite, SUITE, hashes, lead, "the *funding* ends.")
    (said,) = [one.value for one in open_page(script).info if "Closed early" in one.value]
    assert r"by Max\: the \*funding\* ends\. No clips" in said
    assert f"sts annotations close {SUITE} --reopen" in said


def test_lead_confirms_a_look_and_brings_an_agent_back(study: AnnotationStore) -> None:
    others = [replace(one, agent="<i>rule", clip=f"{one.clip} b") for one in some_items(5)]
    others = [replace(one, continuation=f"{one.continuation} b") for one in others]
    enqueue(study, some_items(5) + others)
    assert not html(open_page(script)).count("Decided")
    pair = PairLook("<i>rule", "random", 0.5, 0.1, 0.001, 0.01, 0.5, DIFFERENT)
    look = Look(1, 0.0, 0.25, "rank", 0, ("<i>rule", "random"), (pair,), ("<i>rule",), True)
    assert change(study, record_look, SUITE, look)
    page = open_page(script)
    assert "&lt;i&gt;rule (not confirmed)" in html(page)
    assert "would leave" in page.warning[0].value and not ask(study, load_race, SUITE).out
    click(page, "Confirm")
    assert ask(study, load_race, SUITE).out == {"<i>rule": 0.25} and not page.warning
    assert any("1 of 1 pair resolved" in one.value for one in page.markdown)
    next(one for one in page.text_input if "every report" in one.label).set_value("our baseline")
    click(page, "Keep")
    race = ask(study, load_race, SUITE)
    assert not race.out and race.kept["<i>rule"].reason == "our baseline"
    assert any("kept in the race by Lena: our baseline" in one.value for one in page.text)


def test_members_are_shown_with_their_work_and_state_and_escaped_names(
    study: AnnotationStore,
) -> None:
    enqueue(study, some_items(5))
    ana = add_person(study, "<b>Ana</b>")
    first, *_ = claim_items(study, ana.id, suite=SUITE)
    submit(study, ana.id, [a_submission(first)])
    text = html(open_page(script))
    assert "&lt;b&gt;Ana&lt;/b&gt;" in text and "<b>" not in text
    assert ana.pseudonym in text and "2, 15 min" in text and "random" in text
    for name, expected in (("Ana&lt;/b&gt;", "invited"), ("Lena", "signed in")):
        assert re.findall(rf"{name}<.*?>(signed in|invited|outside)<", text) == [expected]


def test_invitation_is_shown_once_and_refused_for_an_existing_name(study: AnnotationStore) -> None:
    page = open_page(script)
    page.text_input[0].set_value("Ben")
    click(page, "Invite")
    (link,) = [one.value for one in page.code]
    found = ask(study, sessions.find_invitation, link.partition("/enter?t=")[2])
    assert found is not None and found.name == "Ben"
    page.run()
    assert not page.code
    page.text_input[0].set_value("Ben")
    click(page, "Invite")
    assert "already exists" in page.error[0].value


def test_lead_signs_out_pauses_and_resumes_a_person(study: AnnotationStore) -> None:
    enqueue(study, some_items(5))
    ana = add_person(study, "Ana")
    secret = change(study, sessions.accept_invitation, str(ana.token))
    page = open_page(script)
    page.selectbox[0].set_value("Ana").run()
    click(page, "Sign out everywhere")
    assert people.find_by_session(study, secret) is None
    assert "signed out of 1 sessions" in page.success[0].value
    page.selectbox[0].set_value("Ana").run()
    click(page, "Pause")
    assert claim_items(study, ana.id, suite=SUITE) == []
    assert "paused" in html(page)
    next(one for one in page.button if one.key == "resume 0").click().run()
    assert len(claim_items(study, ana.id, suite=SUITE)) == 3


def test_lead_sees_who_does_not_watch_and_excludes_and_readmits_them(study) -> None:
    enqueue(study, some_items(9))
    ana = add_person(study, "Ana")
    for held in claim_items(study, ana.id, suite=SUITE, count=6):
        submit(study, ana.id, [a_submission(held, verdict="not_done", step=None, seconds=0.1)])
    page = open_page(script)
    assert "2% (too little)" in html(page)
    page.selectbox[0].set_value("Ana").run()
    click(page, "Exclude")
    assert "reason: expected one line" in page.error[0].value.replace("\\", "")
    reason = next(one for one in page.text_input if one.label.startswith("Reason for the pause or"))
    reason.set_value("*fast*").run()
    click(page, "Exclude")
    (line,) = [one.value for one in page.text]
    assert line.startswith("Ana: excluded since 20") and line.endswith(
        " by Lena with 6 judgements: *fast*"
    )
    assert re.findall(r"Ana<.*?>(invited|excluded)<", html(page)) == ["excluded"]
    assert claim_items(study, ana.id, suite=SUITE) == []
    page.selectbox[0].set_value("Ana").run()
    reason = next(one for one in page.text_input if one.label.startswith("Reason for the pause or"))
    reason.set_value("a mistake").run()
    click(page, "Readmit")
    assert not page.text and "count again" in page.success[0].value


def test_page_is_only_for_the_lead(study: AnnotationStore, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = add_person(study, "Ana")
    monkeypatch.setattr(state, "current_person", lambda: ana)
    page = open_page(script)
    assert "for the role lead" in page.error[0].value and not html(page)


def test_estimate_needs_several_days_and_has_an_interval_over_people() -> None:
    steady = [DailyWork(1, day, 10, 100.0) for day in range(MIN_DAYS)]
    assert estimate_hours(360, steady[:-1]) is None
    assert estimate_hours(0, steady) is None
    assert estimate_hours(360, steady) == pytest.approx((1.0, 1.0, 1.0))
    uneven = [
        DailyWork(who, 1, 10, 10.0 * seconds) for who, seconds in enumerate((2, 5, 10, 15, 18))
    ]
    wide = estimate_hours(360, uneven)
    # By hand: the ratios without one are 12, 11.25, 10, 8.75, 8; their jackknife error is
    # sqrt(11.125 x 4 / 5) = 2.983; t(4) at 97.5% is 2.776.
    assert wide is not None and wide[0] == pytest.approx(1.0)
    assert wide[1:] == pytest.approx((1.0 - 0.8283, 1.0 + 0.8283), abs=1e-4)


@attempt(
    "Markup and formulas",
    "markup in names that the lead's tables and sentences show",
    "shown as text",
)
def test_tables_and_sentences_escape_markup() -> None:
    cell = '<script>alert("1")</script>'
    text = render_table((cell, "n"), [(cell, 1), (cell, None)])
    assert "<script>" not in text and text.count("&lt;script&gt;") == 5
    assert escape_markdown("a *b* [c](d) <e>") == r"a \*b\* \[c\]\(d\) \<e\>"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def builder(workspace: Workspace, clock: Clock) -> ReportBuilder:
    return ReportBuilder(workspace, "core@3", clock)


def wait_for(builder: ReportBuilder) -> None:
    """Wait until the build has ended."""
    wait_until(lambda: not builder.is_building, "the report is built")


def build(
    builder: ReportBuilder, patch: pytest.MonkeyPatch, error: str = ""
) -> list[tuple[str, ...]]:
    """Build a report by commands that do nothing or fail; return them."""
    asked: list[tuple[str, ...]] = []

    def note(*words: str) -> str:
        asked.append(words)
        return error

    patch.setattr(builder, "_run", note)
    assert builder.start()
    wait_for(builder)
    return asked


def test_failed_build_keeps_the_last_report_and_shows_the_error(
    builder: ReportBuilder, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert builder.built_at is None and builder.is_outdated(None)
    builder.folder.mkdir(parents=True)
    builder.page.write_text("the last good one")
    assert not builder.is_outdated(0.0) and builder.is_outdated((builder.built_at or 0) + 1)
    ((command, *_),) = build(builder, monkeypatch, "sts label core@3: the disk is full")
    assert (command, builder.error) == ("label", "sts label core@3: the disk is full")
    assert builder.page.read_text() == "the last good one"
    assert not builder.is_outdated(clock.now) and builder.is_outdated(clock.now + 1)


def test_live_report_does_not_overwrite_the_published_one(
    builder: ReportBuilder, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, (command, *more) = build(builder, monkeypatch)
    own = workspace.path("reports", "core-1")
    assert command == "report" and more[more.index("--out") + 1] == str(builder.folder)
    assert builder.folder != own and own not in builder.folder.parents


def test_one_report_is_built_at_a_time_across_processes(
    builder: ReportBuilder, workspace: Workspace, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    other, finish = ReportBuilder(workspace, "core@3", clock), threading.Event()

    def failing(*_: str) -> str:
        finish.wait(60)
        return "the disk is full"

    monkeypatch.setattr(builder, "_run", failing)
    assert [builder.start(), builder.start()] == [True, False]
    assert (builder.is_building, other.is_building, other.start()) == (True, True, False)
    assert not other.is_outdated(clock.now)
    finish.set()
    wait_for(builder)
    assert (builder.is_building, other.is_building) == (False, False)
    assert other.error == builder.error == "the disk is full"
    assert other.is_outdated(clock.now + 1)
    build(other, monkeypatch)
    assert builder.error == ""


def test_adjudication_makes_the_report_outdated(
    builder: ReportBuilder, store: AnnotationStore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "now", clock)
    enqueue(store, [an_item()])
    ana = add_person(store, "Ana").id
    (claim,) = claim_items(store, ana, suite=SUITE)
    submit(store, ana, [a_submission(claim)])
    clock.now += 1
    build(builder, monkeypatch)
    assert not builder.is_outdated(ask(store, members.last_event_time))
    clock.now += 1
    rhea = add_person(store, "Rhea", ["reviewer"]).id
    decided = a_submission(claim, kind="adjudication", verdict="not_done", step=None, text="")
    assert [one.status for one in submit(store, rhea, [decided])] == ["saved"]
    assert builder.is_outdated(ask(store, members.last_event_time))


@pytest.mark.landing
def test_build_process_reports_its_last_line(builder: ReportBuilder) -> None:
    assert "sts report core@3: core@3: expected labels or judgements" in builder._run("report")


def test_ages_are_in_words() -> None:
    assert team._format_age(None, 0.0) is None
    ages = [team._format_age(1e6 - s, 1e6) for s in (1, 1800, 3 * 3600, 3 * 86400)]
    assert ages == ["just now", "30 min ago", "3 h ago", "3 days ago"]
