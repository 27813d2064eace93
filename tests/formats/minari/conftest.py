"""Datasets that Minari's own collector records, in a folder that is not the user's."""

from __future__ import annotations

import contextlib
import gc
import shutil
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import gymnasium
import minari
import pytest

Collect = Callable[..., Path]


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
def collected(tmp_path_factory: pytest.TempPathFactory) -> Collect:
    """Return a function that records a dataset, each once in a session."""
    kept: dict[object, Path] = {}

    def made(
        id: str,
        *,
        name: str,
        episodes: int,
        steps: int,
        seeded: bool,
        wrapped: Callable[[Any], Any],
        format: str,
        **settings: Any,
    ) -> Path:
        asked = (id, name, episodes, steps, seeded, wrapped, format, repr(settings))
        if asked in kept:
            return kept[asked]
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
        kept[asked] = root / name
        return kept[asked]

    return made


@pytest.fixture
def collect(collected: Collect, tmp_path: Path) -> Collect:
    """Return a function that gives the folder of a dataset of random actions, to be changed."""

    def copied(
        id: str = "CartPole-v1",
        *,
        name: str = "others-v0",
        episodes: int = 3,
        steps: int = 12,
        seeded: bool = True,
        wrapped: Callable[[Any], Any] = _as_it_is,
        format: str = "hdf5",
        **settings: Any,
    ) -> Path:
        folder = collected(
            id,
            name=name,
            episodes=episodes,
            steps=steps,
            seeded=seeded,
            wrapped=wrapped,
            format=format,
            **settings,
        )
        return Path(shutil.copytree(folder, tmp_path / "datasets" / name, dirs_exist_ok=True))

    return copied


def _as_it_is(env: Any) -> Any:
    return env
