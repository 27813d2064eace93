"""`python -m tests.record`: compute the record, and write it or say how it differs."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import tempfile
import time
from pathlib import Path

from tests.record import kept
from tests.record.claims import Claims


def main() -> int:
    """Compute claims; exit with 1 where one differs from the record and nothing is written."""
    parser = argparse.ArgumentParser(prog="python -m tests.record", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="CLAIM", help="default: every claim")
    parser.add_argument("--write", action="store_true", help="write the record")
    parser.add_argument("--workers", type=int, default=1, help="processes that play (default: 1)")
    args = parser.parse_args()
    record, differ = kept.read(), False
    with tempfile.TemporaryDirectory() as folder:
        claims = Claims(Path(folder), args.workers).every
        if unknown := {*args.names} - {*claims}:
            parser.error(f"unknown claim {', '.join(sorted(unknown))}; known: {', '.join(claims)}")
        for name in args.names or claims:
            began = time.process_time()
            with contextlib.redirect_stdout(io.StringIO()):
                found = claims[name]()
            lines = kept.differences(record.get(name, {}), found)
            differ = differ or bool(lines)
            print(f"{name}: {len(lines)} differences, {time.process_time() - began:.0f} s CPU")
            print(*lines[:20], sep="\n", end="\n" if lines else "")
            record[name] = found
    if args.write:
        kept.write({name: own for name, own in record.items() if name in claims})
        return 0
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())
