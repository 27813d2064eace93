"""`sts pond`: how a new pond looks."""

from __future__ import annotations

import argparse

from sts.cli.command import Command, Result, option
from sts.cli.settings import add_settings, read_settings


def run(args: argparse.Namespace) -> Result:
    """Show it."""
    from sts.domains import load_domain

    pond = load_domain("pond")
    (state,) = pond.generate(1, seed=args.seed, **read_settings(args, "pond"))
    (scene,) = pond.restore([state]).scene
    return Result(
        pond.describe_state(state), "\n".join(pond.draw_text(pond.scene_layout(state), scene, ()))
    )


COMMAND = Command(
    summary="show how a new pond looks",
    example="sts pond --jetties 9 --seed 3",
    run=run,
    arguments=(option("--seed S", "names the pond", 0), add_settings),
)
