"""`sts lambda-star check`: the properties of a class of environments."""

from __future__ import annotations

import argparse

from sts.cli.arguments import progress, table
from sts.cli.command import Result
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.intelligence.soundness import Soundness, examine


def run(args: argparse.Namespace) -> Result:
    """Show what was found; the exit code is 1 if a property fails."""
    height, width = args.size
    asked = Settings(height, width, args.team, args.steps, args.complexity, args.patterns)
    with progress("examining", "environments") as show:
        found = examine(asked, episodes=args.episodes, seed=args.seed, progress=show)
    rows = [(f.property, "holds" if f.holds else "FAILS", f.found) for f in found.findings]
    lines = [
        table(("property", "", "found"), rows),
        "",
        *_legend(found),
        "",
        f"H(mu) = {found.uncertainty:.3f} bits in all {args.episodes} environments of "
        f"{height}x{width}, {args.steps} steps each",
    ]
    value = found._asdict() | {
        "random": found.random._asdict(),
        "findings": [finding._asdict() for finding in found.findings],
    }
    return Result(value, "\n".join(lines), 0 if found.holds else 1)


def _legend(found: Soundness) -> list[str]:
    """Return what the words and letters in the table mean, those that stand there."""
    told = " ".join(f"{finding.property} {finding.found}" for finding in found.findings)
    lines = {
        "K": "complexity of the path that Good, or Evil, intends over an episode",
        "same moves": "Good and Evil make the same moves, from different cells",
        "z": "the mean in standard errors; holds from -4 to 4",
        "n": "from every cell, while n steps are left, two ways of n moves bring different rewards",
    }
    shown = {"K": "K ", "same moves": "same moves", "z": "z = ", "n": "n = "}
    kept = [f"{word}: {said}" for word, said in lines.items() if shown[word] in told]
    return [*kept, "H(mu): uncertainty of where Good and Evil are before anything is seen"]
