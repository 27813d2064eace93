"""`sts record`: record agents in newly generated environments."""

from __future__ import annotations

import argparse
import functools

from sts import api
from sts.cli.command import Result
from sts.cli.settings import read_settings
from sts.storage.workspace import Workspace


def record(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Record, save, and count the trajectories."""
    recorded = api.record(
        args.agent,
        episodes=args.episodes,
        steps=args.steps,
        seed=args.seed,
        domain=args.domain,
        options=functools.partial(read_settings, args),
        workers=args.workers,
        workspace=workspace,
    )
    test, path = int((recorded["split"] == "test").sum()), recorded.attrs["file"]
    return Result(
        {"file": path, "trajectories": recorded["trajectory"].tolist(), "test": test},
        f"{len(recorded)} trajectories of {args.steps} steps, {test} on the test side -> {path}",
    )
