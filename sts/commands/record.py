"""`sts record`: agents play new worlds, and the episodes are kept as trajectories."""

from __future__ import annotations

import argparse

from sts.command import Command


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument(
        "--agent", action="append", required=True, metavar="A", help="a name or module:Class"
    )
    parser.add_argument("--episodes", type=int, required=True, metavar="N", help="of each agent")
    parser.add_argument("--domain", default="lambda-star", metavar="D", help="whose worlds")
    parser.add_argument("--size", default="10x10", metavar="HxW")
    parser.add_argument("--team", type=int, default=1, metavar="P", help="participants")
    parser.add_argument("--steps", type=int, default=50, metavar="T")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--split", choices=("auto",), default="auto", help="by hash of the world")
    parser.add_argument("--patterns", choices=("paper", "lambdastar-2016"), default="paper")


def run(args: argparse.Namespace) -> int:
    """Records and saves."""
    from sts import agents
    from sts.commands.arguments import at_least, progress, say, size
    from sts.trajectories import store
    from sts.trajectories.record import record
    from sts.workspace import Workspace

    height, width = size(args.size)
    at_least(1, "--episodes", args.episodes)
    at_least(1, "--team", args.team)
    workspace = Workspace.open(args.workspace)
    players = [agents.load(name) for name in args.agent]
    made = []
    with progress("recording", "agents") as show:
        for done, agent in enumerate(players, 1):
            made += record(
                agent,
                domain=args.domain,
                count=args.episodes,
                steps=args.steps,
                seed=args.seed,
                settings={
                    "height": height,
                    "width": width,
                    "participants": args.team,
                    "horizon": args.steps,
                    "patterns": args.patterns,
                },
            )
            show(done, len(players))
    path = store.save(workspace, made)
    test = sum(t.split == "test" for t in made)
    say(
        args.json,
        {"file": str(path), "trajectories": [t.id for t in made], "test": test},
        f"{len(made)} trajectories of {args.steps} steps, {test} on the test side -> {path}",
    )
    return 0


COMMAND = Command(
    summary="record agents on new worlds",
    example="sts record --agent local-search --episodes 100 --size 10x10 --team 3 --steps 60",
    configure=configure,
    run=run,
)
