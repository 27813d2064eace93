"""Pictures of continuations: rendered once, kept in the workspace, shown to judges and players."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sts.continuations.continuation import Continuation
from sts.continuations.continuation_store import load
from sts.domains import load_domain
from sts.engine.rendering import render_frame, render_frames
from sts.errors import ReplayMismatch, StsError
from sts.live.game import Game
from sts.live.openings import open_scenario
from sts.live.records import make_live_continuation
from sts.live.types import Turn
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from sts.viewer import sprites
from sts.viewer.payload import continuation_payload
from sts_annotator_app.sprites import start_rendering
from tests.annotator_app import ring
from tests.waiting import wait_until

ORANGE = (230, 159, 0)  # the other walker, out of sight of a person who plays the first


@pytest.fixture
def workspace(ringing: Path, tmp_path: Path) -> Workspace:
    """A workspace of its own with the same recordings, and no pictures yet."""
    for name in ("suites", "continuations", "workspace.toml"):
        (tmp_path / name).symlink_to(ringing / name)
    return Workspace.open(str(tmp_path))


@pytest.fixture
def suite(workspace: Workspace) -> Suite:
    return suites.load(workspace, ring.SUITE)


@pytest.fixture
def one(workspace: Workspace, suite: Suite) -> Continuation:
    """A continuation of the suite."""
    return min(load(workspace, {s.hash for s in suite.scenarios}), key=lambda c: c.id)


def pixels(text: str) -> Any:
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return np.asarray(image.convert("RGB"))


def unpack(data: dict[str, Any]) -> list[Any]:
    """Return the frames that the player cuts out of the sprites it is sent."""
    out = []
    for sprite in data["sprites"]:
        picture = pixels(sprite["webp"])
        for f in range(sprite["count"]):
            row, column = divmod(f, sprite["columns"])
            top, left = row * data["height"], column * data["width"]
            out.append(picture[top : top + data["height"], left : left + data["width"]])
    return out


def test_sprites_hold_the_exact_pixels_and_no_agent_or_scenario(
    workspace: Workspace, one: Continuation
) -> None:
    data = continuation_payload(workspace, one)
    sent = json.dumps(data, allow_nan=False)
    assert data["drawing"] is None and "scene" not in data
    assert data["names"] == ["blue walker", "orange walker"] and data["judged"] == [0]
    assert np.array_equal(unpack(data), render_frames(one.episode))
    raw = b"".join(base64.b64decode(sprite["webp"]) for sprite in data["sprites"])
    for word in ("ringer", one.id, one.fingerprint[:12], one.scenario_id, ring.NAME):
        assert word not in sent and word.encode() not in raw


def test_sprites_are_rendered_once_in_sheets_of_limited_size(
    workspace: Workspace, one: Continuation, monkeypatch: pytest.MonkeyPatch
) -> None:
    (whole,) = sprites.load_sprites(workspace, one.episode)
    side = 3 * ring.SIDE * 40 * ring.SIDE
    monkeypatch.setattr("sts.engine.rendering.MAX_SHEET_PIXELS", 15 * side)
    made = sprites.load_sprites(workspace, one.episode)
    assert [sprite.count for sprite in made] == [15, 15, 11] and whole.count == 41
    assert np.array_equal(unpack(continuation_payload(workspace, one)), render_frames(one.episode))
    monkeypatch.setattr(sprites, "render_frames", None)
    assert sprites.load_sprites(workspace, one.episode) == made


def test_sprites_are_rendered_again_when_the_renderer_changes(
    workspace: Workspace, one: Continuation, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sprites.load_sprites(workspace, one.episode)
    render = ring.Ring.render
    monkeypatch.setattr(ring.Ring, "render", lambda self: 255 - render(self))
    assert sprites.load_sprites(workspace, one.episode) != before
    assert np.array_equal(unpack(continuation_payload(workspace, one)), render_frames(one.episode))


def test_renderer_that_crashes_or_changes_its_size_raises_and_keeps_nothing(
    workspace: Workspace, one: Continuation, monkeypatch: pytest.MonkeyPatch
) -> None:
    render = ring.Ring.render

    def crashing(self: ring.Ring) -> Any:
        raise RuntimeError("no display")

    monkeypatch.setattr(ring.Ring, "render", crashing)
    with pytest.raises(StsError, match="failed to render at step 0: RuntimeError: no display"):
        continuation_payload(workspace, one)
    monkeypatch.setattr(ring.Ring, "render", lambda self: render(self)[:, : -1 - self.at[0]])
    with pytest.raises(StsError, match="expected frames of one size"):
        continuation_payload(workspace, one)
    assert not workspace.path(sprites.FOLDER).exists()


def test_unwritable_sprite_folder_does_not_prevent_rendering(
    workspace: Workspace, one: Continuation
) -> None:
    workspace.path(sprites.FOLDER).write_text("in the way")
    first, again = (sprites.load_sprites(workspace, one.episode) for _ in range(2))
    assert first == again and workspace.path(sprites.FOLDER).read_text() == "in the way"


def test_episode_that_does_not_replay_has_no_sprite(
    workspace: Workspace, one: Continuation
) -> None:
    object.__setattr__(one.episode, "scene", one.episode.scene[::-1].copy())
    with pytest.raises(ReplayMismatch):
        sprites.load_sprites(workspace, one.episode)


@pytest.mark.landing
def test_background_process_renders_all_sprites_of_a_suite(
    workspace: Workspace, suite: Suite
) -> None:
    found = load(workspace, {s.hash for s in suite.scenarios})
    expected = len({c.episode.content_hash for c in found})
    start_rendering(workspace, ring.SUITE)
    made = workspace.path(sprites.FOLDER)
    wait_until(lambda: len(list(made.glob("*.webp"))) == expected, "all sprites are there")


@pytest.mark.parametrize(("name", "sees"), [(ring.PEEPING, "observation"), (ring.NAME, "world")])
def test_player_sees_only_the_observation_or_else_counts_as_privileged(
    tmp_path: Path, name: str, sees: str
) -> None:
    scenario, *_ = ring.scenarios(4, name)
    opening, seen = open_scenario(scenario, "p-1"), []
    game = Game.start(tmp_path / "journal", opening, scenario=scenario)
    for step in range(opening.max_steps + 1):
        seen.append(render_frame(game.worlds, name, 0))  # what the page is sent
        if step < opening.max_steps:
            game.step({0: Turn(1 + step % 2, 0)})
    game.close()
    made = make_live_continuation(game)
    assert made.sees == sees

    wanted = (
        [world.render_player_view(0) for world in replay(made)] if sees == "observation" else []
    )
    assert np.array_equal(np.stack(seen), wanted or render_frames(made.episode))
    shows_the_other = any((frame == ORANGE).all(-1).any() for frame in seen)
    assert shows_the_other is (sees == "world")
    judged = unpack(continuation_payload(Workspace.open(str(tmp_path)), made))
    assert np.array_equal(judged, render_frames(made.episode)), (
        "a judge sees everything all the same"
    )


def replay(one: Continuation) -> Iterator[ring.Peeping]:
    """Yield the environment before each step and after the last."""
    (world,) = load_domain(one.episode.domain).restore([one.episode.state])._worlds  # type: ignore[attr-defined]
    yield world
    for actions in one.episode.actions.tolist():
        world.step(actions)
        yield world
