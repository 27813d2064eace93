"""Importing several files: one that cannot be imported does not keep the others out."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import ArgumentError, DamagedData
from sts.storage.workspace import Workspace
from sts.trajectories import store
from sts.trajectories.types import Trajectory
from tests.examples import instead, recorded

Take = Callable[..., int]


@pytest.fixture
def take(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Take:
    """Return a function that imports paths by an importer that fails as the path's name says."""
    every = recorded(count=3)

    def read(path: Path) -> list[Trajectory]:
        if path.name == "damaged":
            raise DamagedData("line 3:\nexpected JSON")
        if path.name == "unknown":
            raise ArgumentError(f"{path}: of no known kind")
        if path.name == "stopped":
            raise KeyboardInterrupt
        path.stat()
        return [every[int(path.name)]]

    def importing(*names: str, flags: tuple[str, ...] = ()) -> int:
        instead(monkeypatch, "sts.importers", read)
        monkeypatch.setattr("sts.commands.importing._check", lambda _: None)  # loads the domain
        for name in "012":
            (tmp_path / name).touch()
        paths = [str(tmp_path / name) for name in names]
        common = ["--format", "own", "--workspace", str(tmp_path / "w")]
        code = main(["trajectories", "import", *paths, *common, *flags])
        monkeypatch.undo()
        return code

    return importing


def kept(folder: Path) -> int:
    return len(store.load(Workspace.open(str(folder / "w"))))


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("0", "damaged", "1", "unknown", "missing", "2"), 1),
        (("unknown", "0", "damaged", "1", "2", "missing"), 2),
    ],
)
def test_what_can_be_imported_is_kept_and_the_rest_is_named(
    take: Take, tmp_path: Path, capsys: pytest.CaptureFixture[str], names: list[str], code: int
) -> None:
    assert take(*names) == code
    out, error = capsys.readouterr()
    assert kept(tmp_path) == 3
    assert out.endswith("3 trajectories in all\n") and out.count("\n") == 4
    assert sorted(error.splitlines()) == [
        f"sts: {tmp_path}/damaged: line 3: expected JSON",
        f"sts: {tmp_path}/missing: No such file or directory",
        f"sts: {tmp_path}/unknown: of no known kind",
    ]


def test_json_tells_of_both(take: Take, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert take("0", "unknown", flags=("--json",)) == 2
    value = json.loads(capsys.readouterr().out)
    assert [one["file"] for one in value["files"]] == [f"{tmp_path}/0"]
    unknown = f"{tmp_path}/unknown"
    assert value["failed"] == [{"file": unknown, "why": f"{unknown}: of no known kind"}]
    assert take("0", flags=("--json",)) == 0
    assert json.loads(capsys.readouterr().out)["failed"] == []


def test_one_file_alone_that_fails_prints_nothing_and_keeps_nothing(
    take: Take, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert take("unknown") == 2
    assert capsys.readouterr() == ("", f"sts: {tmp_path}/unknown: of no known kind\n")
    assert not (tmp_path / "w").exists()


def test_what_was_imported_before_an_interrupt_is_kept(
    take: Take, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert take("0", "stopped", "1") == 130
    assert "interrupted; what was finished is kept" in capsys.readouterr().err
    assert kept(tmp_path) == 1
    assert take("0", "1", "2") == 0
    assert kept(tmp_path) == 3
