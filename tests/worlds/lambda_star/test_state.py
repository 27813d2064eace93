"""The serialised world: what goes in comes out, and nothing else is taken for it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sts.errors import DamagedState, NewerFormat
from sts_lambda_star.domain import Batch, LambdaStar
from sts_lambda_star.state import State, decode, encode, to_json
from tests.worlds.lambda_star.examples import BY_HAND, batch_of, state, states

GOLDEN = Path(__file__).parent / "golden"


@given(states())
@settings(deadline=None)
def test_decoding_gives_back_what_was_encoded(s):
    assert decode(encode(s)) == s


@given(states())
@settings(deadline=None)
def test_json_view_holds_all_of_the_state(s):
    shown = json.loads(json.dumps(to_json(s)))
    version = 1 if s.needs == 1 else 2
    assert (shown.pop("format"), shown.pop("version")) == ("lambda-star-state", version)
    given: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in shown.items()}
    assert State(**given) == s


@pytest.mark.parametrize(("version", "needs"), [(1, 1), (2, 2)])
def test_bytes_of_each_version_are_pinned(version, needs):
    golden = bytes.fromhex((GOLDEN / f"state_v{version}.hex").read_text())
    assert decode(golden) == state(needs=needs)
    assert encode(state(needs=needs)) == golden


def test_state_of_version_2_that_needs_a_single_player_is_refused():
    raw = encode(state(needs=2))[:-8]
    body = raw[:56] + (1).to_bytes(2, "little") + raw[58:]
    with pytest.raises(DamagedState, match="needs 2 players or more"):
        decode(body + hashlib.blake2b(body, digest_size=8).digest())


def test_altered_truncated_lengthened_or_other_bytes_are_refused():
    raw = encode(BY_HAND)
    flips = [(p, flip) for p in range(len(raw)) for flip in (0x01, 0x80, 0xFF)]
    altered = [raw[:p] + bytes([raw[p] ^ flip]) + raw[p + 1 :] for p, flip in flips]
    for other in (*altered, *(raw[:n] for n in range(len(raw))), raw + b"\0", raw + raw):
        with pytest.raises((DamagedState, NewerFormat)):
            decode(other)


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_random_bytes_are_refused(raw):
    with pytest.raises((DamagedState, NewerFormat)):
        decode(raw)


def test_newer_version_is_refused_by_name():
    raw = encode(BY_HAND)
    with pytest.raises(NewerFormat, match="version 3; .* reads up to 2: update sts"):
        decode(raw[:4] + (3).to_bytes(2, "little") + raw[6:])


@pytest.mark.parametrize(
    "change",
    [
        *({"height": 2}, {"width": 256}, {"radius": 0}, {"radius": 2}, {"kind": "steps"}),
        *({"good": 20}, {"evil": 3}, {"good_pattern": ()}, {"good_cursor": 3}, {"evil_cursor": -1}),
        {"good_pattern": (9,), "good_cursor": 0},
        {"kind": "cells", "evil_pattern": (20, 1)},
        *({"step": -1}, {"horizon": 2**32}, {"seed": 2**64}, {"counter": 2**63}),
        {"cells": (), "actions": (), "utterances": (), "rewards": ()},
        *(
            {"cells": (0, 1, 20)},
            {"actions": (0, 1)},
            {"actions": (0, 1, 9)},
            {"utterances": (0, 1, 22)},
        ),
        *({"rewards": (0, 0, 3)}, {"needs": 0}, {"needs": 1001}),
    ],
)
def test_invalid_fields_of_a_state_are_refused(change):
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
    straight, stopping = batch_of([s]), batch_of([s])
    for part in range(3):
        moved_on(straight, 4, seed + part)
        moved_on(stopping, 4, seed + part)
        stopping = LambdaStar().restore(stopping.states())
        assert stopping.states() == straight.states()
        np.testing.assert_array_equal(stopping.scene, straight.scene)


def test_worlds_of_different_teams_do_not_share_a_batch():
    alone = state(cells=(0,), actions=(4,), utterances=(0,), rewards=(0,))
    with pytest.raises(DamagedState, match="must agree in radius and number"):
        batch_of([BY_HAND, alone])
