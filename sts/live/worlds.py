"""Worlds of live sessions: the split from which they are drawn decides what recordings can become.

Scenarios are mined from test worlds, and training episodes from the others.
"""

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from sts.domains import load_domain
from sts.errors import ArgumentError, DamagedData
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory import SPLITS, get_split

ANY = "any"
CHOICES = (*SPLITS, ANY)
_MAX_DRAWS = 200


def find_seed(domain: str, seeds: Iterable[int], settings: Mapping[str, Any], split: str) -> int:
    """Return the first of some seeds whose world is in a split; the first of all for `ANY`.

    Raises:
      ArgumentError: none of the first 200 is, in a sentence for people; or as for `generate`.
    """
    world = load_domain(domain)
    for seed in itertools.islice(seeds, _MAX_DRAWS):
        if split == ANY:
            return seed
        (state,) = world.generate(1, seed=seed, **settings)
        if get_split(world.world_id(state)) == split:
            return seed
    raise ArgumentError(f"{domain} has no world of the {split} split with these settings.")


def load_recording_split(workspace: Workspace) -> str:
    """Return the split of the worlds in which people record together, one of `CHOICES`.

    Raises:
      DamagedData: `workspace.toml` has another word.
    """
    split = workspace.setting("live", "recordings", "test")
    if split not in CHOICES:
        raise DamagedData(
            f"{workspace.path('workspace.toml')}: expected live.recordings to be one of "
            f"{', '.join(CHOICES)}, found {split!r}"
        )
    return str(split)
