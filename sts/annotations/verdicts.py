"""What has been said of a continuation so far: by people, and by its category's rule."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from sqlalchemy import Connection, select

from sts.annotations.schema import events, items
from sts.annotations.views import current
from sts.errors import DamagedData
from sts.ratings import VERDICTS
from sts.storage import parquet
from sts.storage.workspace import Workspace


class Verdict(NamedTuple):
    """One verdict.

    Attributes:
      verdict: success, failure, not_done or cannot_judge.
      step: 1..horizon from takeover for success and failure, else None.
    """

    verdict: str
    step: int | None


def human(connection: Connection, continuations: Collection[str]) -> dict[str, list[Verdict]]:
    """Returns the current judgement of each person of these continuations, where there is one."""
    standing = current()
    rows = connection.execute(
        select(items.c.continuation, events.c.verdict, events.c.step)
        .join(events, events.c.item == items.c.id)
        .join(standing, standing.c.id == events.c.id)
        .where(items.c.continuation.in_(continuations))
        .order_by(events.c.id)
    )
    out: dict[str, list[Verdict]] = {}
    for continuation, verdict, step in rows:
        out.setdefault(continuation, []).append(Verdict(verdict, step))
    return out


def automatic(
    workspace: Workspace, continuations: Collection[str]
) -> dict[str, dict[Verdict, list[str]]]:
    """Returns the labels of these continuations that `sts label` has written, judged by nobody.

    Each comes with the suites, NAME@VERSION, for which it was made.

    Raises:
      DamagedData: a table of labels cannot be read.
    """
    out: dict[str, dict[Verdict, list[str]]] = {}
    for path in sorted(workspace.path("labels").glob("*.parquet")):
        name, _, version = path.stem.rpartition("-")
        for row in parquet.read_plain(path, ("continuation", "verdict", "step"), continuations):
            if row["verdict"]:
                label = Verdict(row["verdict"], row["step"])
                if label.verdict not in VERDICTS or type(label.step) not in (int, type(None)):
                    raise DamagedData(f"{path}: expected verdicts and steps, found {tuple(label)}")
                out.setdefault(row["continuation"], {}).setdefault(label, []).append(
                    f"{name}@{version}"
                )
    return out
