"""Costs of tests: `pytest -p tests.costs` prints a table of files, and writes one of tests.

The CPU time of a test is that of its worker and of all processes below it, such as servers and
browsers, since the test before. A shared fixture counts for the test that asks first.
"""

from __future__ import annotations

import csv
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

TIERS = ("slow", "landing", "quick")
TICK = 1 / os.sysconf("SC_CLK_TCK")
TABLE = Path("build/test_costs.csv")


class Costs:
    """The costs of one run: each worker measures its tests, and the main process adds."""

    def __init__(self) -> None:
        self._measured = _measure_cpu()
        self._seconds: dict[str, float] = defaultdict(float)
        self._tests: list[tuple[str, str, str, float, float]] = []

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Add the tier of a test and its CPU time to the report of its last phase."""
        report = yield
        if report.when == "teardown":
            before, self._measured = self._measured, _measure_cpu()
            tier = next((one for one in TIERS if item.get_closest_marker(one)), TIERS[-1])
            # A process that ended without its parent waiting has been counted, and is gone now.
            report.user_properties += [("tier", tier), ("cpu", max(0.0, self._measured - before))]
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test."""
        self._seconds[report.nodeid] += report.duration
        if report.when == "teardown":
            found: dict[str, Any] = dict(report.user_properties)
            name, seconds = report.nodeid, self._seconds.pop(report.nodeid)
            self._tests.append((name.split("::")[0], found["tier"], name, seconds, found["cpu"]))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print the costs of each file, the most CPU time first, and write those of each test."""
        rows: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0, 0.0, 0.0])
        for file, tier, _, seconds, cpu in self._tests:
            for key in ((tier, file), ("all", "all files")):
                rows[key] = [a + b for a, b in zip(rows[key], (1, seconds, cpu), strict=True)]
        terminalreporter.section("costs")
        terminalreporter.write_line("  tests  seconds  CPU-seconds  tier     file")
        for (tier, file), (count, seconds, cpu) in sorted(rows.items(), key=lambda r: -r[1][2]):
            terminalreporter.write_line(f"{count:7} {seconds:8.1f} {cpu:12.1f}  {tier:8} {file}")
        TABLE.parent.mkdir(exist_ok=True)
        with TABLE.open("w", newline="") as opened:
            csv.writer(opened).writerows(
                [("file", "tier", "test", "seconds", "cpu_seconds"), *self._tests]
            )


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Costs())


def _measure_cpu() -> float:
    """Return the CPU-seconds of this process and of all below it, ended ones too."""
    if not Path("/proc/self/stat").exists():  # macOS: without processes that still run
        return sum(os.times()[:4])
    spent, children = {}, defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended meanwhile
            continue
        pid = int(stat.parent.name)
        spent[pid] = sum(map(int, words[11:15]))
        children[int(words[1])].append(pid)
    total, below = 0, [os.getpid()]
    while below:
        pid = below.pop()
        total += spent.get(pid, 0)
        below += children[pid]
    return total * TICK
