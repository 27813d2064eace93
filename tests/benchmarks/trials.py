"""How long it takes to hold what people played to the rules of the game."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from tests.benchmarks.measure import Sizes, Table, seconds

AIM = 90
"""Seconds on two cores."""
COMMAND = ("overcooked", "check")


def table(sizes: Sizes) -> Table:
    """Seconds in which every installed trial is verified, and what came of it."""
    found: dict[str, Any] = {}

    def work(_: None) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "sts.cli.main", *COMMAND, "--json"],
            check=True,
            capture_output=True,
            text=True,
        )
        found.update(json.loads(done.stdout))

    taken = seconds(work, runs=1)
    return Table(
        "Human play, verified",
        "Seconds from call to exit, once, after a run that is not counted. The command reads the "
        "trials that the package installs, replays each of them, and compares every recorded "
        "state, whole. The aim is for two cores; the command works in one process and leaves the "
        "other alone.",
        ("command", "states alike", "trials exact", "processes", "aim", "seconds"),
        [
            (
                f"`sts {' '.join(COMMAND)}`",
                f"{found['states_alike']} of {found['states']}",
                f"{found['trials_exact']} of {found['trials']}",
                "1",
                AIM,
                taken,
            )
        ],
    )
