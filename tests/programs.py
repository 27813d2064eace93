"""Programs and packages that some tests need, and the one line for which these are skipped.

A mark of this name, such as `postgresql`, says that a test needs the program; a fixture that starts
it sets the mark. `STS_REQUIRE`, such as "browser node", turns the skips of these into failures.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest


class Program(NamedTuple):
    """A program: its title, the names of its command, and how to install it."""

    title: str
    names: tuple[str, ...]
    install: str


PROGRAMS = {
    "browser": Program(
        "Chromium", ("chromium", "chromium-browser", "google-chrome"), "apt-get install chromium"
    ),
    "node": Program("Node.js", ("node",), "apt-get install nodejs"),
    "postgresql": Program("PostgreSQL", ("initdb",), "apt-get install postgresql"),
    "latex": Program("LaTeX", ("pdflatex",), "apt-get install texlive-latex-recommended"),
    "nginx": Program("nginx", ("nginx",), "apt-get install nginx-light"),
    "caddy": Program("Caddy", ("caddy",), "apt-get install caddy"),
}
NEEDS = "needs_program"
"""The mark of all tests that have one of these marks."""


def find_program(mark: str) -> str | None:
    """Return the path of a program on the `PATH`; None if it is not installed."""
    found = next(filter(None, map(shutil.which, PROGRAMS[mark].names)), None)
    if not found and mark == "postgresql" and shutil.which("pg_ctlcluster"):
        # Debian keeps what starts a cluster off the `PATH`.
        servers = Path("/usr/lib/postgresql").glob("*/bin/initdb")
        found = max(map(str, servers), key=lambda path: int(Path(path).parts[-3]), default=None)
    return found


def require_program(mark: str) -> str:
    """Return the path of a program; without it, skip the test, or fail where it is required."""
    if found := find_program(mark):
        return found
    reason = f"needs {PROGRAMS[mark].title}: {PROGRAMS[mark].install}"
    if mark in os.environ.get("STS_REQUIRE", "").split():
        pytest.fail(reason)
    pytest.skip(reason)


def require_package(name: str) -> ModuleType:
    """Import a module of the extra `test`; without it, skip the test."""
    module: ModuleType = pytest.importorskip(name, reason=f"needs {name}: make test installs it")
    return module


def count_skipped(reports: list[pytest.TestReport]) -> list[str]:
    """Return a line for each cause, such as "38 tests need Chromium: apt-get install chromium"."""
    reasons = Counter(str(report.longrepr[2]).removeprefix("Skipped: ") for report in reports)  # type: ignore[index]
    lines = []
    for reason, count in reasons.most_common():
        tests, verb = ("test", "needs") if count == 1 else ("tests", "need")
        needed = reason.removeprefix("needs ")
        cause = f"{verb} {needed}" if needed != reason else f"skipped: {reason}"
        lines.append(f"{count} {tests} {cause}")
    return lines
