"""The table of attempts: each row is a test, wherever that stands, and none is without one."""

from __future__ import annotations

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
    "tests.annotations.test_consent",
    "tests.annotations.test_submissions",
    "tests.annotator_app.test_auth",
    "tests.annotator_app.test_connections",
    "tests.annotator_app.served.test_blindness",
    "tests.annotator_app.test_exchange",
    "tests.annotator_app.served.test_messages",
    "tests.annotator_app.served.test_prefix",
    "tests.annotator_app.served.test_reachable",
    "tests.annotator_app.served.test_results",
    "tests.annotator_app.test_reviewing",
    "tests.annotator_app.test_team_page",
    "tests.formats.minari.test_hostile",
    "tests.formats.minari.test_others",
    "tests.storage.test_archive",
    "tests.storage.test_csv_tables",
    "tests.storage.test_parquet",
    "tests.storage.test_workspace",
    "tests.trajectories.test_store",
    "tests.worlds.overcooked.test_trials",
)
"""Where the tests are."""
_T = TypeVar("_T", bound=Callable[..., object])
_NOTED: dict[str, Attempt] = {}


class Attempt(NamedTuple):
    """One row.

    Attributes:
      kind: what is attacked; a heading of the table.
      what: is tried.
      outcome: what happens.
      times: in how many ways the test tries it.
    """

    kind: str
    what: str
    outcome: str
    times: int


def attempt(kind: str, what: str, outcome: str, times: int = 1) -> Callable[[_T], _T]:
    """Has a test stand in the table; it goes above what parametrises the test.

    Args:
      kind: what is attacked, one of `KINDS`.
      what: is tried.
      outcome: what happens, which is what the test asserts.
      times: how many ways there are in one call of the test.
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
