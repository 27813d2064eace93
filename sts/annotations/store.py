"""The annotation store: a workspace's annotators, items, claims and judgements."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from types import TracebackType

from sts.annotations import (
    claims,
    controls,
    decisions,
    imports,
    quality,
    queue,
    references,
    reviews,
    submissions,
    verdicts,
    views,
)
from sts.annotations.database import Database
from sts.annotations.history import History, verify
from sts.annotations.membership import Membership
from sts.annotations.opening import is_present, open_postgresql, open_sqlite, parse_url
from sts.annotations.reviews import Remark
from sts.annotations.study import USUAL, Study, study
from sts.annotations.types import (
    Ack,
    Claim,
    Day,
    Item,
    Judgement,
    Progress,
    Reference,
    RefusedAnswer,
)
from sts.errors import StoreError
from sts.storage.workspace import Workspace
from sts.suites.decisions import Decision

FILE = "annotations.sqlite3"
URL_VARIABLE = "STS_DATABASE_URL"


class Store(Membership):
    """Owns the database of one workspace; safe to share between threads.

    Several processes, the app's and the command line's, may have it open at once.

    Attributes:
      database: where `export` reads.
      study: how continuations are judged.
    """

    def __init__(
        self,
        database: Database,
        *,
        study: Study = USUAL,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Takes over `database`.

        Args:
          database: open.
          study: how continuations are judged.
          clock: UTC seconds.
        """
        super().__init__(database, clock)
        self.study = study

    @classmethod
    def open(cls, workspace: Workspace, *, clock: Callable[[], float] = time.time) -> Store:
        """Opens the workspace's store, and makes it when there is none.

        It is `annotations.sqlite3` in the workspace, or the PostgreSQL database that
        `STS_DATABASE_URL` names. SQLite wants a local disk.

        Raises:
          ArgumentError: `STS_DATABASE_URL` is not a URL of PostgreSQL.
          DamagedData: a setting of the workspace is not what it should be.
          MissingExtra: psycopg is not installed.
          NewerFormat: a later version made the database.
          StoreError: it is lost, locked, damaged, read-only, an earlier version's, another
            program's or another workspace's.
        """
        asked, url = study(workspace), os.environ.get(URL_VARIABLE)
        if url:
            parse_url(url)  # before anything is written
        try:
            own = workspace.identity()
        except OSError as error:
            raise StoreError(
                f"annotation database needs the folder {workspace.root}, which cannot be made or "
                f"written: {error.strerror}"
            ) from None
        if url:
            database = open_postgresql(url, own, workspace.root)
        else:
            database = open_sqlite(workspace.path(FILE), own)
        return cls(database, study=asked, clock=clock)

    @classmethod
    def find(cls, workspace: Workspace) -> Store | None:
        """Opens the workspace's store like `open`, or returns None where there is none yet."""
        if not os.environ.get(URL_VARIABLE) and not is_present(workspace.path(FILE)):
            return None
        return cls.open(workspace)

    def now(self) -> float:
        """UTC seconds, by the store's clock."""
        return self._clock()

    def close(self) -> None:
        """Ends the connections."""
        self.database.close()

    def __enter__(self) -> Store:
        """Returns itself; the block's end closes it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Closes the store."""
        self.close()

    def decide(self, draft: str, made: Sequence[Decision]) -> list[Decision]:
        """Appends decisions to the chain of a draft, all or none; returns them as they are kept.

        When this returns, they are on disk. Sending one again changes nothing.

        Raises:
          Overtaken: somebody has decided about a candidate since; says what.
          StoreError: one undoes what does not stand last, or has the uuid of another.
        """
        with self.database.write(alone=True) as connection:
            return decisions.append(connection, draft, made)

    def decisions(self, draft: str, since: Decision | None = None) -> list[Decision]:
        """Every decision about a draft, in order, or those after one that was read before.

        Raises:
          DamagedData: one is missing or was altered.
        """
        with self.database.read() as connection:
            return decisions.of_draft(connection, draft, since)

    def enqueue(self, items: Iterable[Item], *, required: int | None = 1) -> int:
        """Adds continuations to judge `required` times each; returns how many are new.

        Known ones keep their judgements and gain the suite and the slots they lack. With None, each
        is judged as often as the study asks of its suite and category, and a share of them twice.

        Raises:
          ArgumentError: `required` is below 1.
          DamagedData: a known continuation comes with another scenario, horizon or takeover.
        """
        with self.database.write(alone=True) as connection:
            return queue.enqueue(
                connection, items, study=self.study, required=required, now=self._clock()
            )

    def set_required(self, suite: str, required: int) -> int:
        """Raises how often each item of `suite` is judged; returns how many slots were added.

        Raises:
          ArgumentError: `required` is below 1.
          UnknownName: nothing of that suite is enqueued.
        """
        with self.database.write(alone=True) as connection:
            return queue.set_required(connection, suite, required)

    def enqueued(self, continuations: Iterable[str]) -> set[str]:
        """Returns those of `continuations` that are enqueued, or are references."""
        with self.database.read() as connection:
            return queue.enqueued(connection, continuations)

    def suites(self) -> list[str]:
        """Every suite of which something is enqueued, sorted."""
        with self.database.read() as connection:
            return queue.suites(connection)

    def add_reference(
        self, item: Item, truth: str, step: int | None = None, note: str = ""
    ) -> None:
        """Puts a continuation of known verdict into the pool that is served silently.

        Raises:
          ArgumentError: the truth is no verdict, its step is outside the continuation, or
            another truth is already there.
        """
        with self.database.write(alone=True) as connection:
            queue.add_reference(
                connection, item, truth=truth, step=step, note=note, now=self._clock()
            )

    def references(self) -> list[Reference]:
        """The pool, in the order it was filled."""
        with self.database.read() as connection:
            return references.every(connection)

    def claim(
        self, annotator_id: int, *, suite: str, count: int = 3, without: Collection[str] = ()
    ) -> list[Claim]:
        """Returns up to `count` items for one person: those they hold, then new ones.

        Nobody else is given their slots for the next 15 minutes; see `claims.claim`. Continuations
        in `without` are passed over.

        Raises:
          UnknownName: there is no such person, or they have retired or do not judge.
        """
        with self.database.write() as connection:
            return claims.claim(
                connection,
                annotator_id,
                suite=suite,
                count=count,
                without=without,
                study=self.study,
                now=self._clock(),
            )

    def ahead(self, suite: str) -> int:
        """How many items to claim for a person at a time: a tenth of what is open, 3 to 20."""
        with self.database.read() as connection:
            return claims.ahead(connection, suite, self._clock())

    def pause(
        self, scope: str = "", *, person: int | None = None, by: int | None = None, reason: str = ""
    ) -> None:
        """Gives nothing of a suite or category to anybody, or nothing to a person, until resumed.

        What somebody has before their eyes stays theirs; what waits behind it is given back.

        Args:
          scope: `NAME@VERSION`, or `NAME@VERSION/CATEGORY`; "" for a person.
          person: whose number.
          by: the number of who pauses; None for the command line, or the study's own rule.
          reason: as it is kept.

        Raises:
          ArgumentError: neither a scope nor a person, or both.
          UnknownName: nothing of that scope is enqueued, or there is no such person.
        """
        self._control(controls.PAUSE, scope, person, 1, by, reason)

    def resume(
        self, scope: str = "", *, person: int | None = None, by: int | None = None, reason: str = ""
    ) -> None:
        """Ends a pause; its arguments and errors are those of `pause`."""
        self._control(controls.PAUSE, scope, person, 0, by, reason)

    def prioritise(
        self, scope: str, number: int, *, by: int | None = None, reason: str = ""
    ) -> None:
        """Gives what is of a suite or category before all of a lower number; 0 is usual.

        Raises:
          UnknownName: nothing of that scope is enqueued.
        """
        self._control(controls.PRIORITY, scope, None, number, by, reason)

    def controls(self) -> list[controls.Control]:
        """What stands of all that was paused, resumed and prioritised: the last of each."""
        with self.database.read() as connection:
            return controls.last(controls.every(connection))

    def _control(
        self,
        setting: str,
        scope: str,
        person: int | None,
        value: int,
        by: int | None,
        reason: str,
    ) -> None:
        made = self._clock()
        with self.database.write(alone=True) as connection:
            controls.append(
                connection, controls.Control(setting, scope, person, value, reason, by, made)
            )

    def renew(self, annotator_id: int, items: Sequence[str]) -> list[str]:
        """Keeps items for another 15 minutes; returns those that are still the annotator's."""
        with self.database.write() as connection:
            return claims.renew(connection, annotator_id, list(items), now=self._clock())

    def submit(self, annotator_id: int, sent: object) -> list[Ack]:
        """Keeps what a browser sent, each once, and says what became of it, in order.

        `sent` should be a list of objects with uuid, item, kind (of `events.KINDS`; without one it
        is a verdict) and what the kind needs: verdict, step, reason, watched, seconds and corrects,
        label, text; see `submissions.check`. When this returns, everything it acknowledges is on
        disk. Bad input is refused and kept aside, as far as `submissions.REFUSED_LIMIT` allows, and
        never raised.
        Where the study says so, who lies below its bar is paused; see `quality.watch`.

        Raises:
          UnknownName: there is no such annotator.
          StoreError: the database is lost or full; nothing of `sent` was kept, so send it again.
        """
        with self.database.write() as connection:
            now = self._clock()
            acks = submissions.submit(connection, annotator_id, sent, now=now)
            quality.watch(connection, annotator_id, self.study, now)
            return acks

    def quality(self) -> list[quality.Quality]:
        """How well each person judges references, over time, and who lies below the study's bar."""
        with self.database.read() as connection:
            return quality.of_annotators(connection, self.study)

    def refused(self) -> list[RefusedAnswer]:
        """What browsers sent that could not be kept as a judgement, as far as it is kept aside."""
        with self.database.read() as connection:
            return submissions.refused_answers(connection)

    def append(
        self,
        ratings: Sequence[imports.Rating],
        additions: Iterable[Item] = (),
        *,
        required: int | None = 1,
    ) -> imports.Imported:
        """Appends judgements made elsewhere, all of them or none; repeating it changes nothing.

        Args:
          ratings: of continuations that are enqueued, or in `additions`.
          additions: what is enqueued first; see `locate.located`.
          required: how often each of these is judged; None for as often as the study asks.

        Raises:
          ArgumentError: `required` is below 1.
          DamagedData: a line's continuation is unknown or does not fit; names the line.
        """
        with self.database.write(alone=True) as connection:
            return imports.append(
                connection,
                ratings,
                additions,
                study=self.study,
                required=required,
                now=self._clock(),
            )

    def history(self, annotator_id: int, limit: int = 10) -> list[Judgement]:
        """The annotator's current judgements, the latest first."""
        with self.database.read() as connection:
            return views.history(connection, annotator_id, limit)

    def day(self, annotator_id: int, since: float) -> Day:
        """What a person has judged on our pages since a moment, UTC seconds."""
        with self.database.read() as connection:
            return views.day(connection, annotator_id, since)

    def verdicts(self, continuations: Collection[str]) -> dict[str, list[verdicts.Verdict]]:
        """The current judgement of each person of these continuations, where there is one."""
        with self.database.read() as connection:
            return verdicts.human(connection, continuations)

    def adjudications(self, suite: str | None = None) -> dict[str, Remark]:
        """The adjudication that stands of each clip of `suite` that has one, by its item."""
        with self.database.read() as connection:
            return reviews.adjudications(connection, suite)

    def reviews(self, suite: str | None = None) -> dict[str, list[Remark]]:
        """Each reviewer's review that stands, by the items of `suite`; None looks at all."""
        with self.database.read() as connection:
            return reviews.reviews(connection, suite)

    def notes(self, suite: str | None = None) -> dict[str, list[Remark]]:
        """Each person's note that stands, by the items of `suite`; None looks at all."""
        with self.database.read() as connection:
            return reviews.notes(connection, suite)

    def verify(self) -> History:
        """Whether every row that reaches a ratings table is as it was written; says which is not.

        Raises:
          StoreError: the database cannot be read.
        """
        return verify(self.database)

    def judged_by(
        self, suite: str | None = None, annotator_id: int | None = None
    ) -> dict[str, int]:
        """Clips judged by each person, of all or of one suite; nobody without any is named."""
        with self.database.read() as connection:
            return views.judged_by(connection, suite, annotator_id)

    def progress(self, suite: str) -> Progress:
        """How far `suite` is judged."""
        with self.database.read() as connection:
            return views.progress(connection, suite)
