"""Questions of commands to a study that may not have begun."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from sts.cli.command import argument, option, switch
from sts.errors import UnknownName

if TYPE_CHECKING:
    from sts.annotations.database.annotation_store import Connection
    from sts.annotations.records import Annotator
    from sts.storage.workspace import Workspace
    from sts.suites.decisions import CandidateState, Decision
    from sts.suites.drafts import Draft

ANNOTATED = argument("NAME@VERSION", "annotated suite")
ANY_SUITE = argument("NAME@VERSION", "suite (default: all)", nargs="?")
LEAD = option("LEAD", "study lead who decides (default: your login)", flag="--user")
PSEUDONYMS = switch("show pseudonyms (default: real names, for the study lead)")
REASON = option("TEXT", "reason, one line", required=True)
T = TypeVar("T")
S = TypeVar("S", str, str | None)


def read_study(workspace: Workspace, read: Callable[[Connection], T]) -> T | None:
    """Return what `read` finds in the workspace's database, None before a study has begun."""
    from sts.annotations.database.presence import has_study

    if not has_study(workspace):
        return None
    from sts.annotations.database.annotation_store import AnnotationStore  # slow to import

    with AnnotationStore.open(workspace) as store, store.read() as connection:
        return read(connection)


def resolve_study(workspace: Workspace, name: S) -> S:
    """Return the name under which a suite or selection is enqueued; None is everything.

    A selection, SUITE@VERSION+category:NAME, is enqueued under the name that
    `Selection.queue` derives from its scenarios; that name is accepted as well.

    Raises:
      UnknownName: nothing of it is enqueued, or a term of the selection is unknown.
    """
    if name is None:
        return None
    from sts.annotations.queue import queue
    from sts.suites.selections import load_selection

    enqueued = read_study(workspace, queue.list_suites) or []
    found = name
    if "+" in name and name not in enqueued:
        found = load_selection(workspace, name).queue
    if found not in enqueued:
        raise UnknownName("queued suite", name, enqueued)
    return found


def get_lead(connection: Connection, author: str | None) -> Annotator:
    """Return the study lead who decides, by default the one called like your login."""
    import getpass

    from sts.annotations.people import people

    return people.get_lead(connection, author or getpass.getuser())


def candidate_states(draft: Draft) -> dict[str, CandidateState]:
    """Return what was decided about the candidates of a draft."""
    from sts.suites.decisions import fold_decisions

    def read(connection: Connection) -> list[Decision]:
        from sts.annotations.log import decisions  # slow to import

        return decisions.load_decisions(connection, draft.id)

    return fold_decisions(read_study(draft.workspace, read) or [])
