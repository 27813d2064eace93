"""What a person waits for: the command line's start-up, and a suite run by several agents."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from functools import partial

from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import store
from tests.benchmarks.measure import Sizes, Table, seconds

AGENTS = ("random", "blind", "local-search", "stigmergy", "rule")


def start_up(sizes: Sizes) -> Table:
    """Seconds until the command line answers."""
    rows = [
        (f"sts {' '.join(flags)}", seconds(_called, partial(list, flags), runs=sizes.runs))
        for flags in (["--version"], ["--help"], ["run", "--help"])
    ]
    return Table("Start-up", "Seconds from call to exit.", ("command", "seconds"), rows)


def _called(flags: list[str]) -> None:
    subprocess.run([sys.executable, "-m", "sts.cli.main", *flags], check=True, capture_output=True)


def continuations(sizes: Sizes) -> Table:
    """Seconds for the packaged suite, continued by each agent and by all."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        scenarios = store.load(Workspace.open(folder), "starter@1").scenarios

        def fresh() -> Workspace:
            return Workspace.open(tempfile.mkdtemp(dir=folder))

        for names in (*((name,) for name in AGENTS), AGENTS):

            def work(workspace, names=names):
                run(
                    workspace,
                    scenarios,
                    names,
                    count=sizes.continuations,
                    seed=0,
                    workers=1,
                    progress=lambda done, total: None,
                )

            label = names[0] if len(names) == 1 else f"all {len(names)}"
            taken = seconds(work, fresh, runs=sizes.runs)
            rows.append((label, taken, len(scenarios) * sizes.continuations * len(names) / taken))
    return Table(
        "Continuations",
        f"Seconds to continue {len(scenarios)} scenarios {sizes.continuations} times, with every "
        "replayed step checked and every file written, in one process; kernels were compiled "
        "before.",
        ("agents", "seconds", "continuations a second"),
        rows,
    )
