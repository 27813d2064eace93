"""`sts lambda-star score`: the intelligence test."""

from __future__ import annotations

import argparse


def configure(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Adds the action and its arguments."""
    score = actions.add_parser(
        "score", help="mean reward per participant and step", allow_abbrev=False
    )
    score.add_argument(
        "--agent", action="append", required=True, metavar="A", help="a name or module:Class"
    )
    score.add_argument("--size", default="10x10", metavar="HxW")
    score.add_argument("--team", type=int, default=1, metavar="P", help="participants")
    score.add_argument("--steps", type=int, default=50, metavar="T")
    score.add_argument("--episodes", type=int, default=1000, metavar="N")
    score.add_argument("--seed", type=int, default=0, metavar="S")
    score.add_argument("--patterns", choices=("paper", "lambdastar-2016"), default="paper")
    score.add_argument("--workers", type=int, default=1, metavar="W", help="processes")
    score.add_argument("--save", action="store_true", help="keep them as scores of the workspace")
    score.set_defaults(act=run)


def run(args: argparse.Namespace) -> int:
    """Scores the agents and prints a table."""
    from sts.commands.arguments import progress, say, size, table
    from sts.lambda_star.patterns import Settings
    from sts.lambda_star.score import save, score
    from sts.workspace import Workspace

    workspace = Workspace.open(args.workspace)
    height, width = size(args.size)
    settings = Settings(height, width, args.team, args.steps, None, args.patterns)
    with progress("scoring", "episodes") as show:
        scores = score(
            args.agent,
            settings,
            episodes=args.episodes,
            seed=args.seed,
            workers=args.workers,
            progress=show,
        )
    value = {
        "agents": [mean._asdict() for mean in scores.agents],
        "differences": [difference._asdict() for difference in scores.differences],
        "settings": scores.settings,
    }
    ranked = sorted(scores.agents, key=lambda mean: -mean.mean)
    lines = [
        table(
            ("agent", "sees", "mean reward", "standard error"),
            [(m.agent, m.sees, m.mean, _or_none(m.standard_error)) for m in ranked],
        )
    ]
    if scores.differences:
        rows = [(d.a, d.b, d.difference, _or_none(d.standard_error)) for d in scores.differences]
        lines += ["", table(("a", "b", "a - b", "standard error"), rows)]
    lines += ["", f"{args.episodes} environments of {args.size}, {args.steps} steps each"]
    if args.save:
        lines.append(f"-> {save(workspace, scores)}")
    say(args.json, value, "\n".join(lines))
    return 0


def _or_none(value: float | None) -> float | str:
    return "none" if value is None else value
