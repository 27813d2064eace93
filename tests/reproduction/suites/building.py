"""Building a packaged suite from nothing but the public commands."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from unittest import mock

from sts.cli.main import main as sts_command
from sts.errors import ArgumentError, DamagedData, StsError
from sts.provenance import collect_provenance
from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.drafts import open_draft
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Suite
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Category

DRAFT = "draft"


def build(
    out: Path, name: str, version: int, description: str, commands: Sequence[Sequence[str]]
) -> Suite:
    """Write NAME@VERSION to the folder `out`, with the draft `DRAFT` that commands make.

    The commands are lines without the leading `sts`, run in a new workspace.
    """
    with tempfile.TemporaryDirectory() as folder:
        carry_out(folder, commands)
        draft = open_draft(Workspace.open(folder), DRAFT)
        scenarios = tuple(draft.scenarios(dict.fromkeys(draft.load_ids(), "")))
    faults = lint_scenarios(scenarios)
    if faults:
        raise DamagedData(f"{name}: {faults[0]} ({len(faults)} faults in all)")
    suite = Suite(name, version, None, description, scenarios, collect_provenance())
    store.write(out, suite)
    return suite


def copy_parent(workspace: Workspace, parent: Suite) -> Suite:
    """Return a copy in the workspace; a packaged suite cannot be continued twice."""
    copied = replace(parent, name=DRAFT, parent=None)
    store.write(workspace.path("suites", DRAFT, str(parent.version)), copied)
    return copied


def carry_out(folder: str, commands: Iterable[Sequence[str]]) -> None:
    """Run command lines without the leading `sts` in the workspace at `folder`."""
    for line in commands:
        if sts_command([*line, "--workspace", folder]) != 0:
            raise StsError(f"sts {' '.join(line)} failed")


@contextmanager
def use_earlier_words() -> Iterator[None]:
    """Mine with the templates of earlier suites, for the categories that have some."""
    load = categories.load_categories

    def load_earlier(domain: str) -> tuple[Category, ...]:
        rules = load(domain)
        return tuple(
            replace(rule, templates=rule.earlier_templates or rule.templates) for rule in rules
        )

    with mock.patch.object(categories, "load_categories", load_earlier):
        yield


def flags(name: str, values: Iterable[str]) -> list[str]:
    """Return an option that is repeated."""
    return [word for value in values for word in (f"--{name}", value)]


def run(name: str, build: Callable[[Path], Sequence[Suite]], argv: Sequence[str]) -> int:
    """Build suites from the command line; return the exit code."""
    try:
        if len(argv) != 1:
            raise ArgumentError("expected OUT, see the module's first lines")
        for suite in build(Path(argv[0])):
            print(f"{suite.label}: {len(suite.scenarios)} scenarios, hash {suite.hash}")
    except StsError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return error.exit_code
    return 0
