"""The process of an agent that another interpreter plays: begun once, asked, and ended with us.

What it answers is data of somebody else's: whatever is wrong with it, or with the process, is one
line, and the process is ended. Whoever loads the agent again gets a new one.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from sts.agents.elsewhere import shim
from sts.errors import ArgumentError, StsError
from sts.jobs.deadlines import guarded
from sts.jobs.pool import LEAVE, Died

_OURS = ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "__PYVENV_LAUNCHER__")
"""What is meant for this interpreter and would mislead another."""
_STRAY = 2**16  # bytes that may come before the first frame


class Raised(Exception):
    """An exception of the agent's own; `raised` makes one that is called as it was there."""


def raised(kind: str, text: str) -> Raised:
    """Returns an exception whose line is that of the same agent in this process."""
    one: Raised = type(kind, (Raised,), {})(text)
    return one


class Child:
    """One interpreter that plays one class.

    Attributes:
      python: the interpreter, as it was typed.
      told: what the agent says of itself; see `shim.described`.
    """

    def __init__(self, python: str, module: str, name: str) -> None:
        """Begins it.

        Raises:
          ArgumentError: the interpreter is none, has no NumPy, or has no such agent.
          Died: it ends or does not come back.
        """
        self.python = python
        self._lock = threading.RLock()
        if shutil.which(python) is None:
            raise ArgumentError(f"{python} is no interpreter: no such program")
        theirs, ours = os.pipe()
        self._life = open(ours, "wb", 0)  # noqa: SIM115 - open for as long as the process may live
        given = (theirs,) if os.name == "posix" else ()
        try:
            self._process = subprocess.Popen(
                [python, shim.__file__, module, name, *map(str, given or ("",))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                bufsize=0,
                env={key: value for key, value in os.environ.items() if key not in _OURS},
                pass_fds=given,
                process_group=0 if given else None,  # Ctrl-C is the parent's
            )
        except OSError as error:
            self._life.close()
            raise ArgumentError(f"{python} is no interpreter: {error.strerror}") from error
        finally:
            os.close(theirs)
        self.told = self._exchanged(self._first)
        if "refused" in self.told.header:
            self.end(LEAVE)
            raise ArgumentError(" ".join(str(self.told.header["refused"]).split()))

    @property
    def ended(self) -> bool:
        """Whether it has."""
        return self._process.poll() is not None

    def ask(
        self,
        header: Mapping[str, Any],
        arrays: Mapping[str, Any],
        compute: Callable[[str], Any] | None = None,
    ) -> shim.Frame:
        """Returns its answer to a request; `compute` returns what it asks for meanwhile, by name.

        Raises:
          Raised: what the agent raised, by its name.
          Died: it has ended, or does not come back.
          StsError: it answers what is none.
        """

        def talk() -> shim.Frame:
            shim.send(self._requests, dict(header), dict(arrays))
            answer = shim.receive(self._answers)
            while compute is not None and "compute" in answer.header:
                value = compute(str(answer.header["compute"]))
                shim.send(self._requests, {}, {"computed": value})
                answer = shim.receive(self._answers)
            return answer

        answer = self._exchanged(talk)
        if "raised" in answer.header:
            kind, text = map(str, answer.header["raised"])
            raise raised(kind, text)
        return answer

    @property
    def _requests(self) -> int:
        assert self._process.stdin is not None
        return self._process.stdin.fileno()

    @property
    def _answers(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def _exchanged(self, talk: Callable[[], shim.Frame]) -> shim.Frame:
        """Returns what `talk` does; where that fails in whatever way, the process is ended."""
        with self._lock:
            try:
                if self._process.stdin is None or self._process.stdin.closed:
                    raise Died(f"{self.python}: its process has ended")
                with guarded(self.python, Died):
                    try:
                        return talk()
                    except (EOFError, ConnectionError):
                        self._died()
                    except shim.Broken as error:
                        what = f"{self.python}: it answers what is no frame: {error}"
                        raise StsError(f"{what}; let nothing but its agent write there") from None
            except BaseException:
                self.end()
                raise

    def _first(self) -> shim.Frame:
        """Returns the first frame; what is printed before our file runs is passed on."""
        before = bytearray()
        while not before.endswith(shim.MARK):
            byte = os.read(self._answers, 1)
            before += byte
            if not byte or len(before) > _STRAY:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(LEAVE)
                raise ArgumentError(
                    f"{self.python} is no interpreter of Python 3.8 or later: it does not run a "
                    f"file of ours, and {self._how()}"
                )
        os.write(2, before[: -len(shim.MARK)])
        return shim.receive(self._answers, shim.MARK)

    def _died(self) -> NoReturn:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(LEAVE)
        raise Died(f"{self.python}: its process {self._how()}")

    def _how(self) -> str:
        code = self._process.returncode
        if code is None:
            return "has closed its pipe"
        return f"died of {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"

    def end(self, seconds: float = 0.0) -> None:
        """Ends it, with all that it has begun, after `seconds` in which it may do so by itself."""
        if self._life.closed:
            return
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        if seconds:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(seconds)
        with contextlib.suppress(OSError, AttributeError):  # no group, or no groups here
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.wait()
        self._life.close()


_children: dict[tuple[int, str, str], Child] = {}
_lock = threading.Lock()


def child(python: str, module: str, name: str) -> Child:
    """Returns this process's child for a class; a new one where there is none, or it has ended."""
    key = os.getpid(), str(Path.cwd()), f"{python}:{module}:{name}"
    with _lock:
        if key in _children and _children[key].ended:
            _children.pop(key).end()
        if key not in _children:
            _children[key] = Child(python, module, name)
        return _children[key]


def end_all() -> None:
    """Ends the children of this process."""
    for key in [key for key in _children if key[0] == os.getpid()]:
        _children.pop(key).end(LEAVE)


atexit.register(end_all)
