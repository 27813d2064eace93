"""What a subcommand is: a value that each package contributes through `sts.commands`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple


class Command(NamedTuple):
    """One subcommand of `sts`.

    Attributes:
      summary: one line for `sts --help`.
      example: a command line that works, shown by `--help`; a {suite}, a {scenario} of it, an
        {agent} and an {other} in it are those of a demo.
      configure: adds its arguments to a parser; imports nothing heavy.
      run: does the work and returns the exit code; heavy imports belong inside.
    """

    summary: str
    example: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
