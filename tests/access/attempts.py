"""The table of attempted attacks in docs/security.md, a row for each marked test."""

import importlib
import math
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, NamedTuple, TypeVar

MODULES = (
    "tests.access.test_files",
    "tests.access.test_markup",
    "tests.analysis.inputs.test_tables",
    "tests.annotations.test_clips",
    "tests.annotations.test_people",
    "tests.annotations.test_submissions",
    "tests.annotator_app.test_auth",
    "tests.annotator_app.test_connections",
    "tests.annotator_app.served.test_blindness",
    "tests.annotator_app.test_exchange",
    "tests.annotator_app.served.test_messages",
    "tests.annotator_app.served.test_prefix",
    "tests.annotator_app.served.test_reachable",
    "tests.annotator_app.test_reviewing",
    "tests.annotator_app.test_team_page",
    "tests.formats.minari.test_hostile",
    "tests.formats.minari.test_imported",
    "tests.storage.test_archive",
    "tests.storage.test_csv_tables",
    "tests.storage.test_parquet",
    "tests.storage.test_workspace",
    "tests.trajectories.test_store",
    "tests.worlds.overcooked.test_trials",
)
"""The modules whose tests are marked."""
_T = TypeVar("_T", bound=Callable[..., object])
_NOTED: dict[str, "Attempt"] = {}


class Attempt(NamedTuple):
    """One row.

    Attributes:
      kind: the target of the attack; a heading of the table.
      what: the attempt.
      outcome: its result.
      times: the number of variants that the test tries.
    """

    kind: str
    what: str
    outcome: str
    times: int


def attempt(kind: str, what: str, outcome: str, times: int = 1) -> Callable[[_T], _T]:
    """List a test in the table; put this decorator above `parametrize`.

    Args:
      kind: the target of the attack, one of `KINDS`.
      what: the attempt.
      outcome: its result, as the test asserts it.
      times: the number of variants in one call of the test.
    """
    assert kind in KINDS, kind

    def noted(test: _T) -> _T:
        marks: Iterable[Any] = getattr(test, "pytestmark", ())
        sizes = [len(one.args[1]) for one in marks if one.name == "parametrize"]
        name = f"{test.__module__}.{test.__name__}"
        _NOTED[name] = Attempt(kind, what, outcome, times * math.prod(sizes))
        return test

    return noted


KINDS = (
    "Links and sessions",
    "Addresses and other sites",
    "Another's clip, another's answer",
    "Blindness",
    "Markup and formulas",
    "Files from elsewhere",
    "Code named in data",
    "Paths",
)
"""The headings of the table, in order."""


def table() -> str:
    """Return the table in Markdown."""
    for name in MODULES:
        importlib.import_module(name)
    rows = sorted(_NOTED.items(), key=lambda one: (KINDS.index(one[1].kind), one[0]))
    parts = []
    for kind, own in groupby((one for _, one in rows), key=lambda one: one.kind):
        lines = [f"| {one.what} | {one.outcome} | {one.times} |" for one in own]
        head = f"### {kind}\n\n| what is tried | what happens | ways |\n|---|---|---|\n"
        parts.append(head + "\n".join(lines))
    return "\n\n".join(parts)
