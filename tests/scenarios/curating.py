"""A workspace with a draft, and commands in it as curators type them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from tests.examples import recorded

RECORDED = recorded(count=60, team=2, steps=40, height=8, width=9, seed=5)


class Curation:
    """A workspace, and commands in it as Ana types them."""

    def __init__(self, root: Path, output: pytest.CaptureFixture[str]) -> None:
        self.workspace = Workspace.open(root)
        self.output = output

    def __call__(self, *words: str, code: int = 0) -> str:
        """Return what a command prints, or the one line that it is refused with."""
        self.output.readouterr()
        found = main([*words, "--workspace", str(self.workspace.root)])
        printed = self.output.readouterr()
        assert found == code, printed
        if code:
            lines = [x for x in printed.err.splitlines() if not x.startswith("sts: warning: ")]
            assert len(lines) <= 1
            return printed.out + "".join(lines)
        return printed.out

    def draft(self, action: str, *words: str, by: str = "Ana", code: int = 0) -> str:
        """Return what a subcommand of `sts draft` says of the draft `own`."""
        whose = () if action in ("show", "diff", "check") else ("--as", by)
        return self("draft", action, "own", *words, *whose, code=code)

    def view(self) -> dict[str, Any]:
        """Return the candidates, by id."""
        shown = json.loads(self.draft("show", "--json"))
        return {one["id"]: one for one in shown["candidates"]}
