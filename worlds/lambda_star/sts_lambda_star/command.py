"""`sts lambda-star`: the intelligence test, its property checks, and filmstrips of its episodes."""

import re

from sts.plugin import ArgumentError, command
from sts_lambda_star.flags import parse_size


def _parse_complexity(text: str) -> tuple[int, int]:
    """Parse "2-23" into (low, high)."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def _environment_options(sides: str, team: int, steps: int) -> tuple[command.AddArgument, ...]:
    """Return the options for the settings of environments, with these defaults."""
    return (
        command.option("--size HxW", "rows and columns", sides, type=parse_size),
        command.option("--team P", "number of players", team),
        command.option("--steps T", "steps per episode", steps),
        *_GENERATOR_OPTIONS,
    )


def _sample_options(more: str = "") -> tuple[command.AddArgument, ...]:
    """Return the options for the range of K and the number of environments."""
    text = f"range of the complexity K (default: as much of 2-23 as is possible{more})"
    return (
        command.option("--complexity LOW-HIGH", text, type=_parse_complexity),
        command.option("--episodes N", "number of environments, one episode each", 1000),
    )


_GENERATOR_OPTIONS = (
    command.option("--seed S", "seed of the environments", 0),
    command.option(
        "--patterns",
        "movement patterns of Good and Evil: the paper's or its program's",
        "paper",
        choices=("paper", "lambdastar-2016"),
    ),
)
_AGENT_HELP = (
    "name, module:Class or PYTHON:module:Class; separate several by commas for a mixed team, "
    "assigned to the players in turn"
)

COMMAND = command.group(
    "score agents in the Λ* intelligence test",
    "sts lambda-star score --agent random --agent local-search --agent oracle",
    "sts_lambda_star.commands",
    command.action(
        "score --agent random --agent local-search --episodes 200",
        "measure mean reward per player and step",
        command.repeatable(
            "--agent A", f"{_AGENT_HELP}; all: every published agent", required=True
        ),
        command.repeatable("--size HxW", "rows and columns (default: 10x10)", type=parse_size),
        command.repeatable("--team P", "number of players (default: 1)", type=int),
        command.repeatable("--steps T", "steps per episode (default: 50)", type=int),
        command.repeatable(
            "--sight K", "cells that agents see in each direction (default: 1)", type=int
        ),
        command.option("--needs N", "players near Good, or Evil, without whom it has no effect", 1),
        *_GENERATOR_OPTIONS,
        *_sample_options(" at every level"),
        command.option(
            "--practice-episodes N",
            "practice episodes of learning agents before the scored one (default: 100); "
            "0: they learn during the scored episode",
            100,
        ),
        command.option("--workers W", "processes", 1),
        command.switch("--save-scores", "save the scores of the base settings in the workspace"),
        command.option("--table FILE.csv", "write the breakdown as a table"),
        command.option("--figure FILE.svg", "draw the breakdown"),
        at="sts_lambda_star.commands.score:run",
        description="Score agents on the same environments, with standard errors, differences and "
        "a breakdown by the complexity K of the environments. --size, --team, --steps and --sight "
        "may be given more than once: their first values are the base settings, and each further "
        "value adds a level to the breakdown by that setting, with the others as in the base. All "
        "levels then draw K from the range that they have in common, so that K is comparable; the "
        "last line of the output shows this range.",
    ),
    command.action(
        "filmstrip --agent local-search --frames 8",
        "show one episode as a filmstrip",
        command.option("--agent A", _AGENT_HELP, required=True),
        *_environment_options("8x8", 3, 16),
        command.option("--index I", "index of the environment, from 0", 0, least=0),
        command.option(
            "--practice-episodes N",
            "practice episodes of learning agents before this one",
            100,
            least=0,
        ),
        command.option("--frames N", "number of frames (default: as many as fit)", least=2),
        command.option("--svg FILE.svg", "write the filmstrip as an SVG image"),
        at="sts_lambda_star.commands.filmstrip:run",
        description="Play the agent through the environment with this index in the intelligence "
        "test with this seed, and print frames of the episode side by side.",
    ),
    command.action(
        "check --size 8x8 --episodes 100",
        "check that environments have the properties the test requires",
        *_environment_options("10x10", 1, 50),
        *_sample_options(),
        at="sts_lambda_star.commands.check:run",
        description="Generate environments and check that Good and Evil are different and "
        "equally complex, that rewards are balanced and a random agent's mean is 0, and that "
        "rewards can be influenced from everywhere at any step (reward-sensitivity). The exit code "
        "is 1 if one of these fails.",
    ),
    run=command.defer_import,
)
