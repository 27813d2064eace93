"""`sts workspace check`: what was flipped, altered or removed in a workspace is found."""

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sts import registry
from sts.annotations.database.presence import DATABASE_FILE
from sts.annotations.vault import backup
from sts.cli.main import main
from sts.storage.checks import GROUP
from sts.storage.workspace import Workspace
from tests.faults.commands import make_whole


def sts(root: Path, *words: str) -> int:
    return main([*words, "--workspace", str(root)])


@pytest.fixture(scope="module")
def full_workspace(tmp_path_factory):
    """Return a workspace with a file of every kind except a report."""
    root = tmp_path_factory.mktemp("whole") / "w"
    make_whole(root)
    return root


@pytest.fixture
def root(full_workspace, tmp_path):
    return Path(shutil.copytree(full_workspace, tmp_path / "w"))


def findings(root: Path, *names: str) -> list[str]:
    """What some checks find, or all of them."""
    workspace = Workspace.open(str(root))
    chosen = names or tuple(registry.list_entry_points(GROUP))
    return [
        line
        for name in chosen
        for line in registry.load_entry_point(GROUP, "check", name)(workspace).findings
    ]


def test_intact_and_restored_workspaces_have_no_findings(root, tmp_path, capsys):
    manifest = backup.create_backup(Workspace.open(str(root)), tmp_path / "copy")
    folders = list(dict.fromkeys(name.split("/")[0] for name in manifest.files))
    assert folders.index("live") < min(map(folders.index, ("continuations", "trajectories")))
    backup.restore_backup(tmp_path / "copy", tmp_path / "restored")

    def snapshot_files():
        files = (p for p in root.rglob("*") if p.is_file() and "annotations" not in p.name)
        return {path: (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    before = snapshot_files()
    for folder in (root, tmp_path / "restored"):
        assert sts(folder, "workspace", "check", "--json") == 0
        value = json.loads(capsys.readouterr().out)
        assert value["findings"] == 0
        looked = {name: one["counts"] for name, one in value["checks"].items()}
        assert set(looked) == {*registry.list_entry_points(GROUP), "links"}
        assert looked["trajectories"] == {"files": 1, "trajectories": 3}
        assert looked["suites"] == {"versions": 1, "scenarios": 3}
        assert looked["drafts"] == {"drafts": 1, "candidates": 3}
        assert looked["profiles"] == {"profiles": 1}
        assert looked["continuations"]["continuations"] == looked["labels"]["labels"] == 6
        assert looked["annotations"]["events"] == 3
        assert looked["live"] == {"plans": 1, "sessions": 1}
        assert looked["tags"]["tags"] == 1 and looked["scores"]["rows"] == 2
    assert snapshot_files() == before


MUST_BE_THERE = {
    "suites/tiny/1/suite.json": "suites",
    "suites/tiny/1/scenarios.parquet": "suites",
    "suites": "annotations",
    "drafts/grown/draft.json": "drafts",
    "drafts/grown/*/candidates/*.parquet": "drafts",
    "continuations/*/*.parquet": "annotations",
    "continuations": "labels",
    "labels/*/*/*.parquet": "labels",
    "live/pilot/plan.json": "live",
    "annotations.sqlite3": "annotations",
}


@pytest.mark.parametrize("pattern", MUST_BE_THERE)
def test_removed_file_that_another_file_names_is_reported(pattern, root):
    (path,) = list(root.glob(pattern))[:1]
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert findings(root, MUST_BE_THERE[pattern])


HASHED = {
    "trajectories/*.parquet": "trajectories",
    "suites/tiny/1/scenarios.parquet": "suites",
    "suites/tiny/1/suite.json": "suites",
    "drafts/grown/*/candidates/*.parquet": "drafts",
    "drafts/grown/*/edited/*.parquet": "drafts",
    "drafts/grown/*/profiles/*.json": "profiles",
    "drafts/grown/*/profiles/*.parquet": "profiles",
    "continuations/*/*.parquet": "continuations",
    "continuations/index.parquet": "continuations",
    "labels/*/*/*.parquet": "labels",
    "labels/*.parquet": "labels",
    "live/sessions/*.jsonl": "live",
    "scores/*.parquet": "scores",
}


@pytest.mark.parametrize("pattern", HASHED)
def test_no_flipped_bit_is_another_value(pattern, root):
    """Of more flips there is `tests/faults/test_corruption.py`."""
    path = next(iter(root.glob(pattern)))
    raw, rng, found = path.read_bytes(), random.Random(pattern), 0
    before = meaning(path)
    for place in rng.sample(range(8 * len(raw)), 4):
        changed = bytearray(raw)
        changed[place // 8] ^= 1 << place % 8
        path.write_bytes(changed)
        lines = findings(root, HASHED[pattern])
        assert all("\n" not in line for line in lines)
        assert lines or meaning(path) == before, place
        found += bool(lines)
    assert found


def meaning(path: Path) -> object:
    """What a file says to whoever reads it."""
    if path.suffix == ".jsonl":
        return path.read_bytes()
    if path.suffix == ".json":
        return json.loads(path.read_bytes())
    table = pq.read_table(path)
    return table.schema.names, repr(table.to_pylist())


def database(line):
    """Return a change of the database, against which it is not protected."""

    def change(root):
        with closing(sqlite3.connect(root / DATABASE_FILE)) as opened:
            opened.execute("PRAGMA foreign_keys = OFF")
            for (name,) in opened.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
                opened.execute(f"DROP TRIGGER {name}")
            opened.execute(line)
            opened.commit()

    return change


def move_labels(root):
    (path,) = root.glob("labels/*/*/*.parquet")
    path.rename(path.with_name("99999.parquet"))


@pytest.mark.parametrize(
    ("check", "message", "change"),
    [
        ("annotations", "altered", database("UPDATE events SET step = 9")),
        ("annotations", "was altered", database("UPDATE decisions SET kind = 'reject'")),
        (
            *("annotations", "pseudonym was altered"),
            database("UPDATE annotators SET name = 'Ann' WHERE name = 'Ana'"),
        ),
        (
            *("annotations", "or not an SQLite file"),
            lambda root: (root / DATABASE_FILE).write_bytes(b"x" * 4096),
        ),
        (
            *("suites", "holds tiny@1 instead"),
            lambda root: (root / "suites/tiny/1").rename(root / "suites/tiny/2"),
        ),
        ("tags", "not the tags of a suite", lambda root: (root / "tags/tiny.json").write_text("{")),
        ("labels", "is missing", move_labels),
        ("scores", "found a folder", lambda root: (root / "scores/more.parquet").mkdir()),
    ],
)
def test_altered_file_is_reported(check, message, change, root):
    change(root)
    lines = findings(root, check)
    assert lines and any(message in line for line in lines), lines


def test_workspace_check_exits_with_1_and_names_the_place(root, capsys):
    (root / "drafts/grown/draft.json").unlink()
    assert sts(root, "workspace", "check") == 1
    out = capsys.readouterr().out
    assert "drafts         1 draft, 0 candidates" in out
    assert "drafts/grown: draft.json is missing" in out
    assert sts(root / "none", "workspace", "check") == 1
    assert "no workspace at" in capsys.readouterr().err


@pytest.mark.slow
def test_altered_report_is_reported(full_workspace, tmp_path):
    root = Path(shutil.copytree(full_workspace, tmp_path / "w"))
    assert sts(root, "report", "tiny@1") == 0
    assert findings(root, "reports") == []
    folder = root / "reports/tiny-1"
    for path in (folder / "report.json", *folder.glob("tables/*.csv")):
        raw, rng = path.read_bytes(), random.Random(path.name)
        for place in rng.sample(range(8 * len(raw)), min(20, 8 * len(raw))):
            changed = bytearray(raw)
            changed[place // 8] ^= 1 << place % 8
            path.write_bytes(changed)
            # A number of report.json that is in no table is not known to be another.
            assert findings(root, "reports") or path.suffix == ".json", (path, place)
        path.unlink()
        assert findings(root, "reports"), path
        path.write_bytes(raw)
    assert findings(root, "reports") == []
    (folder / "report.html").unlink()
    assert findings(root, "reports")
