"""Classes of environments, from which a measure chooses environments by their complexity.

A class is found by its name in the entry-point group `sts.classes`, or as `module:Name`.
"""

import functools
import inspect
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sts import registry
from sts.agents.info import AgentInfo, require_infos
from sts.domains import Domain, reward_values
from sts.engine.session import check_domain
from sts.errors import ArgumentError
from sts.storage.files import content_hash

GROUP = "sts.classes"
_PARTS = ("name", "domain", "highest", "choose")


class Chosen(NamedTuple):
    """An environment of a class."""

    state: bytes  # its initial state, which the class's domain restores
    complexity: float  # H, in the unit of the class
    offset: float = 0.0  # the random agent's mean reward, which is subtracted; 0 if it is balanced


class EnvironmentClass(Protocol):
    """A class of environments, whose rewards lie in [-1, 1] after the offset.

    For its check it may have `find_actions(state)`, which get another sum than as many no-ops.

    Attributes:
      name: of the class.
      domain: restores its environments; its agents can play them.
      highest: the highest complexity; None if it is unbounded.

    A class that can be enumerated also has `list_environments()`, all initial states in a fixed
    order, and `code_lengths`, float64[E] by reference machine, the bits of each one's code.
    """

    name: str
    domain: Domain
    highest: float | None

    def choose(
        self,
        low: float,
        high: float,
        *,
        n_players: int,
        key: Sequence[int],
        used: AbstractSet[bytes],
    ) -> Chosen | None:
        """Return an environment of a complexity from `low` to `high`; None if all are `used`.

        The same arguments give the same environment. It has `n_players` players, and its initial
        state is not in `used`. `key` selects it among those of this complexity.
        """
        ...


@runtime_checkable
class LearningClass(EnvironmentClass, Protocol):
    """A class for learning, and for tests elsewhere; this part of the protocol is optional.

    Attributes:
      steps: the length of an episode, which has one player.
      expert: the name of an agent that knows the solution; its skill is 1.
    """

    steps: int
    expert: str

    def draw_environments(self, split: str, key: Sequence[int]) -> Iterator[bytes]:
        """Yield initial states of a key without end; none is in both of "train" and "test"."""
        ...

    def difficulty(self, training: Sequence[bytes], tests: Sequence[bytes]) -> float:
        """Return the mean share of the solution of `tests` that `training` leaves unexplained."""
        ...


@functools.cache
def load_class(name: str) -> EnvironmentClass:
    """Load a class by name, or a user's by `module:Name`; errors as for `registry`.

    Raises:
      ArgumentError: the name is empty, or `module:Name` is not a class of environments.
    """
    if not name:
        known = ", ".join(registry.list_entry_points(GROUP))
        raise ArgumentError(
            f"expected a class of environments: give --class, one of {known}, or module:Name"
        )
    with registry.translate_errors(f"class {name!r} cannot be created", ArgumentError):
        made = registry.load_named(GROUP, "class", name)()
    missing = next((part for part in _PARTS if not hasattr(made, part)), None)
    if missing:
        raise ArgumentError(
            f"class {name!r}: expected an object with {', '.join(_PARTS)}; it has no {missing}"
        )
    return cast(EnvironmentClass, made)


def mark_class(name: str) -> str:
    """Return a hash of the code of a class and of what makes it, and of its domain's version."""
    classes, maker = load_class(name), registry.load_named(GROUP, "class", name)
    code = [Path(inspect.getfile(one)).read_bytes() for one in (maker, type(classes))]
    return content_hash(*code, str(getattr(classes.domain, "version", "")).encode())


def subtract_offsets(
    classes: EnvironmentClass, offsets: NDArray[np.float64], rewards: NDArray[Any]
) -> NDArray[np.float64]:
    """Return float64[E, T], the mean rewards of the players, less the offsets, float64[E].

    `rewards` is [E, T, P], as the worlds give them.

    Raises:
      ArgumentError: one is not from -1 to 1.
    """
    own = reward_values(classes.domain, rewards).mean(2)
    own = np.asarray(own - offsets[:, None], np.float64)
    wrong = own[~(np.abs(own) <= 1)]  # also what is not a number
    if wrong.size:
        found = f"found {wrong[0]:g}"
        raise ArgumentError(f"class {classes.name}: expected rewards from -1 to 1, {found}")
    return own


def load_agents(names: Sequence[str], class_name: str) -> dict[str, AgentInfo]:
    """Return the properties of agents that can play a class; raise StsError if one cannot."""
    known, infos = require_infos(names), dict[str, AgentInfo]()
    for name in names:
        info = known[name]
        check_domain(info, load_class(class_name).domain.name)
        if info.name in [other.name for other in infos.values()]:
            raise ArgumentError(f"agent {info.name!r} is given twice; give each agent once")
        infos[name] = info
    return infos
