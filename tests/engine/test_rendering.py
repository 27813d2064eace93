"""Frames of episodes that only render pixels: replayed, checked, and kept to the pixel."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sts import agents
from sts.domains.envelope import unwrap
from sts.engine.rendering import (
    MAX_SHEET_PIXELS,
    MAX_SHEET_WIDTH,
    MAX_WEBP_SIDE,
    Frame,
    frames,
    layout,
    look,
    sheets,
    webp,
)
from sts.episodes import Episode
from sts.errors import ArgumentError, DamagedData, ReplayMismatch, StsError
from sts.trajectories.record import record
from tests.annotator_app import ring
from tests.examples import recorded


def episode(steps: int = 12) -> Episode:
    (one,) = record(
        agents.load(ring.RINGER), domain=ring.NAME, count=1, steps=steps, seed=1, settings={}
    )
    return one.episode


def opened(raw: bytes) -> Frame:
    with Image.open(io.BytesIO(raw)) as image:
        assert image.format == "WEBP"
        return np.asarray(image.convert("RGB"))


def test_what_is_no_recording_of_the_state_is_refused_before_a_step() -> None:
    one = episode()
    moves = one.moves.copy()
    moves[3, 0] = 99
    with pytest.raises(DamagedData, match="expected actions and utterances of"):
        frames(dataclasses.replace(one, moves=moves))
    more: dict[str, Any] = {
        name: np.repeat(getattr(one, name), 2, 1) for name in ("moves", "says", "rewards")
    }
    with pytest.raises(ReplayMismatch, match="step 0: the state has other participants"):
        frames(dataclasses.replace(one, **more))


def test_there_is_a_frame_before_each_step_and_after_the_last() -> None:
    one = episode()
    found = frames(one)
    assert len(found) == 13
    world = ring.Ring()
    world.reset(0)
    world.restore(unwrap(ring.NAME, "1", one.state))
    for t in range(12):
        assert np.array_equal(found[t], world.render())
        world.step(one.moves[t].tolist())
    assert np.array_equal(found[12], world.render())


@pytest.mark.parametrize(("row", "step"), [(0, 0), (4, 3), (12, 11)])
def test_a_recording_that_shows_something_else_is_refused_by_its_step(row: int, step: int) -> None:
    one = episode()
    scene = one.scene.copy()
    scene[row, 1] ^= 1
    other = Episode(one.domain, one.state, one.moves, one.says, one.rewards, scene)
    with pytest.raises(ReplayMismatch, match=f"step {step}") as refused:
        frames(other)
    assert refused.value.step == step


def test_a_domain_whose_scenes_are_drawn_has_no_frames() -> None:
    with pytest.raises(ArgumentError, match="does not render frames"):
        frames(recorded(count=1)[0].episode)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(1, 300), st.integers(0, 2**32 - 1))
def test_sheets_have_exactly_the_pixels_of_their_frames(
    count: int, height: int, width: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    every = [rng.integers(0, 256, (height, width, 3), np.uint8) for _ in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        most = int(rng.integers(1, 2 * count * height * width))
        patch.setattr("sts.engine.rendering.MAX_SHEET_PIXELS", most)
        made = sheets(every)
    rest = iter(every)
    for one in made:
        picture = opened(one.webp)
        for f in range(one.count):
            row, column = divmod(f, one.columns)
            top, left = row * height, column * width
            assert np.array_equal(picture[top : top + height, left : left + width], next(rest))
    assert next(rest, None) is None


@given(st.integers(1, 5000), st.integers(1, MAX_WEBP_SIDE), st.integers(1, MAX_WEBP_SIDE))
def test_no_sheet_is_larger_than_webp_and_a_browser_can_take(
    count: int, height: int, width: int
) -> None:
    parts = layout(count, height, width)
    assert sum(held for _, held in parts) == count
    for columns, held in parts:
        rows = -(-held // columns)
        assert columns * width <= max(MAX_SHEET_WIDTH, width) and rows * height <= MAX_WEBP_SIDE
        assert held == 1 or held * height * width <= MAX_SHEET_PIXELS
        assert columns <= held


def test_a_frame_larger_than_webp_allows_is_refused() -> None:
    with pytest.raises(StsError, match="16383 pixels a side, .*, found 3 x 16384"):
        sheets([np.zeros((3, MAX_WEBP_SIDE + 1, 3), np.uint8)])


def test_frames_of_different_sizes_are_no_sheet() -> None:
    with pytest.raises(StsError, match="one size"):
        sheets([np.zeros((2, 2, 3), np.uint8), np.zeros((2, 3, 3), np.uint8)])


class Looking:
    """Worlds that look as told."""

    def __init__(self, shape: tuple[int, ...], kind: str) -> None:
        self.frame = np.zeros(shape, kind)

    def frames(self, role: int | None = None) -> list[np.ndarray]:
        return [self.frame]


@pytest.mark.parametrize(
    ("shape", "kind", "found"),
    [
        ((4, 6), "uint8", r"uint8\(4, 6\)"),
        ((4, 6, 4), "uint8", r"uint8\(4, 6, 4\)"),
        ((4, 6, 3), "float64", r"float64\(4, 6, 3\)"),
        ((0, 6, 3), "uint8", r"uint8\(0, 6, 3\)"),
    ],
)
def test_grey_transparent_real_or_empty_frames_are_refused(
    shape: tuple[int, ...], kind: str, found: str
) -> None:
    with pytest.raises(StsError, match=rf"'odd': expected frames uint8\[H, W, 3\], found {found}"):
        look(Looking(shape, kind), "odd")  # type: ignore[arg-type]


def test_an_animation_has_every_frame_as_it_is() -> None:
    every = frames(episode())
    with Image.open(io.BytesIO(webp(*every))) as image:
        # A frame that shows what the one before it shows lengthens that one.
        durations, seen = 0, []
        for f in range(image.n_frames):  # type: ignore[attr-defined]
            image.seek(f)
            seen.append(np.asarray(image.convert("RGB")))
            durations += image.info["duration"]
    assert durations == 250 * len(every)
    assert all(any(np.array_equal(one, frame) for one in seen) for frame in every)
