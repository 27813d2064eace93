"""Looks at the suite that is judged, made while people judge."""

import contextlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.log.closings import find_closing
from sts.annotations.log.looks import load_race
from sts.annotations.people.members import last_event_time
from sts.annotations.queue.leaving import find_reached_places
from sts.annotations.races import find_points
from sts.errors import StsError
from sts.storage.workspace import Workspace

CHECK_S = 5.0
"""Seconds between two questions whether a look may be due."""
RETRY_S = 300.0
"""Seconds until the next question after a look that was not due: some clips are not queued yet."""
_TIMEOUT_S = 600
_LOWEST = 19
_LOG = logging.getLogger(__name__)


class LookMaker:
    """Maker of a suite's looks, each in a process of its own, so that no answer waits for it."""

    def __init__(
        self, workspace: Workspace, suite: str, get_store: Callable[[], AnnotationStore]
    ) -> None:
        """Prepare looks at `suite`; nothing runs before `start`."""
        self._workspace, self._suite, self._get_store = workspace, suite, get_store
        self._last_event: float | None = None
        self._stopped = threading.Event()

    def start(self) -> None:
        """Watch from now on, in a thread."""
        threading.Thread(target=self._watch, daemon=True).start()

    def stop(self) -> None:
        """Watch no more; a look that is being made is finished."""
        self._stopped.set()

    def _watch(self) -> None:
        while not self._stopped.wait(CHECK_S):
            try:
                if self.is_due() and not self.make_look():
                    self._stopped.wait(RETRY_S)
            except StsError as error:
                _LOG.error("look at %s: %s", self._suite, error)

    def is_due(self) -> bool:
        """Return True if a look may be due: since the last time, people have judged."""
        from sts_analysis.statistics.race import find_due_point

        store = self._get_store()
        with store.read() as connection:
            event = last_event_time(connection)
            if event is None or event == self._last_event or store.study.goal == "all":
                return False
            race = load_race(connection, self._suite)
            if race.pending or find_closing(connection, self._suite):
                return False
            until = find_reached_places(connection, self._suite)
        rounds = int(max(until.values(), default=0.0))
        if find_due_point(until, find_points(race.looks), rounds) is None:
            return False
        self._last_event = event
        return True

    def make_look(self) -> bool:
        """Run `sts race` with the lowest priority; return True if a look was made."""
        words = [sys.executable, "-m", "sts.cli.main", "race", self._suite, "--json"]
        process = subprocess.Popen(
            [*words, "--workspace", str(self._workspace.root.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        with contextlib.suppress(OSError):  # it may have ended
            os.setpriority(os.PRIO_PROCESS, process.pid, _LOWEST)
        try:
            said, errors = process.communicate(timeout=_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            said, errors = "", f"took more than {_TIMEOUT_S // 60} minutes"
        if process.returncode:
            _LOG.error("look at %s: %s", self._suite, (errors.splitlines() or [""])[-1])
        return process.returncode == 0 and said.strip() != "null"
