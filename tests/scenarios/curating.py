"""A workspace with a draft, and commands in it as curators type them."""

import contextlib
import functools
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from sts.cli.main import main
from sts.storage.workspace import Workspace
from sts.suites.drafts import open_draft
from sts.suites.suite import Scenario
from sts.trajectories.trajectory import Trajectory
from tests.examples import recorded


@functools.cache
def recordings() -> list[Trajectory]:
    return recorded(count=60, team=2, steps=40, height=8, width=9, seed=5)


def run_commands(root: Path, *lines: str) -> None:
    """Run command lines of `sts` in a workspace; each must succeed."""
    with contextlib.redirect_stdout(io.StringIO()):
        for line in lines:
            assert main([*shlex.split(line), "--workspace", str(root)]) == 0, line


def candidates(workspace: Workspace, draft: str) -> list[Scenario]:
    made = open_draft(workspace, draft)
    return [made.candidate(id) for id in made.load_ids()]


class Curation:
    """A workspace, and commands in it as Ana types them."""

    def __init__(self, root: Path, output: pytest.CaptureFixture[str]) -> None:
        self.workspace = Workspace.open(root)
        self.output = output
        self.warnings = ""

    def __call__(self, *words: str, code: int = 0) -> str:
        """Return what a command prints, or its one-line error; a single word is a whole line."""
        given = shlex.split(words[0]) if len(words) == 1 else words
        self.output.readouterr()
        found = main([*given, "--workspace", str(self.workspace.root)])
        printed = self.output.readouterr()
        assert found == code, printed
        errors = [x for x in printed.err.splitlines() if not x.startswith("sts: warning: ")]
        self.warnings = printed.err
        assert len(errors) <= 1 or not code, printed.err
        return printed.out + "".join(errors if code else [])

    def draft(self, *words: str, by: str = "Ana", code: int = 0) -> str:
        """Return what a subcommand of `sts draft` prints about the draft `own`."""
        action, *more = shlex.split(words[0]) if len(words) == 1 else words
        whose = () if action in ("show", "diff", "check") else ("--user", by)
        return self("draft", action, "own", *more, *whose, code=code)

    def view(self) -> dict[str, Any]:
        """Return the candidates, by id."""
        shown = json.loads(self.draft("show --json"))
        return {one["id"]: one for one in shown["candidates"]}

    def exists(self, draft: str) -> bool:
        return self.workspace.path("drafts", draft).exists()
