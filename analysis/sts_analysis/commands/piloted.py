"""What `sts power` and `sts selfcheck` start from: a suite judged in part, or a ratings table."""

import argparse
from pathlib import Path

from sts.errors import ArgumentError
from sts_analysis.planning.pilot import Pilot, pilot

EITHER = "give either a suite, NAME@VERSION, or --table FILE"


def given(args: argparse.Namespace) -> bool:
    """Return whether there is a suite or a table; raise ArgumentError if there are both."""
    if args.suite is not None and args.table is not None:
        raise ArgumentError(EITHER)
    return args.suite is not None or args.table is not None


def load(args: argparse.Namespace) -> Pilot:
    """Reads and analyses what has been judged."""
    if args.table is not None:
        from sts_analysis.inputs.gather import gather_table

        gathered = gather_table(Path(args.table))
    else:
        # Only a suite needs a workspace, its annotations, and worlds to check it by.
        from sts.storage.workspace import Workspace
        from sts_analysis.inputs.workspace import gather

        gathered = gather(Workspace.open(args.workspace), args.suite)
    return pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)
