"""The player's own tests, the joined scripts, and the types that scripts are checked against."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from sts.viewer import scripts
from sts_annotator_app.components import HERE, MODULES, load_component
from tests.programs import require_program


def run_node_tests(*files: str) -> None:
    """Run files of Node's own tests, some at least, which must all pass."""
    words = [require_program("node"), "--test", *files]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "# fail 0" in done.stdout and "# tests 0" not in done.stdout


def check_declared(name: str, sent: Mapping[str, object]) -> None:
    """Check that a type of the scripts has the fields that the server sends."""
    files = [folder / "types.d.ts" for folder in (HERE, scripts.FOLDER)]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    found = re.search(rf"^type {name} = \{{\n(.*?)^\}};", text, re.MULTILINE | re.DOTALL)
    assert found, f"missing type {name}"
    fields = dict(re.findall(r"^  (\w+)(\??):", found[1], re.MULTILINE))
    assert sent.keys() <= fields.keys(), name
    assert {field for field, optional in fields.items() if not optional} <= sent.keys(), name


@pytest.mark.node
def test_state_machines_pass_their_own_tests() -> None:
    files = sorted(str(path) for path in Path(__file__).parent.glob("*.test.mjs"))
    run_node_tests(*files)


@pytest.mark.node
@pytest.mark.parametrize("name", MODULES)
def test_modules_join_into_one_script_without_name_clashes(name: str, tmp_path: Path) -> None:
    made = load_component(name, {"a world": "export const paint = () => null;"})
    assert all("\n" in text for text in made), "Streamlit would take it for a path"
    joined = tmp_path / "joined.mjs"
    joined.write_text(made.js)
    words = [require_program("node"), "--check", str(joined)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "import {" not in made.js and made.js.count("\nexport ") == 1
