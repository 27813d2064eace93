"""Measures speed and writes docs/benchmarks.md: `python -m tests.benchmarks`."""

from tests.benchmarks import batches, behaviours, curating, domains, suites
from tests.benchmarks.measure import write

if __name__ == "__main__":
    write(
        "benchmarks.md",
        behaviours=behaviours,
        suites=suites,
        batches=batches,
        domains=domains,
        curating=curating,
    )
