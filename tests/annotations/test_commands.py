"""`sts annotators`, `sts references` and `sts annotations`, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from sts.annotations import sessions
from sts.annotations.store import DATABASE_FILE, Store
from sts.cli.main import main
from sts.continuations import store as continuations
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, some_items
from tests.annotations.test_imports import GOOD, HEADER
from tests.stores import add_person, ask, change, enqueue

Output = pytest.CaptureFixture[str]


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


def sts_json(workspace: Workspace, output: Output, *words: str) -> Any:
    assert sts(workspace, *words, "--json") == 0
    return json.loads(output.readouterr().out)


def refused(workspace: Workspace, output: Output, *words: str) -> tuple[int, str]:
    code = sts(workspace, *words)
    out, err = output.readouterr()
    assert out == "" and err.count("\n") == 1 and err.startswith("sts: ")
    return code, err


@pytest.fixture
def a_continuation(monkeypatch: pytest.MonkeyPatch) -> str:
    record = SimpleNamespace(
        id="c0ffee",
        scenario_hash="ab" * 32,
        scenario_id="s0",
        agent="random",
        category="go-to-good",
        kind="instruction",
        horizon=40,
        takeover=20,
        clip="c1" * 16,
        sees="observation",
    )
    monkeypatch.setattr(continuations, "find", lambda workspace, id: record)
    return record.id


def test_what_a_person_does_is_said_when_they_are_added_and_later(
    sqlite_workspace: Workspace, capsys: Output
) -> None:
    added = sts_json(
        sqlite_workspace, capsys, "annotators", "add", "Ana", "--role", "lead", "--role", "curator"
    )
    assert added["roles"] == ["curator", "lead"]
    given = sts_json(sqlite_workspace, capsys, "annotators", "role", "Ana", "annotator")
    assert (given["roles"], given["link"]) == (["annotator", "curator", "lead"], None)
    assert sts(sqlite_workspace, "annotators", "role", "Ana", "lead", "--remove") == 0
    assert capsys.readouterr().out == "Ana is now: annotator, curator\n"
    assert sts(sqlite_workspace, "annotators", "ls") == 0
    assert "annotator, curator" in capsys.readouterr().out
    code, line = refused(sqlite_workspace, capsys, "annotators", "role", "Ana", "leed")
    assert code == 2 and "leed" in line and "lead" in line


def test_a_person_is_added_listed_and_retired(sqlite_workspace: Workspace, capsys: Output) -> None:
    made = sts_json(sqlite_workspace, capsys, "annotators", "add", "Ana")
    assert made["name"] == "Ana" and made["link"].startswith("/enter?t=")
    with Store.open(sqlite_workspace) as store:
        found = ask(store, sessions.invitation, made["link"].removeprefix("/enter?t="))
        assert found is not None and found.annotator == made["id"]
    assert sts(sqlite_workspace, "annotators", "retire", "Ana") == 0
    assert sts(sqlite_workspace, "annotators", "add", "Bo") == 0
    assert "/enter?t=" in capsys.readouterr().out
    listed = sts_json(sqlite_workspace, capsys, "annotators", "ls")["annotators"]
    assert listed[0]["pseudonym"] == made["pseudonym"]
    assert [(one["annotator"], one["judged"], one["state"]) for one in listed] == [
        ("Ana", 0, "retired"),
        ("Bo", 0, "invited"),
    ]
    assert sts(sqlite_workspace, "annotators", "ls") == 0
    header, line, _ = capsys.readouterr().out.splitlines()
    assert header.split() == ["annotator", "pseudonym", "roles", "judged", "state"]
    assert line.split() == ["Ana", made["pseudonym"], "annotator", "0", "retired"]


def test_sessions_are_listed_and_revoked(sqlite_workspace: Workspace, capsys: Output) -> None:
    with Store.open(sqlite_workspace) as store:
        for name in ("Ana", "Bo"):
            change(store, sessions.enter, str(add_person(store, name).token))
    assert sts(sqlite_workspace, "annotators", "sessions") == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split()[0] == "annotator" and [one.split()[0] for one in lines] == ["Ana", "Bo"]
    own = sts_json(sqlite_workspace, capsys, "annotators", "sessions", "Bo")["sessions"]
    assert [one["name"] for one in own] == ["Bo"]
    assert sts(sqlite_workspace, "annotators", "revoke", "Bo") == 0
    assert capsys.readouterr().out.startswith("Bo: 1 session ended")
    assert sts_json(sqlite_workspace, capsys, "annotators", "revoke", "Bo")["ended"] == 0
    assert sts(sqlite_workspace, "annotators", "sessions", "Bo") == 0
    assert capsys.readouterr().out == "no session is open\n"
    assert sts_json(sqlite_workspace, capsys, "annotators", "ls")["annotators"][1]["state"] == (
        "outside"
    )
    code, line = refused(sqlite_workspace, capsys, "annotators", "revoke", "Cy")
    assert code == 2 and "unknown annotator 'Cy'" in line


def test_listing_makes_no_store(sqlite_workspace: Workspace, capsys: Output) -> None:
    assert sts_json(sqlite_workspace, capsys, "annotators", "ls") == {"annotators": []}
    assert sts_json(sqlite_workspace, capsys, "references", "ls") == {"references": []}
    assert not sqlite_workspace.root.exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ("annotators retire Ana", 2, "unknown annotator 'Ana'; known: none yet"),
        ("annotators add", 2, "arguments are required: NAME"),
        ("annotators sessions Ana", 2, "unknown annotator 'Ana'; known: none yet"),
        ("annotators banish Ana", 2, "unknown action of sts annotators 'banish'"),
        ("references add c0ffee --truth passed", 2, "unknown truth 'passed'"),
        ("references add c0ffee --truth success --step 41", 2, "step of 1 to 40"),
        ("references add c0ffee --truth success --step x", 2, "expected a whole number, found 'x'"),
        ("references add c0ffee", 2, "arguments are required: --truth"),
        ("annotations import nowhere.csv", 2, "no table at nowhere.csv"),
        ("annotations export other@1 --out x.csv", 2, "unknown enqueued suite 'other@1'"),
    ],
)
def test_a_wrong_command_is_one_line(
    sqlite_workspace: Workspace,
    capsys: Output,
    a_continuation: str,
    words: str,
    code: int,
    said: str,
) -> None:
    found, line = refused(sqlite_workspace, capsys, *words.split())
    assert found == code and said in line


def test_a_damaged_store_is_one_line_and_exit_code_1(
    sqlite_workspace: Workspace, capsys: Output
) -> None:
    sqlite_workspace.ensure().path(DATABASE_FILE).write_bytes(b"no database" * 100)
    code, line = refused(sqlite_workspace, capsys, "annotators", "ls")
    assert code == 1 and "or not an SQLite file" in line


def test_a_reference_is_added_and_listed(
    sqlite_workspace: Workspace, capsys: Output, a_continuation: str
) -> None:
    add = ("references", "add", a_continuation, "--truth", "failure", "--step", "3")
    done = sts_json(sqlite_workspace, capsys, *add, "--note", "fell")
    assert done == {"continuation": a_continuation, "truth": "failure", "step": 3}
    listed = sts_json(sqlite_workspace, capsys, "references", "ls")
    assert listed["references"] == [done | {"note": "fell", "judged": 0}]
    assert sts(sqlite_workspace, "references", "ls") == 0
    assert "c0ffee        failure     3       0  fell" in capsys.readouterr().out


def test_judgements_go_in_and_come_out(
    sqlite_workspace: Workspace, capsys: Output, tmp_path: Path
) -> None:
    with Store.open(sqlite_workspace) as store:
        enqueue(store, some_items(3))
    them, out = tmp_path / "them.csv", tmp_path / "out.csv"
    them.write_text(f"{HEADER}\n{GOOD}\n")
    done = sts_json(sqlite_workspace, capsys, "annotations", "import", str(them))
    assert done == {"added": 1, "known": 0, "annotators": ["Ana"]}
    export = ("annotations", "export", SUITE, "--out", str(out))
    done = sts_json(sqlite_workspace, capsys, *export)
    assert done == {"file": str(out), "judgements": 1, "settled": 0, "unjudged": 2}
    lines = out.read_text().splitlines()
    assert lines[0].startswith(HEADER) and len(lines) == 4
    (ana,) = sts_json(sqlite_workspace, capsys, "annotators", "ls")["annotators"]
    assert any(line.startswith(GOOD.replace("Ana", ana["pseudonym"])) for line in lines)
    assert "Ana" not in out.read_text()
    assert sts(sqlite_workspace, *export, "--names") == 0
    assert "shows real names" in capsys.readouterr().err
    assert any(line.startswith(GOOD) for line in out.read_text().splitlines())


def test_a_wrong_table_is_one_line_and_changes_nothing(
    sqlite_workspace: Workspace, capsys: Output, tmp_path: Path
) -> None:
    with Store.open(sqlite_workspace) as store:
        enqueue(store, some_items(1))
    them = tmp_path / "them.csv"
    them.write_text(f"{HEADER}\n{GOOD}\n{GOOD.replace('success', 'passed')}\n")
    code, line = refused(sqlite_workspace, capsys, "annotations", "import", str(them))
    assert code == 1 and "them.csv, line 3: expected a verdict" in line
    assert sts_json(sqlite_workspace, capsys, "annotators", "ls") == {"annotators": []}
