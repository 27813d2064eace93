"""A workspace of a million continuations: what it costs to show, run again, serve, label, report.

    python -m tests.benchmarks.million [FOLDER]

Writes docs/benchmarks_million.md. The workspace is made in FOLDER, which may be kept for the next
time, or in a folder that is removed. Its rows are valid and synthetic: every scenario is continued
once by each agent, and what came of it stands for all of that agent's continuations of it.
"""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from sts import agents
from sts.agents.facts import load_info
from sts.continuations import parts, store
from sts.continuations.index import EMPTY
from sts.continuations.plan import Chunk, make_plan
from sts.continuations.takeover import continue_all
from sts.continuations.types import Continuation
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Scenario, Suite
from tests.benchmarks.measure import Table, cost, machine, markdown
from tests.examples import scenarios

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks_million.md"
LABEL = "million@1"
SCENARIOS, CONTINUATIONS = 1000, 100
AGENTS = (
    "random local-search blind rule stigmergy wisdom-of-the-crowd bidding dictatorship "
    "binary-tree imitation"
).split()
SERVED = """
import sys
from sts_annotator_app import queueing
from sts.annotations import views
from sts.annotations.store import Store
from sts.storage.workspace import Workspace

workspace = Workspace.open(sys.argv[1])
suite = queueing.chosen(workspace, None if len(sys.argv) < 3 else sys.argv[2])
with Store.open(workspace) as store:
    queueing.fill(workspace, store, suite)
    with store.read() as connection:
        views.progress(connection, suite.label)
"""
"""What `sts annotate` does before it serves."""


def main(folder: Path) -> None:
    # In a process of its own, as what this one holds would be counted as held by those it begins.
    code = "import sys, tests.benchmarks.million as m; print(m.filled(sys.argv[1]))"
    words = [sys.executable, "-c", code, str(folder)]
    one = subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()
    (folder / "annotations.sqlite3").unlink(missing_ok=True)
    shutil.rmtree(folder / "labels", ignore_errors=True)
    flags = [word for name in AGENTS for word in ("--agent", name)]
    again = ["run", LABEL, *flags, "--continuations", str(CONTINUATIONS)]
    sts = [sys.executable, "-m", "sts.cli.main"]
    at = ["--workspace", str(folder)]
    served = [sys.executable, "-c", SERVED, str(folder), LABEL]
    index = folder / "continuations" / "index.parquet"
    rows: list[tuple[object, ...]] = [
        ("`sts show CONTINUATION`", 3, *cost([*sts, "show", one, *at])),
        ("`sts run`, nothing to do", 3, *cost([*sts, *again, *at])),
        ("the annotator's queue, for the first time", 20, *cost(served)),
        ("the annotator's queue, again", 20, *cost(served)),
        ("`sts label`", None, *cost([*sts, "label", LABEL, *at])),
        ("`sts label`, nothing to do", 3, *cost([*sts, "label", LABEL, *at])),
        ("`sts show CONTINUATION`, with its label", 3, *cost([*sts, "show", one, *at])),
        ("`sts report`, of a million labels", None, *cost([*sts, "report", LABEL, *at])),
    ]
    index.unlink()
    rows.append(("`sts show`, no index yet", None, *cost([*sts, "show", one, *at])))
    count = len(list((folder / "continuations").glob("*/*.parquet")))
    table = Table(
        "A million continuations",
        f"{SCENARIOS} scenarios, {CONTINUATIONS} continuations of each by {len(AGENTS)} agents, in "
        f"{count} parts. Seconds of processor and on the clock, and the most memory that a process "
        "held, from call to exit.",
        ("what", "aim, CPU seconds", "CPU seconds", "seconds", "megabytes"),
        rows,
    )
    opening = f"Written by `make bench-million`, on\n\n> {machine()}\n"
    PAGE.write_text(f"# Benchmarks of a large workspace\n\n{opening}\n{markdown(table)}")
    print(markdown(table))


def filled(folder: str) -> str:
    """Make the workspace where it is not there yet; return the id of a continuation."""
    workspace = Workspace.open(folder).ensure()
    suite, whole = _suite(workspace), workspace.path("whole")
    if not whole.exists():
        _fill(workspace, suite)
        whole.touch()
    return next(store.entries(workspace, {suite.scenarios[-1].hash})).id


def _suite(workspace: Workspace) -> Suite:
    folder = workspace.path("suites", *LABEL.split("@"))
    if not folder.exists():
        few = scenarios(SCENARIOS // 10)
        every = [
            dataclasses.replace(one, id=f"{one.id}-{i}", parameters={"variant": i})
            for one in few
            for i in range(10)
        ]
        name, _, version = LABEL.partition("@")
        suites.write(folder, Suite(name, int(version), None, "", tuple(every), {}))
    return suites.load(workspace, LABEL)


def _fill(workspace: Workspace, suite: Suite) -> None:
    """Write the parts of a plan, as a run would."""
    known = {name: load_info(name) for name in AGENTS}
    plan = make_plan(
        EMPTY, suite.scenarios, AGENTS, known, count=CONTINUATIONS, seed=0, suite=suite.hash
    )
    made: dict[tuple[str, str], Continuation] = {}
    for chunk in plan.chunks:
        rows = [row for share in chunk.shares for row in _rows(chunk, *share, made)]
        name = parts.part_name(chunk.plan, chunk.number)
        workspace.store.put_new(name, parts.encode_part(name, rows), lambda there, new: True)
    store.opened(workspace)


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


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as folder:
            main(Path(folder))
