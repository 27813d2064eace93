"""Sketches of episodes, as reports show them."""

import base64
import dataclasses
import io

import numpy as np
import pytest
from PIL import Image

from sts import agents
from sts.domains.sketch import Sketch
from sts.engine.rendering import render_frames
from sts.engine.sketches import SIDE, sketch_episode
from sts.episodes import Episode
from sts.errors import ReplayMismatch, StsError
from sts_lambda_star.domain import LambdaStar
from tests.annotator_app import ring
from tests.examples import recorded
from tests.recording import record


def episode(steps: int = 12) -> Episode:
    ringer, asked = agents.load(ring.RINGER), {"count": 1, "steps": steps, "seed": 1}
    return record(ringer, domain=ring.NAME, settings={}, **asked)[0].episode


def sketch(one: Episode, start: int, stop: int) -> Sketch:
    found = sketch_episode(one, (0,), start, stop)
    assert found is not None
    return found


def test_world_with_frames_is_sketched_by_its_last_frame():
    one = episode()
    drawn = sketch(one, 3, 7)
    assert not drawn.lines and not drawn.marks and max(drawn.width, drawn.height) == SIDE
    kind, _, data = drawn.image.partition(",")
    with Image.open(io.BytesIO(base64.b64decode(data))) as image:
        shown = np.asarray(image.convert("RGB")).astype(float)
    assert kind == "data:image/webp;base64"
    frame = render_frames(one)[7]
    assert shown.shape[0] / shown.shape[1] == pytest.approx(frame.shape[0] / frame.shape[1], 0.02)
    assert np.abs(shown.mean((0, 1)) - frame.mean((0, 1))).max() < 3
    assert sketch(one, 3, 99) == sketch(one, 3, one.steps)


def test_positions_become_a_path(monkeypatch):
    monkeypatch.setattr(ring.Ring, "position", lambda world, player: (2, 4), raising=False)
    one = episode()
    drawn = sketch(one, 3, 7)
    height, width, _ = render_frames(one)[0].shape
    at = (2 * SIDE / max(height, width), 4 * SIDE / max(height, width))
    assert [line.tone for line in drawn.lines] == ["own"]
    assert np.allclose(drawn.lines[0].points, [at] * 5, atol=0.051)
    assert [mark.shape for mark in drawn.marks] == ["ring", "dot"]


def test_invalid_position_names_the_domain(monkeypatch):
    monkeypatch.setattr(ring.Ring, "position", lambda world, player: (np.nan, 1), raising=False)
    with pytest.raises(StsError, match=f"{ring.NAME}.* failed to report a position at step 3"):
        sketch_episode(episode(), (0,), 3, 7)


def test_episode_that_replays_differently_is_refused():
    one = episode()
    scene = one.scene.copy()
    scene[2, 0] ^= 1
    with pytest.raises(ReplayMismatch, match="step 1"):
        sketch_episode(dataclasses.replace(one, scene=scene), (0,), 3, 7)


def test_world_without_frames_or_a_sketch_has_none(monkeypatch):
    monkeypatch.delattr(LambdaStar, "sketch")
    assert sketch_episode(recorded(count=1)[0].episode, (0,), 1, 3) is None
