"""What Λ* draws in a browser, by its own tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.annotator_app.components.test_node import NODE, needs_node


@needs_node
def test_the_board_passes_its_own_tests() -> None:
    assert NODE, "STS_REQUIRE_BROWSER=1, and node is not installed"
    file = Path(__file__).with_name("board.test.mjs")
    done = subprocess.run([NODE, "--test", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-1000:]
    assert "# fail 0" in done.stdout and "# tests 0" not in done.stdout
