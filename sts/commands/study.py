"""Questions of commands to a study that may not have begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sts.annotations.presence import has_study
from sts.errors import UnknownName
from sts.storage.workspace import Workspace

if TYPE_CHECKING:
    from sts.annotations.store import Connection
    from sts.suites.decisions import CandidateState, Decision
    from sts.suites.drafts import Draft

T = TypeVar("T")


def read_study(workspace: Workspace, read: Callable[[Connection], T]) -> T | None:
    """Return what `read` finds in the workspace's database, None before a study has begun."""
    if not has_study(workspace):
        return None
    from sts.annotations.store import AnnotationStore  # slow to import

    with AnnotationStore.open(workspace) as store, store.read() as connection:
        return read(connection)


def check_enqueued(workspace: Workspace, suite: str | None) -> None:
    """Raise UnknownName if nothing of a suite is enqueued; None is everything."""
    if suite is None:
        return
    from sts.annotations import queue

    enqueued = read_study(workspace, queue.list_suites) or []
    if suite not in enqueued:
        raise UnknownName("queued suite", suite, enqueued)


def candidate_states(draft: Draft) -> dict[str, CandidateState]:
    """Return what was decided about the candidates of a draft."""
    from sts.suites.decisions import fold_decisions

    def read(connection: Connection) -> list[Decision]:
        from sts.annotations import decisions  # slow to import

        return decisions.load_decisions(connection, draft.id)

    return fold_decisions(read_study(draft.workspace, read) or [])
