"""Domains by name, and episodes from files held against theirs."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any, cast

from numpy.typing import NDArray

from sts import registry
from sts.domains.adapted import Adapted
from sts.domains.environment import ENVIRONMENT, Environment
from sts.domains.protocol import Domain, Picture
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, StsError


@functools.cache
def domain(name: str) -> Domain:
    """Returns the domain called `name`: an installed one, or a user's by `module:Class`.

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
        found = registry.load("sts.domain_families", "family of domains", family)(member)
    elif ":" in name:
        found = registry.load_path("domain", name)
    else:
        found = registry.load("sts.domains", "domain", name)
    if not inspect.isclass(found):
        raise ArgumentError(f"domain {name!r}: expected a class, found {type(found).__name__}")
    wanted = ("generate", "restore", "picture")
    if all(callable(getattr(found, one, None)) for one in wanted):
        return cast(Domain, found())
    missing = [one for one in ENVIRONMENT if not hasattr(found, one)]
    if missing:
        raise ArgumentError(f"domain {name!r} is no environment: it has no {', '.join(missing)}")
    return Adapted(cast(Callable[[], Environment], found), name)


def checked(episodes: Sequence[Episode]) -> Sequence[Episode]:
    """Returns `episodes`, which come from a file, when each can be replayed, drawn and labelled.

    Raises:
      DamagedData: one does not fit the domain or the state that it names; says which row.
      NewerFormat: a state was written by a later version.
    """
    pictures: dict[bytes, Picture] = {}
    for i, one in enumerate(episodes):
        try:
            world = domain(one.domain)
        except StsError as error:
            raise DamagedData(f"row {i}: {error}") from None
        if one.state not in pictures:
            pictures[one.state] = world.picture(one.state)
        picture = pictures[one.state]
        people, objects = len(picture.participants), picture.objects
        checks = (
            (one.participants == people, f"{people} participants"),
            (one.scene.shape[1] == objects, f"{objects} objects"),
            (_within(one.moves, len(world.moves)), f"moves under {len(world.moves)}"),
            (_within(one.says, len(world.tokens)), f"tokens under {len(world.tokens)}"),
            (_within(one.scene, picture.bound), "cells that are on the grid"),
        )
        for good, expected in checks:
            if not good:
                raise DamagedData(f"row {i}: expected {expected}, found others")
    return episodes


def _within(values: NDArray[Any], bound: int) -> bool:
    return not values.size or bool(0 <= values.min() and values.max() < bound)
