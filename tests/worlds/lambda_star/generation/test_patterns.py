"""New worlds: the same for the same seed, and as complex as asked."""

from __future__ import annotations

import itertools
import json
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest

from sts.domains import load_domain
from sts.errors import ArgumentError
from sts_lambda_star.generation.patterns import Settings, complexity_range, reachable_range
from sts_lambda_star.generation.patterns import generate_worlds as many
from sts_lambda_star.generation.walks import lz76
from sts_lambda_star.state import arrays_to_states, encode
from sts_lambda_star.torus import distance
from tests.worlds.lambda_star.examples import complexity_of, generate_world

GOLDEN = json.loads((Path(__file__).parent / "golden_worlds.json").read_text())


def worlds(count: int = 30, *, seed: int = 0, **settings):
    return [generate_world(Settings(**settings), seed=seed, index=i) for i in range(count)]


def test_seed_and_index_determine_the_world():
    first = [encode(s) for s in worlds(seed=1)]
    assert first == [encode(s) for s in worlds(seed=1)]
    assert not set(first) & {encode(s) for s in worlds(seed=2)}
    assert len(set(first)) == len(first)


@pytest.mark.parametrize(
    "change",
    [
        *({"height": 9}, {"width": 11}, {"n_players": 2}, {"horizon": 51}),
        *({"complexity": (3, 9)}, {"patterns": "lambdastar-2016"}),
    ],
)
def test_every_setting_names_other_worlds(change):
    plain = {world.seed for world in worlds(5)}
    assert plain.isdisjoint(world.seed for world in worlds(5, **change))


def hashed(states) -> str:
    digest = blake2b(digest_size=8)
    for one in states:
        digest.update(encode(one))
    return digest.hexdigest()


@pytest.mark.parametrize("kept", GOLDEN, ids=lambda kept: f"{kept['settings']} {kept['seed']}")
def test_worlds_of_saved_seeds_are_pinned(kept):
    settings, seed, count = Settings(**kept["settings"]), kept["seed"], kept["count"]
    made = many(settings, [(seed, index) for index in range(count)])
    assert hashed(arrays_to_states(made, settings.radius)) == kept["hash"]


def test_world_does_not_depend_on_those_made_with_it():
    for settings in (Settings(), Settings(6, 6, 2, 30, None, "lambdastar-2016")):
        alone = [generate_world(settings, seed=3, index=i) for i in range(4, 9)]
        together = arrays_to_states(
            many(settings, [(3, index) for index in range(4, 9)]), settings.radius
        )
        assert together == alone
    world = load_domain("lambda-star")
    assert world.generate(3, seed=4) == world.generate(9, seed=4)[:3]
    assert world.generate(0, seed=4) == []


def test_good_and_evil_are_equally_complex_within_the_range_and_differ():
    for s in worlds(20, height=3, width=3, n_players=9, horizon=10):
        assert len(set(s.cells)) == 9 and s.good != s.evil
    for s in worlds(60, complexity=(4, 9), horizon=40):
        of_good, of_evil = complexity_of(s)
        assert of_good == of_evil and 4 <= of_good <= 9
        assert s.good_pattern != s.evil_pattern
        assert 1 <= len(s.good_pattern) <= 20 and 1 <= len(s.evil_pattern) <= 20


def test_complexity_is_the_lz76_count_of_the_cells_over_the_horizon():
    s = worlds(1, complexity=(7, 7), horizon=30)[0]
    row, column = divmod(s.good, s.width)
    cells = []
    for _, move in zip(range(30), itertools.cycle(s.good_pattern), strict=False):
        row, column = (row + move // 3 - 1) % s.height, (column + move % 3 - 1) % s.width
        cells.append(row * s.width + column)
    assert lz76(np.array(cells)) == 7 == complexity_of(s)[0]


def test_every_complexity_of_the_range_is_drawn_about_as_often():
    low, high = 3, 8
    counts = np.zeros(high - low + 1)
    for s in worlds(600, complexity=(low, high), horizon=30):
        counts[complexity_of(s)[0] - low] += 1
    expected = 600 / counts.size
    chi_square = float(((counts - expected) ** 2 / expected).sum())
    assert chi_square < 20.5, counts


def test_default_complexity_range_is_the_reachable_part_of_2_to_23():
    least, most = reachable_range(10, 10, 50)
    assert complexity_range(Settings()) == (max(2, least), min(23, most))
    assert complexity_range(Settings(complexity=(5, 6))) == (5, 6)


REACHABLE = (
    ((3, 3, 2), (2, 2)),
    ((3, 3, 100), (2, 50)),
    ((4, 12, 30), (2, 30)),
    ((255, 255, 40), (2, 38)),
    ((5, 5, 300), (2, 139)),
    ((10, 10, 50), (2, 50)),
    ((10, 10, 100), (2, 86)),
    ((10, 10, 200), (2, 19)),
    ((10, 10, 1000), (2, 8)),
    ((8, 8, 1500), (2, 4)),
)


@pytest.mark.parametrize(("shape", "found"), REACHABLE)
def test_reachable_complexity_is_pinned(shape, found):
    assert reachable_range(*shape) == found


def there_and_back(path: tuple[int, ...], length: int) -> bool:
    """Whether `path` is its first `length` cells and their reverse, over and over."""
    segment = path[:length]
    return all(cell == (segment + segment[::-1])[t % (2 * length)] for t, cell in enumerate(path))


@pytest.mark.parametrize("n", [3, 5, 8])
def test_published_worlds_go_there_and_back_and_shift_evil(n):
    for s in worlds(10, height=n, width=n, horizon=40, patterns="lambdastar-2016"):
        path = s.good_pattern
        assert s.kind == "cells" and len(path) == 50 and s.good == path[0]
        assert s.good_cursor == s.evil_cursor == 1
        assert s.evil_pattern == tuple((g + n * n // 3 + 1) % (n * n) for g in path)
        assert all(distance(a, b, n, n) <= 1 for a, b in itertools.pairwise(path))
        assert any(there_and_back(path, length) for length in range(n, 2 * n))


IMPOSSIBLE = (
    ({"height": 2}, "sides from 3 to 255, found 2x10"),
    ({"width": 256}, "sides from 3 to 255"),
    ({"n_players": 0}, "a team of 1 to 100 on a 10x10 grid, found 0"),
    ({"n_players": 10, "height": 3, "width": 3}, "a team of 1 to 9 on a 3x3 grid, found 10"),
    ({"horizon": 1}, "2 to 100000 steps, found 1"),
    ({"radius": 0}, "expected a radius of 1 to 4 on a 10x10 grid, found 0"),
    ({"radius": 5}, "expected a radius of 1 to 4 on a 10x10 grid, found 5"),
    ({"patterns": "spiral"}, "paper or lambdastar-2016, found 'spiral'"),
    ({"patterns": "lambdastar-2016", "width": 9}, "square"),
    ({"complexity": (0, 3)}, "a complexity range of 1 or more, found 0 to 3"),
    ({"complexity": (9, 3)}, "found 9 to 3"),
    ({"complexity": (2, 60)}, "complexity 2 to 60 is out of range for 50 steps"),
    ({"horizon": 25_000}, "complexity 2 to 23 is out of range for 25000 steps on a 10x10 grid; "),
    ({"complexity": (1, 4)}, "complexity 1 to 4 is out of range for 50 steps"),
)


@pytest.mark.parametrize(("settings", "said"), IMPOSSIBLE)
def test_impossible_settings_are_refused(settings, said):
    with pytest.raises(ArgumentError) as caught:
        generate_world(Settings(**settings), seed=0, index=0)
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("horizon", [2, 3, 10, 100, 200])
def test_worlds_of_every_length_are_generated(horizon):
    for s in worlds(3, horizon=horizon):
        assert complexity_of(s)[0] in range(complexity_range(Settings(horizon=horizon))[1] + 1)
