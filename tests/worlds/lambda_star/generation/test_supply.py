"""Worlds made ahead are those made one by one, in whatever order and number they are taken."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from sts.worlds.lambda_star.domain import Batch
from sts.worlds.lambda_star.generation import patterns
from sts.worlds.lambda_star.generation.patterns import Settings
from sts.worlds.lambda_star.generation.supply import Supply
from sts.worlds.lambda_star.state import encode

SETTINGS = Settings(6, 5, 2, 12)


def states(supply: Supply, index: int) -> list[bytes]:
    return Batch.of(supply.worlds(index), SETTINGS.radius).states()


def one_by_one(seeds: tuple[int, ...], index: int) -> list[bytes]:
    return [encode(patterns.generate(SETTINGS, seed=seed, index=index)) for seed in seeds]


@pytest.mark.parametrize("seeds", [(7,), (3, 9, 3), tuple(range(600))])
@pytest.mark.parametrize("kind", ["paper", "lambdastar-2016"])
def test_worlds_made_ahead_are_those_made_one_by_one(seeds: tuple[int, ...], kind: str) -> None:
    settings = Settings(6, 6, 2, 12, patterns=kind)
    ahead = Supply(settings, seeds)
    for index in range(9 if len(seeds) < 9 else 3):
        alone = [encode(patterns.generate(settings, seed=seed, index=index)) for seed in seeds]
        assert Batch.of(ahead.worlds(index), settings.radius).states() == alone


def test_any_order_gives_the_same() -> None:
    ahead, seeds = Supply(SETTINGS, (1, 2)), (1, 2)
    for index in (0, 1, 0, 5, 6, 2, 2, 7, 8, 0, 40):
        assert states(ahead, index) == one_by_one(seeds, index)


def test_playing_worlds_changes_none_that_come_round_again() -> None:
    ahead = Supply(SETTINGS, (1, 2), count=3)
    first = [states(ahead, index) for index in range(3)]
    played = Batch.of(ahead.worlds(1), SETTINGS.radius)
    played.step(np.zeros((2, 2), np.int8), np.zeros((2, 2), np.int8))
    assert [states(ahead, index) for index in range(3, 6)] == first
    assert first == [one_by_one((1, 2), index) for index in range(3)]


def test_what_comes_round_again_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    worlds = patterns.worlds

    def counted(settings: Settings, names: list[tuple[int, int]]) -> object:
        made.extend(index for _, index in names)
        return worlds(settings, names)

    monkeypatch.setattr(patterns, "worlds", counted)
    ahead = Supply(SETTINGS, (4,), count=5)
    for index in range(15):
        ahead.worlds(index)
    assert made == [0, 1, 2, 3, 4]


def test_one_world_is_made_for_who_begins_a_seed_again_and_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes: list[int] = []
    worlds = patterns.worlds

    def counted(settings: Settings, names: list[tuple[int, int]]) -> object:
        sizes.append(len(names))
        return worlds(settings, names)

    monkeypatch.setattr(patterns, "worlds", counted)
    ahead = Supply(SETTINGS, (4,))
    for _ in range(20):
        ahead.worlds(0)
    assert sizes == [1]


def test_a_copy_of_what_is_under_way_goes_on_alike() -> None:
    ahead = Supply(SETTINGS, (1, 2))
    for index in range(3):
        ahead.worlds(index)
    for other in (copy.deepcopy(ahead), pickle.loads(pickle.dumps(ahead))):
        assert states(other, 3) == one_by_one((1, 2), 3)
    assert states(ahead, 3) == one_by_one((1, 2), 3)
