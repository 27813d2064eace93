"""What a curator waits for: a change tried on an open candidate, and a response profile."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError
from sts.storage.workspace import Workspace
from sts.suites.types import Scenario
from sts.trajectories import store as trajectories
from sts_scenarios import categories
from sts_scenarios.editing import Editor
from sts_scenarios.profiles import compute_profile
from tests.benchmarks.continued import DOMAINS, mined
from tests.benchmarks.measure import Sizes, Table

AIM = 100
"""Milliseconds of a change."""


def table(sizes: Sizes) -> Table:
    """Milliseconds of processor that each change takes, once its candidate is open."""
    count, rows = max(2, sizes.scenarios // 4), []
    for name, one in DOMAINS.items():
        with tempfile.TemporaryDirectory() as folder:
            scenarios = mined(one, Path(folder), count)
            taken = _taken(Workspace.open(folder), scenarios)
        for what, own in taken.items():
            aim = AIM if what in CHANGES else None
            rows.append((name, what, aim, statistics.median(own), max(own)))
    return Table(
        "A curator's change",
        f"Milliseconds of processor, the median and the most of {count} candidates of each domain. "
        "*Opened* reads its trajectory from all recordings, replays it up to the candidate's end "
        "and asks its category once. Each change after that derives again the state at takeover, "
        "the answer, the difficulty, the label, the text and whether it fits. A *profile* is ten "
        "continuations of each agent that the categories name, labelled.",
        ("domain", "what", "aim", "median", "most"),
        rows,
    )


def _moved(one: Scenario) -> Iterator[dict[str, Any]]:
    moment = one.context_start + one.takeover
    yield from ({"takeover": moment + by} for by in (-2, -1, 1, 2))


def _stretched(one: Scenario) -> Iterator[dict[str, Any]]:
    yield from ({"length": one.horizon + by} for by in (-2, -1))


def _worded(one: Scenario) -> Iterator[dict[str, Any]]:
    yield from ({"wording": n} for n in range(len(categories.named(one.category).wordings)))


CHANGES: Mapping[str, Callable[[Scenario], Iterator[dict[str, Any]]]] = {
    "another takeover": _moved,
    "another length": _stretched,
    "another wording": _worded,
}


def _taken(workspace: Workspace, scenarios: Sequence[Scenario]) -> dict[str, list[float]]:
    """Return what each change of each candidate took, in milliseconds."""
    out: dict[str, list[float]] = {"opened": [], **{what: [] for what in CHANGES}, "profile": []}
    _opened(workspace, scenarios[0])
    compute_profile(scenarios[0], continuations=1)
    for one in scenarios:
        begun = time.process_time()
        editor = _opened(workspace, one)
        out["opened"].append(1e3 * (time.process_time() - begun))
        for what, changes in CHANGES.items():
            out[what] += [ms for ms in (_tried(editor, change) for change in changes(one)) if ms]
        begun = time.process_time()
        compute_profile(one)
        out["profile"].append(1e3 * (time.process_time() - begun))
    return out


def _opened(workspace: Workspace, one: Scenario) -> Editor:
    editor = Editor(one, trajectories.find(workspace, one.trajectory))
    editor.preview({})
    return editor


def _tried(editor: Editor, change: Mapping[str, Any]) -> float | None:
    begun = time.process_time()
    try:
        editor.preview(change)
    except ArgumentError:  # the trajectory has no such steps
        return None
    return 1e3 * (time.process_time() - begun)
