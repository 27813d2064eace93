"""Pictures of continuations: rendered once, kept in the workspace, shown to judges and players."""

from __future__ import annotations

import base64
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sts.annotations.store import AnnotationStore
from sts.continuations import human
from sts.continuations.store import load
from sts.continuations.types import Continuation
from sts.domains import load_domain
from sts.domains.envelope import remove_envelope
from sts.engine.rendering import render_frames
from sts.errors import MissingExtra, ReplayMismatch, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.types import Suite
from sts.viewer import sprites
from sts.viewer.payload import continuation_payload
from sts_annotator_app import play
from sts_annotator_app.sprites import start_rendering
from tests.annotator_app import ring
from tests.stores import add_person

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


class Player:
    """A person at a page of play, with an author's name of their own."""

    def __init__(self, workspace: Workspace, store: AnnotationStore, suite: Suite) -> None:
        self.given = (workspace, store, suite, add_person(store, "ann"))
        self.person = self.given[-1]

    def send(self, session: str = "", turns: Any = None, **more: Any) -> dict[str, Any]:
        """Return the answer to turns in a session, or to a page that is opened."""
        sent = {"author": "me", "session": session, "turns": turns, "seconds": 3}
        given: dict[str, Any] = {"plays": play.PlaySessions(), "judged": (), "broken": set()}
        message = sent if session else None
        data = play.sync_page(*self.given, message, author="me", **given | more)
        assert data.pop("author") == "me"
        return data


@pytest.fixture
def player(workspace: Workspace, store: AnnotationStore, suite: Suite) -> Player:
    return Player(workspace, store, suite)


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
    began, made = time.monotonic(), 0
    while made < expected and time.monotonic() - began < 300:  # it gives way to all others
        time.sleep(0.1)
        made = len(list(workspace.path(sprites.FOLDER).glob("*.webp")))
    assert made == expected


def test_player_receives_the_context_and_one_frame_for_each_turn(player: Player) -> None:
    begun = player.send()
    data = player.send(begun["session"], [[2, 0], [1, 0]])
    json.dumps(data, allow_nan=False)
    assert [one["count"] for one in begun["sprites"]] == [ring.TAKEOVER + 1]
    assert [one["count"] for one in data["sprites"]] == [ring.TAKEOVER + 1, 1, 1]
    assert len(data["frames"]) == ring.TAKEOVER + 3 and data["you"] == "blue walker"
    # Right and then left: at the end, the walker is where it was at takeover.
    *_, takeover, right, last = (frame[: ring.SIDE] for frame in unpack(data))
    assert np.array_equal(last, takeover) and not np.array_equal(right, last)


@pytest.mark.parametrize(("name", "sees"), [(ring.PEEPING, "observation"), (ring.NAME, "world")])
def test_player_sees_only_the_observation_or_else_counts_as_privileged(
    tmp_path: Path, name: str, sees: str
) -> None:
    workspace = Workspace.open(str(tmp_path)).create()
    scenario, *_ = ring.scenarios(4, name)
    suite = suites.freeze(workspace, "rings", [scenario])
    with AnnotationStore.open(workspace) as store:
        player = Player(workspace, store, suite)
        turns = [[1 + t % 2, 0] for t in range(ring.HORIZON)]
        data = player.send(player.send()["session"], turns)
    (made,) = load(workspace, {scenario.hash})
    assert made.sees == sees and data["finished"]

    wanted = (
        [world.render_player_view(0) for world in replay(made)] if sees == "observation" else []
    )
    seen = unpack(data)
    assert np.array_equal(seen, wanted or render_frames(made.episode))
    shows_the_other = any((frame == ORANGE).all(-1).any() for frame in seen)
    assert shows_the_other is (sees == "world")
    judged = unpack(continuation_payload(workspace, made))
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


def test_scenario_that_cannot_be_rendered_is_skipped_for_play(
    player: Player, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    render, bells = ring.Ring.render, set[int]()

    def crashing(self: ring.Ring) -> Any:
        if not bells or self.bell in bells:
            raise RuntimeError("no display")
        return render(self)

    first = player.send()["session"]
    monkeypatch.setattr(ring.Ring, "render", crashing)
    assert player.send() == {"session": None, "broken": play.MAX_TRIES}
    scenario = next(s for s in suite.scenarios if play.session_key(player.person, s) == first)
    bells.add(json.loads(remove_envelope(ring.NAME, "1", scenario.recording.state))[2])
    assert player.send()["session"] != first


def test_scenarios_that_cannot_be_shown_do_not_hide_the_next_one(
    player: Player, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = sorted(suite.scenarios, key=lambda s: play.session_key(player.person, s))
    sound, broken = order[play.MAX_TRIES], set[str]()

    class Crashing(play.PlaySession):
        def __init__(self, workspace: Workspace, scenario: Any, person: Any) -> None:
            if scenario is not sound:
                raise StsError("no display")
            super().__init__(workspace, scenario, person)

    monkeypatch.setattr(play, "PlaySession", Crashing)
    none, found = (player.send(broken=broken) for _ in range(2))
    assert none == {"session": None, "broken": play.MAX_TRIES}
    assert found["session"] == play.session_key(player.person, sound)


def test_turn_that_fails_does_not_close_the_scenario(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: human.Play, turn: human.Turn) -> None:
        raise StsError("the partner failed")

    more: dict[str, Any] = {"plays": play.PlaySessions(), "broken": set[str]()}
    first = player.send(**more)["session"]
    with monkeypatch.context() as patch:
        patch.setattr(human.Play, "take", failing)
        other = player.send(first, [[2, 0]], **more)
    assert other["session"] != first and more["broken"] == set()
    again = player.send(first, [[2, 0]], **more)
    assert (again["session"], again["played"]) == (first, 1)


def test_uninstalled_domain_is_skipped_for_play(
    player: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise MissingExtra("it needs what is not installed")

    monkeypatch.setattr(play, "load_domain", missing)
    assert player.send() == {"session": None, "broken": play.MAX_TRIES}
