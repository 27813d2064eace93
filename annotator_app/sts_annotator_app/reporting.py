"""Background builds of a suite's report."""

import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from sts.storage.workspace import Workspace

TIMEOUT_S = 3600
"""Time after which a build is aborted."""
LIVE_FOLDER = "live"
"""Folder of the automatic reports, apart from those that people build themselves."""


class ReportBuilder:
    """Builder of one suite's report; at most one build runs at a time across processes.

    A status file next to the report records the last build: its modification time is the start,
    its text the error, if any. A build holds a lock on it.

    Attributes:
      folder: folder of the report.
    """

    def __init__(
        self, workspace: Workspace, label: str, clock: Callable[[], float] = time.time
    ) -> None:
        """Prepare builds of suite `label` in `workspace`; `clock` returns UTC seconds."""
        self.folder = workspace.path("reports", LIVE_FOLDER, label.replace("@", "-"))
        self._workspace, self._label, self._clock = workspace, label, clock
        self._file = self.folder.with_name(f".{self.folder.name}.build")

    @property
    def page(self) -> Path:
        """Path of the latest report; it may be absent."""
        return self.folder / "report.html"

    @property
    def built_at(self) -> float | None:
        """Build time of the latest report in UTC seconds; None without a report."""
        return _modified_at(self.page)

    @property
    def error(self) -> str:
        """One-line error of the last build; "" if it succeeded or is still running."""
        try:
            return self._file.read_text(encoding="utf-8")
        except OSError:
            return ""

    @property
    def is_building(self) -> bool:
        """True while a build runs in this or another process."""
        try:
            with self._file.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def start(self) -> bool:
        """Start a build unless one is running; return True if it was started."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        file = self._file.open("ab+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return False
        started = self._clock()
        self._write_status("", started)
        threading.Thread(target=self._build, args=(file, started), daemon=True).start()
        return True

    def is_outdated(self, last_event: float | None) -> bool:
        """Return True without a report, or if the last event is later than the last build.

        A failed build is therefore repeated only after new events.
        """
        started = _modified_at(self._file)
        since = self.built_at if started is None else started
        return since is None or (last_event is not None and last_event > since)

    def _build(self, file: BinaryIO, started: float) -> None:
        with file:  # closing it releases the lock
            # Continuations that people have played since are not labelled yet.
            page = ("--clips", "app", "--out", str(self.folder.resolve()))
            for command, *more in (("label",), ("report", *page)):
                error = self._run(command, *more)
                if error:
                    self._write_status(error, started)
                    return

    def _write_status(self, error: str, started: float) -> None:
        self._file.write_text(error, encoding="utf-8")
        os.utime(self._file, (started, started))

    def _run(self, command: str, *more: str) -> str:
        arguments = [sys.executable, "-m", "sts.cli.main", command, self._label, *more]
        arguments += ["--workspace", str(self._workspace.root.resolve())]
        try:
            process = subprocess.run(
                arguments,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return f"sts {command} {self._label} took more than {TIMEOUT_S // 60} minutes"
        if process.returncode == 0:
            return ""
        lines = [line for line in process.stderr.splitlines() if line.strip()]
        error = lines[-1].removeprefix("sts: ") if lines else f"exit status {process.returncode}"
        return f"sts {command} {self._label}: {error}"


def _modified_at(file: Path) -> float | None:
    """Return the modification time of a file in UTC seconds; None if it is missing."""
    try:
        return file.stat().st_mtime
    except OSError:
        return None
