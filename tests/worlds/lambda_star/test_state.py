"""The serialised world: what goes in comes out, and nothing else is taken for it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.errors import DamagedState, NewerFormat
from sts.worlds.lambda_star.domain import Batch, LambdaStar
from sts.worlds.lambda_star.state import State, decode, encode, to_json
from tests.worlds.lambda_star.examples import BY_HAND, state, states

GOLDEN = Path(__file__).parent / "golden" / "state_v1.hex"


@given(states())
@settings(deadline=None)
def test_decoding_gives_back_what_was_encoded(s):
    assert decode(encode(s)) == s


@given(states())
@settings(deadline=None)
def test_the_json_view_holds_all_of_the_state(s):
    shown = json.loads(json.dumps(to_json(s)))
    assert (shown.pop("format"), shown.pop("version")) == ("lambda-star-state", 1)
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in shown.items()}
    assert State(**given) == s


def test_the_bytes_of_version_1_are_read_and_written_as_ever():
    golden = bytes.fromhex(GOLDEN.read_text())
    assert decode(golden) == BY_HAND
    assert encode(BY_HAND) == golden


def test_every_altered_byte_is_refused():
    raw = encode(BY_HAND)
    for position in range(len(raw)):
        for flip in (0x01, 0x80, 0xFF):
            altered = bytearray(raw)
            altered[position] ^= flip
            with pytest.raises((DamagedState, NewerFormat)):
                decode(bytes(altered))


def test_every_truncation_and_every_lengthening_is_refused():
    raw = encode(BY_HAND)
    for length in range(len(raw)):
        with pytest.raises(DamagedState):
            decode(raw[:length])
    for more in (b"\0", raw):
        with pytest.raises(DamagedState):
            decode(raw + more)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_bytes_that_are_no_state_are_refused(raw):
    with pytest.raises((DamagedState, NewerFormat)):
        decode(raw)


def test_a_newer_version_is_refused_by_name():
    raw = encode(BY_HAND)
    with pytest.raises(
        NewerFormat, match="version 2; this version of sts reads up to 1: update sts"
    ):
        decode(raw[:4] + (2).to_bytes(2, "little") + raw[6:])


@pytest.mark.parametrize(
    "change",
    [
        {"height": 2},
        {"width": 256},
        {"radius": 0},
        {"radius": 2},
        {"kind": "steps"},
        {"good": 20},
        {"evil": 3},
        {"good_pattern": ()},
        {"good_pattern": (9,), "good_cursor": 0},
        {"kind": "cells", "evil_pattern": (20, 1)},
        {"good_cursor": 3},
        {"evil_cursor": -1},
        {"step": -1},
        {"horizon": 2**32},
        {"seed": 2**64},
        {"counter": 2**63},
        {"cells": (), "moves": (), "says": (), "rewards": ()},
        {"cells": (0, 1, 20)},
        {"moves": (0, 1)},
        {"moves": (0, 1, 9)},
        {"says": (0, 1, 22)},
        {"rewards": (0, 0, 3)},
    ],
)
def test_fields_that_make_no_world_are_refused(change):
    with pytest.raises(DamagedState, match="^not a Λ\\* state: "):
        state(**change)


def moved_on(batch: Batch, steps: int, seed: int) -> Batch:
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        shape = batch.arrays.cells.shape
        batch.step(rng.integers(0, 9, shape, np.int8), rng.integers(0, 22, shape, np.int8))
    return batch


@given(states(), st.integers(0, 2**32))
@settings(max_examples=50, deadline=None)
def test_restoring_then_stepping_equals_never_having_stopped(s, seed):
    straight, stopping = Batch([s]), Batch([s])
    for part in range(3):
        moved_on(straight, 4, seed + part)
        moved_on(stopping, 4, seed + part)
        stopping = LambdaStar().restore(stopping.states())
        assert stopping.states() == straight.states()
        np.testing.assert_array_equal(stopping.scene, straight.scene)


FRESH = """
import sys
import numpy as np
from sts.domains import domain
worlds = domain("lambda-star").restore([bytes.fromhex(sys.argv[1])])
rng = np.random.default_rng(int(sys.argv[2]))
for _ in range(4):
    shape = worlds.rewards.shape
    worlds.step(rng.integers(0, 9, shape, np.int8), rng.integers(0, 22, shape, np.int8))
print(worlds.states()[0].hex())
"""


def test_a_fresh_process_goes_on_where_this_one_stopped():
    begun: State = state(seed=11, counter=0)
    half = moved_on(Batch([begun]), 5, 1)
    raw = half.states()[0].hex()
    fresh = subprocess.run(
        [sys.executable, "-W", "error", "-c", FRESH, raw, "2"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert fresh.stdout.strip() == moved_on(half, 4, 2).states()[0].hex()


def test_worlds_of_different_teams_do_not_share_a_batch():
    alone = state(cells=(0,), moves=(4,), says=(0,), rewards=(0,))
    with pytest.raises(DamagedState, match="must agree in radius and number"):
        Batch([BY_HAND, alone])
