"""The suite or the ratings table that a command is given."""

import argparse
from pathlib import Path

from sts.cli.arguments import warn
from sts.errors import ArgumentError
from sts.spellings import Spellings, make_spellings
from sts_analysis.inputs.gather import Gathered, gather_table
from sts_analysis.inputs.mapping import parse_mapping
from sts_analysis.planning.pilot import Pilot, read_pilot

EITHER = "give either a suite, NAME@VERSION, or --table FILE"


def has_source(args: argparse.Namespace) -> bool:
    """Return whether there is a suite or a table; raise ArgumentError if there are both."""
    if args.suite is not None and args.table is not None:
        raise ArgumentError(EITHER)
    parse_mapping(args)
    return args.suite is not None or args.table is not None


def gather_source(args: argparse.Namespace, against: str | None = None) -> Gathered:
    """Gather what has been annotated or labelled, beside suite `against` if one is named."""
    spellings = parse_spellings(args)
    if args.table is not None:
        return gather_table(Path(args.table), parse_mapping(args), spellings)
    # Only a suite needs a workspace, its annotations, and worlds to check it by.
    from sts.storage.workspace import Workspace
    from sts_analysis.inputs.workspace import gather

    gathered = gather(Workspace.open(args.workspace), args.suite, against)
    return gathered._replace(spellings=spellings)


def parse_spellings(args: argparse.Namespace) -> Spellings:
    """Return what `--same` and `--distinct` say; raise ArgumentError without a table."""
    if (args.same or args.distinct) and args.table is None and not getattr(args, "scores", None):
        raise ArgumentError("--same and --distinct need --table or --scores")
    return make_spellings(args.same, args.distinct)


def load_pilot(args: argparse.Namespace) -> Pilot:
    """Read the pilot of a study: a suite that is annotated in part, or a ratings table."""
    gathered = gather_source(args)
    for question in gathered.reading.questions if gathered.reading else ():
        warn(question)
    return read_pilot(gathered.ratings, gathered.suite, target=args.target, source=args.labels)
