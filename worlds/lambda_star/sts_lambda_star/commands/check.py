"""`sts lambda-star check`: properties of a class of environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sts.plugin import command, format_table, show_progress
from sts_lambda_star.commands.arguments import (
    EPISODES,
    PATTERNS,
    SEED,
    complexity_option,
    size_option,
)

if TYPE_CHECKING:
    from sts_lambda_star.intelligence.environment_checks import EnvironmentReport

_COMPLEXITY, _SIZE = complexity_option(), size_option("10x10")


@command.declare(
    "check --size 8x8 --episodes 100",
    description="Generate environments and check that Good and Evil are different and "
    "equally complex, that rewards are balanced and a random agent's mean is 0, and that "
    "rewards can be influenced from everywhere at any step (reward-sensitivity). The exit code "
    "is 1 if one of these fails.",
)
def check(
    *,
    size: tuple[int, int] = _SIZE,
    team: int = command.option("P", "number of players", 1),
    steps: int = command.option("T", "steps per episode", 50),
    seed: int = SEED,
    patterns: str = PATTERNS,
    complexity: tuple[int, int] | None = _COMPLEXITY,
    episodes: int = EPISODES,
) -> command.Result:
    """Check that environments have the properties the test requires."""
    from sts_lambda_star.generation.patterns import Settings
    from sts_lambda_star.intelligence.environment_checks import check_environments

    height, width = size
    settings = Settings(height, width, team, steps, complexity, patterns)
    with show_progress("examining", "environments") as show:
        result = check_environments(settings, episodes=episodes, seed=seed, progress=show)
    rows = [(f.property, "holds" if f.holds else "FAILS", f.found) for f in result.findings]
    lines = [
        format_table(("property", "", "found"), rows),
        "",
        *_legend_lines(result),
        "",
        f"H(mu) = {result.uncertainty:.3f} bits in all {episodes} environments of "
        f"{height}x{width}, {steps} steps each",
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
