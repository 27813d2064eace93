"""Costs of the measures without annotators, in one process."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sts import agents
from sts.agents import fingerprint
from sts.engine.session import Session
from sts_analysis.measures import anytime, skill, universal
from sts_analysis.measures.spans import Span
from tests.analysis.measures.symbol_agents import FAMILY
from tests.benchmarks import sizes
from tests.benchmarks.measure import ROOT, Rows, clocks, exponent
from tests.test_docs import blocks

BEHAVIOURS = (
    *("random", "local-search", "oracle", "stigmergy", "wisdom-of-the-crowd", "q-learning"),
    *("rule", "bidding", "fugitive"),
)
SYMBOLS = (
    *("random", "symbols-constant-0", "symbols-constant-1", "symbols-win-stay"),
    *("symbols-q-table", *(f"tests.analysis.measures.symbol_agents:{name}" for name in FAMILY)),
)
RATES = (0.05, 0.1, 0.2, 0.3, 0.5)


def measured() -> Rows:
    """CPU seconds of each measure at a fourth of a size and at the size, and of its agents."""
    with learners() as names:
        yield from compare("anytime", BEHAVIOURS, sizes.ANYTIME_RUNS, 4, play_anytime)
        yield from compare("universal", SYMBOLS, sizes.UNIVERSAL_RUNS, 16, play_universal)
        yield from compare("skill", names, sizes.CURRICULA, 25, train)


def compare(
    name: str, every: Sequence[str], size: int, aim: float, work: Callable[[Span], object]
) -> Rows:
    marks = {agent: fingerprint(agents.load(agent)) for agent in every}
    work(Span(every[0], marks[every[0]], 0, 1))  # compiled, and imported
    few = None
    for count in (size // 4, size):
        begun = time.process_time()
        with clocks({"deciding": (Session, "_call_agent")}) as taken:
            for agent in every:
                work(Span(agent, marks[agent], 0, count))
        cost = time.process_time() - begun
        grown = None if few is None else exponent(size // 4, size, few, cost)
        share = f"{taken['deciding'] / cost:.0%}"
        yield name, len(every), count, aim if count == size else None, cost, share, grown
        few = cost


def play_anytime(span: Span) -> object:
    settings = anytime.Settings("lambda-star", 16, 5, 0)
    return anytime.play_runs(*span[:2], settings, *span[2:])


def play_universal(span: Span) -> object:
    return universal.play_span(universal.Settings("automata", None, 100, 0), span)


def train(span: Span) -> object:
    every = range(span.first, span.stop)
    return [skill.train("lambda-star", 2048, 0, Span(*span[:2], n, n + 1)) for n in every]


@contextmanager
def learners() -> Iterator[list[str]]:
    """Yield the names of five Q-tables of the page about measures, with different rates."""
    (text,) = (t for _, title, t in blocks(ROOT / "docs" / "measures.md") if title == "q_table.py")
    made = [f"class Table{n}(QTable):\n    name, rate = 'q{n}', {r}\n" for n, r in enumerate(RATES)]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "q_tables.py").write_text("\n\n".join([text, *made]))
        sys.path.insert(0, folder)
        yield [f"q_tables:Table{n}" for n in range(len(RATES))]
        sys.path.remove(folder)
