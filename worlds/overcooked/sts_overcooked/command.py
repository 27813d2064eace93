"""Command `sts overcooked`: replay the installed trials, and train on them."""

from sts.plugin import command, show_progress


@command.declare("check")
def check(
    *, rules: str = command.option(("2019", "package"), "rules for pots", "2019")
) -> command.Result:
    """Compare every recorded state with a replay."""
    from sts_overcooked import trials as source

    trials = [trial for path in source.installed_files() for trial in source.read_trials(path)]
    differences, steps_alike, steps = [], 0, 0
    with show_progress("replaying", "trials") as show:
        for done, trial in enumerate(trials, 1):
            result = source.replay_trial(trial, rules)
            steps_alike += result.steps_alike
            steps += trial.steps
            if result.first_difference is not None:
                differences.append((trial, result.first_difference))
            show(done, len(trials))
    exact = len(trials) - len(differences)
    lines = [f"{trial.name} ({trial.layout}): {first.description}" for trial, first in differences]
    counts = f"{steps_alike} of {steps} states, {exact} of {len(trials)} trials"
    value = {
        "rules": rules,
        "states": steps,
        "states_alike": steps_alike,
        "trials": len(trials),
        "trials_exact": exact,
        "differences": [
            {"trial": trial.name, "step": first.step, "what": first.description}
            for trial, first in differences
        ],
    }
    lines.append(f"{counts}, rules {rules}")
    return command.Result(value, "\n".join(lines), 1 if differences else 0)


@command.declare("train --epochs 5")
def train(
    *,
    epochs: int = command.option("N", "passes over the data", 5),
    seed: int = command.option("S", "random seed of training", 0),
) -> command.Result:
    """Train overcooked-cloned on the training split."""
    from sts_overcooked.agents import cloned

    with show_progress("training", "epochs") as show:
        path, loss = cloned.train(seed=seed, epochs=epochs, show=show)
    cook = cloned.load_weights(path)
    return command.Result(
        {"file": str(path), "loss": loss, "trained_on": cook.trained_on, "digest": cook.digest},
        f"trained on {cook.trained_on}: {loss:.3f} nats a move -> {path}\n"
        "next: sts run SUITE --agent overcooked-cloned",
    )


COMMAND = command.group(
    "overcooked check",
    check,
    train,
    summary="replay the installed trials of Overcooked, or train on them",
)
