"""Executors: what has tasks done, in this process, in others beside it, or on other machines."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from sts import registry
from sts.errors import StsError

ENTRY_POINT_GROUP = "sts.executors"
LOCAL = "local"


@dataclasses.dataclass(frozen=True)
class Owned:
    """A function that runs the code of users, whose name is `owner`."""

    work: Callable[..., Any]
    owner: str

    def __call__(self, *args: Any) -> Any:
        """Return what the function returns."""
        return self.work(*args)


class Executor(AbstractContextManager["Executor"], Protocol):
    """Has tasks done, each at least once.

    A task is a function of a module, or `Owned`, and its arguments, all of which can be pickled. It
    is done in the main thread of a process that is at no other task meanwhile, and that has done no
    task of another owner before. It may be done twice, by two that do not know of each other: what
    it keeps is then kept once.

    Attributes:
      width: how many tasks may be submitted and not completed, for all to be kept busy.
    """

    width: int

    def submit(self, key: int, work: Callable[..., Any], *args: Any) -> None:
        """Has `work(*args)` done."""
        ...

    def completed(self) -> Iterator[tuple[int, Any]]:
        """Yield each key with what came of it, as they come; more may be submitted meanwhile.

        That is the result, or an `StsError`: the task's own, or `sts.jobs.pool.Died` that says what
        its process died of. It ends when all that was submitted has come.
        """
        ...


def executor(workers: int, tasks: int, *, apart: bool = False, name: str = LOCAL) -> Executor:
    """Return the executor of a name, found by the entry points of `sts.executors`.

    Args:
      workers: how many it may use.
      tasks: how many there are to do.
      apart: whether they may end their process, or hang in it.
      name: an entry point; it is called with all the others.

    Raises:
      UnknownName: there is none of that name.
      StsError: it cannot be had, or is none.
    """
    made = registry.load(ENTRY_POINT_GROUP, "executor", name)(workers, tasks, apart=apart)
    lacking = [one for one in ("width", "submit", "completed") if not hasattr(made, one)]
    if lacking:
        raise StsError(
            f"executor {name!r}: expected width, submit and completed, found no {lacking[0]}"
        )
    return cast(Executor, made)
