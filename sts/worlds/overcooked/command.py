"""`sts overcooked`: hold the installed trials to the game's rules, and learn from them."""

from __future__ import annotations

import argparse

from sts.cli.arguments import progress
from sts.cli.command import Result, action, deferred, group, option


def check(args: argparse.Namespace) -> Result:
    """Replay every trial; count the states and trials that come out as recorded."""
    from sts.worlds.overcooked import trials as source

    trials = [trial for path in source.installed_files() for trial in source.read_trials(path)]
    wrong, alike, total = [], 0, 0
    with progress("replaying", "trials") as show:
        for done, trial in enumerate(trials, 1):
            found = source.replay_trial(trial, args.rules)
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
    return Result(value, "\n".join([*lines, figure]), 1 if wrong else 0)


def train(args: argparse.Namespace) -> Result:
    """Train the cloned cook, and show where it is kept."""
    from sts.worlds.overcooked.agents import cloned

    with progress("training", "epochs") as show:
        path, loss = cloned.train(seed=args.seed, epochs=args.epochs, show=show)
    found = cloned.load_weights(path)
    return Result(
        {"file": str(path), "loss": loss, "trained_on": found.trained_on, "digest": found.digest},
        f"trained on {found.trained_on}: {loss:.3f} nats a move -> {path}\n"
        "next: sts run SUITE --agent overcooked-cloned",
    )


COMMAND = group(
    "replay the installed trials of Overcooked, and train on them",
    "sts overcooked check",
    __name__,
    action(
        "check",
        "replay every recorded state of the installed trials",
        option("--rules", "of pots", "2019", choices=("2019", "package")),
    ),
    action(
        "train --epochs 5",
        "make overcooked-cloned from the train side",
        option("--epochs N", "passes over the data", 5),
        option("--seed S", "of what training draws", 0),
    ),
    run=deferred,
)
