"""`sts pond`: how a new pond looks."""

from __future__ import annotations

import argparse

from sts.plugin import add_settings, command, read_settings


def run(args: argparse.Namespace) -> command.Result:
    """Show it."""
    from sts.plugin import load_domain

    pond = load_domain("pond")
    (state,) = pond.generate(1, seed=args.seed, **read_settings(args, "pond"))
    (scene,) = pond.restore([state]).scene
    return command.Result(
        pond.describe_state(state), "\n".join(pond.draw_text(pond.scene_layout(state), scene, ()))
    )


COMMAND = command.Command(
    summary="show how a new pond looks",
    example="sts pond --jetties 9 --seed 3",
    run=run,
    arguments=(command.option("--seed S", "names the pond", 0), add_settings),
)
