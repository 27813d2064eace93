"""Commands of ours as copies of a process that has imported what they need.

Of the three CPU-seconds in which the pages begin to be served, all but a few tenths are imports; so
it is with most commands of the documentation.
What a command does in a process of its own, from its first line, has tests of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from sts.cli.main import main


class Copy:
    """A process that is not our child, as `subprocess.Popen` shows one."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._file = os.pidfd_open(pid)

    def send_signal(self, number: int) -> None:
        signal.pidfd_send_signal(self._file, number)

    def wait(self, seconds: float) -> None:
        """Wait until it has ended; raise TimeoutExpired if it has not by then."""
        if not select.select([self._file], [], [], seconds)[0]:
            raise subprocess.TimeoutExpired(str(self.pid), seconds)

    def poll(self) -> int | None:
        """Return None while it runs."""
        return 0 if select.select([self._file], [], [], 0)[0] else None


class Zygote:
    """A process that imports once, and is copied for each command."""

    def __init__(self, modules: Sequence[str]) -> None:
        command, pipe = [sys.executable, "-m", "tests.zygote", *modules], subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, bufsize=1)

    def start(
        self, words: Sequence[str], folder: Path, log: Path, pipes: Sequence[Path] = ()
    ) -> Copy:
        """Start a command in a folder; its output is appended to a file.

        If there are no words but two named pipes, it runs each command line that it reads from the
        first, and writes the exit code to the second.
        """
        assert self._process.stdin and self._process.stdout
        asked = [[*words], {**os.environ}, str(folder), str(log), [*map(str, pipes)]]
        print(json.dumps(asked), file=self._process.stdin)
        return Copy(int(self._process.stdout.readline()))

    def close(self) -> None:
        """End it, once all its copies have."""
        self._process.communicate()


def _become(
    words: list[str], environment: dict[str, str], folder: str, log: str, pipes: list[str]
) -> None:
    said = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for number in (1, 2):
        os.dup2(said, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["sts", *words]
    sys.exit(_play(*pipes) if pipes else main())


def _play(lines: str, codes: str) -> int:
    with open(lines) as asked, open(codes, "w") as answered:
        for line in asked:
            print(main(shlex.split(line)), file=answered, flush=True)
    return 0


def _copy_on_demand() -> None:
    for line in sys.stdin:
        if not (child := os.fork()):
            _become(*json.loads(line))
        print(child, flush=True)
    for _ in iter(_reap_child, None):
        pass


def _reap_child() -> int | None:
    try:
        return os.wait()[0]
    except ChildProcessError:
        return None


if __name__ == "__main__":
    for name in sys.argv[1:]:
        importlib.import_module(name)
    _copy_on_demand()
