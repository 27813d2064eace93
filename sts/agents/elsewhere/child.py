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
from multiprocessing import Pipe
from pathlib import Path
from typing import Any

from sts.agents import described
from sts.errors import ArgumentError, StsError
from sts.jobs import frames
from sts.jobs.deadlines import patience, progress
from sts.jobs.processes import Died, Hung, Process, pause

SHIM = Path(__file__).with_name("shim.py")
REFUSED = b"!"
"""Begins a message of the shim that says why there is no agent to play."""
_OURS = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
"""What is meant for this interpreter and would mislead another."""
_LENGTHS = {"done": 2, "raised": 3}


class Raised(Exception):
    """An exception of the agent's own; a class derived from it is called as it was there."""


class Child:
    """One interpreter that plays one class.

    Attributes:
      python: the interpreter, as it was typed.
      told: what the agent says of itself, by name, as `sts.agents.described.describe` returns it.
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
        files = str(SHIM), frames.__file__, described.__file__
        try:
            begun = subprocess.Popen(
                [python, *files, module, name, *map(str, given)],
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
        try:
            self.told: dict[str, Any] = self.ask("describe")
        except Raised as error:
            self.end()
            raise ArgumentError(str(error)) from None
        except Died as error:
            if isinstance(error, Hung):
                raise
            raise ArgumentError(
                f"{python} is no interpreter of Python 3.8 or later: it does not run a file of "
                f"ours ({error})"
            ) from None

    @property
    def ended(self) -> bool:
        """Whether it has."""
        return not self._process.alive

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def ask(self, *request: Any) -> Any:
        """Return its answer to a request.

        Raises:
          Raised: what the agent raised, by its name.
          Died: it has ended, or does not come back.
          StsError: it sends something that is not an answer.
        """
        with self._lock:
            answer = self._exchange(request)
        if answer[0] == "raised":
            raise type(str(answer[1]), (Raised,), {})(str(answer[2]))
        return answer[1]

    def find(self, name: str, folders: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
        """Return where it finds a module, as `sts.agents.described.find` does."""
        file, inside = self.ask("find", name, folders)
        return file, tuple(inside)

    def end(self) -> None:
        """End it, with all that it has begun."""
        if self._life >= 0:
            self._process.end()
            os.close(self._life)
            self._life = -1

    def _exchange(self, message: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return what it answers to a message; if that fails in any way, the process is ended."""
        try:
            if self._life < 0:
                raise Died("its process has ended")
            self._process.send(frames.pack(message))
            data = self._receive()
            if data.startswith(REFUSED):
                raise ArgumentError(" ".join(data.decode(errors="replace")[1:].split()))
            answer: Any = frames.unpack(data)
            kind = str(answer[0]) if type(answer) is tuple and answer else ""
            if kind not in _LENGTHS or len(answer) != _LENGTHS[kind]:
                raise frames.Broken("expected an answer, found another value")
            return tuple(answer)
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

    def _receive(self) -> bytes:
        self._process.patience = patience()
        while (data := self._process.answer()) is None:
            progress()  # it is this process that sees to its end
            pause(self._process)
        return data


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
