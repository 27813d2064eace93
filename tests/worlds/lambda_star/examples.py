"""Worlds for tests: any state by hypothesis, and one by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.generation import walks
from sts_lambda_star.generation.patterns import Settings, generate_worlds
from sts_lambda_star.state import TOKENS, State, arrays_to_states, encode, states_to_arrays

BY_HAND = State(
    height=4,
    width=5,
    radius=1,
    kind="moves",
    good=3,
    evil=17,
    good_pattern=(0, 5, 8),
    evil_pattern=(4, 1),
    good_cursor=2,
    evil_cursor=1,
    step=7,
    horizon=50,
    seed=2**64 - 2,
    counter=300,
    cells=(0, 19, 3),
    actions=(-1, 4, 8),
    utterances=(0, 1, len(TOKENS) - 1),
    rewards=(-2, 0, 2),
)


def state(**changes) -> State:
    """Return the state by hand with some fields changed."""
    return replace(BY_HAND, **changes)


def batch_of(states: Sequence[State]) -> Batch:
    """Return worlds in these states."""
    return LambdaStar().restore([encode(s) for s in states])


def generate_world(settings: Settings, *, seed: int, index: int) -> State:
    """Return world `index` of a seed."""
    return arrays_to_states(generate_worlds(settings, [(seed, index)]), settings.radius)[0]


def complexity_of(s: State) -> tuple[int, int]:
    """Return K of Good's and of Evil's intended cells over the horizon, from the cursors."""
    of_good, of_evil = walks.path_complexities(states_to_arrays([s]))[0].tolist()
    return of_good, of_evil


@st.composite
def states(draw: st.DrawFn) -> State:
    """Any valid state of a small grid and few players."""
    height, width = draw(st.integers(3, 9)), draw(st.integers(3, 9))
    cells = st.integers(0, height * width - 1)
    kind = draw(st.sampled_from(("moves", "cells")))
    entries = st.lists(st.integers(0, 8) if kind == "moves" else cells, min_size=1, max_size=6)
    good_pattern, evil_pattern = tuple(draw(entries)), tuple(draw(entries))
    good = draw(cells)
    people = draw(st.integers(1, 4))

    def draw_each(values: st.SearchStrategy[int]) -> tuple[int, ...]:
        return tuple(draw(st.lists(values, min_size=people, max_size=people)))

    return State(
        height=height,
        width=width,
        radius=draw(st.integers(1, (min(height, width) - 1) // 2)),
        kind=kind,
        good=good,
        evil=draw(cells.filter(lambda cell: cell != good)),
        good_pattern=good_pattern,
        evil_pattern=evil_pattern,
        good_cursor=draw(st.integers(0, len(good_pattern) - 1)),
        evil_cursor=draw(st.integers(0, len(evil_pattern) - 1)),
        step=draw(st.integers(0, 2**32 - 2**10)),
        horizon=draw(st.integers(0, 2**32 - 1)),
        seed=draw(st.integers(0, 2**64 - 1)),
        counter=draw(st.integers(0, 2**63 - 2**10)),
        cells=draw_each(cells),
        actions=draw_each(st.integers(-1, 8)),
        utterances=draw_each(st.integers(0, len(TOKENS) - 1)),
        rewards=draw_each(st.integers(-2, 2)),
        needs=draw(st.integers(1, 3)),
    )
