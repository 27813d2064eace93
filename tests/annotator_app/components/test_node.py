"""Runs the player's own tests, and checks that its modules join into one script."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from sts_annotator_app.components import MODULES, load_component

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(
    NODE is None and os.environ.get("STS_REQUIRE_BROWSER") != "1",
    reason="node is not installed (apt-get install nodejs); STS_REQUIRE_BROWSER=1 demands it",
)


@needs_node
def test_the_state_machines_pass_their_own_tests() -> None:
    assert NODE, "STS_REQUIRE_BROWSER=1, and node is not installed"
    files = sorted(str(path) for path in Path(__file__).parent.glob("*.test.mjs"))
    done = subprocess.run([NODE, "--test", *files], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "# fail 0" in done.stdout and "# tests 0" not in done.stdout


@needs_node
@pytest.mark.parametrize("name", MODULES)
def test_the_modules_join_into_one_script_without_clashing_names(name: str, tmp_path: Path) -> None:
    assert NODE, "STS_REQUIRE_BROWSER=1, and node is not installed"
    script = load_component(name, {"a world": "export const paint = () => null;"}).js
    joined = tmp_path / "joined.mjs"
    joined.write_text(script)
    done = subprocess.run([NODE, "--check", joined], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "import {" not in script and script.count("\nexport ") == 1


@pytest.mark.parametrize("name", MODULES)
def test_what_a_component_is_mounted_from_cannot_pass_for_a_path(name: str) -> None:
    assert all("\n" in text for text in load_component(name, {}))
