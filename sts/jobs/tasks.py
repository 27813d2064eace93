"""Working tasks off, in this process or in several beside it, so that a bad one costs no other."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from typing import Generic, TypeAlias, TypeVar

from sts.errors import StsError, Unavailable
from sts.jobs.pool import WorkerDied, pool

ENOUGH = 3
"""How many parts of an owner's tasks must fail, and half of all, before no more are tried.

Each may have to be waited for, as where a world hangs.
"""
DIED = (
    "its process died: the world or the agent ended it, or did not come back where nothing could "
    "interrupt it, or it wanted memory"
)
T = TypeVar("T")
R = TypeVar("R")
Begin: TypeAlias = Callable[[], None] | None


class NotTried(StsError):
    """Too much of the same owner had failed."""


def work_off(
    tasks: Sequence[T],
    perform: Callable[[T], R],
    *,
    parts: Callable[[T], Sequence[T]],
    owner: Callable[[T], str],
    workers: int,
    begin: Begin = None,
) -> Iterator[tuple[T, R | StsError]]:
    """Yields each task with its result, as they come; where one fails, each of its parts.

    A part that fails comes with its error: that of `perform`, or `Unavailable` where the process
    that it was done in died. Of an owner for whom too much has failed (`ENOUGH`) nothing more is
    done, and what is left comes with `NotTried`. Errors other than `StsError` are not caught.

    Args:
      tasks: to do. Like their parts and results, they are sent between processes.
      perform: does a task or a part.
      parts: what a task consists of; a part consists of itself.
      owner: whose a task is.
      workers: processes; 1 works in this one.
      begin: called by each process before anything else.
    """
    work = _Work(perform, parts, owner, workers, begin)
    left = deque(tasks)
    while left and workers == 1:
        yield from work.here(left.popleft())
    while left:
        for task in (yield from work.together(left)):
            yield from work.apart(task)


class _Tally:
    """How many parts went well, and how many did not."""

    def __init__(self, good: int = 0, bad: int = 0) -> None:
        self._good, self._bad = good, bad

    @property
    def counts(self) -> tuple[int, int]:
        """What it is made of."""
        return self._good, self._bad

    @property
    def hopeless(self) -> bool:
        """Whether no more are to be tried."""
        return self._bad >= ENOUGH and self._bad >= self._good

    def add(self, found: object, parts: int) -> None:
        """Counts what came of so many parts."""
        if not isinstance(found, StsError):
            self._good += parts
        elif not isinstance(found, NotTried):
            self._bad += parts


@dataclass
class _Work(Generic[T, R]):
    perform: Callable[[T], R]
    parts: Callable[[T], Sequence[T]]
    owner: Callable[[T], str]
    workers: int
    begin: Begin
    tallies: defaultdict[str, _Tally] = field(default_factory=lambda: defaultdict(_Tally))

    def here(self, task: T) -> Iterator[tuple[T, R | StsError]]:
        """Does a task in this process."""
        if self._hopeless(task):
            yield task, NotTried()
        else:
            yield from self._told(
                task, _attempt(self.perform, self.parts, self._counts(task), task)
            )

    def together(self, left: deque[T]) -> Generator[tuple[T, R | StsError], None, list[T]]:
        """Works off what is left in a pool; returns what was in work when a process of it died."""
        busy: dict[Future[_Found[R]], T] = {}
        try:
            with pool(min(self.workers, len(left)), self.begin) as executor:
                while left or busy:
                    while left and len(busy) <= self.workers:  # one waits, so that no process need
                        task = left[0]
                        if self._hopeless(task):
                            yield task, NotTried()
                        else:
                            job = executor.submit(
                                _attempt, self.perform, self.parts, self._counts(task), task
                            )
                            busy[job] = task
                        left.popleft()
                    for future in wait(busy, return_when=FIRST_COMPLETED).done:
                        found = future.result()
                        yield from self._told(busy.pop(future), found)
        except WorkerDied:
            return list(busy.values())
        return []

    def apart(self, task: T) -> Iterator[tuple[T, R | StsError]]:
        """Does a task part by part in a process of its own, so that what it dies of is known."""
        left = deque(enumerate(self.parts(task)))
        while left and not self._hopeless(task):
            number, piece = left[0]
            try:
                with pool(1, self.begin) as executor:
                    while left and not self._hopeless(task):
                        number, piece = left[0]
                        job = executor.submit(_attempt, self.perform, self.parts, (0, 0), piece)
                        ((_, one),) = job.result()
                        left.popleft()
                        yield from self._told(task, [(number, one)])
            except WorkerDied:
                left.popleft()
                yield from self._told(task, [(number, Unavailable(DIED))])
        yield from ((piece, NotTried()) for _, piece in left)

    def _counts(self, task: T) -> tuple[int, int]:
        return self.tallies[self.owner(task)].counts

    def _hopeless(self, task: T) -> bool:
        return self.tallies[self.owner(task)].hopeless

    def _told(self, task: T, found: _Found[R]) -> Iterator[tuple[T, R | StsError]]:
        pieces = self.parts(task)
        for number, one in found:
            self.tallies[self.owner(task)].add(one, len(pieces) if number is None else 1)
            yield (task if number is None else pieces[number]), one


_Found: TypeAlias = "list[tuple[int | None, R | StsError]]"
"""What came of a task, or of each of its parts by their numbers."""


def _attempt(
    perform: Callable[[T], R],
    parts: Callable[[T], Sequence[T]],
    counts: tuple[int, int],
    task: T,
) -> _Found[R]:
    """Returns what comes of a task, or, where it fails, of its parts.

    `counts` is how much of its owner's went well, and badly, before.
    """
    try:
        return [(None, perform(task))]
    except StsError as error:
        pieces = parts(task)
        if len(pieces) == 1:
            return [(None, error)]
    found: _Found[R] = []
    tally = _Tally(*counts)
    for number, piece in enumerate(pieces):
        one: R | StsError = NotTried()
        if not tally.hopeless:
            ((_, one),) = _attempt(perform, parts, (0, 0), piece)
        tally.add(one, 1)
        found.append((number, one))
    return found
