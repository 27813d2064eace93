"""Human verdicts and automatic labels of continuations, for the terminal and as JSON."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sts.annotations.answers import verdicts
from sts.annotations.answers.verdicts import Verdict
from sts.cli.arguments import warn
from sts.commands.study import read_study
from sts.continuations.continuation import Continuation
from sts.continuations.index import Index
from sts.errors import StsError
from sts.storage.workspace import Workspace


class Verdicts(NamedTuple):
    """The human verdicts and automatic labels of a continuation."""

    human: Sequence[Verdict] | None  # of each annotator; None if they cannot be read
    automatic: Mapping[Verdict, Sequence[str]]  # labels, with the suites that each is for

    @property
    def summary(self) -> str:
        """A sentence that keeps automatic labels apart from human verdicts."""
        parts = []
        if self.human:
            people = "1 person" if len(self.human) == 1 else f"{len(self.human)} people"
            counted = Counter(verdict for verdict, _ in self.human)
            phrases = (
                f"{count} {verdict}{_format_steps([s for v, s in self.human if v == verdict])}"
                for verdict, count in counted.items()
            )
            parts.append(f"judged by {people}: {', '.join(phrases)}")
        else:
            parts.append("judgements cannot be read" if self.human is None else "not judged yet")
        parts += [
            f"automatic label of {', '.join(suites)}: {label.verdict}{_format_steps([label.step])}"
            for label, suites in self.automatic.items()
        ]
        return "; ".join(parts)

    @property
    def record(self) -> dict[str, Any]:
        """JSON values."""
        return {
            "judgements": None
            if self.human is None
            else [judgement._asdict() for judgement in self.human],
            "automatic_labels": [
                label._asdict() | {"suites": [*suites]} for label, suites in self.automatic.items()
            ],
        }


def load_verdicts(
    workspace: Workspace, shown: Sequence[Continuation], index: Index
) -> dict[str, Verdicts]:
    """Return the verdicts and labels by continuation; warn if some cannot be read."""
    ids = {continuation.id for continuation in shown}
    human: Mapping[str, Sequence[Verdict]] | None = {}
    automatic: Mapping[str, Mapping[Verdict, Sequence[str]]] = {}
    try:
        if ids:
            human = (
                read_study(
                    workspace, lambda connection: verdicts.load_human_verdicts(connection, ids)
                )
                or {}
            )
    except StsError as error:
        warn(f"judgements are left out: {error}")
        human = None
    try:
        automatic = verdicts.load_automatic_labels(workspace, shown, index)
    except StsError as error:
        warn(f"automatic labels are left out: {error}")
    return {
        id: Verdicts(None if human is None else human.get(id, ()), automatic.get(id, {}))
        for id in ids
    }


def _format_steps(steps: Sequence[int | None]) -> str:
    marks = [f"{step:+d}" for step in steps if step is not None]
    return f" (at {', '.join(marks[:9])}{', ...' if len(marks) > 9 else ''})" if marks else ""
