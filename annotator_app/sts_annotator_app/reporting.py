"""The report of a suite, built in a process of its own while pages go on."""

from __future__ import annotations

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
"""Seconds after which a build is given up."""
LIVE_FOLDER = "live"
"""The folder of reports that follow a study, so that one that somebody made stays as it is."""


class ReportBuilder:
    """Builds the report of one suite, one build at a time whichever process of a study begins it.

    A file beside the report says when the last build began, by its time, and why it failed, by its
    words; whoever builds holds a lock on it, which ends with them.

    Attributes:
      folder: of the report.
    """

    def __init__(
        self, workspace: Workspace, label: str, clock: Callable[[], float] = time.time
    ) -> None:
        """Build nothing yet."""
        self.folder = workspace.path("reports", LIVE_FOLDER, label.replace("@", "-"))
        self._workspace, self._label, self._clock = workspace, label, clock
        self._file = self.folder.with_name(f".{self.folder.name}.build")
        self._turn = threading.Lock()
        self._thread: threading.Thread | None = None

    @property
    def page(self) -> Path:
        """The report that was built last; it may be absent."""
        return self.folder / "report.html"

    @property
    def built_at(self) -> float | None:
        """When the report that is there was built, UTC seconds; None where there is none."""
        return _modified_at(self.page)

    @property
    def error(self) -> str:
        """Why the last build failed, in one line; "" where it did not, or goes on."""
        try:
            return self._file.read_text(encoding="utf-8")
        except OSError:
            return ""

    @property
    def is_building(self) -> bool:
        """Whether a build is under way, here or in another process."""
        if self._thread is not None and self._thread.is_alive():
            return True
        try:
            with self._file.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def start(self) -> bool:
        """Begins a build unless one is under way; returns whether it did."""
        with self._turn:
            if self.is_building:
                return False
            self._file.parent.mkdir(parents=True, exist_ok=True)
            file = self._file.open("ab+")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # somebody was quicker
                file.close()
                return False
            began = self._clock()
            self._write_status("", began)
            self._thread = threading.Thread(target=self._build, args=(file, began), daemon=True)
            self._thread.start()
            return True

    def is_outdated(self, last_event: float | None) -> bool:
        """Whether there is no report, or something came since it was begun.

        So a build that failed is not begun again by itself before something new has come.
        """
        began = _modified_at(self._file)
        since = self.built_at if began is None else began
        return since is None or (last_event is not None and last_event > since)

    def wait(self, seconds: float) -> None:
        """Return once no build is under way, or when the time is up."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _build(self, file: BinaryIO, began: float) -> None:
        with file:  # its lock ends with it
            # What people have played since has no label yet.
            page = ("--evidence", "app", "--out", str(self.folder.resolve()))
            for command, *more in (("label",), ("report", *page)):
                trouble = self._run(command, *more)
                if trouble:
                    self._write_status(trouble, began)
                    return

    def _write_status(self, trouble: str, began: float) -> None:
        self._file.write_text(trouble, encoding="utf-8")
        os.utime(self._file, (began, began))

    def _run(self, command: str, *more: str) -> str:
        words = [sys.executable, "-m", "sts.cli.main", command, self._label, *more]
        words += ["--workspace", str(self._workspace.root.resolve())]
        try:
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT_S,
            )
        except subprocess.TimeoutExpired:
            return f"sts {command} {self._label} took more than {TIMEOUT_S // 60} minutes"
        if done.returncode == 0:
            return ""
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        said = lines[-1].removeprefix("sts: ") if lines else f"it ended with {done.returncode}"
        return f"sts {command} {self._label}: {said}"


def _modified_at(file: Path) -> float | None:
    """When a file was changed, UTC seconds; None where there is none."""
    try:
        return file.stat().st_mtime
    except OSError:
        return None
