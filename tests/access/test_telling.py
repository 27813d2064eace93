"""What looks for leaks finds one that is put in."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import numpy as np
import pytest

from tests.access.telling import ALPHA, p_value, words_in

AGENT = "wisdom-of-the-crowd"
WORDS = {"agents": [AGENT, "stigmergy"]}


@pytest.mark.parametrize(
    "raw",
    [
        AGENT.encode(),
        f"<i>{AGENT.upper()}</i>".encode(),
        json.dumps({"a": {"b": f"x{AGENT}y"}}).encode(),
        base64.b64encode(b"xx" + AGENT.encode() + b"yyyy"),
        b'{"scene":"' + base64.b64encode(b"\0\1\2" + AGENT.encode()) + b'"}',
        base64.urlsafe_b64encode(b"\xff\xfe\xff" + AGENT.encode()),
        AGENT.encode().hex().encode(),
        quote(AGENT.replace("-", "%2d"), safe="").replace("%25", "%").encode(),
        AGENT.replace("w", "\\u0077").encode(),
    ],
)
def test_a_name_is_found_however_it_is_written(raw: bytes) -> None:
    assert words_in(b"before " + raw + b" after", WORDS) == {("agents", AGENT)}
    assert not words_in(b"before " + raw[:9] + b" after", WORDS)


def servings(seed: int, count: int = 1000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values that the scenario alone explains, and the agent and scenario of each serving."""
    rng = np.random.default_rng(seed)
    agents, scenarios = rng.integers(4, size=count), rng.integers(40, size=count)
    return rng.normal(size=count) + scenarios, agents, scenarios


def test_what_only_the_scenario_explains_gives_nobody_away() -> None:
    every = [p_value(*servings(seed)) for seed in range(5)]
    assert min(every) > ALPHA
    assert p_value(np.zeros(50), np.arange(50) % 3, np.zeros(50)) == 1


@pytest.mark.parametrize("leak", [0.4, -0.4])
def test_a_value_that_one_agent_shifts_is_found_in_a_thousand_servings(leak: float) -> None:
    values, agents, scenarios = servings(7)
    assert p_value(values + leak * (agents == 2), agents, scenarios) <= ALPHA
