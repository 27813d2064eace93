"""How far the judges of a clip disagree about it."""

from __future__ import annotations

from collections.abc import Sequence

from sts.annotations.remarks import Remark

DISPUTES = OUTCOME, VERDICT, MARK = ("outcome", "verdict", "mark")
"""Whether it was done; else what was said of it; else when. The first weighs most."""


def dispute(opinions: Sequence[Remark], tolerance: int) -> str:
    """Return about what annotators of a clip disagree, one of `DISPUTES`, or "" for nothing.

    Failure and not done agree on the outcome. Who cannot judge it says nothing of the outcome, and
    yet something else than who can. Marks of one verdict may lie `tolerance` steps apart.
    """
    verdicts = {one.verdict for one in opinions}
    if "success" in verdicts and verdicts & {"failure", "not_done"}:
        return OUTCOME
    if len(verdicts) > 1:
        return VERDICT
    steps = [one.step for one in opinions if one.step is not None]
    return MARK if steps and max(steps) - min(steps) > tolerance else ""
