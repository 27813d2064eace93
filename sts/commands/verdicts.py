"""What has been said of continuations, in words for a terminal and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sts.annotations import verdicts
from sts.annotations.verdicts import Verdict
from sts.cli.arguments import warn
from sts.commands.study import read_study
from sts.continuations.index import Index
from sts.continuations.types import Continuation
from sts.errors import StsError
from sts.storage.workspace import Workspace


class Verdicts(NamedTuple):
    """What has been said of a continuation.

    Attributes:
      human: what each person who judged it says now; None if it cannot be read.
      automatic: what its category's rule says, and for which suites it was asked.
    """

    human: Sequence[Verdict] | None
    automatic: Mapping[Verdict, Sequence[str]]

    @property
    def words(self) -> str:
        """It in a sentence, in which no label passes for a judgement."""
        parts = []
        if self.human:
            people = "1 person" if len(self.human) == 1 else f"{len(self.human)} people"
            counted = Counter(verdict for verdict, _ in self.human)
            each = (
                f"{count} {verdict}{_at([s for v, s in self.human if v == verdict])}"
                for verdict, count in counted.items()
            )
            parts.append(f"judged by {people}: {', '.join(each)}")
        else:
            parts.append("judgements cannot be read" if self.human is None else "not judged yet")
        parts += [
            f"automatic label of {', '.join(suites)}: {label.verdict}{_at([label.step])}"
            for label, suites in self.automatic.items()
        ]
        return "; ".join(parts)

    @property
    def view(self) -> dict[str, Any]:
        """It as JSON."""
        return {
            "judgements": None if self.human is None else [one._asdict() for one in self.human],
            "automatic_labels": [
                label._asdict() | {"suites": list(suites)}
                for label, suites in self.automatic.items()
            ],
        }


def verdicts_of(
    workspace: Workspace, shown: Sequence[Continuation], index: Index
) -> dict[str, Verdicts]:
    """Return what has been said of continuations; warns of what cannot be read."""
    ids = {one.id for one in shown}
    human: Mapping[str, Sequence[Verdict]] | None = {}
    automatic: Mapping[str, Mapping[Verdict, Sequence[str]]] = {}
    try:
        if ids:
            human = read_study(workspace, lambda connection: verdicts.human(connection, ids)) or {}
    except StsError as error:
        warn(f"judgements are left out: {error}")
        human = None
    try:
        automatic = verdicts.automatic(workspace, shown, index)
    except StsError as error:
        warn(f"automatic labels are left out: {error}")
    return {
        id: Verdicts(None if human is None else human.get(id, ()), automatic.get(id, {}))
        for id in ids
    }


def _at(steps: Sequence[int | None]) -> str:
    marks = [f"{step:+d}" for step in steps if step is not None]
    return f" (at {', '.join(marks[:9])}{', ...' if len(marks) > 9 else ''})" if marks else ""
