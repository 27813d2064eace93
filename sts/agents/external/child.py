"""Child processes that run external agents, stopped when this process ends.

Their answers are untrusted. An invalid answer, or a failure of the process, stops the process and
raises a one-line error. Loading the agent again starts a new one.
"""

import atexit
import json
import os
import select
import shutil
import subprocess
import threading
from collections.abc import Mapping
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from sts.agents import introspection
from sts.errors import ArgumentError, StsError
from sts.jobs import frames
from sts.jobs.deadlines import read_timeout, report_progress
from sts.jobs.processes import POLL_INTERVAL_S, Process, WorkerDied, WorkerHung

SERVER_FILE = Path(__file__).with_name("shim.py")
LOAD_FAILED = b"!"
"""Prefix of a message of the shim with the reason why the agent cannot be loaded."""
_INTERPRETER_VARIABLES = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
"""Environment variables for this interpreter, which are not passed to another."""
_ANSWER_LENGTHS = {"done": 2, "raised": 3}


class AgentRaised(Exception):
    """An exception that the agent raised; subclasses take the name of its class."""


class AgentProcess:
    """An interpreter that runs one agent.

    Attributes:
      python: the interpreter, as the user wrote it.
      description: of the agent, as `sts.agents.introspection.describe` returns it.
    """

    def __init__(self, python: str, module: str, name: str, arguments: str = "{}") -> None:
        """Start the interpreter and load the agent; `arguments` are its constructor's, in JSON.

        Raises:
          ArgumentError: the interpreter does not exist, has no NumPy, or has no such agent.
          WorkerDied: it exits or does not respond.
        """
        self.python = python
        self._lock = threading.RLock()
        if shutil.which(python) is None:
            raise ArgumentError(f"cannot start interpreter {python}: no such program")
        ours, theirs = Pipe()
        life, self._life = os.pipe()
        descriptors = theirs.fileno(), life
        files = str(SERVER_FILE), frames.__file__, introspection.__file__
        environment = {k: v for k, v in os.environ.items() if k not in _INTERPRETER_VARIABLES}
        try:
            started = subprocess.Popen(
                [python, *files, module, name, *map(str, descriptors), arguments],
                stdin=subprocess.DEVNULL,
                stdout=2,
                env=environment,
                pass_fds=descriptors,
                process_group=0,  # Ctrl-C is the parent's
            )
        except OSError as error:
            os.close(self._life)
            ours.close()
            raise ArgumentError(f"cannot start interpreter {python}: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(life)
        self._process = Process(ours, started, read_timeout())
        self._poller = select.poll()
        self._poller.register(ours.fileno(), select.POLLIN)
        try:
            self.description: dict[str, Any] = self.request("describe")
        except AgentRaised as error:
            self.end()
            raise ArgumentError(str(error)) from None
        except WorkerDied as error:
            if isinstance(error, WorkerHung):
                raise
            raise ArgumentError(
                f"{python} is not an interpreter of Python 3.8 or later: it cannot run the agent "
                f"server ({error})"
            ) from None

    @property
    def has_ended(self) -> bool:
        """True if the process has ended."""
        return not self._process.is_alive

    def request(self, *request: Any) -> Any:
        """Send a request and return the answer.

        Raises:
          AgentRaised: the agent raised an exception.
          WorkerDied: the process has ended, or does not respond.
          StsError: its answer is invalid.
        """
        with self._lock:
            answer = self._exchange(request)
        if answer[0] == "raised":
            raise type(str(answer[1]), (AgentRaised,), {})(str(answer[2]))
        return answer[1]

    def find_module(
        self, name: str, folders: tuple[str, ...]
    ) -> tuple[str | None, tuple[str, ...]]:
        """Locate a module in that interpreter, as `sts.agents.introspection.find_module` does."""
        file, submodule_folders = self.request("find", name, folders)
        return file, tuple(submodule_folders)

    def end(self) -> None:
        """Kill the process and its descendants."""
        if self._life >= 0:
            self._process.end()
            os.close(self._life)
            self._life = -1

    def _exchange(self, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Send a message and return the answer; on any failure, kill the process."""
        try:
            if self._life < 0:
                raise WorkerDied("its process has ended")
            self._process.send(frames.encode(message))
            data = self._receive()
            if data.startswith(LOAD_FAILED):
                raise ArgumentError(" ".join(data.decode(errors="replace")[1:].split()))
            answer: Any = frames.decode(data)
            kind = str(answer[0]) if type(answer) is tuple and answer else ""
            if kind not in _ANSWER_LENGTHS or len(answer) != _ANSWER_LENGTHS[kind]:
                raise frames.DecodeError("expected an answer, found another value")
            return tuple(answer)
        except WorkerDied as error:
            self.end()
            raise error.with_message(f"{self.python}: {error}") from None
        except (frames.DecodeError, OSError) as error:
            self.end()
            raise StsError(
                f"{self.python}: invalid answer ({error}); only the agent server may write to its "
                "pipe"
            ) from None
        except BaseException:
            self.end()
            raise

    def _receive(self) -> bytes:
        self._process.timeout_s = read_timeout()
        while True:
            self._poller.poll(1000 * POLL_INTERVAL_S)
            report_progress()  # so that this process is not killed while it waits
            if (data := self._process.poll_answer()) is not None:
                return data


_processes: dict[tuple[int, str, str, str], AgentProcess] = {}
_lock = threading.Lock()


def get_process(python: str, module: str, name: str, arguments: Mapping[str, Any]) -> AgentProcess:
    """Return the running child of this process for an agent, or start one."""
    given = json.dumps(arguments)
    key = os.getpid(), str(Path.cwd()), f"{python}:{module}:{name}", given
    with _lock:
        if key in _processes and _processes[key].has_ended:
            _processes.pop(key).end()
        if key not in _processes:
            _processes[key] = AgentProcess(python, module, name, given)
        return _processes[key]


def end_all_processes() -> None:
    """Kill all children of this process."""
    for key in [key for key in _processes if key[0] == os.getpid()]:
        _processes.pop(key).end()


atexit.register(end_all_processes)
