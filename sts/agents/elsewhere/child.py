"""The process of an agent that another interpreter plays: begun once, asked, and ended with us.

What it answers is another's data: whatever is wrong with it, or with the process, is one line, and
the process is ended. Loading the agent again begins a new one.
"""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError, StsError
from sts.jobs import frames
from sts.jobs.deadlines import patience, progress
from sts.jobs.processes import PULSE, Died, Hung, Process

SHIM = Path(__file__).with_name("shim.py")
REFUSED = b"!"
"""Begins a message of the shim that says why there is no agent to play."""
_OURS = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
"""What is meant for this interpreter and would mislead another."""


class Raised(Exception):
    """An exception of the agent's own; `raised` makes one that is called as it was there."""


def raised(kind: str, text: str) -> Raised:
    """Return an exception whose line is that of the same agent in this process."""
    one: Raised = type(kind, (Raised,), {})(text)
    return one


class Child:
    """One interpreter that plays one class.

    Attributes:
      python: the interpreter, as it was typed.
      told: what the agent says of itself, by name; see the shim's answer to "describe".
    """

    def __init__(self, python: str, module: str, name: str) -> None:
        """Begin it.

        Raises:
          ArgumentError: the interpreter does not exist, has no NumPy, or has no such agent.
          Died: it ends or does not come back.
        """
        self.python = python
        self._lock = threading.RLock()
        if shutil.which(python) is None:
            raise ArgumentError(f"{python} is no interpreter: no such program")
        ours, theirs = Pipe()
        life, self._life = os.pipe()
        given = theirs.fileno(), life
        try:
            begun = subprocess.Popen(
                [python, str(SHIM), frames.__file__, module, name, *map(str, given)],
                stdin=subprocess.DEVNULL,
                stdout=2,
                env={key: value for key, value in os.environ.items() if key not in _OURS},
                pass_fds=given,
                process_group=0,  # Ctrl-C is the parent's
            )
        except OSError as error:
            os.close(self._life)
            ours.close()
            raise ArgumentError(f"{python} is no interpreter: {error.strerror}") from error
        finally:
            theirs.close()
            os.close(life)
        self._process = Process(ours, begun, patience())
        self.told: dict[str, Any] = self._first()

    @property
    def ended(self) -> bool:
        """Whether it has."""
        return not self._process.alive

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def ask(self, *request: Any, compute: Callable[[str], Any] | None = None) -> Any:
        """Return its answer to a request; `compute` returns what it asks for meanwhile, by name.

        Raises:
          Raised: what the agent raised, by its name.
          Died: it has ended, or does not come back.
          StsError: it sends something that is not an answer.
        """
        with self._lock:
            answer = self._exchanged(request)
            while compute is not None and answer[0] == "compute":
                answer = self._exchanged(("done", compute(str(answer[1]))))
        if answer[0] == "raised":
            raise raised(str(answer[1]), str(answer[2]))
        return answer[1]

    def _exchanged(self, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what it answers to a message; if that fails in any way, the process is ended."""
        try:
            if self._life < 0:
                raise Died("its process has ended")
            self._process.send(frames.pack(message))
            return _answer(frames.unpack(self._received()))
        except Died as error:
            self.end()
            raise error.saying(f"{self.python}: {error}") from None
        except (frames.Broken, OSError) as error:
            self.end()
            raise StsError(
                f"{self.python}: it sends something that is not an answer ({error}); let nothing "
                "but its agent write there"
            ) from None
        except BaseException:
            self.end()
            raise

    def _received(self) -> bytes:
        """Return the next message."""
        self._process.patience, looked = patience(), time.monotonic()
        while True:
            since, looked = time.monotonic() - looked, time.monotonic()
            data = self._process.answer(min(since, 2 * PULSE))
            if data is not None:
                return data
            progress()  # it is this process that sees to its end
            wait([self._process.connection], PULSE)

    def _first(self) -> dict[str, Any]:
        try:
            data = self._received()
        except Died as error:
            self.end()
            if isinstance(error, Hung):
                raise error.saying(f"{self.python}: {error}") from None
            raise ArgumentError(
                f"{self.python} is no interpreter of Python 3.8 or later: it does not run a file "
                f"of ours, and {error}"
            ) from None
        if data.startswith(REFUSED):
            self.end()
            line = data[len(REFUSED) :].decode(errors="replace")
            raise ArgumentError(" ".join(line.split()))
        told: dict[str, Any] = _answer(frames.unpack(data))[1]
        return told

    def end(self) -> None:
        """End it, with all that it has begun."""
        if self._life >= 0:
            self._process.end()
            os.close(self._life)
            self._life = -1


def _answer(message: Any) -> tuple[Any, ...]:
    """Return a message, if it is an answer.

    Raises:
      Broken: it is not.
    """
    lengths = {"done": 2, "compute": 2, "raised": 3}
    if type(message) is not tuple or len(message) != lengths.get(str(message[:1] and message[0])):
        raise frames.Broken("expected an answer, found another value")
    return message


_children: dict[tuple[int, str, str], Child] = {}
_lock = threading.Lock()


def child(python: str, module: str, name: str) -> Child:
    """Return this process's child for a class, a new one if it has none that is alive."""
    key = os.getpid(), str(Path.cwd()), f"{python}:{module}:{name}"
    with _lock:
        if key in _children and _children[key].ended:
            _children.pop(key).end()
        if key not in _children:
            _children[key] = Child(python, module, name)
        return _children[key]


def end_all() -> None:
    """End the children of this process."""
    for key in [key for key in _children if key[0] == os.getpid()]:
        _children.pop(key).end()


atexit.register(end_all)
