"""An agent's identity: its name and a fingerprint, taken once, when it is loaded.

A packaged agent goes by the version that it states; any other by the syntax trees of its modules,
and the versions of what these import. Where these do not say all that it is, its author states a
version, too. What it was made with, and its weights, count in any case. See docs/agents.md.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

import sts
from sts.agents.described import PROTOCOL, describe, find
from sts.agents.elsewhere import Elsewhere
from sts.agents.identity.code import Code, Find, read, unreadable
from sts.agents.protocol import Agent
from sts.errors import ArgumentError, StsError
from sts.jobs import frames
from sts.registry import is_packaged
from sts.storage.files import content_hash

_RULES = b"identity/3"
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class Identity(NamedTuple):
    """The identity of an agent, taken when it was loaded.

    Attributes:
      fingerprint: 16 hex digits, then "@" and the version that its author states; "" if it has
        none.
      refusal: why it has none.
      declared: the bytes of what it declares, by name.
    """

    fingerprint: str
    refusal: str
    declared: dict[str, bytes]


_known: dict[int, tuple[Callable[[], Agent | None], Identity]] = {}
"""The identities of the agents of this process, by `id`; an agent that is gone has none."""


def identify(agent: Agent) -> Identity:
    """Return an agent's identity; whatever it does later, this stays as it first was."""
    key = id(agent)
    if key not in _known or _known[key][0]() is not agent:
        taken = _take(agent)
        try:
            _known[key] = weakref.ref(agent, lambda _: _known.pop(key, None)), taken
        except TypeError:  # it has slots and no room for one
            _known[key] = (lambda: agent), taken
    return _known[key][1]


def fingerprint(agent: Agent) -> str:
    """Return the fingerprint of an agent's identity.

    Raises:
      ArgumentError: its code does not say all that it is and no version is stated, or the version
        is not one.
    """
    found = identify(agent)
    if found.refusal:
        raise ArgumentError(found.refusal)
    return found.fingerprint


def check_unchanged(agent: Agent) -> None:
    """Refuse what an agent has done that changed what it declares; the error says which part."""
    before = identify(agent).declared
    try:
        after = _State(_look(agent, now=True)).declared
    except (ArgumentError, AttributeError) as error:
        raise StsError(f"agent {agent.name!r} changed while it played: {error}") from error
    changed = next((name for name, raw in before.items() if after.get(name) != raw), None)
    if changed is not None:
        raise StsError(
            f"agent {agent.name!r} changed its {changed} while it played, so nothing of this is "
            "kept: keep what changes in its memory, or a cache in an attribute whose name begins "
            "with an underscore"
        )


class Whole(NamedTuple):
    """Code as 16 hex digits that change with it, and whether these say all that it is."""

    mark: str
    whole: bool


@functools.cache
def code(path: str) -> Whole:
    """Return what stands at `module:NAME`, once in a process, as an agent's code is read.

    What is of this distribution goes by its path and the version of the suite.
    """
    module, _, name = path.partition(":")
    if is_packaged(module):
        return Whole(content_hash(_RULES, f"{path} {sts.__version__}".encode())[:16], True)
    found = read(module, find)
    mark = content_hash(*_parts(found), name.encode())[:16]
    return Whole(mark, not (found.hidden or found.outside))


def stated(mark: str) -> str:
    """Return the version that a fingerprint goes by, "" if it goes by the code alone."""
    return mark.partition("@")[2]


def described(mark: str) -> str:
    """Return a fingerprint as reports show it."""
    return f"{mark} (identity as stated)" if stated(mark) else mark


def _take(agent: Agent) -> Identity:
    try:
        found = _look(agent)
        state = _State(found)
        return Identity(_fingerprint(agent, found, state), "", state.declared)
    except (ArgumentError, AttributeError) as error:
        return Identity("", f"agent {agent.name!r}: {error}", {})


def _fingerprint(agent: Agent, found: dict[str, Any], state: _State) -> str:
    values = [written([name, raw]) for name, raw in sorted(state.written.items())]
    version = _version(agent, found["declared"])
    if version and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ArgumentError(
            f"version must be 1 to 32 letters, digits, dots and dashes; found {version!r}"
        )
    if version and _is_ours(agent):
        return content_hash(_RULES, *values)[:16]
    child = agent.child if isinstance(agent, Elsewhere) else None
    place = found["module"], found["class"], found["at_its_name"]
    own = _code_of(child or type(agent), *place, child.find if child else find)
    reasons = [own.hidden] if own.hidden else []
    if not getattr(agent, "weights_digest", ""):
        reasons += [
            *state.unread,
            *(["it reads what lies outside its code"] if own.outside else []),
        ]
    if reasons and not version:
        remedy = "" if own.hidden else "the digest of its weights as weights_digest, or "
        raise ArgumentError(
            f"{reasons[0]}, so its code does not say all that it is; state {remedy}a version in "
            "its class, such as version = '1'"
        )
    return content_hash(*_parts(own), *values)[:16] + (f"@{version}" if reasons else "")


def _version(agent: Agent, declared: dict[str, Any]) -> Any:
    """Return the version that the agent's author states, not one of ours that it derives from."""
    owner = next((kind for kind in type(agent).__mro__ if "version" in vars(kind)), None)
    own = _is_ours(agent) or "version" in getattr(agent, "__dict__", {})
    return "" if owner and is_packaged(owner.__module__) and not own else declared.get("version")


def _is_ours(agent: Agent) -> bool:
    return is_packaged(type(agent).__module__) and not isinstance(agent, Elsewhere)


@functools.cache
def _code_of(owner: Hashable, module: str, name: str, at_its_name: bool, find: Find) -> Code:
    """Return what is written of `owner`, a class or a child, once: it does not change there."""
    if not at_its_name:
        return unreadable(f"{name.rpartition('.')[2]} is not what stands at its name")
    found = read(module, find)
    return found._replace(trees=found.trees + name.encode())


def _parts(found: Code) -> list[bytes]:
    return [_RULES, found.trees, *(one.encode() for one in found.distributions), b""]


def _look(agent: Agent, *, now: bool = False) -> dict[str, Any]:
    """Return what an agent says of itself, here or in another interpreter; `now` asks again."""
    if isinstance(agent, Elsewhere):
        return agent.child.ask("describe") if now else agent.child.told
    return describe(agent)


class _State:
    """What an agent says of itself, as bytes.

    Attributes:
      written: its parameters, and what it declares by the protocol, by name.
      declared: those of them that stay as they are while it plays: what the protocol declares, and
        the parameters that it names. If it names none, these are its attributes whose names do not
        begin with an underscore, without empty collections, which are the places of caches.
      unread: why others cannot be read, in a few words each.
    """

    def __init__(self, found: dict[str, Any]) -> None:
        self.written: dict[str, bytes] = {}
        self.declared: dict[str, bytes] = {}
        hidden = dict(found.get("hidden", {}))
        for name, value in found["kept"].items():
            try:
                self.written[name] = written(value)
            except TypeError as error:
                hidden[name] = str(error)
                continue
            empty = isinstance(value, list | dict | set) and not value
            if found["named"] or not (name.startswith("_") or empty):
                self.declared[name] = self.written[name]
        self.unread = [
            f"its {name} ({kind}) cannot be read" for name, kind in sorted(hidden.items())
        ]
        for name in PROTOCOL:
            try:
                raw = written(found["declared"].get(name, getattr(Agent, name, "")))
            except TypeError as error:
                raise ArgumentError(f"its {name} ({error}) cannot be read") from None
            self.written[name] = self.declared[name] = raw


def written(value: Any) -> bytes:
    """Return a value of numbers, texts, arrays and collections of them as bytes.

    Equal values of one kind are written alike, whatever the order of a set or the memory of an
    array; a dictionary's order counts.

    Raises:
      TypeError: it is, or holds, another kind of object; its text is the kind.
    """
    try:
        return frames.pack(value, _reduced)
    except RecursionError:
        raise TypeError(f"{type(value).__name__} of itself") from None


def _reduced(value: Any) -> tuple[str, Any]:
    kind = type(value).__name__
    if isinstance(value, complex):
        return kind, repr(value)
    if isinstance(value, frozenset):
        return kind, set(value)
    if isinstance(value, Enum):
        return f"enum {kind}", value.name
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return kind, {field.name: getattr(value, field.name) for field in fields(value)}
    raise TypeError(kind)
