"""Domains by name, and episodes from files held against theirs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, cast

from numpy.typing import NDArray

from sts import registry
from sts.domains.actions import action_space, sayable
from sts.domains.adapted import Adapted
from sts.domains.environment import ENVIRONMENT, Environment
from sts.domains.protocol import Domain, Form
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, MissingExtra, NewerFormat, OtherVersion, StsError


@functools.cache
def domain(name: str) -> Domain:
    """Return the domain called `name`: an installed one, or a user's by `module:Class`.

    `FAMILY:NAME` is one of an installed family, a function in the entry-point group
    `sts.domain_families` that returns a class by name: `gymnasium:CartPole-v1`.

    What stands there is a domain, or an `Environment` of which one is made.

    Raises:
      UnknownName: no domain of that name is installed.
      ArgumentError: what stands at `module:Class` is neither.
      MissingExtra: it needs a library that is not installed; says the pip command.
    """
    family, _, member = name.partition(":")
    if member and family in registry.named("sts.domain_families"):
        kind = registry.load("sts.domain_families", "family of domains", family)(member)
    elif is_code(name):
        kind = registry.load_path("domain", name)
    else:
        kind = registry.load("sts.domains", "domain", name)
    if not inspect.isclass(kind):
        raise ArgumentError(f"domain {name!r}: expected a class, found {type(kind).__name__}")
    if all(callable(getattr(kind, one, None)) for one in ("generate", "restore", "picture")):
        return cast(Domain, kind())
    missing = [one for one in ENVIRONMENT if not hasattr(kind, one)]
    if missing:
        raise ArgumentError(f"domain {name!r} is no environment: it has no {', '.join(missing)}")
    return Adapted(cast(Callable[[], Environment], kind), name)


def written_at(name: str) -> str:
    """Return the `module:Class` of the domain called `name`; "" for one of a family, or none."""
    if ":" in name:
        return name if is_code(name) else ""
    points = registry.named("sts.domains")
    return points[name].value if name in points else ""


def is_code(name: str) -> bool:
    """Whether a name says where a class is, so that whoever looks for it runs what is there."""
    return ":" in name and name.partition(":")[0] not in registry.named("sts.domain_families")


def foreign(name: str) -> bool:
    """Whether a domain may do anything to its process: an `Environment`, or a class of a user's."""
    return ":" in name or isinstance(domain(name), Adapted)


_UNAVAILABLE = (ArgumentError, MissingExtra, OtherVersion, NewerFormat)


def why_unavailable(episode: Episode) -> StsError | None:
    """Return why the world of an episode cannot be had here, or None where it can.

    Its domain is not known, or needs what is not installed, or its state is of another version or
    a later format.

    Raises:
      DamagedState: the state is truncated or altered, or no state of the domain.
    """
    try:
        domain(episode.domain).view(episode.state)
    except _UNAVAILABLE as error:
        return error
    return None


def need(episode: Episode, what: str) -> None:
    """Raise what `why_unavailable` says of an episode, about `what`."""
    reason = why_unavailable(episode)
    if reason is not None:
        raise reason.about(what)


def shapes(episode: Episode, world: Domain | None = None) -> Hashable:
    """Return the shapes of what is seen in the world of an episode; see `Domain.shapes`.

    All worlds of a domain without `shapes` count as alike. One that fails gets a batch of its own,
    so that its error reaches only who plays it. `world` is its domain where no name finds it.
    """
    try:
        shapes_of = getattr(world or domain(episode.domain), "shapes", None)
        return shapes_of(episode.state) if shapes_of is not None else None
    except StsError:
        return episode.state


def checked(
    episodes: Sequence[Episode], names: Sequence[str], worlds: Sequence[str] | None = None
) -> Sequence[Episode]:
    """Return `episodes`, which come from a file, when each can be replayed, drawn and labelled.

    One whose world cannot be had here is not held against it; whoever needs that world is told.
    An error calls each by its name; `worlds` are the hashes of their worlds that they state.

    Raises:
      DamagedData: one does not fit the domain or the state that it names.
    """
    forms: dict[tuple[str, bytes], tuple[Form, str] | None] = {}
    for i, one in enumerate(episodes):
        key = one.domain, one.state
        try:
            if key not in forms:
                forms[key] = _form(one)
        except StsError as error:
            raise error.about(names[i]) from None
        stated = forms[key]
        if stated is None:
            continue
        form, hash = stated
        world = domain(one.domain)
        space = action_space(world)
        allowed = f"moves under {len(world.moves)}" if world.moves else f"actions {space.text()}"
        spoken = f"tokens under {len(world.tokens)}" if world.tokens else "texts of one line"
        rewards = "float64" if world.reward_unit is None else "int8"
        checks = (
            (one.participants == form.participants, f"{form.participants} participants"),
            (one.scene.shape[1] == form.objects, f"{form.objects} objects"),
            (one.moves.shape[2:] == space.shape and space.holds(one.moves), allowed),
            (one.rewards.dtype == rewards, f"rewards of {rewards}"),
            (sayable(world, one.says), spoken),
            (_within(one.scene, form.bound), "cells that are on the grid"),
        )
        for good, expected in checks:
            if not good:
                raise DamagedData(f"{names[i]}: expected {expected}, found others")
        if worlds is not None and worlds[i] != hash:
            raise DamagedData(f"{names[i]} was altered: its world is {hash[:8]}")
    return episodes


def _form(episode: Episode) -> tuple[Form, str] | None:
    """Return the form of an episode's scenes and its world's hash; None where it has none here."""
    try:
        world = domain(episode.domain)
        return world.form(episode.state), world.world(episode.state)
    except _UNAVAILABLE:
        return None


def _within(values: NDArray[Any], bound: int) -> bool:
    return not values.size or bool(0 <= values.min() and values.max() < bound)
