"""How well people judge: over time, flagged by the interval, and paused where the study says so."""

from __future__ import annotations

import json

import pytest
from scipy.stats import beta

from sts.annotations import controls, hours, quality, unable, views
from sts.annotations.store import Store
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, Clock, a_submission, an_item
from tests.stores import add_person, add_reference, ask, change, claim_items, enqueue, submit


def with_references(workspace: Workspace, clock: Clock, number: int, **settings: object) -> Store:
    workspace.settings["annotation"].update({"reference_rate": 1.0} | settings)
    store = Store.open(workspace, clock=clock)
    enqueue(store, [an_item("c0")])
    for i in range(number):
        add_reference(store, an_item(f"r{i:02}", scenario=f"r{i}"), "success", 5)
    return store


def answer(store: Store, who: int, clock: Clock, rights: str) -> int:
    """Judges references, + rightly and - wrongly; returns how many were given."""
    for number, sign in enumerate(rights):
        held = claim_items(store, who, suite=SUITE, count=1)
        if not held:
            return number
        clock.now += 1
        wrong = {} if sign == "+" else {"verdict": "not_done", "step": None}
        submit(store, who, [a_submission(held[0], **wrong)])
    return len(rights)


def test_accuracy_goes_by_twenties_in_the_order_judged(workspace: Workspace, clock: Clock) -> None:
    with with_references(workspace, clock, 50) as store:
        ana = add_person(store, "Ana").id
        add_person(store, "Bo")
        answer(store, ana, clock, "+" * 20 + "-+" * 10 + "-+++")
        (found,) = ask(store, quality.of_annotators)
        assert found.annotator == "Ana" and found.right[:3] == (44, 33, 0.75)
        assert [one[:2] for one in found.blocks] == [(20, 20), (20, 10), (4, 3)]
        assert found.latest[:3] == (20, 11, 0.55)
        assert found.latest.interval == pytest.approx(
            (beta(11.5, 9.5).ppf(0.025), beta(11.5, 9.5).ppf(0.975))
        )


@pytest.mark.parametrize(
    ("rights", "flagged"), [("+" * 13 + "-" * 7, False), ("-" * 8 + "+" * 12, True)]
)
def test_who_is_flagged_has_the_whole_interval_below_the_bar(
    workspace: Workspace, clock: Clock, rights: str, flagged: bool
) -> None:
    with with_references(workspace, clock, 20) as store:
        answer(store, add_person(store, "Ana").id, clock, rights)
        (found,) = ask(store, quality.of_annotators)
        assert found.latest.share is not None and found.latest.share < store.study.bar
        assert found.flagged is flagged and ask(store, controls.paused) == []


def test_a_corrected_answer_counts_as_it_stands(workspace: Workspace, clock: Clock) -> None:
    with with_references(workspace, clock, 3) as store:
        ana = add_person(store, "Ana").id
        (claim,) = claim_items(store, ana, suite=SUITE, count=1)
        first = a_submission(claim, verdict="not_done", step=None)
        again = a_submission(claim, corrects=first["uuid"])
        submit(store, ana, [first, again])
        assert [one.right[:2] for one in ask(store, quality.of_annotators)] == [(1, 1)]


def test_who_lies_below_the_bar_is_paused_until_resumed_and_then_counts_anew(
    workspace: Workspace, clock: Clock
) -> None:
    with with_references(workspace, clock, 30, pause_below=True) as store:
        ana = add_person(store, "Ana").id
        assert answer(store, ana, clock, "-" * 20) < 5
        (control,) = ask(store, controls.paused)
        assert (control.person, control.value, control.by) == (ana, 1, None)
        assert "references right, which is below 80%" in control.reason
        assert claim_items(store, ana, suite=SUITE) == []
        clock.now += 1
        change(store, controls.pause, person=ana, resume=True)
        assert answer(store, ana, clock, "-" + "+" * 8) == 9
        assert [one.value for one in ask(store, controls.paused)] == []
        assert not ask(store, quality.of_annotators)[0].flagged


def test_a_note_is_no_answer_and_says_not_when_one_came(workspace: Workspace, clock: Clock) -> None:
    with with_references(workspace, clock, 1) as store:
        ana = add_person(store, "Ana").id
        (held,) = claim_items(store, ana, suite=SUITE, count=1)
        note = {"uuid": "0" * 32, "item": held.item, "kind": "note", "text": "hm"}
        assert [one.status for one in submit(store, ana, [note])] == ["saved"]
        clock.now += 1
        change(store, controls.pause, person=ana)
        change(store, controls.pause, person=ana, resume=True)
        clock.now += 1
        submit(store, ana, [a_submission(held)])
        assert [one.latest.answered for one in ask(store, quality.of_annotators)] == [1]


def test_people_are_called_by_name_or_by_pseudonym_as_the_lead_asks(
    workspace: Workspace, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with with_references(workspace, clock, 2) as store:
        ana = add_person(store, "Ana")
        answer(store, ana.id, clock, "+")
        submit(store, ana.id, [{"uuid": "no"}])
    for command in ("quality", "refused"):
        for option, shown, hidden in (
            ([], "Ana", ana.pseudonym),
            (["--pseudonyms"], ana.pseudonym, "Ana"),
        ):
            words = ["annotations", command, *option, "--workspace", str(workspace.root)]
            assert main(words) == 0
            out = capsys.readouterr().out
            assert shown in out and hidden not in out


def test_hours_are_shared_by_a_clips_agents_and_what_is_not_timed_is_said(
    workspace: Workspace, clock: Clock
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, [an_item("a", clip="x", agent="A"), an_item("b", clip="x", agent="B")])
        enqueue(store, [an_item("c", agent="A"), an_item("d", agent="A")])
        ana = add_person(store, "Ana").id
        seconds = {"a": 3600, "c": 7200, "d": None}
        for claim in claim_items(store, ana, suite=SUITE, count=9):
            submit(store, ana, [a_submission(claim, seconds=seconds[claim.continuation])])
        with store.database.read() as connection:
            found = hours.hours(connection)
        assert found == [(SUITE, "A", 2.5, 2.5, 1.0), (SUITE, "B", 0.5, 0.5, 0.0)]


def test_the_curator_is_told_by_scenario_what_could_not_be_judged(
    workspace: Workspace, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store.open(workspace, clock=clock) as store:
        enqueue(store, [an_item(f"c{i}", scenario=f"s{i // 2}") for i in range(4)], required=2)
        for name in ("Ana", "Bo"):
            who = add_person(store, name).id
            for claim in claim_items(store, who, suite=SUITE, count=9):
                dark = {"verdict": "cannot_judge", "step": None, "reason": "too dark"}
                changes = dark if claim.continuation in ("c0", "c1", "c2") else {}
                submit(store, who, [a_submission(claim, **changes)])
        with store.database.read() as connection:
            found = unable.unable(connection, SUITE)
        assert [one[:4] for one in found] == [
            ("s0", "go-to-good", 2, 2), ("s1", "go-to-good", 1, 2),
        ]  # fmt: skip
        assert found[0].reasons == (("too dark", 4),)
    assert main(["annotations", "quality", "--workspace", str(workspace.root)]) == 0
    assert "s0        go-to-good  2 of 2               too dark (4)" in capsys.readouterr().out


def test_agreement_is_of_the_share_judged_twice_alone(
    sqlite_workspace: Workspace, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*words: str) -> str:
        root = str(sqlite_workspace.root)
        assert main(["annotations", "quality", *words, "--workspace", root]) == 0
        return capsys.readouterr().out

    assert "no reference has been judged yet" in said() and not sqlite_workspace.root.exists()
    sqlite_workspace.settings["annotation"].update({"twice": 0.5, "reference_rate": 0})
    with Store.open(sqlite_workspace, clock=clock) as store:
        enqueue(store, [an_item(f"c{i}", scenario=f"s{i}") for i in range(20)], required=None)
        double = ask(store, views.progress, SUITE).required - 20
        for name in ("Ana", "Bo"):
            who = add_person(store, name).id
            for claim in claim_items(store, who, suite=SUITE, count=double):
                verdict = {"verdict": "not_done", "step": None}
                bad = int(claim.continuation[1:]) % 2 or (name, claim.continuation) == ("Bo", "c0")
                submit(store, who, [a_submission(claim, **(verdict if bad else {}))])
    found = json.loads(said("--json", SUITE))
    assert found["twice"]["shared"] == double and 0.5 < found["twice"]["alpha"] <= 1
    assert f"annotators or more ({double} so far): alpha" in said()
