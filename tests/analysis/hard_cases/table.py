"""The table of coverage in the method's page.

    python -m tests.analysis.hard_cases.table docs/method.md

simulates every hard case 4,000 times (minutes) and writes the table anew; the slow tier holds the
page against it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.analysis.hard_cases import (
    categories,
    comparisons,
    corrected,
    correlations,
    ends,
    guessing,
    powered,
    profiles,
)

REPLICATES = 4_000
CASES = [
    *categories.CASES,
    *comparisons.CASES,
    *corrected.CASES,
    *ends.CASES,
    *correlations.CASES,
    *guessing.CASES,
    *profiles.CASES,
    *powered.CASES,
]
START, END = "<!-- hard cases -->\n", "<!-- end of hard cases -->\n"


def row(quantity: str, case: str, before: float, after: float) -> str:
    """One line of the table."""
    return f"| {quantity} | {case} | {before:.3f} | {after:.3f} |"


def table(replicates: int = REPLICATES) -> str:
    """Every hard case, simulated."""
    rows = [row(one.quantity, one.case, *one.simulate(replicates)) for one in CASES]
    head = ["| quantity | hard case | naive | as here |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, ""])


def shown(page: str) -> list[tuple[str, str, float, float]]:
    """The rows that stand in the page."""
    body = page.partition(START)[2].partition(END)[0].splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in body]
    return [(q, case, float(before), float(after)) for q, case, before, after in cells]


def main() -> int:
    """Write the table into the page that the argument names."""
    path = Path(sys.argv[1])
    page = path.read_text("utf-8")
    head, _, rest = page.partition(START)
    path.write_text(f"{head}{START}{table()}{END}{rest.partition(END)[2]}", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
