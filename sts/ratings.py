"""The ratings table: its columns, in one place for whoever writes or reads one.

One row is one judgement of a continuation; `docs/data_standard.md` says what each column means.
"""

from __future__ import annotations

UNABLE = "cannot_judge"
VERDICTS = ("success", "failure", "not_done", UNABLE)
MARKED = ("success", "failure")
"""Verdicts that carry the step of their marker."""
SOURCES = ("human", "settled", "automatic", "model")
"""Whose verdict it is; `settled` is a rule's where a study asks nobody, and counts as a person's in
what a continuation is worth, and nowhere else."""
SIGHTS = ("observation", "world", "rehearsal", "recording")
"""What an agent is shown: all but the first are more than an agent may see."""
MOST_STEPS = 2**31 - 1
"""The longest horizon, so that every store can hold it."""
TYPES = {
    "agent": "str",
    "scenario": "str",
    "category": "str",
    "continuation": "str",
    "annotator": "str",
    "verdict": "str",
    "step": "Int64",
    "horizon": "int64",
    "kind": "str",
    "truth": "str",
    "truth_step": "Int64",
    "clip": "str",
    "seconds": "Float64",
    "source": "str",
    "sees": "str",
    "reason": "str",
    "extra": "int64",
    "adjudicated": "str",
    "adjudicated_step": "Int64",
    "rubric": "str",
    "order": "Int64",
    "twice": "int64",
    "notes": "str",
}
"""Every column and its pandas type."""
WRITTEN = tuple(TYPES)[:8]
"""The columns of every ratings table of ours."""
REQUIRED = ("agent", "scenario", "verdict")
"""The columns that no ratings table can lack; without another, what it tells is not known."""


def columns(*names: str) -> dict[str, str]:
    """Return the columns of `WRITTEN` and `names` with their types, in the table's order."""
    return {name: kind for name, kind in TYPES.items() if name in (*WRITTEN, *names)}


def verdict(cell: str) -> str:
    """Return a verdict as `VERDICTS` has it, whatever its letter case and the blanks around it."""
    return cell.strip().lower()
