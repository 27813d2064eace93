"""Compiled and uncompiled runs agree, with every warning an error."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from sts.domains import load_domain
from tests.examples import agents_of
from tests.worlds.lambda_star import hashes


def printed(states: list[bytes], **environment: str) -> dict[str, str]:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", hashes.__name__],
        input="\n".join(state.hex() for state in states),
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, str] = json.loads(done.stdout)
    return found


SLOW = [pytest.param(*sizes, marks=pytest.mark.slow) for sizes in ((1, 2), (5, 1), (2, 2))]


@pytest.mark.parametrize(("count", "radius"), [(1, 1), *SLOW])
def test_compiled_and_uncompiled_episodes_have_the_same_hashes(count, radius):
    world, settings = load_domain("lambda-star"), {"n_players": 3, "horizon": 20, "radius": radius}
    sizes = ((3, 3, "paper"), (7, 5, "paper"), (4, 4, "lambdastar-2016"))
    states = [
        state
        for height, width, kind in (sizes if radius == 1 else [(6, 5, "paper")])
        for state in world.generate(
            count, seed=2, height=height, width=width, patterns=kind, **settings
        )
    ]
    compiled = hashes.hashes(states)
    assert compiled == printed(states, NUMBA_DISABLE_JIT="1")
    assert set(agents_of("lambda-star")) < set(compiled)
