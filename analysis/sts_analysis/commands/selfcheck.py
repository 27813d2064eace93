"""`sts selfcheck`: what a report's numbers are worth in the user's own design, by simulation."""

import argparse
import string
from typing import Any

from sts.cli.arguments import count_cores, format_table, show_progress
from sts.cli.command import Result
from sts.errors import ArgumentError
from sts.jobs.pool import create_pool
from sts_analysis.commands import piloted
from sts_analysis.planning.selfcheck import Checked, Share, cases, check, smallest_differences
from sts_analysis.planning.world import Design, design_of

_LINES: dict[str, tuple[str, float | None]] = {
    "sampled": ("pass rate, scenarios as a sample", 0.95),
    "fixed": ("pass rate, these scenarios", 0.95),
    "corrected": ("pass rate, corrected for annotators", 0.95),
    "others": ("pass rate, other annotators", 0.95),
    "difference": ("difference of two agents", 0.95),
    "difference_adjusted": ("  annotators adjusted for", 0.95),
    "difference_others": ("  other annotators", 0.95),
    "rank_sets": ("all sets of ranks", 0.95),
    "false_plain": ("alike, and called different", 0.05),
    "false_adjusted": ("  annotators adjusted for", 0.05),
    "false_others": ("  other annotators", 0.05),
    "seen_plain": ("different, and called so", 0.8),
    "seen_adjusted": ("  annotators adjusted for", None),
    "seen_others": ("  other annotators", None),
    "faultless": ("pass rate, as faultless annotators", None),
    "untold": ("pairs not told from annotators", None),
}
"""What is shown of each case, in words, and the share that is meant."""
_TESTS = {
    "plain": "as judged",
    "adjusted": "with annotators adjusted for",
    "others": "for other annotators",
}


def selfcheck(args: argparse.Namespace) -> Result:
    """Simulate studies of a design."""
    if not piloted.given(args):
        raise ArgumentError(piloted.EITHER)
    workers = args.workers or count_cores()
    pilot = piloted.load(args)
    design = design_of(pilot)
    smallest = smallest_differences(design, target=args.target, seed=args.seed)
    tried = list(cases(design, target=args.target, difference=smallest["plain"]))
    whole = len(tried) * args.simulations
    with show_progress("simulating", "studies") as show, create_pool(workers, whole) as there:
        checked = check(
            tried,
            target=args.target,
            studies=args.simulations,
            seed=args.seed,
            there=there,
            show=lambda over: show(over, whole),
        )
    value = {
        "design": _size(design),
        "target": args.target,
        "smallest_differences": smallest,
        "cases": [
            {
                "case": one.case,
                "studies": one.studies,
                "shares": {
                    name: None if share is None else share._asdict()
                    for name, share in one.shares.items()
                },
            }
            for one in checked
        ],
    }
    return Result(value, _text(pilot.name, design, checked, args.target, smallest))


def _size(design: Design) -> dict[str, Any]:
    layout = design.layout
    return {
        "agents": int(layout.ranked.sum()),
        "scenarios": len(layout.category),
        "judgements": len(layout.row),
        "annotators": len(layout.annotators) if layout.people else 0,
    }


def _text(
    name: str,
    design: Design,
    checked: list[Checked],
    target: str,
    smallest: dict[str, float | None],
) -> str:
    lettered = zip(string.ascii_uppercase, checked, strict=False)
    size = ", ".join(f"{part} {number}" for part, number in _size(design).items())
    lines = [
        f"{name}: {size}; {checked[0].studies} studies of this design simulated a case.",
        _people(design),
        "",
        *(f"{letter}  {one.case}" for letter, one in lettered),
        "",
    ]
    rows = []
    for key, (words, meant) in _LINES.items():
        shares = [one.shares.get(key) for one in checked]
        if any(share is not None for share in shares):
            goal = "" if meant is None else f"{meant:.0%}"
            rows.append([words, goal, *(_cell(share, meant) for share in shares)])
    header = ["%", "meant", *string.ascii_uppercase[: len(checked)]]
    held = "scenarios as a sample" if target == "sampled" else "these scenarios only"
    return "\n".join(
        [
            *lines,
            format_table(header, rows),
            "",
            "±: half of the 95% Monte Carlo interval. !: worse than meant, beyond chance. –: not "
            "said.",
            f"From “corrected” on: {held}. A difference is of a pair alone. “Alike, and called "
            "different”: any two agents of a study. Pass rates and differences as judged hold for "
            "these annotators.",
            *_smallest(smallest),
        ]
    )


def _people(design: Design) -> str:
    """Says how annotators are taken to judge."""
    people = design.people
    if not design.layout.people:
        return "No person judged; labels are taken for right."
    asked = len(design.layout.answer)
    by = f"by {asked} answers to reference episodes" if asked else "assumed, without references"
    return (
        f"Annotators see {people.sensitivity:.0%} of successes and {people.specificity:.0%} of the "
        f"others ({by}); "
        + (
            f"people differ, by an intraclass correlation of {people.alike:.2f}."
            if people.alike
            else "they are taken for equally good."
        )
    )


def _smallest(smallest: dict[str, float | None]) -> list[str]:
    said = [
        f"{_TESTS[test]} none below 100 points"
        if points is None
        else f"{_TESTS[test]} {100 * points:.1f} points"
        for test, points in smallest.items()
    ]
    return [
        "The smallest difference as judged that is seen four times in five, by formula, for agents "
        f"of the mean rate: {'; '.join(said)}."
    ]


def _cell(share: Share | None, meant: float | None) -> str:
    if share is None:
        return "–"
    half = (share.high - share.low) / 2
    return f"{100 * share.share:.1f} ±{100 * half:.1f}{'!' if _missed(share, meant) else ''}"


def _missed(share: Share, meant: float | None) -> bool:
    """Whether less is reached than is meant, or more where it is an error that is meant."""
    if meant is None:
        return False
    return share.low > meant if meant < 0.5 else share.high < meant
