"""Argument types and output that several subcommands share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sts.errors import ArgumentError


def at_least(least: int, name: str, value: int) -> int:
    """Returns `value`.

    Raises:
      ArgumentError: it is under `least`.
    """
    if value < least:
        raise ArgumentError(f"expected {name} of {least} or more, found {value}")
    return value


def table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Returns rows under a header in aligned columns; numbers to the right."""
    cells = [[str(c) for c in header], *([_cell(c) for c in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    right = [
        bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        for i in range(len(header))
    ]
    lines = [
        "  ".join(
            text.rjust(w) if r else text.ljust(w)
            for text, w, r in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    return f"{value:z.3f}" if isinstance(value, float) else str(value)


def say(as_json: bool, value: Any, text: str) -> None:
    """Prints `value` as JSON, or `text`."""
    print(json.dumps(value, indent=1, ensure_ascii=False) if as_json else text)


@contextmanager
def progress(label: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Yields a function of (done, in all) that draws a bar on a terminal, else nothing."""
    from tqdm import tqdm

    bar = tqdm(
        desc=label, unit=f" {unit}", file=sys.stderr, disable=not sys.stderr.isatty(), delay=1
    )

    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        bar.close()
