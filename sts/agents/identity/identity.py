"""An agent's identity: its name and a fingerprint, taken once, when it is loaded.

Of an agent of this distribution the fingerprint goes by the version that it states; of any other by
the syntax trees of its modules, and the versions of what these import. What an agent was made with,
and its weights, count too. See docs/agents.md.
"""

from __future__ import annotations

import functools
import re
import sys
import weakref
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sts
from sts.agents.elsewhere import Elsewhere
from sts.agents.identity import elsewhere
from sts.agents.identity.sources import is_packaged, this
from sts.agents.identity.trees import Code, read, unreadable
from sts.agents.identity.values import (
    PROTOCOL,
    NotPlain,
    State,
    attributes,
    parameters,
    state,
    written,
)
from sts.agents.protocol import Agent
from sts.errors import ArgumentError, StsError
from sts.storage.files import content_hash

_RULES = b"identity/2"
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class Identity(NamedTuple):
    """The identity of an agent, taken when it was loaded.

    Attributes:
      fingerprint: 16 hex digits, then "@" and the version that it goes by, if its author had to
        state one; "" if it has none.
      refusal: why it has none.
      declared: the bytes of what it declares, by name.
    """

    fingerprint: str
    refusal: str
    declared: dict[str, bytes]


_known: dict[int, tuple[weakref.ref[Agent] | Callable[[], Agent], Identity]] = {}
"""The identities of the agents of this process, by `id`; an agent that is gone has none."""


def identify(agent: Agent) -> Identity:
    """Return an agent's identity; whatever it does later, this stays as it first was."""
    key = id(agent)
    if key not in _known or _known[key][0]() is not agent:
        taken = _take(agent)
        try:
            mine = weakref.ref(agent, lambda _: _known.pop(key, None))
        except TypeError:  # it has slots and no room for one
            _known[key] = (lambda: agent), taken
        else:
            _known[key] = mine, taken
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
    """Refuse what an agent has done that changed what it declares.

    Raises:
      StsError: it has; says which part.
    """
    before = identify(agent).declared
    try:
        after = _declared(*_look(agent, now=True))
    except NotPlain as error:
        raise StsError(f"agent {agent.name!r} changed while it played: {error}") from error
    changed = next((name for name, raw in before.items() if after.get(name) != raw), None)
    if changed is not None:
        raise StsError(
            f"agent {agent.name!r} changed its {changed} while it played, so nothing of this is "
            "kept: keep what changes in its memory, or a cache in an attribute whose name begins "
            "with an underscore"
        )


class Whole(NamedTuple):
    """What is written somewhere.

    Attributes:
      mark: 16 hex digits that change with it.
      whole: whether the code says all that it is; not so if it reads what is in no module.
    """

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
    found = read(module, this())
    return Whole(content_hash(*_parts(found), name.encode())[:16], not _reasons(found))


def stated(mark: str) -> str:
    """Return the version that a fingerprint goes by, "" if it goes by the code alone."""
    return mark.partition("@")[2]


def described(mark: str) -> str:
    """Return a fingerprint as reports show it."""
    version = stated(mark)
    return f"{mark} (identity as stated)" if version else mark


def _take(agent: Agent) -> Identity:
    try:
        made, told = _look(agent)
        declared = _declared(made, told)
        return Identity(_fingerprint(agent, made, declared), "", declared)
    except (ArgumentError, NotPlain) as error:
        return Identity("", f"agent {agent.name!r}: {error}", {})


def _fingerprint(agent: Agent, made: State, declared: dict[str, bytes]) -> str:
    version, weights = _version(agent), getattr(agent, "weights_digest", "")
    if version and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ArgumentError(
            f"version must be 1 to 32 letters, digits, dots and dashes; found {version!r}"
        )
    found = _code_of(agent)
    reasons = [*found.hidden, *(() if weights else (*made.unread, *_reasons(found)))]
    if reasons and not version:
        remedy = "" if found.hidden else "the digest of its weights as weights_digest, or "
        raise ArgumentError(
            f"{reasons[0]}, so its code does not say all that it is; state {remedy}a version in "
            "its class, such as version = '1'"
        )
    values = sorted((made.written | declared).items())
    parts = [*_parts(found), *(written(name) + raw for name, raw in values)]
    return content_hash(*parts)[:16] + (f"@{version}" if reasons and not _is_ours(agent) else "")


def _version(agent: Agent) -> Any:
    """Return the version that the agent's author states, not one of ours that it derives from."""
    for one in (agent, *type(agent).__mro__):
        if "version" in getattr(one, "__dict__", {}):
            ours = isinstance(one, type) and is_packaged(one.__module__)
            return "" if ours and not _is_ours(agent) else vars(one)["version"]
    return ""


def _parts(found: Code) -> list[bytes]:
    return [_RULES, found.trees, *(one.encode() for one in found.distributions), b""]


def _reasons(found: Code) -> tuple[str, ...]:
    outside = ("it reads what lies outside its code",) if found.outside else ()
    return (*found.hidden, *outside)


def _is_ours(agent: Agent) -> bool:
    return is_packaged(type(agent).__module__) and not isinstance(agent, Elsewhere)


def _code_of(agent: Agent) -> Code:
    if isinstance(agent, Elsewhere):
        return elsewhere.code(agent.child)
    return _code_of_class(type(agent))


@functools.cache
def _code_of_class(kind: type) -> Code:
    """Return what is written of a class, once in a process, for it does not change there."""
    if is_packaged(kind.__module__):
        stated = getattr(kind, "version", "")
        return Code(b"", (), (), False) if stated else unreadable("it is packaged")
    stands: Any = sys.modules.get(kind.__module__)
    for part in kind.__qualname__.split("."):
        stands = getattr(stands, part, None)
    if stands is not kind:
        return unreadable(f"{kind.__name__} is not what stands at its name")
    found = read(kind.__module__, this())
    return found._replace(trees=found.trees + kind.__qualname__.encode())


def _look(agent: Agent, *, now: bool = False) -> tuple[State, dict[str, Any]]:
    """Return what an agent keeps, and what it declares by the protocol.

    Args:
      agent: in this process, or in another interpreter.
      now: asks the other interpreter again.
    """
    if isinstance(agent, Elsewhere):
        return elsewhere.look(agent.child, now=now)
    told = {name: getattr(agent, name) for name in PROTOCOL if hasattr(agent, name)}
    return state(attributes(agent), named=parameters(agent) is not None), told


def _declared(made: State, told: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the bytes of what an agent declares, by name."""
    out = {name: raw for name, raw in made.written.items() if name in made.declared}
    for name in PROTOCOL:
        try:
            out[name] = written(told.get(name, getattr(Agent, name, "")))
        except NotPlain as error:
            raise NotPlain(f"its {name} ({error}) cannot be read") from None
    return out
