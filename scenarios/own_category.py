"""A category of somebody's own, brought as `module:NAME`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from scenarios.category import Candidate, Category, Label
from sts import registry
from sts.episodes import Episode
from sts.errors import ArgumentError, StsError
from sts.trajectories.types import Trajectory


def load(path: str) -> Category:
    """Returns the category at `module:NAME`; whatever it raises later becomes one line.

    Raises:
      ArgumentError: what stands there is no `Category`.
    """
    found = registry.load_path("category", path)
    if not isinstance(found, Category):
        raise ArgumentError(f"{path!r} is no Category, it is of type {type(found).__name__}")

    def candidates(trajectory: Trajectory) -> Iterator[Candidate]:
        try:
            yield from found.candidates(trajectory)
        except StsError:
            raise
        except Exception as error:
            raise _failed(found, f"to find candidates in {trajectory.id}", error) from error

    def label(
        episode: Episode, takeover: int, roles: tuple[int, ...], parameters: dict[str, Any]
    ) -> Label:
        try:
            return Label(*found.label(episode, takeover, roles, parameters))
        except StsError:
            raise
        except Exception as error:
            raise _failed(found, "to label an episode", error) from error

    return replace(found, candidates=candidates, label=label)


def _failed(category: Category, what: str, error: Exception) -> StsError:
    return StsError(f"category {category.name!r} failed {what}: {type(error).__name__}: {error}")
