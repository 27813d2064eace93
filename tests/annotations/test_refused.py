"""`sts annotations refused`: what pages sent in vain is listed, and the list says where it ends."""

from __future__ import annotations

import json

import pytest

from sts.annotations import submissions
from sts.annotations.store import Store
from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.stores import add_person, submit


def listed(workspace: Workspace, output: pytest.CaptureFixture[str], *more: str) -> str:
    assert main(["annotations", "refused", *more, "--workspace", str(workspace.root)]) == 0
    printed = output.readouterr()
    assert printed.err == ""
    return str(printed.out)


def test_refused_answers_are_listed_with_who_when_and_why(
    sqlite_workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(submissions, "REFUSED_LIMIT", 2)
    assert listed(sqlite_workspace, capsys).startswith("0 refused answers kept aside")
    assert not sqlite_workspace.root.exists()
    with Store.open(sqlite_workspace, clock=lambda: 1_000_000.0) as store:
        ana, bo = (add_person(store, name).id for name in ("Ana", "Bo"))
        submit(store, ana, [{"uuid": "\x1b[2J" * 100}, {"uuid": "1"}, {"uuid": "2"}])
        submit(store, bo, [3])
    lines = listed(sqlite_workspace, capsys).splitlines()
    assert [line.split()[:3] for line in lines[1:4]] == [
        [name, "1970-01-12", "13:46:40"] for name in ("Ana", "Ana", "Bo")
    ]
    assert "expected an object, found 3" in lines[3]
    assert "3 refused answers kept aside" in lines[-2]
    assert lines[-1].startswith("Ana: 2 is the most that is kept of one person")
    assert all(line.isprintable() for line in lines)
    whole = json.loads(listed(sqlite_workspace, capsys, "--json"))
    assert json.loads(whole[0]["raw"]) == {"uuid": "\x1b[2J" * 100}
    assert [one["annotator"] for one in whole] == ["Ana", "Ana", "Bo"]
