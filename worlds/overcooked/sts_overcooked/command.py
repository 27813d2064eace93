"""Command `sts overcooked`: replay the installed trials, and train on them."""

import argparse

from sts.plugin import command, show_progress


def check(args: argparse.Namespace) -> command.Result:
    """Replay every trial; count the states and trials that match the recording."""
    from sts_overcooked import trials as source

    trials = [trial for path in source.installed_files() for trial in source.read_trials(path)]
    differences, steps_alike, steps = [], 0, 0
    with show_progress("replaying", "trials") as show:
        for done, trial in enumerate(trials, 1):
            result = source.replay_trial(trial, args.rules)
            steps_alike += result.steps_alike
            steps += trial.steps
            if result.first_difference is not None:
                differences.append((trial, result.first_difference))
            show(done, len(trials))
    exact = len(trials) - len(differences)
    lines = [f"{trial.name} ({trial.layout}): {first.description}" for trial, first in differences]
    counts = f"{steps_alike} of {steps} states, {exact} of {len(trials)} trials"
    value = {
        "rules": args.rules,
        "states": steps,
        "states_alike": steps_alike,
        "trials": len(trials),
        "trials_exact": exact,
        "differences": [
            {"trial": trial.name, "step": first.step, "what": first.description}
            for trial, first in differences
        ],
    }
    lines.append(f"{counts}, rules {args.rules}")
    return command.Result(value, "\n".join(lines), 1 if differences else 0)


def train(args: argparse.Namespace) -> command.Result:
    """Train the cloned cook and print where its weights are."""
    from sts_overcooked.agents import cloned

    with show_progress("training", "epochs") as show:
        path, loss = cloned.train(seed=args.seed, epochs=args.epochs, show=show)
    cook = cloned.load_weights(path)
    return command.Result(
        {"file": str(path), "loss": loss, "trained_on": cook.trained_on, "digest": cook.digest},
        f"trained on {cook.trained_on}: {loss:.3f} nats a move -> {path}\n"
        "next: sts run SUITE --agent overcooked-cloned",
    )


COMMAND = command.group(
    "replay the installed trials of Overcooked, or train on them",
    "sts overcooked check",
    __name__,
    command.action(
        "check",
        "compare every recorded state with a replay",
        command.option("--rules", "rules for pots", "2019", choices=("2019", "package")),
    ),
    command.action(
        "train --epochs 5",
        "train overcooked-cloned on the training split",
        command.option("--epochs N", "passes over the data", 5),
        command.option("--seed S", "random seed of training", 0),
    ),
    run=command.defer_import,
)
