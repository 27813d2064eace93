"""`sts suite ls`, apart from all that reads a suite: it imports neither numbers nor worlds."""

import argparse

from sts.cli.arguments import format_table
from sts.cli.command import Result
from sts.storage.workspace import Workspace
from sts.suites.folders import ListedSuite, list_suites


def ls(args: argparse.Namespace, workspace: Workspace) -> Result:
    """List the suites and drafts that there are."""
    rows = list_suites(workspace)
    return Result([row._asdict() for row in rows], format_table(ListedSuite._fields, rows))
