"""`sts overcooked`: hold the installed trials to the game's rules, and learn from them."""

from __future__ import annotations

import argparse

from sts.cli.command import Command


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds the subcommands."""
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser(
        "check",
        help="replay every recorded state of the installed trials",
        example="sts overcooked check",
    )
    check.add_argument("--rules", choices=("2019", "package"), default="2019", help="of pots")
    train = actions.add_parser(
        "train",
        help="make overcooked-cloned from the train side",
        example="sts overcooked train --epochs 5",
    )
    train.add_argument("--epochs", type=int, default=5, metavar="N", help="passes over the data")
    train.add_argument("--seed", type=int, default=0, metavar="S", help="of what training draws")


def run(args: argparse.Namespace) -> int:
    """Does what `args.action` says."""
    return {"check": _check, "train": _train}[args.action](args)


def _check(args: argparse.Namespace) -> int:
    """Replays every trial, and says of how many states and trials it comes out as recorded."""
    from sts.cli.arguments import progress, say
    from sts.worlds.overcooked import trials as source

    trials = [trial for path in source.installed() for trial in source.read(path)]
    wrong, alike, total = [], 0, 0
    with progress("replaying", "trials") as show:
        for done, trial in enumerate(trials, 1):
            found = source.replay(trial, args.rules)
            alike += found.alike
            total += trial.steps
            if found.first is not None:
                wrong.append((trial, found.first))
            show(done, len(trials))
    exact = len(trials) - len(wrong)
    lines = [f"{trial.name} ({trial.layout}): {first.what}" for trial, first in wrong]
    figure = f"{alike} of {total} states, {exact} of {len(trials)} trials, rules {args.rules}"
    value = {
        "rules": args.rules,
        "states": total,
        "states_alike": alike,
        "trials": len(trials),
        "trials_exact": exact,
        "differences": [
            {"trial": trial.name, "step": first.step, "what": first.what} for trial, first in wrong
        ],
    }
    say(args.json, value, "\n".join([*lines, figure]))
    return 1 if wrong else 0


def _train(args: argparse.Namespace) -> int:
    """Trains the cloned cook and says where it is kept."""
    from sts.cli.arguments import progress, say
    from sts.worlds.overcooked.agents import cloned

    with progress("training", "epochs") as show:
        path, loss = cloned.train(seed=args.seed, epochs=args.epochs, show=show)
    found = cloned.load(path)
    say(
        args.json,
        {"file": str(path), "loss": loss, "trained_on": found.trained_on, "digest": found.digest},
        f"trained on {found.trained_on}: {loss:.3f} nats a move -> {path}\n"
        "next: sts run SUITE --agent overcooked-cloned",
    )
    return 0


COMMAND = Command(
    summary="replay the installed trials of Overcooked, and train on them",
    example="sts overcooked check",
    configure=configure,
    run=run,
)
