"""An agent's identity: the fingerprint of what its code means, or a version that its author states.

The fingerprint covers every statement that the agent's class reaches by name, in its own folder or
distribution and in what of the suite behaviours are made of; of other distributions the name and
version; what the agent was made with; and its weights. Comments, docstrings, formatting, and where
a module stands, are no part of it. See docs/agents.md.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sts.agents.elsewhere import Child, Elsewhere, shim
from sts.agents.identity import elsewhere
from sts.agents.identity.closure import Meaning, meaning
from sts.agents.identity.modules import Interpreter, Modules
from sts.agents.identity.state import NotPlain, patches, written
from sts.agents.protocol import Agent
from sts.agents.registry import load
from sts.errors import ArgumentError
from sts.storage.files import content_hash

SUITE = __name__.partition(".")[0]
PACKAGES = frozenset({SUITE, "scenarios", "analysis", "annotator_app"})
READ = tuple(f"{SUITE}.{one}" for one in ("worlds", "numerics.draws", "numerics.streams"))
"""Of the suite itself, what behaviours are made of: the worlds, their kernels, draws and streams.

The rest carries every agent alike (the protocol, the engine, the domains' shell, how a kernel is
compiled). There a name stands for itself, so that work on it makes no agent another one.
"""
_RULES = b"identity/1"
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}")
_DEFAULTS = ("sees", "deterministic", "draws", "domain", "trained_on", "version")


def fingerprint(agent: Agent) -> str:
    """Returns 16 hex digits that change when what the agent's code means does.

    Where that cannot be read, "@" and the version that its author states follow; see `stated`.

    Raises:
      ArgumentError: it cannot be read and no version is stated, or the version is not one.
    """
    version = getattr(agent, "version", "")
    if version and not (isinstance(version, str) and _VERSION.fullmatch(version)):
        raise ArgumentError(
            f"agent {agent.name!r}: version must be 1 to 32 letters, digits, dots and dashes; "
            f"found {version!r}"
        )
    weights = str(getattr(agent, "weights_digest", "") or "")
    if isinstance(agent, Elsewhere):
        code = read_elsewhere(agent.child)
        kept, unread = elsewhere.attributes(agent.child.told)
    else:
        code, kept, unread = read(type(agent)), shim.attributes(agent), []
    state = _state(kept, unread)
    if code.outside:
        unread.append("it reads what lies outside its code")
    parts = [_RULES, code.code, *(one.encode() for one in code.distributions), b"", state]
    parts.append(weights.encode())
    reasons = (*code.hidden, *(unread if not weights else ()))
    if not reasons:
        return content_hash(*parts)[:16]
    if not version:
        remedy = "" if code.hidden else "the digest of its weights as weights_digest, or "
        raise ArgumentError(
            f"agent {agent.name!r}: {reasons[0]}, so its code does not say all that it is; state "
            f"{remedy}a version in its class, such as version = '1'"
        )
    return f"{content_hash(*parts, version.encode())[:16]}@{version}"


class Code(NamedTuple):
    """What is written somewhere.

    Attributes:
      mark: 16 hex digits that change when what it means does.
      whole: whether the code says all that it is; not so where it reads what lies outside.
    """

    mark: str
    whole: bool


@functools.cache
def code(path: str, beside: tuple[str, ...] = ()) -> Code:
    """Returns what stands at `module:NAME`, once in a process, as an agent's class is read.

    Args:
      path: where.
      beside: packages of the suite that are read, too, beside `READ`.
    """
    module, _, name = path.partition(":")
    found = _read(module, name, (), beside=beside)
    parts = [_RULES, found.code, *(one.encode() for one in found.distributions)]
    return Code(content_hash(*parts)[:16], not (found.hidden or found.outside))


def planned(name: str, mark: str) -> Agent:
    """Returns the agent of a name, as `load` does, if it still is the one that a plan was made for.

    Raises:
      ArgumentError: its fingerprint is another by now.
    """
    agent = load(name)
    found = fingerprint(agent)
    if found != mark:
        raise ArgumentError(
            f"agent {name!r} is another than was planned (fingerprint {found}, planned {mark}): "
            "its code was changed meanwhile; start again"
        )
    return agent


def stated(mark: str) -> str:
    """Returns the version that a fingerprint goes by, "" where it goes by the code alone."""
    return mark.partition("@")[2]


def described(mark: str) -> str:
    """Returns a fingerprint as reports show it."""
    version = stated(mark)
    return f"{mark} (identity as stated)" if version else mark


@functools.cache
def read(kind: type) -> Meaning:
    """Returns what a class means; once in a process, for it does not change there."""
    if not shim.at_its_name(kind):
        return _unreadable(f"{kind.__name__} is not what stands at its name")
    return _read(kind.__module__, kind.__qualname__, shim.classes(kind))


@functools.cache
def read_elsewhere(child: Child) -> Meaning:
    """Returns what the class of another interpreter means, by the files that it would load.

    Raises:
      StsError: its process ends, or does not come back.
    """
    told = child.told.header
    if not told["at_its_name"]:
        return _unreadable(f"{told['class']} is not what stands at its name")
    return _read(told["module"], told["class"], told["classes"], elsewhere.interpreter(child))


def _unreadable(why: str) -> Meaning:
    return Meaning(b"", (), (why,), False)


def _read(
    module: str,
    qualified: str,
    classes: Sequence[Any],
    interpreter: Interpreter | None = None,
    beside: tuple[str, ...] = (),
) -> Meaning:
    modules = Modules(module, packages=PACKAGES, read=(*READ, *beside), interpreter=interpreter)
    try:
        code = meaning(modules, module, qualified.partition(".")[0])
    except RecursionError:
        return _unreadable("its code is nested too deeply")
    changed = tuple(f"{one} was changed at run time" for one in patches(classes, modules))
    return code._replace(code=code.code + qualified.encode(), hidden=(*code.hidden, *changed))


def _state(kept: Mapping[str, Any], hidden: list[str]) -> bytes:
    """Returns what an agent was made with; what of it cannot be read is added to `hidden`."""
    out = []
    for name, value in sorted(kept.items()):
        default = getattr(Agent, name, None) if name in _DEFAULTS else None
        if type(value) is type(default) and value == default:
            continue  # a class that leaves it out is given it when it is loaded
        try:
            out.append(written((name, value)))
        except NotPlain as found:
            out.append(written(name))
            hidden.append(f"its {name} ({found}) cannot be read")
    return b"".join(out)
