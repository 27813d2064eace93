"""What a table was made of, and what a workspace lacks of it afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from sts.annotations import digests, people, references
from sts.annotations.digests import differences
from sts.annotations.export import exported, load_ratings
from sts.annotations.history import verify
from sts.annotations.store import DATABASE_FILE, Store
from sts.cli.main import main
from sts.errors import DamagedData
from sts.storage.workspace import Workspace
from tests.annotations.examples import SUITE, a_submission, an_item, some_items
from tests.annotations.test_verification import a_study, altered
from tests.stores import add_person, add_reference, ask, change, claim_items, enqueue, submit

Output = pytest.CaptureFixture[str]


def test_older_database_is_found_by_the_last_export(
    sqlite_workspace: Workspace, tmp_path: Path, capsys: Output
) -> None:
    workspace, root = sqlite_workspace, str(sqlite_workspace.root)
    a_study(workspace)
    file, out = workspace.path(DATABASE_FILE), tmp_path / "ratings.csv"
    shutil.copy(file, tmp_path / "older")
    with Store.open(workspace) as store:
        ana = ask(store, people.named, "Ana")
        [claim] = claim_items(store, ana.id, suite=SUITE, count=1)
        submit(store, ana.id, [a_submission(claim)])
        add_reference(store, an_item("r9"), "success", 3)
    assert main(["annotations", "export", "--out", str(out), "--workspace", root]) == 0
    own = digests.read(tmp_path / "ratings.csv.json")
    assert own == exported(workspace).digests and own.authors[ana.pseudonym].number > 1
    assert [*differences(workspace, own)] == []
    shutil.copy(tmp_path / "older", file)
    with Store.open(workspace) as store:
        assert verify(store.database).findings == ()
    number = own.authors[ana.pseudonym].number
    assert [*differences(workspace, own)] == [
        f"{ana.pseudonym}: event {number} is missing; is the database an older copy?",
        "reference 4 is missing; is the database an older copy?",
    ]
    capsys.readouterr()
    check = ["workspace", "check", "--against", f"{out}.json", "--workspace", root]
    assert main(check) == 1
    assert f"{out}.json: reference 4 is missing" in capsys.readouterr().out


def test_older_database_is_found_by_the_last_report(sqlite_workspace: Workspace) -> None:
    from sts.annotations.check import check

    a_study(sqlite_workspace)
    own = exported(sqlite_workspace).digests
    later = {name: end._replace(number=99) for name, end in own.authors.items()}
    digests.write(sqlite_workspace.path("reports", "one", "report.json"), own)
    assert not [line for line in check(sqlite_workspace).findings if "older copy" in line]
    two = sqlite_workspace.path("reports", "two", "report.json")
    digests.write(two, own._replace(authors=later))
    assert any(f"{two.parent}: annotator-" in line for line in check(sqlite_workspace).findings)


def test_what_was_said_since_is_no_difference(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        enqueue(store, some_items(3))
        ana = add_person(store, "Ana").id
        first, *rest = claim_items(store, ana, suite=SUITE)
        submit(store, ana, [a_submission(first)])
    own = exported(workspace).digests
    with Store.open(workspace) as store:
        submit(store, ana, [a_submission(claim) for claim in rest])
    assert [*differences(workspace, own)] == []


def test_file_without_digests_is_refused(tmp_path: Path, capsys: Output) -> None:
    root = str(Workspace.open(str(tmp_path / "w")).ensure().root)
    for content in ("", "[]", "{}", '{"digests": null}', '{"digests": {"suite": 1}}', "\x80"):
        (tmp_path / "r.json").write_text(content)
        with pytest.raises(DamagedData, match="expected a report of a workspace"):
            digests.read(tmp_path / "r.json")
    check = ["workspace", "check", "--workspace", root, "--against"]
    assert main([*check, str(tmp_path / "r.json")]) == 1
    assert main([*check, str(tmp_path / "none.json")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 2


def test_forgetting_a_person_keeps_their_chain(workspace: Workspace) -> None:
    a_study(workspace)
    own = exported(workspace).digests
    with Store.open(workspace) as store:
        change(store, people.forget, "Bo")
        assert verify(store.database).findings == ()
    assert exported(workspace).digests == own and [*differences(workspace, own)] == []


def test_flipped_byte_names_the_damaged_text(sqlite_workspace: Workspace, capsys: Output) -> None:
    a_study(sqlite_workspace)
    root = str(sqlite_workspace.root)
    altered(sqlite_workspace, "DROP TRIGGER events_are_never_updated")
    text = "CAST(x'f46f6f206461726b' AS TEXT)"
    altered(
        sqlite_workspace, f"UPDATE events SET reason = {text} WHERE annotator = 3 AND number = 5"
    )
    words = "of person 3: reason is damaged: it is not UTF-8 text"
    assert main(["annotations", "verify", "--workspace", root]) == 1
    assert words in capsys.readouterr().out
    assert main(["annotations", "export", "--out", f"{root}/r.csv", "--workspace", root]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert words in line and "table events, row" in line


def test_reference_note_is_replaced_by_a_new_one(workspace: Workspace) -> None:
    with Store.open(workspace) as store:
        for note in ("first", "second", ""):
            add_reference(store, an_item("r0"), "success", 3, note)
        assert [one.note for one in ask(store, references.every)] == ["second"]
        assert verify(store.database).findings == ()
    assert load_ratings(workspace).empty


def test_workspace_check_does_not_follow_links_out(
    sqlite_workspace: Workspace, tmp_path: Path, capsys: Output
) -> None:
    root = sqlite_workspace.ensure().root
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "secret.json").write_text("secret words")
    for folder in ("tags", "scores", "continuations"):
        (root / folder).mkdir()
    (root / "tags" / "core.json").symlink_to(tmp_path / "out" / "secret.json")
    (root / "continuations" / "plan").symlink_to(tmp_path / "out")
    (root / "continuations" / "loop").symlink_to(tmp_path)
    assert main(["workspace", "check", "--json", "--workspace", str(root)]) == 1
    out = capsys.readouterr().out
    found = json.loads(out)["checks"]["links"]
    assert found["counts"] == {"links": 3} and len(found["findings"]) == 3
    assert "core.json is a link to" in out and "secret words" not in out
    (finding,) = json.loads(out)["checks"]["tags"]["findings"]
    assert "outside the folder; replace it" in finding
