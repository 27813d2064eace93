"""What `sts power` and `sts selfcheck` start from: a suite judged in part, or a ratings table."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from sts.errors import ArgumentError

if TYPE_CHECKING:
    from analysis.planning.pilot import Pilot

EITHER = "give either a suite, NAME@VERSION, or --table FILE"


def configure(parser: argparse.ArgumentParser) -> None:
    """Adds what says where the judgements are, whose, and for which scenarios."""
    parser.add_argument(
        "suite", nargs="?", metavar="NAME@VERSION", help="a suite that is judged, if only in part"
    )
    parser.add_argument("--table", metavar="FILE", help="or a ratings table (default: none)")
    parser.add_argument(
        "--target",
        choices=("sampled", "fixed"),
        default="sampled",
        help="whether the scenarios are a sample (default) or all that matter",
    )
    parser.add_argument(
        "--labels",
        choices=("human", "automatic", "model"),
        help="whose (default: those that the report rests on)",
    )


def given(args: argparse.Namespace) -> bool:
    """Whether there is a suite or a table.

    Raises:
      ArgumentError: there are both.
    """
    if args.suite is not None and args.table is not None:
        raise ArgumentError(EITHER)
    return args.suite is not None or args.table is not None


def load(args: argparse.Namespace) -> Pilot:
    """Reads and analyses what has been judged."""
    from analysis.planning.pilot import pilot

    if args.table is not None:
        from analysis.inputs.gather import gather_table

        gathered = gather_table(Path(args.table))
    else:
        # Only a suite needs a workspace, its annotations, and worlds to check it by.
        from analysis.inputs.workspace import gather
        from sts.storage.workspace import Workspace

        gathered = gather(Workspace.open(args.workspace), args.suite)
    return pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)
