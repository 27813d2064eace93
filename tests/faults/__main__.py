"""Makes trials until the time is over: `python -m tests.faults --seconds 600 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from tests.faults.trials import DATABASES, BrokenPromise, Setting, Trial, drawn

PARTS = ("judgements", "pipeline", "corruption", "pairs", "hostile")
"""Each a module here that has a `trial`."""


def trial_of(part: str) -> Trial:
    """Return what makes a trial of a part."""
    found: Trial = import_module(f"tests.faults.{part}").trial
    return found


def made(part: str, number: int, seed: int, database: str) -> Counter[str]:
    """Make the trial of a number in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="faults-") as folder:
        return trial_of(part)(Setting(drawn(seed, part, number), Path(folder), database))


def _make(counts: dict[str, Counter[str]], given: argparse.Namespace) -> None:
    """Make trials of each part in turn, and counts; raise BrokenPromise, which says which one."""
    end, number = time.monotonic() + given.seconds, given.trial or 0
    while True:
        for part, count in counts.items():
            try:
                count += made(part, number, given.seed, given.database)
            except BrokenPromise as broken:
                which = f"{part}, --seed {given.seed} --trial {number}"
                raise BrokenPromise(f"{which}: {broken}", ()) from broken
            count["trials"] += 1
            if time.monotonic() > end:
                return
        number += 1
        if given.trial is not None:
            return


def main() -> int:
    """Return the exit status: 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=DATABASES, default=DATABASES[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="default: each in turn")
    parser.add_argument("--trial", type=int, help="this one alone, such as one that failed")
    given = parser.parse_args()
    parts = given.part or PARTS
    counts: dict[str, Counter[str]] = {part: Counter() for part in parts}
    try:
        _make(counts, given)
    except BrokenPromise as broken:
        print(broken, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        for part, count in counts.items():
            said = ", ".join(f"{many:,} {what}" for what, many in count.items())
            print(f"{part}: {said or 'no trial ended'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
