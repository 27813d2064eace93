"""Argument types and output that several subcommands share."""

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from sts.errors import StsError, StsWarning
from sts.names import escape_unprintable

COLOUR_CODES = re.compile(r"(\x1b\[(?:0|38;2;[0-9;]{5,11};48;2;[0-9;]{5,11})m)")
"""What a strip of pictures sets the colours of a terminal with."""
_MAX_CELL_CHARS = 200
_REFRESH_S = 1.0
"""Seconds after which a bar is drawn again, whatever is done."""


def count_cores() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def format_table(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows under a header in aligned columns; numbers to the right."""
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


def to_records(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of a table for a program, each by the names in its header."""
    return [dict(zip(header, row, strict=True)) for row in rows]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:z.3f}"
    text = str(value)
    return escape_unprintable(
        text
        if len(text) <= _MAX_CELL_CHARS
        else f"{text[:_MAX_CELL_CHARS]}... ({len(text)} letters)"
    )


def print_result(as_json: bool, value: object, text: str) -> None:
    """Print `value` as JSON, or `text`; what would set a terminal is shown as its number.

    Lines and our own colours stay.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False) if as_json else text
    show = _escape_json if as_json else _escape_text
    print("\n".join(line if line.isprintable() else show(line) for line in text.split("\n")))


def _escape_json(line: str) -> str:
    return "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in line)


def _escape_text(line: str) -> str:
    return "".join(
        part if i % 2 else escape_unprintable(part)
        for i, part in enumerate(COLOUR_CODES.split(line))
    )


def warn(text: str) -> None:
    """Warn in one line: `sts` prints it to standard error, a notebook shows it."""
    warnings.warn(" ".join(text.split()), StsWarning, stacklevel=2)


@contextmanager
def collect_retries() -> Iterator[Callable[[str, StsError], None]]:
    """Yield a function of an agent and an error of it that was made good by another attempt.

    At the end one line is printed for each agent.
    """
    errors_by_agent: dict[str, list[StsError]] = {}
    try:
        yield lambda agent, error: errors_by_agent.setdefault(agent, []).append(error)
    finally:
        for agent, errors in errors_by_agent.items():
            more = f", and {len(errors) - 1} more like it" if len(errors) > 1 else ""
            warn(f"agent {agent}: {errors[0]}{more}; another attempt succeeded")


@contextmanager
def show_progress(label: str, unit: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function of (done, in all) that draws a bar on a terminal or in a notebook.

    The bar's clock continues while nothing is done for long, as when kernels are compiled.
    """
    import threading

    from tqdm.auto import tqdm  # a widget in a notebook

    is_visible = "ipykernel" in sys.modules or sys.stderr.isatty()
    bar = tqdm(desc=label, unit=f" {unit}", file=sys.stderr, disable=not is_visible, delay=1)

    def show(done: int, total: int) -> None:
        bar.total = total
        bar.update(done - bar.n)

    def tick() -> None:
        while not over.wait(_REFRESH_S):
            bar.refresh()

    over, ticking = threading.Event(), threading.Thread(target=tick, daemon=True)
    if not bar.disable:
        ticking.start()
    try:
        yield show
    finally:
        over.set()
        if not bar.disable:
            ticking.join()
        bar.close()
