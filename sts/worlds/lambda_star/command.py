"""`sts lambda-star`: the intelligence test and what stands around it."""

from __future__ import annotations

import argparse

from sts.cli.command import Command
from sts.worlds.lambda_star.commands import check, score, strip


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the actions."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    for action in (score, strip, check):
        action.configure(actions)


def run(args: argparse.Namespace) -> int:
    """Does what the action does."""
    done: int = args.act(args)
    return done


COMMAND = Command(
    summary="score agents in the Λ* intelligence test",
    example="sts lambda-star score --agent random --agent local-search --agent oracle",
    configure=configure,
    run=run,
)
