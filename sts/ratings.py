"""The ratings table: its columns, in one place for whoever writes or reads one.

One row is one judgement of a continuation; `docs/data_standard.md` says what each column means.
"""

from __future__ import annotations

VERDICTS = ("success", "failure", "not_done", "cannot_judge")
MARKED = ("success", "failure")
"""Verdicts that carry the step of their marker."""
SOURCES = ("human", "automatic", "model")
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
    "seconds": "Float64",
    "source": "str",
    "sees": "str",
    "reason": "str",
    "extra": "int64",
    "notes": "str",
}
"""Every column and its pandas type."""
REQUIRED = tuple(TYPES)[:8]
"""The columns that no ratings table can lack; the others are optional."""


def columns(*names: str) -> dict[str, str]:
    """Returns the required columns and `names` with their types, in the table's order."""
    return {name: kind for name, kind in TYPES.items() if name in (*REQUIRED, *names)}
