"""Loading of domains by name, and validation of stored episodes against their domain."""

import functools
import inspect
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from sts import registry
from sts.domains.actions import ActionSpace, action_space, are_valid_utterances
from sts.domains.adapter import EnvironmentDomain
from sts.domains.environment import REQUIRED_ATTRIBUTES, Environment
from sts.domains.protocol import Domain, SceneFormat
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, MissingExtra, NewerFormat, OtherVersion, StsError


@functools.cache
def load_domain(name: str) -> Domain:
    """Load a domain, by installed name, `FAMILY:NAME` or `module:Class`.

    A family, such as `gymnasium` in `gymnasium:CartPole-v1`, is an entry point of the group
    `sts.domain_families`: a function that returns a class by name. The class is a `Domain`, or an
    `Environment`, which is wrapped.

    Raises:
      UnknownName: no domain of that name is installed.
      ArgumentError: `module:Class` is neither a domain nor an environment.
      MissingExtra: it needs a library that is not installed; the message has the pip command.
    """
    family, _, member = name.partition(":")
    if member and family in registry.list_entry_points("sts.domain_families"):
        kind = registry.load_entry_point("sts.domain_families", "family of domains", family)(member)
    elif is_code_path(name):
        kind = registry.load_path("domain", name)
    else:
        kind = registry.load_entry_point("sts.domains", "domain", name)
    if not inspect.isclass(kind):
        raise ArgumentError(f"domain {name!r}: expected a class, found {type(kind).__name__}")
    if all(
        callable(getattr(kind, method, None)) for method in ("generate", "restore", "scene_layout")
    ):
        return cast(Domain, kind())
    missing = [attribute for attribute in REQUIRED_ATTRIBUTES if not hasattr(kind, attribute)]
    if missing:
        raise ArgumentError(
            f"domain {name!r} is not an environment: it has no {', '.join(missing)}"
        )
    return EnvironmentDomain(cast(Callable[[], Environment], kind), name)


def code_path(name: str) -> str:
    """Return the `module:Class` of a domain; "" for one of a family or an unknown name."""
    if ":" in name:
        return name if is_code_path(name) else ""
    points = registry.list_entry_points("sts.domains")
    return points[name].value if name in points else ""


def is_code_path(name: str) -> bool:
    """Return True if a name is `module:Class`, so that looking it up runs the code of a module."""
    return ":" in name and name.partition(":")[0] not in registry.list_entry_points(
        "sts.domain_families"
    )


def is_third_party(name: str) -> bool:
    """Return True if a domain has untrusted code: an `Environment`, or a user's class."""
    return ":" in name or isinstance(load_domain(name), EnvironmentDomain)


_UNAVAILABLE = (ArgumentError, MissingExtra, OtherVersion, NewerFormat)


def why_unavailable(episode: Episode) -> StsError | None:
    """Return the error if the world of an episode cannot be restored here, else None.

    The domain is unknown or misses a dependency, or the state has another version or a later
    format.

    Raises:
      DamagedState: the state is truncated, altered, or not a state of the domain.
    """
    try:
        load_domain(episode.domain).describe_state(episode.state)
    except _UNAVAILABLE as error:
        return error
    return None


def require_domain(episode: Episode, what: str) -> None:
    """Raise the error of `why_unavailable`, if any, prefixed with `what`."""
    reason = why_unavailable(episode)
    if reason is not None:
        raise reason.with_prefix(what)


def observation_shapes(episode: Episode) -> Hashable:
    """Return the observation shapes in an episode's world, to group worlds into batches.

    See `Domain.observation_shapes`; without it, all worlds of a domain share a batch. A world that
    fails gets a batch of its own.
    """
    try:
        shapes_of = getattr(load_domain(episode.domain), "observation_shapes", None)
        return shapes_of(episode.state) if shapes_of is not None else None
    except StsError:
        return episode.state


def validate_episodes(
    episodes: Sequence[Episode], names: Sequence[str], worlds: Sequence[str] | None = None
) -> Sequence[Episode]:
    """Return `episodes`, read from a file, after validating each against its domain and state.

    Episodes whose world cannot be restored here are not validated; see `require_domain`. `names`
    are used in errors; `worlds` are the stored hashes of their worlds.

    Raises:
      DamagedData: an episode does not match its domain or state.
    """
    forms: dict[tuple[str, bytes], _Form | None] = {}
    for i, episode in enumerate(episodes):
        key = episode.domain, episode.state
        try:
            if key not in forms:
                forms[key] = _make_form(episode)
        except StsError as error:
            raise error.with_prefix(names[i]) from None
        form = forms[key]
        if form is None:
            continue
        scene, space = form.scene, form.space
        checks = (
            episode.n_players == scene.n_players,
            episode.scene.shape[1] == scene.objects,
            episode.actions.shape[2:] == space.shape and space.contains(episode.actions),
            episode.rewards.dtype == form.rewards,
            are_valid_utterances(form.world, episode.utterances),
            episode.scene.max(initial=0) < scene.bound,
        )
        if not all(checks):
            expected = form.describe()[checks.index(False)]
            raise DamagedData(f"{names[i]}: expected {expected}, found others")
        if worlds is not None and worlds[i] != form.hash:
            raise DamagedData(
                f"{names[i]} was altered: expected world {worlds[i][:8]}, found {form.hash[:8]}"
            )
    return episodes


class _Form(NamedTuple):
    """Properties that all valid episodes of one state share."""

    world: Domain
    scene: SceneFormat
    hash: str  # of the world
    space: ActionSpace
    rewards: np.dtype[Any]

    def describe(self) -> tuple[str, ...]:
        """Return what each check of `validate_episodes` expects."""
        world = self.world
        return (
            f"{self.scene.n_players} players",
            f"{self.scene.objects} objects",
            f"actions under {len(world.action_names)}"
            if world.action_names
            else f"actions {self.space.describe()}",
            f"rewards of {self.rewards}",
            f"tokens under {len(world.tokens)}" if world.tokens else "texts of one line",
            "cells that are on the grid",
        )


def _make_form(episode: Episode) -> _Form | None:
    """Return what an episode's domain and state expect; None if its world is unavailable."""
    try:
        world = load_domain(episode.domain)
        scene, hash = world.scene_format(episode.state), world.world_id(episode.state)
    except _UNAVAILABLE:
        return None
    rewards = np.dtype("float64" if world.reward_unit is None else "int8")
    return _Form(world, scene, hash, action_space(world), rewards)
