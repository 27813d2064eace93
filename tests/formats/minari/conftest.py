"""Datasets that Minari's own collector records, in a folder that is not the user's."""

from __future__ import annotations

import gc
import sys
import types
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import minari
import pytest

Collect = Callable[..., Path]


def tree_map(f: Callable[..., Any], tree: Any, *others: Any) -> Any:
    """Does what `jax.tree_util.tree_map` does to the dicts and tuples that environments give."""
    if isinstance(tree, dict):
        return {k: tree_map(f, v, *(one[k] for one in others)) for k, v in tree.items()}
    if isinstance(tree, tuple):
        return tuple(tree_map(f, v, *(one[i] for one in others)) for i, v in enumerate(tree))
    return f(tree, *others)


@pytest.fixture
def collect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Collect:
    """Returns a function that records episodes of random actions and returns the dataset's folder.

    Minari's collector takes one function from jax, which is too large to be installed for it.
    """
    tree_util = types.ModuleType("jax.tree_util")
    tree_util.tree_map = tree_map  # type: ignore[attr-defined]
    jax = types.ModuleType("jax")
    jax.tree_util = tree_util  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.tree_util", tree_util)
    root = tmp_path / "datasets"
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(root))

    def made(
        id: str = "CartPole-v1",
        *,
        name: str = "others-v0",
        episodes: int = 3,
        steps: int = 12,
        seeded: bool = True,
        wrapped: Callable[[Any], Any] = lambda env: env,
        format: str = "hdf5",
        **settings: Any,
    ) -> Path:
        with warnings.catch_warnings():
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

    return made
