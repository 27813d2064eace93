"""`sts lambda-star score`: the intelligence test."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sts.worlds.lambda_star.commands.arguments import add_world

if TYPE_CHECKING:
    from sts.storage.workspace import Workspace
    from sts.worlds.lambda_star.intelligence.score import Scores


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    score = actions.add_parser(
        "score",
        help="mean reward per participant and step",
        description="Scores agents on the same environments, with standard errors, differences and "
        "a breakdown by the complexity K of the environments. --size, --team and --steps may be "
        "given more than once: the first value of each makes the base, and each further value is "
        "played with the others as in the base, for the breakdown by it. All of them, the base "
        "too, then draw K from the range that they have in common, so that K is the same at every "
        "level; the last line printed says which range that is.",
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
    add_world(score, size="10x10", team=1, steps=50, once=False)
    score.add_argument(
        "--episodes", type=int, default=1000, metavar="N", help="environments (default: 1000)"
    )
    score.add_argument(
        "--complexity",
        metavar="LOW-HIGH",
        help="range of K (default: what can be drawn of 2-23 at every level)",
    )
    score.add_argument(
        "--rehearsals",
        type=int,
        default=100,
        metavar="N",
        help="how often learning behaviours practise an episode before it counts (default: 100); "
        "0: they learn while it counts",
    )
    score.add_argument("--workers", type=int, default=1, metavar="W", help="processes (default: 1)")
    score.add_argument(
        "--save", action="store_true", help="keep the base's scores in the workspace"
    )
    score.add_argument("--table", metavar="FILE.csv", help="write the breakdown as a table")
    score.add_argument("--figure", metavar="FILE.svg", help="draw the breakdown")
    score.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Scores the agents and prints tables, even where a file then cannot be written."""
    from sts.cli.arguments import progress, say
    from sts.storage.workspace import Workspace
    from sts.worlds.lambda_star.commands.arguments import complexity, target
    from sts.worlds.lambda_star.flags import size
    from sts.worlds.lambda_star.intelligence import factors
    from sts.worlds.lambda_star.intelligence.score import score
    from sts.worlds.lambda_star.intelligence.text import text

    workspace = Workspace.open(args.workspace)
    table = target("--table", args.table, ".csv")
    drawn = target("--figure", args.figure, ".svg")
    names = _named(args.agent)
    base, further = factors.runs(
        [size(one) for one in args.size or ["10x10"]],
        args.team or [1],
        args.steps or [50],
        complexity=complexity(args.complexity),
        patterns=args.patterns,
    )
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
    files: dict[str, str] = {}
    try:
        _write(scores, table, drawn, files)
        if args.save:
            _save(scores, workspace, files)
    finally:
        value = {
            "agents": [mean._asdict() for mean in scores.agents],
            "differences": [difference._asdict() for difference in scores.differences],
            "breakdown": [part._asdict() for part in scores.breakdown],
            "settings": scores.settings,
            "files": list(files),
        }
        lines = [f"-> {file}{note}" for file, note in files.items()]
        say(args.json, value, "\n".join([text(scores), *lines]))
    return 0


def _named(asked: Sequence[str]) -> list[str]:
    """Returns the agents' names, with `all` resolved.

    Raises:
      ArgumentError: `all` is named beside an agent that it includes, or twice.
    """
    from sts.errors import ArgumentError
    from sts.worlds.lambda_star.intelligence.score import PUBLISHED

    if "all" in asked:
        if list(asked).count("all") > 1:
            raise ArgumentError("--agent all is given twice; give it once")
        for name in PUBLISHED:
            if name in asked:
                raise ArgumentError(f"--agent {name}: all includes it; leave one of the two out")
    return [name for one in asked for name in (PUBLISHED if one == "all" else [one])]


def _write(scores: Scores, table: Path | None, drawn: Path | None, files: dict[str, str]) -> None:
    """Writes what is asked for, and adds each file that is written."""
    from sts.worlds.lambda_star.commands.arguments import write
    from sts.worlds.lambda_star.intelligence.files import csv_table

    if table is not None:
        write(table, csv_table(scores))
        files[str(table)] = ""
    if drawn is not None:
        from sts.worlds.lambda_star.intelligence.figure import figure

        write(drawn, figure(scores.breakdown).encode())
        files[str(drawn)] = ""


def _save(scores: Scores, workspace: Workspace, files: dict[str, str]) -> None:
    """Keeps the base's scores; notes which settings these are where others were played too."""
    from sts.worlds.lambda_star.intelligence.files import METRIC, metric, save

    path = save(workspace, scores)
    several = any(part.factor != "complexity" for part in scores.breakdown)
    said = metric(scores.settings).removeprefix(METRIC).strip() or "the usual settings"
    files[str(path)] = f" (the base: {said})" if several else ""
