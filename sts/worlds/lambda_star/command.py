"""`sts lambda-star`: the intelligence test, what it rests on, and one episode of it."""

from __future__ import annotations

import re

from sts.cli.command import Row, action, deferred, group, option, repeatable, switch
from sts.errors import ArgumentError
from sts.worlds.lambda_star.flags import size


def _complexity(text: str) -> tuple[int, int]:
    """Return (low, high) of "2-23"."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def _world(sides: str, team: int, steps: int) -> tuple[Row, ...]:
    """Return the rows that say what environments are made to, with these defaults."""
    return (
        option("--size HxW", "rows and columns", sides, type=size),
        option("--team P", "participants", team),
        option("--steps T", "of an episode", steps),
        *_DRAWN,
    )


def _class(more: str = "") -> tuple[Row, ...]:
    """Return the rows that say which environments are drawn, and how many."""
    words = f"range of K (default: what can be drawn of 2-23{more})"
    return (
        option("--complexity LOW-HIGH", words, type=_complexity),
        option("--episodes N", "environments", 1000),
    )


_DRAWN = (
    option("--seed S", "names the environments", 0),
    option(
        "--patterns",
        "how Good and Evil move: as the paper or as its program has it",
        "paper",
        choices=("paper", "lambdastar-2016"),
    ),
)
_AGENT = (
    "a name, module:Class or PYTHON:module:Class; several between commas are dealt to the "
    "participants in turn"
)

COMMAND = group(
    "score agents in the Λ* intelligence test",
    "sts lambda-star score --agent random --agent local-search --agent oracle",
    "sts.worlds.lambda_star.commands",
    action(
        "score --agent random --agent local-search --episodes 200",
        "mean reward per participant and step",
        repeatable("--agent A", f"{_AGENT}; all: every published behaviour", required=True),
        repeatable("--size HxW", "rows and columns (default: 10x10)", type=size),
        repeatable("--team P", "participants (default: 1)", type=int),
        repeatable("--steps T", "of an episode (default: 50)", type=int),
        *_DRAWN,
        *_class(" at every level"),
        option(
            "--rehearsals N",
            "how often learning behaviours practise an episode before it counts (default: 100); "
            "0: they learn while it counts",
            100,
        ),
        option("--workers W", "processes", 1),
        switch("--save", "keep the base's scores in the workspace"),
        option("--table FILE.csv", "write the breakdown as a table"),
        option("--figure FILE.svg", "draw the breakdown"),
        at="sts.worlds.lambda_star.commands.score:run",
        description="Scores agents on the same environments, with standard errors, differences and "
        "a breakdown by the complexity K of the environments. --size, --team and --steps may be "
        "given more than once: the first value of each makes the base, and each further value is "
        "played with the others as in the base, for the breakdown by it. All of them, the base "
        "too, then draw K from the range that they have in common, so that K is the same at every "
        "level; the last line printed says which range that is.",
    ),
    action(
        "strip --agent local-search --frames 8",
        "one episode as a strip of scenes",
        option("--agent A", _AGENT, required=True),
        *_world("8x8", 3, 16),
        option("--index I", "which of them, from 0", 0, least=0),
        option(
            "--rehearsals N",
            "how often learning behaviours practise the episode first",
            100,
            least=0,
        ),
        option("--frames N", "scenes (default: what fits)", least=2),
        option("--svg FILE.svg", "write a picture"),
        at="sts.worlds.lambda_star.commands.strip:run",
        description="Plays the agent through one environment, the one of this index that the "
        "intelligence test of this seed has, and prints scenes of it side by side.",
    ),
    action(
        "check --size 8x8 --episodes 100",
        "whether environments have the properties that scores rest on",
        *_world("10x10", 1, 50),
        *_class(),
        at="sts.worlds.lambda_star.commands.check:run",
        description="Generates environments and checks that Good and Evil are different and "
        "equally complex, that rewards are balanced and a random agent's mean is 0, and that "
        "rewards can be influenced from everywhere at any step (reward-sensitivity). Exits with 1 "
        "when one of these fails.",
    ),
    run=deferred,
)
