"""Fails commands at each of their writes, in each way: `python -m tests.faults.each report`.

The slow tier does so with every command too, but goes through those that write often in strides.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.faults import commands, pipeline
from tests.faults.pipeline import Fault
from tests.faults.trials import BrokenPromise
from tests.faults.writes import WAYS


def each(name: str, way: str, stride: int = 1) -> Counter[str]:
    """Fails a command at every `stride`-th of its writes in turn; returns how often what happened.

    Raises:
      BrokenPromise: something wrong was read, or typed again it ended otherwise than it should.
    """
    counts: Counter[str] = Counter()
    for last in range(1, len(pipeline.undisturbed(name).steps) + 1, stride):
        with tempfile.TemporaryDirectory(prefix="faults-") as folder:
            counts += pipeline.try_with([Fault(last, way)], name, Path(folder) / str(last))
    return counts


def main() -> int:
    """Return the exit status: 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", nargs="+", choices=[*commands.writing()], metavar="COMMAND")
    for name in parser.parse_args().command:
        for way in WAYS:
            try:
                counts = each(name, way)
            except BrokenPromise as broken:
                print(broken, file=sys.stderr)
                return 1
            said = ", ".join(f"{many:,} {what}" for what, many in counts.items())
            print(f"{name}: {said}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
