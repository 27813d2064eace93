"""Pass rates of agents that see observations only, by category, and the range that no agent fills.

    sts run SUITE --agent NAME ... && sts label SUITE
    python -m tests.reproduction.suites.middle SUITE

A range is the widest one within 10% to 90% in which no agent lies. Each half of a pair counts.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Sequence

import pandas as pd

from sts.errors import StsError
from sts_scenarios import api
from tests.reproduction.suites.measured import table

LOW, HIGH = 0.1, 0.9


def find_gap(rates: Iterable[float]) -> tuple[float, float]:
    """Return the widest range from LOW to HIGH in which no rate lies."""
    within = [LOW, *sorted(rate for rate in rates if LOW <= rate <= HIGH), HIGH]
    return max(itertools.pairwise(within), key=lambda ends: ends[1] - ends[0])


def text(labels: pd.DataFrame) -> str:
    """Return the table of a suite's labels, the best agent first and all categories last."""
    seeing = labels[labels["sees"] == "observation"]
    passed = seeing.assign(passed=seeing["verdict"] == "success", every="all")
    parts = [
        passed.groupby([by, "agent"])["passed"].mean().unstack() for by in ("category", "every")
    ]
    rates = pd.concat(parts).sort_values("all", axis=1, ascending=False)
    rows = []
    for category, own in rates.iterrows():
        low, high = find_gap(own)
        rows.append((f"`{category}`", *(f"{rate:.2f}" for rate in own), f"{low:.2f}–{high:.2f}"))
    return table(("category", *rates.columns, "no agent"), rows)


def main(argv: Sequence[str]) -> int:
    """Print the tables of suites; return the exit code."""
    try:
        for suite in argv:
            labels = pd.read_parquet(api.label(suite).attrs["file"])
            print(f"## {suite}\n\n{text(labels)}\n", flush=True)
    except StsError as error:
        print(f"middle: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
