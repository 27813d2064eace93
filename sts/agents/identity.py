"""Identities of agents: a name and a fingerprint of code and weights, computed on loading.

The fingerprint hashes the agent's parameters and weights, and its code: of a packaged agent, the
version that it declares; of any other, the syntax trees of its modules and the versions of the
packages they import. If these do not determine its behaviour, its author has to declare a version
as well. See docs/agents.md.
"""

from __future__ import annotations

import functools
import re
import weakref
from collections.abc import Callable, Hashable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any, NamedTuple

import sts
from sts.agents.code import Code, FindModule, read_code, unreadable_code
from sts.agents.external import ExternalAgent
from sts.agents.introspection import DECLARED_ATTRIBUTES, describe, find_module
from sts.agents.protocol import Agent
from sts.errors import ArgumentError, StsError
from sts.jobs import frames
from sts.registry import is_packaged
from sts.storage.files import content_hash

_RULES = b"identity/3"
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")


class Identity(NamedTuple):
    """The identity of an agent when it was loaded."""

    # 16 hex digits, followed by "@" and the author's version if that is needed; "" if the agent
    # cannot be identified
    fingerprint: str
    error: str  # the reason why there is no fingerprint
    # the encoded values that must not change while it plays, by attribute name
    declared: dict[str, bytes]


_identities: dict[int, tuple[Callable[[], Agent | None], Mapping[str, Any], Identity]] = {}
"""The identities of live agents, by `id`, each with a reference to its agent and its arguments."""


def identify(agent: Agent, arguments: Mapping[str, Any] | None = None) -> Identity:
    """Return an agent's identity, computed on the first call and then cached.

    `arguments` are those that a user passed to its constructor; they are part of its identity. None
    stands for those of the last call; if others are given, the identity is computed again.
    """
    key = id(agent)
    if (cached := _identities.get(key)) is not None:
        reference, known, identity = cached
        if reference() is agent and (arguments is None or arguments == known):
            return identity
    given = dict(arguments or {})
    identity = _compute_identity(agent, given)
    try:
        _identities[key] = weakref.ref(agent, lambda _: _identities.pop(key, None)), given, identity
    except TypeError:  # a class with __slots__ and without __weakref__
        _identities[key] = (lambda: agent), given, identity
    return identity


def fingerprint(agent: Agent) -> str:
    """Return the fingerprint of an agent's identity.

    Raises:
      ArgumentError: its code does not determine its behaviour and it declares no version, or an
        invalid one.
    """
    identity = identify(agent)
    if identity.error:
        raise ArgumentError(identity.error)
    return identity.fingerprint


def check_unchanged(agent: Agent) -> None:
    """Raise StsError if a declared attribute of an agent has changed since it was loaded."""
    before = identify(agent).declared
    try:
        after = _EncodedState(_describe(agent, now=True)).declared
    except (ArgumentError, AttributeError) as error:
        raise StsError(f"agent {agent.name!r} changed while it played: {error}") from error
    changed = next((name for name, raw in before.items() if after.get(name) != raw), None)
    if changed is not None:
        raise StsError(
            f"agent {agent.name!r} changed its {changed} while it played, so these episodes are "
            "discarded; keep changing state in its memory, or a cache in an attribute whose name "
            "starts with an underscore"
        )


class CodeFingerprint(NamedTuple):
    """A fingerprint of code, 16 hex digits, and whether the code determines its behaviour."""

    digest: str
    is_complete: bool


@functools.cache
def fingerprint_code(path: str) -> CodeFingerprint:
    """Return the fingerprint of the object at `module:NAME`, from its module and its imports.

    For packaged code this is a hash of the path and the version of this distribution. Cached.
    """
    module, _, name = path.partition(":")
    if is_packaged(module):
        digest = content_hash(_RULES, f"{path} {sts.__version__}".encode())[:16]
        return CodeFingerprint(digest, True)
    source = read_code(module, find_module)
    digest = content_hash(*_hashed_parts(source), name.encode())[:16]
    return CodeFingerprint(digest, not (source.hidden_reason or source.reads_outside))


def declared_version(agent_fingerprint: str) -> str:
    """Return the author's version in a fingerprint; "" if it has no version."""
    return agent_fingerprint.partition("@")[2]


def describe_fingerprint(agent_fingerprint: str) -> str:
    """Return a fingerprint for display, with a remark if it depends on the author's version."""
    return (
        f"{agent_fingerprint} (identity as stated)"
        if declared_version(agent_fingerprint)
        else agent_fingerprint
    )


def _compute_identity(agent: Agent, arguments: Mapping[str, Any]) -> Identity:
    try:
        description = _describe(agent)
        state = _EncodedState(description)
        state.encoded |= {f"?{name}": encode_value(value) for name, value in arguments.items()}
        return Identity(_fingerprint(agent, description, state), "", state.declared)
    except (ArgumentError, AttributeError) as error:
        return Identity("", f"agent {agent.name!r}: {error}", {})


def _fingerprint(agent: Agent, description: dict[str, Any], state: _EncodedState) -> str:
    values = [encode_value([name, raw]) for name, raw in sorted(state.encoded.items())]
    version = _own_version(agent, description["declared"])
    if version and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ArgumentError(
            f"version must be 1 to 32 letters, digits, dots and dashes; found {version!r}"
        )
    if version and _is_packaged_agent(agent) and description["reproducible"]:
        return content_hash(_RULES, *values)[:16]
    child = agent.child if isinstance(agent, ExternalAgent) else None
    place = description["module"], description["class"], description["at_its_name"]
    source = _read_class_code(
        child or type(agent), *place, child.find_module if child else find_module
    )
    reasons = [] if description["reproducible"] else ["it declares reproducible = False"]
    reasons += [source.hidden_reason] if source.hidden_reason else []
    may_state_digest = not reasons
    if not getattr(agent, "weights_digest", ""):
        reasons += state.unreadable
        if source.reads_outside:
            reasons.append("it reads files or other data outside its code")
    if reasons and not version:
        remedy = "the digest of its weights as weights_digest, or " if may_state_digest else ""
        raise ArgumentError(
            f"{reasons[0]}, so its code does not determine its behaviour; declare {remedy}a "
            "version in its class, such as version = '1'"
        )
    return content_hash(*_hashed_parts(source), *values)[:16] + (f"@{version}" if reasons else "")


def _own_version(agent: Agent, declared: dict[str, Any]) -> Any:
    """Return the version that the agent's author declares, not one inherited from our classes."""
    owner = next((kind for kind in type(agent).__mro__ if "version" in vars(kind)), None)
    is_own = _is_packaged_agent(agent) or "version" in getattr(agent, "__dict__", {})
    return "" if owner and is_packaged(owner.__module__) and not is_own else declared.get("version")


def _is_packaged_agent(agent: Agent) -> bool:
    return is_packaged(type(agent).__module__) and not isinstance(agent, ExternalAgent)


@functools.cache
def _read_class_code(
    owner: Hashable, module: str, name: str, importable: bool, find: FindModule
) -> Code:
    """Return the code of class `name`; cached per `owner`, the class or its child process."""
    if not importable:
        return unreadable_code(f"{name.rpartition('.')[2]} cannot be imported by its name")
    source = read_code(module, find)
    return source._replace(trees=source.trees + name.encode())


def _hashed_parts(source: Code) -> list[bytes]:
    return [_RULES, source.trees, *(version.encode() for version in source.distributions), b""]


def _describe(agent: Agent, *, now: bool = False) -> dict[str, Any]:
    """Return an agent's description; `now` asks an external agent again."""
    if not isinstance(agent, ExternalAgent):
        return describe(agent)
    description = agent.child.request("describe") if now else agent.child.description
    return description | {"declared": description["declared"] | {"name": agent.name}}


class _EncodedState:
    """The encoded description of an agent.

    Attributes:
      encoded: its parameters and the attributes that the protocol declares, by name.
      declared: those that must not change while it plays. Without a list of `parameters` these are
        all but attributes with a leading underscore and empty collections, which may be caches.
      unreadable: for each parameter that cannot be encoded, the reason.
    """

    def __init__(self, description: dict[str, Any]) -> None:
        self.encoded: dict[str, bytes] = {}
        self.declared: dict[str, bytes] = {}
        hidden = dict(description.get("hidden", {}))
        for name, value in description["kept"].items():
            try:
                self.encoded[name] = encode_value(value)
            except TypeError as error:
                hidden[name] = str(error)
                continue
            empty = isinstance(value, list | dict | set) and not value
            if description["named"] or not (name.startswith("_") or empty):
                self.declared[name] = self.encoded[name]
        kinds = sorted(hidden.items())
        self.unreadable = [f"its {name} ({kind}) cannot be read" for name, kind in kinds]
        for name in DECLARED_ATTRIBUTES:
            try:
                raw = encode_value(description["declared"].get(name, getattr(Agent, name, "")))
            except TypeError as error:
                raise ArgumentError(f"its {name} ({error}) cannot be read") from None
            self.encoded[name] = self.declared[name] = raw


def encode_value(value: object) -> bytes:
    """Encode numbers, texts, arrays and collections of them as bytes.

    Equal values of one type give equal bytes, whatever the order of a set or the memory layout of
    an array. The order of a dict matters.

    Raises:
      TypeError: the value is or contains another kind of object; the message is its type.
    """
    try:
        return frames.encode(value, _describe_value)
    except RecursionError:
        raise TypeError(f"recursive {type(value).__name__}") from None


def _describe_value(value: Any) -> tuple[str, Any]:
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
