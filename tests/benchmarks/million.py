"""Measures a workspace of a million continuations for docs/benchmarks.md.

    python -m tests.benchmarks.million

Its rows are valid and synthetic: every scenario is continued once by each agent, and the result is
used for all of that agent's continuations of it.
"""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sts import agents
from sts.agents.info import load_info
from sts.continuations import continuation_store as store
from sts.continuations import parts
from sts.continuations.continuation import Continuation
from sts.continuations.index import EMPTY, open_index
from sts.continuations.plan import Chunk, make_plan
from sts.continuations.takeover import continue_all
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Scenario, Suite
from tests.benchmarks import measure
from tests.benchmarks.measure import STS, Rows, cost
from tests.examples import scenarios

SCENARIOS, CONTINUATIONS = 1000, 100
AGENTS = (
    "random local-search blind rule stigmergy wisdom-of-the-crowd bidding dictatorship "
    "binary-tree imitation"
).split()
SHOW = ("show",)
SERVED = """
import sys
from sts_annotator_app import queueing
from sts.annotations.answers import progress
from sts.annotations.database.annotation_store import AnnotationStore
from sts.storage.workspace import Workspace

workspace = Workspace.open(sys.argv[1])
suite = queueing.select_suite(workspace, "million@1")
with AnnotationStore.open(workspace) as store:
    queueing.fill_queue(workspace, store, suite)
    with store.read() as connection:
        progress.load_progress(connection, suite.label)
"""
"""What `sts annotate` does before it serves."""


class Filled(NamedTuple):
    """A workspace, the id of one of its continuations, and how many it has."""

    folder: Path
    one: str
    size: int


def measured(both: Sequence[Filled]) -> Rows:
    """Yield what commands cost that know a continuation, in a smaller workspace and the large one.

    The exponent is that of the processor's time by the number of continuations.
    """
    agents = [word for name in AGENTS for word in ("--agent", name)]
    run = ("run", "million@1", *agents, "--continuations", str(CONTINUATIONS))
    label, queue = ("label", "million@1"), "the annotator's queue"
    for what, aim, words in (
        ("`sts show CONTINUATION`", 1, SHOW),
        ("`sts run`, nothing to do", 1, run),
        (f"{queue}, for the first time", 20, ()),
        (f"{queue}, again", 20, ()),
        ("`sts label`", 60, label),
        ("`sts label`, nothing to do", 3, label),
        ("`sts show CONTINUATION`, with its label", 1, SHOW),
        ("`sts report`, of all labels", 20, ("report", "million@1")),
        ("`sts show`, no index yet", None, SHOW),
    ):
        few, many = (_cost(one, words, fresh="no index" in what) for one in both)
        growth = measure.exponent(both[0].size, both[1].size, few.cpu, many.cpu)
        yield what, aim, few.cpu, many.cpu, growth, many.wall, many.megabytes


def _cost(filled: Filled, words: Sequence[str], *, fresh: bool) -> measure.Cost:
    """Return what a command costs, or the server's start for none; `fresh`: without the index."""
    if fresh:
        (filled.folder / "continuations/index.parquet").unlink()
    if not words:
        return cost(SERVED, str(filled.folder))
    shown = [filled.one] if words == SHOW else []
    return cost(STS, *words, *shown, "--workspace", str(filled.folder))


def fill(workspace: Workspace, count: int = SCENARIOS, continuations: int = CONTINUATIONS) -> str:
    """Write the parts of a plan, as a run would; return the id of a continuation."""
    few = scenarios(count // 10)
    every = [
        dataclasses.replace(one, id=f"{one.id}-{i}", parameters={"variant": i})
        for one in few
        for i in range(10)
    ]
    folder = workspace.path("suites", "million", "1")
    suites.write(folder, Suite("million", 1, None, "", tuple(every), {}))
    suite = suites.load(workspace, "million@1")
    known = {name: load_info(name) for name in AGENTS}
    given: dict[str, Any] = {"count": continuations, "seed": 0, "suite": suite.hash}
    made: dict[tuple[str, str], Continuation] = {}
    for chunk in make_plan(EMPTY, suite.scenarios, AGENTS, known, **given).chunks:
        rows = [row for share in chunk.shares for row in _rows(chunk, *share, made)]
        name = parts.part_name(chunk.plan, chunk.number)
        workspace.store.put_new(name, parts.encode_part(name, rows), lambda there, new: True)
    open_index(workspace.store)
    return next(store.iter_entries(workspace, {suite.scenarios[-1].hash})).id


def _rows(
    chunk: Chunk,
    scenario: Scenario,
    indices: Sequence[int],
    made: dict[tuple[str, str], Continuation],
) -> list[Continuation]:
    key = chunk.agent, scenario.hash
    if key not in made:
        (made[key],) = continue_all([scenario], agents.load(chunk.agent), seed=0, indices=[0])
    one = made[key]
    return [
        dataclasses.replace(one, identity=dataclasses.replace(one.identity, index=i))
        for i in indices
    ]


def fill_both(folder: Path) -> list[Filled]:
    """Fill a workspace with a tenth of the continuations, and one with all."""
    both = []
    for count in (SCENARIOS // 10, SCENARIOS):
        own = folder / str(count)
        one = fill(Workspace.open(str(own)).create(), count)
        both.append(Filled(own, one, count * CONTINUATIONS * len(AGENTS)))
    return both


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        both = fill_both(Path(name))
        known = {
            "million": sys.modules[__name__],
            "agents": len(AGENTS),
            "parts": len(list((both[-1].folder / "continuations").glob("*/*.parquet"))),
            "few": both[0].size,
            "rows": measured(both),
        }
        measure.write("bench-million", **known)
