"""Every error a user can cause, as one small tree.

    StsError                     exit code 1: data or state
    |-- ArgumentError            exit code 2: a flag, a name or a value that was typed
    |   `-- UnknownName          no such agent, suite, version, category, format, ...
    |-- DamagedData              a file, table or state that is not what it should be
    |   |-- DamagedState         serialised world state: truncated, altered or not a state
    |   |   `-- OtherVersion     sound, but made by another version of its world
    |   `-- TamperedSuite        a frozen suite whose content no longer matches its hash
    |-- NewerFormat              written by a later version than this one reads
    |-- ReplayMismatch           a replayed step differs from its recording; names the step
    |-- MissingExtra             an optional dependency is not installed; says the pip command
    |-- StoreError               the annotation database is lost, locked or foreign
    `-- Unavailable              a port, a folder or a disk that cannot be used

Each message is one line: what was expected, what was found, what to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

_MAX_QUOTED_CHARS = 60
"""Letters of a name that a line repeats."""
_MOST, _COMPARED = 20, 1000
"""Names that it lists, and among which the likest are looked for."""


class StsError(Exception):
    """A failure with one clear line for its reader; the root of the tree above."""

    exit_code = 1

    def saying(self, line: str) -> Self:
        """Return the same error with another line."""
        return self.rebuild((line,), self.__dict__)

    @classmethod
    def rebuild(cls, args: tuple[Any, ...], state: dict[str, Any]) -> Self:
        """Return an error with these arguments and attributes, whatever its class takes."""
        error = cls.__new__(cls, *args)
        error.__dict__.update(state)
        return error

    def about(self, what: str) -> Self:
        """Return the same error with what it is about before its line, which may name it."""
        return self if str(self).startswith(what) else self.saying(f"{what}: {self}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Lets it be pickled, whatever its class takes to be made."""
        return self.rebuild, (self.args, self.__dict__)


class ArgumentError(StsError):
    """A flag, name or value on the command line that cannot be used."""

    exit_code = 2


def closest(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" of the known name that is most like `name`, "" of none."""
    import difflib  # which only a wrong name waits for

    names = tuple(known)
    longer = sorted(one for one in names if one.startswith(name)) if len(name) > 3 else []
    close = longer[:1] or difflib.get_close_matches(name, names, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _most_similar(name: str, known: tuple[str, ...], most: int) -> list[str]:
    """Return as many of the known names, those that are most like `name`."""
    import difflib

    def unlike(one: str) -> float:
        return -difflib.SequenceMatcher(None, name, one).ratio()

    return sorted(known, key=unlike)[:most] if len(known) > most else list(known)


class UnknownName(ArgumentError):
    """A name that nothing answers to.

    Args:
      kind: what was looked for, such as "agent".
      name: what was typed.
      known: the names that exist.
      most: of so many the line says how they are called, and it counts the others.
      total: how many exist, where `known` has not all of them.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        most: int = _MOST,
        total: int | None = None,
    ) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        said = sorted(_most_similar(name, self.known[:_COMPARED], most))
        rest = (total or len(self.known)) - len(said)
        exist = ", ".join(said) if said else "none yet"
        exist += f" and {rest} more" if rest else ""
        meant = closest(name, self.known[:_COMPARED]) if len(self.known) > 1 else ""
        quoted = repr(name if len(name) <= _MAX_QUOTED_CHARS else f"{name[:_MAX_QUOTED_CHARS]}...")
        super().__init__(f"unknown {kind} {quoted}; known: {exist}{meant}")


class DamagedData(StsError):
    """A file, table or record that is not what it should be."""


class DamagedState(DamagedData):
    """Serialised world state that is truncated, altered or not a state at all."""


class OtherVersion(DamagedState):
    """World state that is sound, but was made by another version of its world."""


class TamperedSuite(DamagedData):
    """A frozen suite whose content no longer matches its hash."""


class NewerFormat(StsError):
    """Data written by a later version of the format than this one reads."""


class ReplayMismatch(StsError):
    """A replayed step that differs from its recording; `step` says which."""

    def __init__(self, message: str, *, step: int) -> None:
        self.step = step
        super().__init__(message)


class MissingExtra(StsError):
    """An optional dependency that is not installed."""


class StoreError(StsError):
    """An annotation database that is lost, locked or not one of ours."""


class Unavailable(StsError):
    """A port, a folder or a disk that cannot be used."""
