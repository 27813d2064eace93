"""Executors: `relay`, a process a task, and `idle`, which does nothing.

The relay does every other task twice, by two processes that do not know of each other, and gives
what came of both. One in RELAY_ELSEWHERE finds the modules in that folder before all others.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

from sts.plugin import WorkerDied


class Relay(AbstractContextManager):
    def __init__(self, workers, tasks, *, isolated):
        self.width = workers
        self._waiting = []

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        return self

    def __exit__(self, *error):
        self._folder.cleanup()

    def submit(self, key, work, *args):
        file = Path(self._folder.name) / str(key)
        file.write_bytes(pickle.dumps((work, args)))
        self._waiting.append((key, file))

    def completed(self):
        while self._waiting:
            handed = [(key, file, _begun(key, file, i)) for key, file, i in self._doubled()]
            self._waiting = []
            for key, file, process in reversed(handed):
                code = process.wait()
                answer = file.with_suffix(f".{process.pid}")
                yield (
                    key,
                    WorkerDied(f"exit code {code}") if code else pickle.loads(answer.read_bytes()),
                )

    def _doubled(self):
        for key, file in self._waiting:
            for i in range(1 + (key % 2 == 0)):
                yield key, file, i


def _begun(key, file, again):
    environment = dict(os.environ)
    if key % 2 and (elsewhere := environment.get("RELAY_ELSEWHERE")):
        environment["PYTHONPATH"] = f"{elsewhere}{os.pathsep}{environment['PYTHONPATH']}"
    return subprocess.Popen([sys.executable, "-m", "sts_relay.hand", str(file)], env=environment)


class Idle(Relay):
    def completed(self):
        return iter(())
