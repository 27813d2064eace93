"""`sts pond`: how a new pond looks."""

from __future__ import annotations

import argparse

from sts.cli.command import Command
from sts.cli.settings import add_settings, read_settings


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments."""
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    add_settings(parser)


def run(args: argparse.Namespace) -> int:
    """Prints it."""
    from sts.cli.arguments import say
    from sts.domains import domain

    pond = domain("pond")
    (state,) = pond.generate(1, seed=args.seed, **read_settings(args, "pond"))
    (scene,) = pond.restore([state]).scene
    say(args.json, pond.view(state), "\n".join(pond.draw(pond.picture(state), scene, ())))
    return 0


COMMAND = Command(
    summary="show how a new pond looks",
    example="sts pond --jetties 9 --seed 3",
    configure=configure,
    run=run,
)
