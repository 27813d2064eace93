"""The pilot of `sts power` and `sts selfcheck`: a suite annotated in part, or a ratings table."""

import argparse
from pathlib import Path

from sts.errors import ArgumentError
from sts_analysis.inputs.mapping import parse_mapping
from sts_analysis.planning.pilot import Pilot, read_pilot

EITHER = "give either a suite, NAME@VERSION, or --table FILE"


def given(args: argparse.Namespace) -> bool:
    """Return whether there is a suite or a table; raise ArgumentError if there are both."""
    if args.suite is not None and args.table is not None:
        raise ArgumentError(EITHER)
    parse_mapping(args)
    return args.suite is not None or args.table is not None


def load(args: argparse.Namespace) -> Pilot:
    """Read what has been annotated or labelled."""
    if args.table is not None:
        from sts_analysis.inputs.gather import gather_table

        gathered = gather_table(Path(args.table), parse_mapping(args))
    else:
        # Only a suite needs a workspace, its annotations, and worlds to check it by.
        from sts.storage.workspace import Workspace
        from sts_analysis.inputs.workspace import gather

        gathered = gather(Workspace.open(args.workspace), args.suite)
    return read_pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)
