"""Simulated coverage of the report's intervals, cell by cell.

    python -m tests.analysis.coverage --fast        # the cells of the slow tests; 20 CPU-minutes
    python -m tests.analysis.coverage --workers 2   # the full grid; ten CPU-hours
    python -m tests.analysis.coverage --studies 400 # the full grid with allowances; one CPU-hour

Prints what was measured in each cell, and by real ratings; at the end what lies outside its limits.
Ends with 1 if more does than the rules allow. Writes nothing unless --out names a file.
"""

import argparse
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

from sts_analysis.planning.selfcheck import LIMITS
from tests.analysis.coverage import grid, wmt_ted
from tests.analysis.coverage.grid import Tolerance
from tests.analysis.coverage.measures import (
    measure_adjustment,
    measure_cell,
    measure_looks,
    measure_order,
)
from tests.analysis.coverage.worlds import World


class Line(NamedTuple):
    """What was measured in a cell.

    Attributes:
      text: to print.
      breaches: of its coverages.
      errors: other shares above their limits, which no cell may exceed.
    """

    text: str
    breaches: list[grid.Breach]
    errors: list[grid.Breach]


Task = Callable[[int, Tolerance], Line]
RATINGS_STEP = 20
HALVES: tuple[tuple[bool, wmt_ted.Ignored], ...] = ((True, "raters"), (False, "runs"))
"""Comparisons of halves of real ratings: uneven judging or not, and facts that are ignored."""
FAST_SECONDS, FULL_SECONDS = 1.2, 9.0
"""CPU-seconds of one study in each cell of a tier."""
HEADING = (
    f"{'cell':132} studies  rate width   difference width  size  few  ident"
    "   others: rate difference width  size  share"
)


def describe(world: World) -> str:
    """Return the design of a cell in words."""
    rates = f"{world.rates[0]:g}"
    if world.rates[0] != world.rates[1]:
        rates += f" to {world.rates[-1]:g}"
    words = f"{world.categories}x{world.size} x{world.continuations} rate {rates}"
    words += f" agents {len(world.rates)} units {world.units} missing {world.missing:g}"
    if world.annotators:
        words += f" annotators {world.annotators} sd {world.deviation:g} {world.assignment}"
        words += f" verdicts {world.verdicts}"
    if world.strictness or world.favour:
        words += f" strictness {world.strictness:g} favour {world.favour:g}"
    return words


def run_cell(world: World, studies: int, tolerance: Tolerance) -> Line:
    """Measure the intervals of a cell."""
    found = measure_cell(world, studies)
    text = (
        f"{describe(world):132} {studies:7}  {found.rate:.3f} {found.width:.3f}"
        f"   {found.difference:.3f} {found.difference_width:10.3f}  {found.size:.3f}"
        f" {found.few:.2f}  {found.identifiable:.2f}   {found.others:12.3f}"
        f" {found.others_difference:10.3f} {found.others_width:.3f} {found.others_size:.3f}"
        f" {found.generalises:.2f}"
    )
    limit = grid.MAX_SIZE + tolerance.size
    size = [
        *grid.check_share("size", found.size, limit),
        *grid.check_share("others_size", found.others_size, limit),
    ]
    return Line(text, grid.find_breaches(world, found, tolerance.coverage), size)


def run_order(world: World, studies: int, tolerance: Tolerance) -> Line:
    """Measure the claims about all agents of a cell."""
    found = measure_order(world, studies)
    text = (
        f"order: {describe(world):101} {studies:7}  wrong {found.wrong:.3f} right {found.right:.3f}"
    )
    limit = grid.MAX_WRONG_ORDER + tolerance.size
    return Line(text, [], grid.check_share("wrong order", found.wrong, limit))


def run_looks(world: World, order: str, studies: int, tolerance: Tolerance) -> Line:
    """Measure twenty looks at a cell."""
    found = measure_looks(world, order, studies)
    text = (
        f"looks: {describe(world) + ', by ' + order:101} {studies:7}"
        f"  .05 at each {found.always:.3f}"
        f" interim {found.interim:.3f} closing {found.closing:.3f} last {found.last:.3f}"
    )
    limit = grid.MAX_WRONG_LOOK + tolerance.size
    shares = ("interim looks", found.interim), ("closing early", found.closing)
    return Line(text, [], [b for name, x in shares for b in grid.check_share(name, x, limit)])


def run_identical(world: World, studies: int, tolerance: Tolerance) -> Line:
    """Measure how often annotators that do not differ are adjusted for by a claim."""
    found = measure_adjustment(world, studies)
    text = f"identical: {describe(world):97} {studies:7}  adjusted {found:.3f}"
    return Line(text, [], grid.check_share("adjusted", found, grid.MAX_ADJUSTED + tolerance.size))


def run_ratings(studies: int, tolerance: Tolerance) -> Line:
    """Measure what real ratings show, with a twentieth of the studies."""
    studies = max(2, studies // RATINGS_STEP)
    found = wmt_ted.fit_ratings()
    title = "ratings: WMT TED, English to German, 14 translations, 529 segments, 4 raters"
    lines = [
        f"{title:132} {studies:7}  strictness {found.strictness:.2f} favouritism"
        f" {found.favouritism:.2f} (log odds), p of favours {found.favour_p:.1g};"
        f" {found.different} of {found.pairs} pairs different, {found.for_others} for others"
    ]
    errors = []
    for uneven, ignored in HALVES:
        halves = wmt_ted.compare_halves(studies, uneven=uneven)
        naive = wmt_ted.compare_halves(studies, uneven=uneven, ignored=ignored)
        label = "  halves, judged 80/20 in opposite ways" if uneven else "  halves"
        lines.append(
            f"{label:132} {studies:7}  agree {halves.agree:.3f} opposed {halves.opposed:.3f};"
            f" without {ignored} {naive.agree:.3f} {naive.opposed:.3f}"
        )
        limit = grid.MAX_SIZE + tolerance.size
        errors += grid.check_share("halves apart", 1 - halves.agree, limit)
    for label, shares in wmt_ted.check_design(studies).items():
        words = (f"{name} {share.share:.3f}" for name, share in shares.items())
        lines.append(f"{f'  simulated, {label}':132} {studies:7}  {' '.join(words)}")
        errors += [
            grid.Breach(name, share.share, *sorted(LIMITS[name]))
            for name, share in shares.items()
            if share.misses(name)
        ]
    return Line("\n".join(lines), [], errors)


def list_tasks(*, fast: bool) -> list[Task]:
    """List what measures each cell of a tier."""
    few = grid.list_favouring_cells()[5::7]
    cells = [*grid.draw_fast_cells(), *grid.UNEVEN, *few] if fast else grid.list_cells()
    step, looks_step = (grid.FAST_STEP, grid.FAST_LOOKS_STEP) if fast else (1, 1)
    return [
        *(partial(run_cell, world) for world in cells),
        *(partial(run_order, world) for world in grid.list_orders()[::step]),
        *(partial(run_looks, world, order) for world, order in grid.list_looks()[::looks_step]),
        *(partial(run_identical, world) for world in grid.list_identical()[::step]),
        run_ratings,
    ]


def measure(task: Task, studies: int, tolerance: Tolerance) -> Line:
    """Do one task; a function that a worker process can import."""
    return task(studies, tolerance)


def main() -> int:
    """Print the table, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.analysis.coverage")
    parser.add_argument("--studies", type=int, help="in each cell (4,000; with --fast 1,000)")
    parser.add_argument("--workers", type=int, default=1, help="processes (1)")
    parser.add_argument("--fast", action="store_true", help="the cells of the slow tests alone")
    parser.add_argument("--out", type=Path, help="a file to write the table to as well")
    options = parser.parse_args()
    fast = options.fast
    studies = options.studies or (grid.FAST_STUDIES if fast else grid.FULL_STUDIES)
    few = studies < grid.FULL_STUDIES  # as many as the full grid draws need no allowance
    tolerance = Tolerance.of_studies(studies) if few else Tolerance(0.0, 0.0)
    tasks = list_tasks(fast=fast)
    seconds = studies * (FAST_SECONDS if fast else FULL_SECONDS)
    print(f"{len(tasks)} cells, {studies} studies in each: about {seconds:.0f} CPU-seconds")
    lines, start = [HEADING], time.time()
    print(HEADING, flush=True)
    outside: list[list[grid.Breach]] = []
    errors: list[grid.Breach] = []
    work = partial(measure, studies=studies, tolerance=tolerance)
    with ProcessPoolExecutor(options.workers) as pool:
        for line in pool.map(work, tasks):
            notes = [str(breach) for breach in [*line.breaches, *line.errors]]
            lines.append("  ".join([line.text, *notes]))
            print(lines[-1], flush=True)
            outside += [line.breaches] if line.breaches else []
            errors += line.errors
    worst = max((b.excess for breaches in outside for b in breaches), default=0.0)
    cells = sum(isinstance(task, partial) and task.func is run_cell for task in tasks)
    lines.append(
        f"{len(outside)} of {cells} cells outside their limits, by {worst:.3f} at most; "
        f"{len(errors)} other shares above theirs; {time.time() - start:.0f} s"
    )
    print(lines[-1])
    if options.out:
        options.out.write_text("\n".join([*lines, ""]))
    allowed = grid.MAX_SHARE_OUTSIDE * cells
    return int(len(outside) > allowed or worst > grid.MAX_EXCESS or bool(errors))


if __name__ == "__main__":
    sys.exit(main())
