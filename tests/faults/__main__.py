"""Makes trials until the time is over: `python -m tests.faults --seconds 600 --seed 1`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

from tests.faults import commands, pipeline
from tests.faults.trials import DATABASES, BrokenPromise, Setting, make_generator
from tests.faults.writes import WAYS

PARTS = ("judgements", "pipeline", "corruption", "pairs", "hostile")
"""Each a module here that has a `trial`."""


def make_trials(counts: dict[str, Counter[str]], given: argparse.Namespace) -> None:
    """Make trials of each part in turn, and count."""
    end, number = time.monotonic() + given.seconds, given.trial or 0
    while True:
        for part, count in counts.items():
            setting = make_generator(given.seed, part, number)
            try:
                with tempfile.TemporaryDirectory(prefix="faults-") as folder:
                    trial = import_module(f"tests.faults.{part}").trial
                    count += trial(Setting(setting, Path(folder), given.database))
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
    """Return the exit status: 1 if a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--database", choices=DATABASES, default=DATABASES[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="default: each in turn")
    parser.add_argument("--trial", type=int, help="this one alone, such as one that failed")
    parser.add_argument(
        "--every-write", nargs="+", metavar="COMMAND", choices=[*commands.writing()],
        help="fail these commands at each of their writes in each way instead",
    )  # fmt: skip
    given = parser.parse_args()
    parts = given.every_write or given.part or PARTS
    counts: dict[str, Counter[str]] = {part: Counter() for part in parts}
    try:
        if not given.every_write:
            make_trials(counts, given)
        for name in given.every_write or ():
            for way in WAYS:
                counts[name] += pipeline.try_each(name, way)
    except BrokenPromise as broken:
        print(broken, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        for part, count in counts.items():
            text = ", ".join(f"{many:,} {what}" for what, many in count.items())
            print(f"{part}: {text or 'no trial ended'}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
