"""Frames of episodes that only render pixels: replayed, checked, and kept to the pixel."""

import dataclasses
import io
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sts import agents
from sts.domains.envelope import remove_envelope
from sts.engine.rendering import (
    MAX_SHEET_PIXELS,
    MAX_SHEET_WIDTH,
    MAX_WEBP_SIDE,
    Frame,
    encode_webp,
    pack_sheets,
    plan_sheets,
    render_frame,
    render_frames,
)
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from tests.annotator_app import ring
from tests.examples import recorded
from tests.recording import record


def episode(steps: int = 12) -> Episode:
    ringer, asked = agents.load(ring.RINGER), {"count": 1, "steps": steps, "seed": 1}
    return record(ringer, domain=ring.NAME, settings={}, **asked)[0].episode


def open_image(raw: bytes) -> Frame:
    with Image.open(io.BytesIO(raw)) as image:
        assert image.format == "WEBP"
        return np.asarray(image.convert("RGB"))


def test_frames_reject_an_invalid_episode_before_a_step():
    one = episode()
    actions = one.actions.copy()
    actions[3, 0] = 99
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        render_frames(dataclasses.replace(one, actions=actions))
    more: dict[str, Any] = {
        name: np.repeat(getattr(one, name), 2, 1) for name in ("actions", "utterances", "rewards")
    }
    with pytest.raises(ReplayMismatch, match="step 0: the state has other players"):
        render_frames(dataclasses.replace(one, **more))
    with pytest.raises(ArgumentError, match="does not render frames"):
        render_frames(recorded(count=1)[0].episode)


def test_frames_show_every_state_of_an_episode():
    one = episode()
    found = render_frames(one)
    assert len(found) == 13
    world = ring.Ring()
    world.reset(0)
    world.restore(remove_envelope(ring.NAME, "1", one.state))
    for t in range(12):
        assert np.array_equal(found[t], world.render())
        world.step(one.actions[t].tolist())
    assert np.array_equal(found[12], world.render())


@pytest.mark.parametrize(("row", "step"), [(0, 0), (4, 3), (12, 11)])
def test_frames_that_differ_from_the_recording_are_named_by_step(row, step):
    one = episode()
    scene = one.scene.copy()
    scene[row, 1] ^= 1
    with pytest.raises(ReplayMismatch, match=f"step {step}") as refused:
        render_frames(dataclasses.replace(one, scene=scene))
    assert refused.value.step == step


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_sheets_have_exactly_the_pixels_of_their_frames(count, height, width, seed):
    rng = np.random.default_rng(seed)
    every = [rng.integers(0, 256, (height, width, 3), np.uint8) for _ in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        most = int(rng.integers(1, 2 * count * height * width))
        patch.setattr("sts.engine.rendering.MAX_SHEET_PIXELS", most)
        made = pack_sheets(every)
    rest = iter(every)
    for one in made:
        picture = open_image(one.webp)
        for f in range(one.count):
            row, column = divmod(f, one.columns)
            top, left = row * height, column * width
            assert np.array_equal(picture[top : top + height, left : left + width], next(rest))
    assert next(rest, None) is None


@given(st.integers(1, 5000), st.integers(1, MAX_WEBP_SIDE), st.integers(1, MAX_WEBP_SIDE))
def test_sheets_stay_within_the_limits_of_webp_and_browsers(count, height, width):
    parts = plan_sheets(count, height, width)
    assert sum(held for _, held in parts) == count
    for columns, held in parts:
        rows = -(-held // columns)
        assert columns * width <= max(MAX_SHEET_WIDTH, width) and rows * height <= MAX_WEBP_SIDE
        assert held == 1 or held * height * width <= MAX_SHEET_PIXELS
        assert columns <= held


def test_too_large_or_mixed_frames_are_rejected():
    with pytest.raises(StsError, match="16383 pixels a side, .*, found 3 x 16384"):
        pack_sheets([np.zeros((3, MAX_WEBP_SIDE + 1, 3), np.uint8)])
    with pytest.raises(StsError, match="one size"):
        pack_sheets([np.zeros((2, width, 3), np.uint8) for width in (2, 3)])


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((4, 6), "uint8"), ((4, 6, 4), "uint8"), ((4, 6, 3), "float64"), ((0, 6, 3), "uint8")],
)
def test_frames_must_be_nonempty_rgb_bytes(shape, kind):
    worlds = SimpleNamespace(frames=lambda player=None: [np.zeros(shape, kind)])
    found = re.escape(f"'odd': expected frames uint8[H, W, 3], found {kind}{shape}")
    with pytest.raises(StsError, match=found):
        render_frame(worlds, "odd")


def test_animation_holds_every_frame_unchanged():
    every = render_frames(episode())
    with Image.open(io.BytesIO(encode_webp(*every))) as image:
        # A frame that shows what the one before it shows lengthens that one.
        durations, seen = 0, []
        for f in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(f)
            seen.append(np.asarray(image.convert("RGB")))
            durations += image.info["duration"]
    assert durations == 250 * len(every)
    assert all(any(np.array_equal(one, frame) for one in seen) for frame in every)
