"""Commands `sts annotators`, `sts references` and `sts annotations`."""

import json
from types import SimpleNamespace

import pytest

from sts.annotations.answers import submissions
from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.people import sessions
from sts.annotations.people.members import count_assigned
from sts.continuations import continuation_store as continuations
from sts.suites.selections import load_selection
from tests.annotations.examples import SUITE, a_submission, add_people, an_item, some_items
from tests.annotations.test_imports import GOOD, HEADER
from tests.stores import add_person, ask, change, claim_items, enqueue, submit


@pytest.fixture
def sts(sts, sqlite_workspace):
    """Type a command in the workspace."""
    return lambda words, code=0: sts(sqlite_workspace, words, code)


@pytest.fixture
def a_continuation(monkeypatch) -> str:
    record = SimpleNamespace(
        **{"id": "c0ffee", "scenario_hash": "ab" * 32, "scenario_id": "s0", "agent": "random"},
        **{"category": "go-to-good", "kind": "instruction", "horizon": 40, "takeover": 20},
        **{"clip": "c1" * 16, "sees": "observation"},
    )
    monkeypatch.setattr(continuations, "find_continuation", lambda workspace, id: record)
    return "c0ffee"


def test_roles_are_printed_when_a_person_is_added_and_later(sts) -> None:
    added = json.loads(sts("annotators add Ana --role lead --role curator --json"))
    assert added["roles"] == ["curator", "lead"]
    given = json.loads(sts("annotators role Ana annotator --json"))
    assert (given["roles"], given["link"]) == (["annotator", "curator", "lead"], None)
    assert sts("annotators role Ana lead --remove") == "Ana is now: annotator, curator\n"
    assert "annotator, curator" in sts("annotators ls")
    line = sts("annotators role Ana leed", 2)
    assert "leed" in line and "lead" in line


def test_person_is_added_listed_and_retired(sqlite_workspace, sts) -> None:
    made = json.loads(sts("annotators add Ana --json"))
    assert made["name"] == "Ana" and made["link"].startswith("/enter?t=")
    with AnnotationStore.open(sqlite_workspace) as store:
        found = ask(store, sessions.find_invitation, made["link"].removeprefix("/enter?t="))
        assert found is not None and found.annotator == made["id"]
    sts("annotators deactivate Ana")
    assert "/enter?t=" in sts("annotators add Bo")
    listed = json.loads(sts("annotators ls --json"))["annotators"]
    assert listed[0]["pseudonym"] == made["pseudonym"]
    assert [(one["annotator"], one["judged"], one["state"]) for one in listed] == [
        ("Ana", 0, "deactivated"),
        ("Bo", 0, "invited"),
    ]
    header, line, _ = sts("annotators ls").splitlines()
    assert header.split() == ["annotator", "pseudonym", "roles", "judged", "state"]
    assert line.split() == ["Ana", made["pseudonym"], "annotator", "0", "deactivated"]


def test_sessions_are_listed_and_revoked(sqlite_workspace, sts) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        for name in ("Ana", "Bo"):
            change(store, sessions.accept_invitation, str(add_person(store, name).token))
    header, *lines = sts("annotators sessions").splitlines()
    assert header.split()[0] == "annotator" and [one.split()[0] for one in lines] == ["Ana", "Bo"]
    own = json.loads(sts("annotators sessions Bo --json"))["sessions"]
    assert [one["name"] for one in own] == ["Bo"]
    assert sts("annotators sign-out Bo").startswith("Bo: 1 session ended")
    assert json.loads(sts("annotators sign-out Bo --json"))["ended"] == 0
    assert sts("annotators sessions Bo") == "no session is open\n"
    assert json.loads(sts("annotators ls --json"))["annotators"][1]["state"] == "outside"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("annotators deactivate Ana", "unknown annotator 'Ana'; known: none yet"),
        ("annotators sign-out Ana", "unknown annotator 'Ana'; known: none yet"),
        ("annotators add", "expected either NAME or --csv FILE"),
        ("annotators sessions Ana", "unknown annotator 'Ana'; known: none yet"),
        ("annotators banish Ana", "unknown action of sts annotators 'banish'"),
        ("references add c0ffee --verdict passed", "unknown verdict 'passed'"),
        ("references add c0ffee --verdict success --step 41", "step of 1 to 40"),
        ("references add c0ffee --verdict success --step x", "expected a whole number, found 'x'"),
        ("references add c0ffee", "expected either CONTINUATION and --verdict"),
        ("annotations import nowhere.csv", "no table at nowhere.csv"),
        ("annotations export other@1 --out x.csv", "unknown queued suite 'other@1'"),
    ],
)
def test_wrong_command_is_refused(sts, a_continuation, words, said) -> None:
    assert said in sts(words, 2)


def test_lists_make_no_store_and_report_a_damaged_one(sqlite_workspace, sts) -> None:
    assert json.loads(sts("annotators ls --json")) == {"annotators": []}
    assert json.loads(sts("references ls --json")) == {"references": []}
    assert sts("annotations rejected").startswith("0 rejected submissions")
    assert not sqlite_workspace.root.exists()
    sqlite_workspace.create().path(DATABASE_FILE).write_bytes(b"no database" * 100)
    assert "or not an SQLite file" in sts("annotators ls", 1)


def test_reference_is_added_and_listed(sts, a_continuation) -> None:
    add = f"references add {a_continuation} --verdict failure --step 3 --note fell --json"
    done = {"continuation": a_continuation, "verdict": "failure", "step": 3}
    assert json.loads(sts(add)) == done
    listed = json.loads(sts("references ls --json"))["references"]
    assert listed == [done | {"source": "rule", "note": "fell", "judged": 0}]
    assert "c0ffee        failure     3  rule             0  fell" in sts("references ls")


def test_judgements_are_imported_and_exported(sqlite_workspace, sts, tmp_path) -> None:
    with AnnotationStore.open(sqlite_workspace) as store:
        enqueue(store, some_items(3))
    them, out = tmp_path / "them.csv", tmp_path / "out.csv"
    them.write_text(f"{HEADER}\n{GOOD}\n{GOOD.replace('success', 'passed')}\n")
    line = sts(f"annotations import {them}", 1)
    assert "them.csv, line 3: expected a verdict" in line
    assert json.loads(sts("annotators ls --json")) == {"annotators": []}
    them.write_text(f"{HEADER}\n{GOOD}\n")
    done = json.loads(sts(f"annotations import {them} --json"))
    assert done == {"added": 1, "known": 0, "annotators": ["Ana"], "repeated": 0}
    export = f"annotations export {SUITE} --out {out}"
    done = json.loads(sts(f"{export} --json"))
    assert done == {"file": str(out), "judgements": 1, "auto_resolved": 0, "unjudged": 2}
    lines = out.read_text().splitlines()
    assert lines[0].startswith(HEADER) and len(lines) == 4
    (ana,) = json.loads(sts("annotators ls --json"))["annotators"]
    assert any(line.startswith(GOOD.replace("Ana", ana["pseudonym"])) for line in lines)
    assert "Ana" not in out.read_text()
    assert "shows real names" in sts(f"{export} --real-names")
    assert any(line.startswith(GOOD) for line in out.read_text().splitlines())


def test_refused_answers_are_listed_with_person_time_and_reason(sqlite_workspace, sts, monkeypatch):
    monkeypatch.setattr(submissions, "MAX_REJECTED", 2)
    with AnnotationStore.open(sqlite_workspace, clock=lambda: 1_000_000.0) as store:
        ana, bo = add_people(store, "Ana", "Bo")
        submit(store, ana, [{"uuid": "\x1b[2J" * 100}, {"uuid": "1"}, {"uuid": "2"}])
        submit(store, bo, [3])
    lines = sts("annotations rejected").splitlines()
    assert [line.split()[:3] for line in lines[1:4]] == [
        [name, "1970-01-12", "13:46:40"] for name in ("Ana", "Ana", "Bo")
    ]
    assert "expected an object, found 3" in lines[3]
    assert "3 rejected submissions" in lines[-2]
    assert lines[-1].startswith("Ana: 2 is the most that is kept of one person")
    assert all(line.isprintable() for line in lines)
    whole = json.loads(sts("annotations rejected --json"))
    assert json.loads(whole[0]["raw"]) == {"uuid": "\x1b[2J" * 100}
    assert [one["annotator"] for one in whole] == ["Ana", "Ana", "Bo"]


def test_served_selection_is_known_to_every_command_by_its_name(sqlite_workspace, sts) -> None:
    selection = load_selection(sqlite_workspace, "core@3+category:shadow-evil")
    scenario = selection.scenarios[0].hash
    with AnnotationStore.open(sqlite_workspace) as store:
        add_person(store, "Lea", ("lead",))
        (ana,) = add_people(store, "Ana")
        for suite in (SUITE, selection.queue):
            enqueue(store, some_items(2, suite=suite, scenario_hash=scenario))
        enqueue(store, [an_item("other")])
        (claim,) = claim_items(store, ana, suite=selection.queue, count=1)
        submit(store, ana, [a_submission(claim)])
        assert ask(store, count_assigned, selection.queue) == {"random": {ana: 1}}
    name = selection.label
    for command in ("quality", "balance"):
        assert "expected" not in sts(f"annotations {command} {name}")
    assert "0 reviewed" in sts(f"annotations reviews {name}")
    assert "nearest lacks 2 judgements" in sts(f"references propose {name}")
    assert "core@3 is closed by Lea: 1 of 2 planned clips are judged" in sts(
        f"annotations close {name} --reason enough --user Lea"
    )
    assert "unknown queued suite" in sts("annotations balance core@3+category:ambush", 2)
    assert "unknown category of core@3 'beside'" in sts(
        "annotations export core@3+category:beside", 2
    )
