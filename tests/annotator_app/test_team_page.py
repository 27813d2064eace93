"""The lead's page: what it says of people and work, and what can be done from it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from sts.annotations import members, people, sessions
from sts.annotations.members import Work
from sts.annotations.store import Store
from sts.storage.workspace import Workspace
from sts_annotator_app import state
from sts_annotator_app.estimate import MIN_DAYS, estimate_hours
from sts_annotator_app.pages import team
from sts_annotator_app.reporting import ReportBuilder
from sts_annotator_app.settings import Settings
from sts_annotator_app.tables import escape_markdown, render_table
from tests.access.attempts import attempt
from tests.annotations.examples import SUITE, Clock, a_submission, an_item, some_items
from tests.stores import add_person, ask, change, claim_items, enqueue, submit


@pytest.fixture(autouse=True)
def main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give back the main module, which `AppTest` replaces and every spawned process imports."""
    monkeypatch.setitem(sys.modules, "__main__", sys.modules["__main__"])


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    workspace = Workspace.open(str(tmp_path)).ensure()
    scenarios = (SimpleNamespace(category="go-to-good"), SimpleNamespace(category="walk"))
    monkeypatch.setattr(state, "workspace", lambda: workspace)
    monkeypatch.setattr(state, "suite", lambda: SimpleNamespace(scenarios=scenarios))
    monkeypatch.setattr(state, "settings", lambda: Settings(str(tmp_path), SUITE))
    monkeypatch.setattr(state, "builder", lambda: ReportBuilder(workspace, SUITE))
    with Store.open(workspace) as opened:
        lead = add_person(opened, "Lena", ("lead",))
        monkeypatch.setattr(state, "store", lambda: opened)
        monkeypatch.setattr(state, "current_person", lambda: lead)
        yield opened


def script() -> None:
    from sts_annotator_app.pages.team import page

    page()


def shown() -> AppTest:
    page = AppTest.from_function(script, default_timeout=60).run()
    assert not page.exception
    return page


def html(page: AppTest) -> str:
    return " ".join(one.proto.body for one in page.get("html"))


def button(page: AppTest, label: str) -> Any:
    return next(one for one in page.button if one.label == label)


def test_an_empty_study_is_told_in_words(store: Store) -> None:
    page = shown()
    said = " ".join(one.value for one in (*page.info, *page.caption))
    assert "No clips are queued yet" in said
    assert "No judgements in the last 14 days" in said
    assert "Nothing is paused" in said and "No clips have been assigned yet" in said


def test_people_are_shown_with_what_they_did_and_markup_in_a_name_is_text(store: Store) -> None:
    enqueue(store, some_items(5))
    ana = add_person(store, "<b>Ana</b>")
    first, *_ = claim_items(store, ana.id, suite=SUITE)
    submit(store, ana.id, [a_submission(first)])
    text = html(shown())
    assert "&lt;b&gt;Ana&lt;/b&gt;" in text and "<b>" not in text
    assert ana.pseudonym in text and "2, 15 min" in text and "random" in text


def test_who_looks_at_the_page_is_in_by_whatever_link_they_came(store: Store) -> None:
    add_person(store, "Ana")
    (ana,), (lena,) = (
        re.findall(rf"{name}<.*?>(signed in|invited|outside)<", html(shown()))
        for name in ("Ana", "Lena")
    )
    assert (ana, lena) == ("invited", "signed in")


def test_somebody_is_invited_and_the_invitation_is_shown_once(store: Store) -> None:
    page = shown()
    page.text_input[0].set_value("Ben")
    button(page, "Invite").click().run()
    (link,) = [one.value for one in page.code]
    found = ask(store, sessions.invitation, link.partition("/enter?t=")[2])
    assert found is not None and found.name == "Ben"
    page.run()
    assert not page.code
    page.text_input[0].set_value("Ben")
    button(page, "Invite").click().run()
    assert "already exists" in page.error[0].value


def test_sessions_are_ended_and_a_person_is_paused_and_resumed_from_the_page(store: Store) -> None:
    enqueue(store, some_items(5))
    ana = add_person(store, "Ana")
    secret = change(store, sessions.enter, str(ana.token))
    page = shown()
    page.selectbox[0].set_value("Ana").run()
    button(page, "Sign out everywhere").click().run()
    assert people.find_by_session(store, secret) is None
    assert "signed out of 1 sessions" in page.success[0].value
    page.selectbox[0].set_value("Ana").run()
    button(page, "Pause").click().run()
    assert claim_items(store, ana.id, suite=SUITE) == []
    assert "paused" in html(page)
    next(one for one in page.button if one.key == "resume 0").click().run()
    assert len(claim_items(store, ana.id, suite=SUITE)) == 3


def test_nobody_but_the_lead_sees_the_page(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ana = add_person(store, "Ana")
    monkeypatch.setattr(state, "current_person", lambda: ana)
    page = shown()
    assert "for the role lead" in page.error[0].value and not html(page)


def test_an_estimate_waits_until_there_is_enough_and_holds_what_people_do() -> None:
    steady = [Work(1, day, 10, 100.0) for day in range(MIN_DAYS)]
    assert estimate_hours(360, steady[:-1]) is None
    assert estimate_hours(0, steady) is None
    found = estimate_hours(360, steady)
    assert found == pytest.approx((1.0, 1.0, 1.0))
    uneven = [Work(who, 1, 10, 10.0 * seconds) for who, seconds in enumerate((2, 5, 10, 15, 18))]
    wide = estimate_hours(360, uneven)
    assert wide is not None and wide.hours == pytest.approx(1.0)
    # By hand: the ratios without one are 12, 11.25, 10, 8.75, 8; their jackknife error is
    # sqrt(11.125 x 4 / 5) = 2.983; t(4) at 97.5% is 2.776.
    assert (wide.low, wide.high) == pytest.approx((1.0 - 0.8283, 1.0 + 0.8283), abs=1e-4)


@attempt(
    "Markup and formulas",
    "markup in names that the lead's tables and sentences show",
    "shown as text",
)
def test_nothing_in_a_table_or_a_sentence_is_markup() -> None:
    cell = '<script>alert("1")</script>'
    text = render_table((cell, "n"), [(cell, 1), (cell, None)])
    assert "<script>" not in text and text.count("&lt;script&gt;") == 5
    assert escape_markdown("a *b* [c](d) <e>") == r"a \*b\* \[c\]\(d\) \<e\>"


def builder(tmp_path: Path, clock: Clock) -> ReportBuilder:
    return ReportBuilder(Workspace.open(str(tmp_path)).ensure(), "core@1", clock)


def test_a_build_that_fails_says_why_and_the_last_report_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    found = builder(tmp_path, clock)
    assert found.built_at is None and found.is_outdated(None)
    found.folder.mkdir(parents=True)
    found.page.write_text("the last good one")
    assert not found.is_outdated(0.0) and found.is_outdated((found.built_at or 0) + 1)
    asked: list[str] = []

    def fails(command: str, *_: str) -> str:
        asked.append(command)
        return "sts label core@1: the disk is full"

    monkeypatch.setattr(found, "_run", fails)
    assert found.start()
    found.wait(60)
    assert (asked, found.error) == (["label"], "sts label core@1: the disk is full")
    assert found.page.read_text() == "the last good one"
    assert not found.is_outdated(clock.now) and found.is_outdated(clock.now + 1)


def test_a_report_that_somebody_made_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = builder(tmp_path, Clock())
    asked: list[tuple[str, ...]] = []

    def notes(*words: str) -> str:
        asked.append(words)
        return ""

    monkeypatch.setattr(found, "_run", notes)
    assert found.start()
    found.wait(60)
    _, (command, *more) = asked
    own = Workspace.open(str(tmp_path)).path("reports", "core-1")
    assert command == "report" and more[more.index("--out") + 1] == str(found.folder)
    assert found.folder != own and own not in found.folder.parents


def test_one_report_is_built_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    found, goes_on = builder(tmp_path, Clock()), threading.Event()

    def waits(command: str, *_: str) -> str:
        goes_on.wait(60)
        return ""

    monkeypatch.setattr(found, "_run", waits)
    assert [found.start(), found.start()] == [True, False] and found.is_building
    goes_on.set()
    found.wait(60)
    assert (found.is_building, found.error) == (False, "")


def test_of_two_server_processes_one_builds_and_the_other_knows_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import threading

    clock = Clock()
    one, other, goes_on = builder(tmp_path, clock), builder(tmp_path, clock), threading.Event()

    def fails(command: str, *_: str) -> str:
        goes_on.wait(60)
        return "the disk is full"

    monkeypatch.setattr(one, "_run", fails)
    assert one.start()
    building, second = other.is_building, other.start()
    assert building and not second
    assert not other.is_outdated(clock.now)
    goes_on.set()
    one.wait(60)
    over = not other.is_building
    assert over and other.error == one.error == "the disk is full"
    assert other.is_outdated(clock.now + 1)
    monkeypatch.setattr(other, "_run", lambda *words: "")
    assert other.start()
    other.wait(60)
    assert one.error == ""


def test_an_adjudication_alone_makes_the_report_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    found = builder(tmp_path, clock)
    with Store.open(Workspace.open(str(tmp_path)), clock=clock) as store:
        enqueue(store, [an_item()])
        ana = add_person(store, "Ana").id
        (claim,) = claim_items(store, ana, suite=SUITE)
        submit(store, ana, [a_submission(claim)])
        clock.now += 1
        monkeypatch.setattr(found, "_run", lambda *words: "")
        assert found.start()
        found.wait(60)
        assert not found.is_outdated(ask(store, members.last_event))
        clock.now += 1
        rhea = add_person(store, "Rhea", ["reviewer"]).id
        decided = a_submission(claim, kind="adjudication", verdict="not_done", step=None, text="")
        assert [one.status for one in submit(store, rhea, [decided])] == ["saved"]
        assert found.is_outdated(ask(store, members.last_event))


@pytest.mark.landing
def test_a_build_is_a_process_whose_last_line_is_told(tmp_path: Path) -> None:
    found = builder(tmp_path, Clock())
    assert "sts report core@1: core@1: expected labels or judgements" in found._run("report")


def test_times_are_told_in_words() -> None:
    assert team._format_age(None, 0.0) is None
    spoken = [team._format_age(1e6 - s, 1e6) for s in (1, 1800, 3 * 3600, 3 * 86400)]
    assert spoken == ["just now", "30 min ago", "3 h ago", "3 days ago"]
