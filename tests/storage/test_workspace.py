"""Workspace settings are of the kind that is asked for."""

from pathlib import Path

import pytest

from sts.errors import DamagedData
from sts.storage.workspace import Workspace


def setting(tmp_path: Path, line: str, default: object) -> object:
    (tmp_path / "workspace.toml").write_text(f"schema = 1\n[annotation]\n{line}\n")
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
