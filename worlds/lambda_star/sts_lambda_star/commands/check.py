"""`sts lambda-star check`: properties of a class of environments."""

import argparse

from sts.plugin import command, format_table, show_progress
from sts_lambda_star.generation.patterns import Settings
from sts_lambda_star.intelligence.environment_checks import (
    EnvironmentReport,
    check_environments,
)


def run(args: argparse.Namespace) -> command.Result:
    """Print a table of the properties; the exit code is 1 if one of them fails."""
    height, width = args.size
    settings = Settings(height, width, args.team, args.steps, args.complexity, args.patterns)
    with show_progress("examining", "environments") as show:
        result = check_environments(settings, episodes=args.episodes, seed=args.seed, progress=show)
    rows = [(f.property, "holds" if f.holds else "FAILS", f.found) for f in result.findings]
    lines = [
        format_table(("property", "", "found"), rows),
        "",
        *_legend_lines(result),
        "",
        f"H(mu) = {result.uncertainty:.3f} bits in all {args.episodes} environments of "
        f"{height}x{width}, {args.steps} steps each",
    ]
    value = result._asdict() | {
        "random": result.random._asdict(),
        "findings": [finding._asdict() for finding in result.findings],
    }
    return command.Result(value, "\n".join(lines), 0 if result.holds else 1)


def _legend_lines(result: EnvironmentReport) -> list[str]:
    """Return a line on each symbol that occurs in the table."""
    text = " ".join(f"{finding.property} {finding.found}" for finding in result.findings)
    meanings = {
        "K ": "K: complexity of the path that Good, or Evil, intends over an episode",
        "same moves": "same moves: Good and Evil make the same moves, from different cells",
        "z = ": "z: the mean in standard errors; holds from -4 to 4",
        "n = ": "n: from every cell with n steps left, two sequences of n moves give different "
        "rewards",
    }
    lines = [line for symbol, line in meanings.items() if symbol in text]
    return [*lines, "H(mu): uncertainty about the cells of Good and Evil before any observation"]
