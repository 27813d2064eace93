"""Executors, which run tasks in this process, in worker processes or on other machines."""

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, Protocol, cast

from sts import registry
from sts.errors import StsError

ENTRY_POINT_GROUP = "sts.executors"
LOCAL = "local"


@dataclasses.dataclass(frozen=True)
class OwnedTask:
    """A function that runs third-party code; `owner` identifies the code."""

    work: Callable[..., Any]
    owner: str

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return self.work(*args)


class Executor(AbstractContextManager["Executor"], Protocol):
    """Protocol of an executor, which runs each task at least once.

    A task is a module-level function, or `OwnedTask`, with its arguments, all of which can be
    pickled. It runs in the main thread of a process that runs no other task meanwhile, and that has
    run no task of another owner before. A task may run twice, even at the same time, so it must be
    idempotent.
    """

    width: int  # the number of pending tasks that keeps all workers busy

    def submit(self, key: int, work: Callable[..., Any], *args: Any) -> None:
        """Schedule `work(*args)`."""
        ...

    def completed(self) -> Iterator[tuple[int, Any]]:
        """Yield the key and result of each submitted task, in order of completion.

        The result is an `StsError` if the task raised one, or `sts.jobs.pool.WorkerDied` if its
        process died. More tasks may be submitted meanwhile.
        """
        ...


def create_executor(
    workers: int, tasks: int, *, isolated: bool = False, name: str = LOCAL
) -> Executor:
    """Create an executor, by its name in the entry points of `sts.executors`.

    Args:
      workers: the maximum number of workers.
      tasks: the number of tasks.
      isolated: True if tasks may kill or hang their process.
      name: of the entry point, which is called with the other arguments.

    Raises:
      UnknownName: no executor of that name is installed.
      StsError: it cannot be loaded, or is not an executor.
    """
    created = registry.load_entry_point(ENTRY_POINT_GROUP, "executor", name)(
        workers, tasks, isolated=isolated
    )
    members = ("width", "submit", "completed")
    missing = [member for member in members if not hasattr(created, member)]
    if missing:
        raise StsError(
            f"executor {name!r}: expected width, submit and completed, found no {missing[0]}"
        )
    return cast(Executor, created)
