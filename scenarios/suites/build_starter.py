"""Builds the packaged suite `starter@1` with the public commands, from recordings alone.

    python -m scenarios.suites.build_starter OUT TRACE...

OUT is where `suite.json` and `scenarios.parquet` go; each TRACE is a file of episodes of the
published program. The rest is in RECORDINGS and the seeds: the same agents give the same scenarios.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from scenarios.suites import building
from sts.errors import ArgumentError, StsError
from sts.suites.types import Suite

RECORDINGS = (
    ("random", 1, "10x10", 1),
    ("local-search", 2, "10x10", 2),
    ("stigmergy", 3, "10x10", 3),
    ("rule", 4, "10x10", 4),
    ("local-search", 1, "8x12", 5),
    ("stigmergy", 2, "10x10", 6),
    ("random", 3, "12x8", 7),
    ("local-search", 3, "10x10", 8),
)
CATEGORIES = (
    *("avoid-evil", "evil-in-sight", "follow-good", "join-teammate"),
    *("reach-good", "stand-still", "walk", "where-is-good"),
)
EPISODES, STEPS = 100, 50
PER_CATEGORY, SEED = 10, 1
NAME, VERSION = "starter", 1
DESCRIPTION = (
    "Eight categories of instruction following and question answering on Λ*, ten scenarios each, "
    "mined from recordings of this project's agents and of the published program."
)


def commands(traces: Sequence[Path]) -> list[list[str]]:
    """Returns the command lines that record, import and mine, without the leading `sts`."""
    lines = [["trajectories", "import", *map(str, traces), "--format", "lambdastar-2016"]]
    for agent, team, size, seed in RECORDINGS:
        shape = ["--team", str(team), "--size", size, "--seed", str(seed)]
        amount = ["--episodes", str(EPISODES), "--steps", str(STEPS)]
        lines.append(["record", "--domain", "lambda-star", "--agent", agent, *shape, *amount])
    named = [word for name in CATEGORIES for word in ("--category", name)]
    chosen = ["--stratum", "difficulty", "--per-category", str(PER_CATEGORY), "--seed", str(SEED)]
    lines.append(["mine", building.DRAFT, *named, *chosen])
    return lines


def build(out: Path, traces: Sequence[Path]) -> Suite:
    """Writes the suite to the folder `out` and returns it; raises as `building.build`."""
    return building.build(out, NAME, VERSION, DESCRIPTION, commands(traces))


def main(argv: Sequence[str]) -> int:
    """Builds from the command line; returns the exit code."""
    try:
        if len(argv) < 2:
            raise ArgumentError("expected OUT TRACE..., see the module's first lines")
        suite = build(Path(argv[0]), [Path(a) for a in argv[1:]])
    except StsError as error:
        print(f"build_starter: {error}", file=sys.stderr)
        return error.exit_code
    print(f"{suite.label}: {len(suite.scenarios)} scenarios, hash {suite.hash}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
