"""`sts lambda-star score`: the intelligence test."""

from __future__ import annotations

import argparse
from pathlib import Path


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    score = actions.add_parser(
        "score",
        help="mean reward per participant and step",
        description="Scores agents on the same environments, with standard errors, differences and "
        "a breakdown by the complexity K of the environments. --size, --team and --steps may be "
        "given more than once: the first value of each makes the base, and each further value is "
        "played with the others as in the base, for the breakdown by it.",
        allow_abbrev=False,
    )
    score.add_argument(
        "--agent",
        action="append",
        required=True,
        metavar="A",
        help="a name or module:Class; several between commas are dealt to the participants in "
        "turn; all: every published behaviour",
    )
    score.add_argument("--size", action="append", metavar="HxW", help="default: 10x10")
    score.add_argument(
        "--team", action="append", type=int, metavar="P", help="participants (default: 1)"
    )
    score.add_argument("--steps", action="append", type=int, metavar="T", help="default: 50")
    score.add_argument(
        "--episodes", type=int, default=1000, metavar="N", help="environments (default: 1000)"
    )
    score.add_argument("--seed", type=int, default=0, metavar="S")
    score.add_argument("--patterns", choices=("paper", "lambdastar-2016"), default="paper")
    score.add_argument(
        "--complexity", metavar="LOW-HIGH", help="range of K (default: what can be drawn of 2-23)"
    )
    score.add_argument(
        "--rehearsals",
        type=int,
        default=100,
        metavar="N",
        help="how often learning behaviours practise an episode before it counts (default: 100); "
        "0: they learn while it counts",
    )
    score.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    score.add_argument("--save", action="store_true", help="keep them as scores of the workspace")
    score.add_argument("--table", metavar="FILE.csv", help="write the breakdown as a table")
    score.add_argument("--figure", metavar="FILE.svg", help="draw the breakdown")
    score.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Scores the agents and prints tables."""
    from sts.commands.arguments import progress, say, size
    from sts.files import write_atomically
    from sts.lambda_star.intelligence import factors
    from sts.lambda_star.intelligence.files import save, write_table
    from sts.lambda_star.intelligence.score import PUBLISHED, score
    from sts.lambda_star.intelligence.text import text
    from sts.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    table = _target("--table", args.table, ".csv")
    drawn = _target("--figure", args.figure, ".svg")
    base, further = factors.runs(
        [size(one) for one in args.size or ["10x10"]],
        args.team or [1],
        args.steps or [50],
        complexity=complexity(args.complexity),
        patterns=args.patterns,
    )
    names = [name for asked in args.agent for name in (PUBLISHED if asked == "all" else [asked])]
    with progress("scoring", "episodes") as show:
        scores = score(
            names,
            base,
            further,
            episodes=args.episodes,
            seed=args.seed,
            rehearsals=args.rehearsals,
            workers=args.workers,
            progress=show,
        )
    lines = [text(scores)]
    if args.save:
        lines.append(f"-> {save(workspace, scores)}")
    if table is not None:
        write_table(table, scores)
        lines.append(f"-> {table}")
    if drawn is not None:
        from sts.lambda_star.intelligence.figure import figure

        write_atomically(drawn, figure(scores.breakdown).encode())
        lines.append(f"-> {drawn}")
    value = {
        "agents": [mean._asdict() for mean in scores.agents],
        "differences": [difference._asdict() for difference in scores.differences],
        "breakdown": [part._asdict() for part in scores.breakdown],
        "settings": scores.settings,
    }
    say(args.json, value, "\n".join(lines))
    return 0


def complexity(text: str | None) -> tuple[int, int] | None:
    """Returns (low, high) of "2-23".

    Raises:
      ArgumentError: not of that form.
    """
    import re

    from sts.errors import ArgumentError

    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def _target(flag: str, name: str | None, suffix: str) -> Path | None:
    """Returns the file that a flag names, when it can be written.

    Raises:
      ArgumentError: another suffix, a folder, or a place where nothing can be written.
    """
    import os

    from sts.errors import ArgumentError

    if name is None:
        return None
    path = Path(name)
    if path.suffix != suffix:
        raise ArgumentError(f"expected {flag} with a name that ends in {suffix}, found {name!r}")
    if path.is_dir():
        raise ArgumentError(f"expected {flag} with a file, found the folder {name}")
    above = next(folder for folder in path.absolute().parents if folder.exists())
    if not above.is_dir():
        raise ArgumentError(f"{flag} {name}: {above} is not a folder; choose another place")
    if not os.access(above, os.W_OK | os.X_OK):
        raise ArgumentError(f"{flag} {name}: nothing can be written in {above}")
    return path
