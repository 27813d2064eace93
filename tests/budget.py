"""What the quick tier costs in CPU time: at the end of a run by folder, and what is too dear fails.

CPU time is that of the test's process and of those that it has waited for, so that other work on
the machine hardly counts. What a fixture costs is its first test's. What browsers and servers did
that a folder or a session shares is known when they end, and is no test's, as is what was spent
before the first test. What kernels take that are compiled, which is once in a clone, is shown, and
counts neither against a test nor against the whole.

The same work takes twice as much CPU time while neighbours want the same core, its caches or the
memory. So each worker does a fixed piece of work now and then, and what it spends counts in terms
of the last few of these: as it would have been where the piece takes PIECE.

A run of the quick tier that costs more than BUDGET fails, though each of its tests passes.
"""

from __future__ import annotations

import contextlib
import resource
import statistics
import time
from collections import defaultdict, deque
from collections.abc import Generator, Iterator

import pytest
from numba.core import event

BUDGET = 850
"""CPU-seconds of the whole quick tier, so that it grows no further.

It takes 665 to 722, as the same tests differ by who else is on the machine; a budget inside of that
would refuse what is sound. Within six minutes two cores take 660.
"""
MOST = 30
"""CPU-seconds that one test, or what is set up for it, may take; else it is marked slow."""
SHOWN = 8
PIECE = 0.0063
"""CPU-seconds of `piece` on the machine that these are of, between the tests of three workers."""
EVERY = 3.0
"""CPU-seconds of a worker between two pieces."""
LAST = 5
"""Pieces whose median says how fast the machine is now."""
_SPENT = pytest.StashKey[float]()
_COMPILED = pytest.StashKey[float]()
_LAST = pytest.StashKey[bool]()
_NAME, _RAW = "cpu", "raw"
SHARED = "browsers, servers and other fixtures of a session or a folder"
COLLECTED = "collection, by each worker"
COMPILED = "kernels, once in a clone and not of the budget"


def spent() -> float:
    """Return CPU-seconds of this process and of its children that have ended."""
    each = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in each)


def piece() -> float:
    """Do a fixed piece of work; return the CPU-seconds that it took."""
    began = time.process_time()
    sum(number * number % 7 for number in range(100_000))
    return time.process_time() - began


class Meter:
    """Measures each phase of each test, and adds up where the reports of all workers arrive."""

    def __init__(self, budget: float | None = BUDGET, most: float = MOST) -> None:
        """Take the CPU-seconds of all and of one; None where the slow tier is run too."""
        self.budget, self.most = budget, most
        self.folders: dict[str, float] = defaultdict(float)
        self.tests: dict[str, float] = defaultdict(float)
        self.collected, self.raw = 0.0, 0.0
        self.pieces: deque[float] = deque(maxlen=LAST)
        self.due = 0.0

    @property
    def slowness(self) -> float:
        """How many times as many CPU-seconds everything took as where a piece takes PIECE."""
        return self.raw / (sum(self.folders.values()) or 1.0)

    @property
    def total(self) -> float:
        """CPU-seconds of all that has been reported, but for kernels, where a piece takes PIECE."""
        return sum(seconds for name, seconds in self.folders.items() if name != COMPILED)

    def pytest_collection_finish(self) -> None:
        self.collected = spent()
        self.pieces.extend(piece() for _ in range(LAST))

    def pace(self) -> float:
        """Return how many times as long as PIECE a piece takes in this process now."""
        if (now := spent()) >= self.due:
            self.due = now + EVERY
            self.pieces.append(piece())
        return statistics.median(self.pieces) / PIECE

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        with _measured(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with _measured(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        item.stash[_LAST] = nextitem is None or nextitem.path.parent != item.path.parent
        with _measured(item):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        seconds = item.stash.get(_SPENT, 0.0)
        own = max(0.0, seconds - item.stash.get(_COMPILED, 0.0))
        ends = report.when == "teardown" and item.stash.get(_LAST, False)
        pace = self.pace()
        report.user_properties = [
            (SHARED if ends else _NAME, own / pace),
            (COLLECTED, self.collected / pace),
            (COMPILED, (seconds - own) / pace),
            (_RAW, seconds + self.collected),
        ]
        self.collected = 0.0
        most = (
            self.most
            if own <= self.most
            else self.most * max(1.0, *(piece() / PIECE for _ in range(5)))
        )
        if own > most and report.passed and report.when != "teardown" and not _slow(item):
            report.outcome = "failed"
            report.longrepr = (
                f"its {report.when} took {own:.0f} CPU-seconds, expected {most:.1f} at most in "
                "the quick tier: make it smaller, or mark it slow and keep a smaller one"
            )
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, seconds in report.user_properties:
            if name in (SHARED, COLLECTED, COMPILED) and isinstance(seconds, float):
                self.folders[name] += seconds
            elif name == _RAW and isinstance(seconds, float):
                self.raw += seconds
            elif name == _NAME and isinstance(seconds, float):
                place = report.nodeid.partition("::")[0].split("/")
                self.folders["/".join(place[:2])] += seconds
                self.tests[report.nodeid] += seconds

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self.over and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    @property
    def over(self) -> bool:
        """Whether more was spent than there is."""
        return self.budget is not None and self.total > self.budget

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self.total < (self.budget or BUDGET) / 10:  # a few tests
            return
        limit = f" of {self.budget}" if self.budget else ""
        terminalreporter.section(f"{self.total:.0f} CPU-seconds{limit}", red=self.over)
        if self.over:
            terminalreporter.write_line(
                "the quick tier is no longer quick: make what is dearest cheaper, or mark it slow",
                red=True,
            )
        terminalreporter.write_line(
            f"here it were {self.raw:.0f}, which is {self.slowness:.2f} times as many"
        )
        for counts in (self.folders, self.tests):
            for name, seconds in sorted(counts.items(), key=_dearest)[:SHOWN]:
                terminalreporter.write_line(f"{seconds:8.1f}  {name}")


def _dearest(spent: tuple[str, float]) -> float:
    return -spent[1]


def _slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


@contextlib.contextmanager
def _measured(item: pytest.Item) -> Iterator[None]:
    """Keep what is spent inside, and how much of it by the compiler."""
    before, compiler = spent(), event.TimingListener()
    try:
        with event.install_listener("numba:compile", compiler):
            yield
    finally:
        item.stash[_SPENT] = spent() - before
        item.stash[_COMPILED] = compiler.duration if compiler.done else 0.0
