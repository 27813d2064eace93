"""Measures speed and writes docs/benchmarks.md: `python -m tests.benchmarks`."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.benchmarks import paths, pipeline
from tests.benchmarks.measure import RUNS, machine, markdown

BENCHMARKS = (paths.throughput, paths.limits, pipeline.start_up, pipeline.continuations)
PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def main() -> None:
    parts = [
        "# Benchmarks\n\nWritten by `make bench`. Each number is the median of "
        f"{RUNS} runs on\n\n> {machine()}\n"
    ]
    for benchmark in BENCHMARKS:
        part = markdown(benchmark())
        print(part, file=sys.stderr)
        parts.append(part)
    PAGE.write_text("\n".join(parts))


if __name__ == "__main__":
    main()
