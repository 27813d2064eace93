"""Measures speed and updates its section of docs/benchmarks.md: `python -m tests.benchmarks`."""

from tests.benchmarks import batches, behaviours, curating, domains, growth, measures, suites
from tests.benchmarks.measure import write

if __name__ == "__main__":
    write(
        "bench",
        behaviours=behaviours,
        growth=growth,
        suites=suites,
        batches=batches,
        domains=domains,
        measures=measures,
        curating=curating,
    )
