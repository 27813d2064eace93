"""Exceptions for errors that a user can cause.

    StsError                     exit code 1: data or state
    |-- ArgumentError            exit code 2: an invalid flag, name or value
    |   `-- UnknownName          no such agent, suite, version, category, format, ...
    |-- DamagedData              an invalid file, table or state
    |   |-- DamagedState         serialised world state: truncated, altered or not a state
    |   |   `-- OtherVersion     intact, but made by another version of its environment
    |   `-- TamperedSuite        a frozen suite whose content no longer matches its hash
    |-- ErasedSuite              a frozen suite of which scenarios were erased
    |-- NewerFormat              written by a later version than this one reads
    |-- ReplayMismatch           a replayed step differs from its recording; names the step
    |-- MissingExtra             an optional dependency is not installed; says the pip command
    |-- StoreError               the annotation database is missing, locked or another program's
    `-- Unavailable              a port, a folder or a disk that cannot be used

A message has a single line: what is wrong, what is expected, what to do.
"""

from collections.abc import Iterable
from typing import Any, Self

_MAX_QUOTED_CHARS = 60
"""Maximum length of a quoted name in a message."""
MAX_LISTED, _COMPARED = 20, 1000
"""Maximum number of known names in a message, and to compare with an unknown one."""


class StsError(Exception):
    """Base class of the errors above, with a one-line message for the user.

    Examples:
      >>> import sts
      >>> try:
      ...     sts.load_suite("core@9")
      ... except sts.StsError as error:
      ...     print(error)
      unknown suite version 'core@9'; known: core@2, core@3; did you mean core@3?
    """

    exit_code = 1

    def with_message(self, line: str) -> Self:
        """Return a copy of the error with another message."""
        return self.rebuild((line,), self.__dict__)

    @classmethod
    def rebuild(cls, args: tuple[Any, ...], state: dict[str, Any]) -> Self:
        """Create an error from its arguments and attributes, without calling its constructor."""
        error = cls.__new__(cls, *args)
        error.__dict__.update(state)
        return error

    def with_prefix(self, what: str) -> Self:
        """Return the error with the prefix `what`, unless its message already starts with it."""
        return self if str(self).startswith(what) else self.with_message(f"{what}: {self}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling independent of the constructor's arguments."""
        return self.rebuild, (self.args, self.__dict__)


class ArgumentError(StsError):
    """An invalid flag, name or value on the command line."""

    exit_code = 2


def quote(text: str) -> str:
    """Quote `text` for an error message, truncated and with unprintable characters escaped."""
    return repr(text if len(text) <= _MAX_QUOTED_CHARS else f"{text[:_MAX_QUOTED_CHARS]}...")


def suggest_similar(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" with the known name most similar to `name`; "" for none."""
    import difflib  # slow to import

    names = tuple(known)
    longer = sorted(k for k in names if k.startswith(name)) if len(name) > 3 else []
    close = longer[:1] or difflib.get_close_matches(name, names, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _most_similar(name: str, known: tuple[str, ...], most: int) -> list[str]:
    """Return the `most` known names that are most similar to `name`."""
    import difflib

    def distance(other: str) -> float:
        return -difflib.SequenceMatcher(None, name, other).ratio()

    return sorted(known, key=distance)[:most] if len(known) > most else list(known)


class UnknownName(ArgumentError):
    """An unknown name; the message lists known names and suggests a similar one.

    Args:
      kind: of the name, such as "agent".
      name: as the user wrote it.
      known: the names that exist.
      most: the maximum number of names to list; others are counted.
      total: the number of existing names, if `known` is incomplete.
    """

    def __init__(
        self,
        kind: str,
        name: str,
        known: Iterable[str],
        *,
        most: int = MAX_LISTED,
        total: int | None = None,
    ) -> None:
        self.kind, self.name, self.known = kind, name, tuple(sorted(known))
        listed = sorted(_most_similar(name, self.known[:_COMPARED], most))
        rest = (total or len(self.known)) - len(listed)
        exist = ", ".join(listed) if listed else "none yet"
        exist += f" and {rest} more" if rest else ""
        hint = suggest_similar(name, self.known[:_COMPARED]) if len(self.known) > 1 else ""
        super().__init__(f"unknown {kind} {quote(name)}; known: {exist}{hint}")


class StsWarning(UserWarning):
    """Something that the result leaves out or that was tried again; the work went on."""


class DamagedData(StsError):
    """An invalid file, table or record."""


class DamagedState(DamagedData):
    """Serialised state of an environment that is truncated, altered or not a state."""


class OtherVersion(DamagedState):
    """Serialised state that is intact, but was made by another version of its environment."""


class TamperedSuite(DamagedData):
    """A frozen suite whose content no longer matches its hash."""


class ErasedSuite(StsError):
    """A frozen suite that cannot be verified, because scenarios of it were erased."""


class NewerFormat(StsError):
    """Data in a later version of a format than this one reads."""


class ReplayMismatch(StsError):
    """A replayed step that differs from its recording; `step` is its number."""

    def __init__(self, message: str, *, step: int) -> None:
        self.step = step
        super().__init__(message)


class MissingExtra(StsError):
    """An optional dependency that is not installed."""


class StoreError(StsError):
    """An annotation database that is missing, locked or of another program."""


class Unavailable(StsError):
    """A port, a folder or a disk that cannot be used."""
