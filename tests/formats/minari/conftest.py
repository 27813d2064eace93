"""Datasets that Minari's own collector records, in a folder that is not the user's."""

import contextlib
import dataclasses
import functools
import gc
import json
import shutil
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import h5py
import minari
import numpy as np
import pytest

from sts.storage.files import canonical_json
from sts.trajectories.trajectory import Trajectory

Collect = Callable[..., Path]
DATA = Path("data") / "main_data.hdf5"


def tree_map(f: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Do what `jax.tree_util.tree_map` does to the dicts and tuples that environments give."""
    if isinstance(tree, dict):
        return {k: tree_map(f, v, *(one[k] for one in others)) for k, v in tree.items()}
    if isinstance(tree, tuple):
        return tuple(tree_map(f, v, *(one[i] for one in others)) for i, v in enumerate(tree))
    return f(tree, *others)


@contextlib.contextmanager
def jax() -> Iterator[None]:
    """Minari's collector takes one function from jax, which is too large to be installed for it."""
    tree_util = types.ModuleType("jax.tree_util")
    tree_util.tree_map = tree_map  # type: ignore[attr-defined]
    jax = types.ModuleType("jax")
    jax.tree_util = tree_util  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "jax", jax)
        patch.setitem(sys.modules, "jax.tree_util", tree_util)
        yield


@pytest.fixture(scope="session")
def collected(tmp_path_factory):
    """Return a function that records a dataset, each once in a session."""

    @functools.cache
    def collect_dataset(id, name, episodes, steps, seeded, wrapped, format, **settings):
        root = tmp_path_factory.mktemp("datasets")
        with warnings.catch_warnings(), jax(), pytest.MonkeyPatch.context() as patch:
            patch.setenv("MINARI_DATASETS_PATH", str(root))
            warnings.simplefilter("ignore")  # of an author that is not named, a folder left behind
            env = minari.DataCollector(wrapped(gymnasium.make(id, **settings)), data_format=format)
            env.action_space.seed(0)
            for seed in range(episodes):
                env.reset(**({"seed": seed} if seeded else {"options": {"minari_autoseed": False}}))
                for _ in range(steps):
                    *_, terminated, truncated, _ = env.step(env.action_space.sample())
                    if terminated or truncated:
                        break
            env.create_dataset(name)
            env.close()
            del env
            gc.collect()
        return root / name

    return collect_dataset


@pytest.fixture
def collect(collected, tmp_path):
    """Return a function that gives the folder of a dataset of random actions, to be changed."""

    def copied(
        id="CartPole-v1",
        *,
        name="others-v0",
        episodes=3,
        steps=12,
        seeded=True,
        wrapped=_as_it_is,
        format="hdf5",
        **settings,
    ):
        folder = collected(id, name, episodes, steps, seeded, wrapped, format, **settings)
        return Path(shutil.copytree(folder, tmp_path / "datasets" / name, dirs_exist_ok=True))

    return copied


def _as_it_is(env: Any) -> Any:
    return env


def forge(folder: Path, one: Trajectory, **changes: Any) -> None:
    """Change the record of a dataset's first episode, which is `one`, and let its id fit it."""
    with h5py.File(folder / DATA, "a") as file:
        kept = file["episode_0/infos/sts"]
        record = json.loads(bytes(kept["record"][()])) | changes
        episode = dataclasses.replace(one.episode, domain=record["domain"])
        forged = dataclasses.replace(one, episode=episode, source=record["source"])
        del kept["record"]
        kept["record"] = np.frombuffer(canonical_json(record | {"id": forged.id}), np.uint8)
