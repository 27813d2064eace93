"""`sts run`: let agents continue a suite's scenarios."""

from __future__ import annotations

import argparse

from sts import api
from sts.agents.identity import described
from sts.cli.arguments import table
from sts.cli.command import Result
from sts.storage.workspace import Workspace


def run(args: argparse.Namespace, workspace: Workspace) -> Result:
    """Run what is missing, and count the continuations of each agent."""
    chosen = api.load_suite(args.suite, workspace=workspace)
    done = api.run(
        chosen,
        args.agent,
        continuations=args.continuations,
        seed=args.seed,
        workers=args.workers,
        executor=args.executor,
        workspace=workspace,
    )
    agents = done.to_dict("records")
    header = ("agent", "made", "kept", "fingerprint")
    rows = [(*(agent[key] for key in header[:3]), described(agent[header[3]])) for agent in agents]
    next_step = f"next: sts label {chosen.label}, then sts report {chosen.label}"
    return Result(agents, f"{table(header, rows)}\n\n{next_step}")
