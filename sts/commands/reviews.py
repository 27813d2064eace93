"""`sts annotations reviews`: Table 1, and the scenarios whose rule people contradict."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sts.cli.arguments import say, table
from sts.errors import UnknownName

if TYPE_CHECKING:
    from sts.annotations.breakdown import Breakdown
    from sts.storage.workspace import Workspace


def add(actions: Any) -> None:
    """Adds the action."""
    words = "count the errors that reviewers found in failures, and the rules they contradicted"
    leaf = actions.add_parser(
        "reviews", help=words, description=words, example="sts annotations reviews {suite}"
    )
    leaf.add_argument("suite", metavar="NAME@VERSION", help="a suite that is judged")


def show(workspace: Workspace, suite: str, *, as_json: bool) -> None:
    """Prints both.

    Raises:
      UnknownName: nothing of that suite is enqueued.
    """
    from sts.annotations.breakdown import breakdown
    from sts.annotations.differences import contradicted, rules_verdicts
    from sts.annotations.queue import suites
    from sts.annotations.reviewed import reviewed
    from sts.annotations.store import Store

    own = Store.find(workspace)
    if own is None:
        raise UnknownName("enqueued suite", suite, ())
    with own as store, store.read() as connection:
        enqueued = suites(connection)
        if suite not in enqueued:
            raise UnknownName("enqueued suite", suite, enqueued)
        found, study = reviewed(connection, suite), store.study
    errors = breakdown(found.clips, found.reviews, study.review_sample, study.seed)
    whole = suite.partition("+")[0]
    rules = rules_verdicts(workspace.store, whole, [one.continuation for one in found.clips])
    against = contradicted(found.clips, rules, found.decided, found.notes)
    value = {
        "errors": [row._asdict() for row in errors.rows],
        "over": {who: counts._asdict() for who, counts in errors.over.items()},
        "rules": [one._asdict() for one in against],
    }
    lines = [_errors(errors), ""]
    if against:
        header = ("scenario", "people differ", "against the rule", "for the rule", "remarks")
        lines.append(table(header, [(*one[:4], "; ".join(one.remarks)) for one in against]))
    else:
        lines.append("people and rules say the same of every clip that both have judged")
    say(as_json, value, "\n".join(lines))


def _errors(errors: Breakdown) -> str:
    header = ("source", "error", "people", "agents", "meaning")
    lines = [table(header, errors.rows)]
    for who, over in errors.over.items():
        lines.append(
            f"{who}: {over.reviewed} reviewed of {over.sample}, drawn at random from "
            f"{over.failures} episodes annotated as failures"
            + (f"; {over.outside} reviewed beside the sample" if over.outside else "")
        )
    return "\n".join(lines)
