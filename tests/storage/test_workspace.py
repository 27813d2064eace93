"""Workspace settings are of the kind that is asked for."""

from pathlib import Path

import pytest

from sts.cli.main import main
from sts.errors import DamagedData
from sts.storage.workspace import Workspace


def setting(tmp_path: Path, line: str, default: object) -> object:
    (tmp_path / "workspace.toml").write_text(f"schema = 2\n[annotation]\n{line}\n")
    return Workspace.open(str(tmp_path)).setting("annotation", "x", default)


@pytest.mark.parametrize("line", ["x = 1.5", "x = true", 'x = "2"', "x = [1]"])
def test_a_whole_number_takes_no_other_kind(tmp_path: Path, line: str) -> None:
    with pytest.raises(DamagedData, match=r"expected annotation\.x like 1"):
        setting(tmp_path, line, 1)


def test_a_number_may_be_whole(tmp_path: Path) -> None:
    assert setting(tmp_path, "x = 1", 0.5) == 1
    assert setting(tmp_path, "x = 0.25", 0.5) == 0.25
    assert setting(tmp_path, "", 0.5) == 0.5


@pytest.mark.parametrize("schema", ["true", "0", "-1", '"1"'])
def test_a_schema_is_a_positive_number(tmp_path: Path, schema: str) -> None:
    (tmp_path / "workspace.toml").write_text(f"schema = {schema}\n")
    with pytest.raises(DamagedData, match="no integer `schema`"):
        Workspace.open(str(tmp_path))


def test_a_workspace_of_an_earlier_version_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "workspace.toml"
    file.write_text("schema = 1\n")
    assert main(["trajectories", "ls", "--workspace", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "earlier version" in said and "start a new workspace" in said
    assert file.read_text() == "schema = 1\n"
