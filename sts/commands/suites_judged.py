"""The suite that actions of `sts annotations` are about: an argument, and whether it is judged."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from sts.errors import UnknownName


def add_suite(parser: argparse.ArgumentParser) -> None:
    """Add the argument `NAME@VERSION`, which may be left out."""
    parser.add_argument(
        "suite", nargs="?", metavar="NAME@VERSION", help="default: everything in the store"
    )


def check_enqueued(suite: str | None, enqueued: Sequence[str]) -> None:
    """Raise UnknownName if nothing of a suite is enqueued."""
    if suite is not None and suite not in enqueued:
        raise UnknownName("enqueued suite", suite, enqueued)
