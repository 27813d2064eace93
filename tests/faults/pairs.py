"""Two writing commands at once: what comes of them is what one after the other would have made.

Both begin at a barrier. One of them may stop before any thing that it does to a file; then the
other begins when it has, and it goes on when the other has ended, or waited for a while. If both
succeed, everything is as after the one and then the other, in one of the two orders; if one is
refused, in a line, it is as if the refused one had not been typed, or as after both.
"""

from __future__ import annotations

import functools
import itertools
import os
import secrets
import select
import shutil
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from unittest.mock import patch

from sts.annotations.database.annotation_store import AnnotationStore
from tests.faults import commands
from tests.faults.commands import Outcome, begin, end, filled
from tests.faults.pipeline import read, undisturbed
from tests.faults.trials import BrokenPromise, Setting
from tests.faults.values import PACKED, Masked, Values, find_mismatches, values
from tests.faults.writes import Meet, watch

WAIT = 1.0
"""Seconds for which the first waits for the second, which may be waiting for it."""


class Serial(NamedTuple):
    """What two commands make, one after the other in both orders, and each alone."""

    masked: Masked
    both: tuple[Values, Values]
    alone: tuple[Values, Values]


@functools.cache
def serial(one: str, other: str) -> Serial:
    """Type two commands one after the other, in both orders."""
    own, others = undisturbed(one), undisturbed(other)
    masked = Masked(own.masked.moment | others.masked.moment)
    made = []
    commands.build_full_folder()
    first, second, began = (0, own), (1, others), read_clock()
    for order in ((first, second), (second, first)):
        folder = commands.copy(
            commands.build_full_folder().with_name(f"{commands.build_full_folder().name}-serial")
        )
        try:
            for number, each in order:
                words = filled(each.words, folder)
                end(begin(folder, "typed", words, functools.partial(draw_alike, number, began)))
            made.append(masked(values(folder)))
        finally:
            shutil.rmtree(folder)
    return Serial(masked, (made[0], made[1]), (masked(own.made), masked(others.made)))


@functools.cache
def read_clock() -> float:
    """Return the time at which this was first called."""
    return time.time()


def draw_alike(seed: int, began: float) -> None:
    """Have this process draw the ids and read the times that each process of this seed does."""
    random, seconds = Random(seed), itertools.count(began + seed, 0.001)

    def draw(count: int = 32) -> str:
        return random.randbytes(count).hex()

    for name in ("token_hex", "token_urlsafe"):
        patch.object(secrets, name, draw).start()
    defaults: Any = vars(AnnotationStore)["open"].__func__.__kwdefaults__
    patch.dict(defaults, clock=seconds.__next__).start()


def pausing(last: int, stopped: int, resume: int) -> Meet:
    """Return what has a process stop at the `last` thing that it does, until a pipe is closed.

    It reports so through another pipe, to the other command and to the caller of both.
    """
    seen = 0

    def meet(what: str, half: Callable[[], object]) -> None:
        nonlocal seen
        seen += 1
        if seen == last:
            os.write(stopped, b"..")
            select.select([resume], [], [])

    return meet


def at_once(one: str, other: str, last: int, folder: Path) -> Counter[str]:
    """Type two commands at once; the first stops before its `last` thing, 0 for never."""
    apart, began = serial(one, other), read_clock()
    commands.copy(folder)
    barrier, stopped, resume = os.pipe(), os.pipe(), os.pipe()

    def first() -> None:
        draw_alike(0, began)
        os.close(barrier[1])
        os.close(resume[1])
        os.read(barrier[0], 1)
        watch(folder, pausing(last, stopped[1], resume[0]))

    def second() -> None:
        draw_alike(1, began)
        for pipe in (barrier, resume, stopped):
            os.close(pipe[1])
        os.read(stopped[0] if last else barrier[0], 1)
        watch(folder, lambda what, half: None)

    begun = [
        begin(folder, f"typed-{i}", filled(undisturbed(name).words, folder), ready)
        for i, (name, ready) in enumerate(((one, first), (other, second)))
    ]
    os.close(stopped[1])
    os.close(barrier[1])
    if last:
        os.read(stopped[0], 1)
    early = end(begun[1], WAIT) if last else None
    os.close(resume[1])
    ended = [end(begun[0]), early or end(begun[1])]
    for pipe in (barrier, stopped, resume):
        os.close(pipe[0])
    history: list[object] = [
        f"sts {' '.join(undisturbed(name).words)}: {outcome}"
        for name, outcome in zip((one, other), ended, strict=True)
    ]
    history.insert(1, f"the first stops before thing {last} that it does" if last else "at once")
    outcomes = [outcome for outcome in ended if outcome is not None]
    if len(outcomes) < len(ended):
        for each, outcome in zip(begun, ended, strict=True):
            if outcome is None:
                commands.kill(each)
        raise BrokenPromise("one of the two has not ended", history)
    return judged(apart, outcomes, apart.masked(read(folder, history)), history)


def judged(
    apart: Serial, outcomes: Sequence[Outcome], found: Values, history: Sequence[object]
) -> Counter[str]:
    """Compare what two commands have made with what they make one after the other."""
    for outcome in outcomes:
        if outcome.code not in (0, 1, 2) or len(outcome.lines) != bool(outcome.code):
            raise BrokenPromise("expected success, or a refusal in one line", history)
    allowed = list(apart.both)
    if any(outcome.code for outcome in outcomes):
        allowed += apart.alone
    # A backup has the continuations that were there when it looked at each part.
    packed = find_mismatches(*(_part(one, packed=True) for one in (found, *allowed)))
    loose = _part(found, packed=False)
    wrong = [find_mismatches(loose, _part(one, packed=False)) + packed for one in allowed]
    if all(wrong):
        raise BrokenPromise(f"{min(wrong, key=len)} is as in no order of the two", history)
    refused = sum(outcome.code != 0 for outcome in outcomes)
    return Counter([("both succeed", "one refused", "both refused")[refused]])


def _part(found: Values, *, packed: bool) -> Values:
    return {unit: value for unit, value in found.items() if (PACKED in unit) == packed}


def trial(setting: Setting) -> Counter[str]:
    """Type two commands that are drawn at once; one stops somewhere, or neither does."""
    names = sorted(commands.writing())
    one, other = (names[i] for i in setting.random.integers(len(names), size=2))
    last = int(setting.random.integers(len(undisturbed(one).steps) + 1))
    return at_once(one, other, last, setting.folder / "f")
