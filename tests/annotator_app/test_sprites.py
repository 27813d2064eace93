"""Pictures of continuations: made once, kept in the workspace, and never in anybody's way."""

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

from sts.annotations.store import Store
from sts.continuations import human
from sts.continuations.store import load
from sts.continuations.types import Continuation
from sts.domains import domain
from sts.domains.envelope import unwrap
from sts.engine.rendering import frames
from sts.errors import MissingExtra, ReplayMismatch, StsError
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.viewer import sprites
from sts.viewer.payload import shown
from sts_annotator_app import play
from sts_annotator_app.sprites import start_rendering
from tests.annotator_app import ring
from tests.stores import add_person


def one_of(workspace: Workspace) -> Continuation:
    scenarios = suites.load(workspace, ring.SUITE).scenarios
    return min(load(workspace, {s.hash for s in scenarios}), key=lambda c: c.id)


@pytest.fixture
def workspace(ringing: Path, tmp_path: Path) -> Workspace:
    """A workspace of its own with the same recordings, and no pictures yet."""
    for name in ("suites", "continuations", "workspace.toml"):
        (tmp_path / name).symlink_to(ringing / name)
    return Workspace.open(str(tmp_path))


def at_play(
    workspace: Workspace, store: Store, suite: Any, who: Any, sent: Any, **more: Any
) -> dict[str, Any]:
    """What the person's page is sent for `sent`, which is theirs."""
    sent = sent and {"author": "me", **sent}
    given: dict[str, Any] = {"plays": play.PlaySessions(), "judged": (), "broken": set()} | more
    data = play.sync_page(workspace, store, suite, who, sent, author="me", **given)
    assert data.pop("author") == "me"
    return data


def pixels(text: str) -> Any:
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return np.asarray(image.convert("RGB"))


def unpacked(data: dict[str, Any]) -> list[Any]:
    """The frames that the player cuts out of the sprites it is sent."""
    out = []
    for sprite in data["sprites"]:
        picture = pixels(sprite["webp"])
        for f in range(sprite["count"]):
            row, column = divmod(f, sprite["columns"])
            top, left = row * data["height"], column * data["width"]
            out.append(picture[top : top + data["height"], left : left + data["width"]])
    return out


def test_the_player_is_sent_the_very_pixels_and_no_digests(workspace: Workspace) -> None:
    one = one_of(workspace)
    data = shown(workspace, one)
    json.dumps(data, allow_nan=False)
    assert data["drawing"] is None and "scene" not in data
    assert data["names"] == ["blue walker", "orange walker"] and data["judged"] == [0]
    assert np.array_equal(unpacked(data), frames(one.episode))


def test_nothing_in_what_is_sent_tells_who_played(workspace: Workspace) -> None:
    one = one_of(workspace)
    sent = json.dumps(shown(workspace, one))
    raw = b"".join(base64.b64decode(s["webp"]) for s in shown(workspace, one)["sprites"])
    for word in ("ringer", one.id, one.fingerprint[:12], one.scenario_id, ring.NAME):
        assert word not in sent and word.encode() not in raw


def test_a_sprite_is_made_once_and_read_from_then_on(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = one_of(workspace)
    made = sprites.load_sprites(workspace, one.episode)
    monkeypatch.setattr(sprites, "frames", None)
    assert sprites.load_sprites(workspace, one.episode) == made


def test_an_episode_of_many_pixels_comes_in_several_sprites(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = one_of(workspace)
    (whole,) = sprites.load_sprites(workspace, one.episode)
    side = 3 * ring.SIDE * 40 * ring.SIDE
    monkeypatch.setattr("sts.engine.rendering.MAX_SHEET_PIXELS", 15 * side)
    made = sprites.load_sprites(workspace, one.episode)
    assert [sprite.count for sprite in made] == [15, 15, 11] and whole.count == 41
    assert np.array_equal(unpacked(shown(workspace, one)), frames(one.episode))
    monkeypatch.setattr(sprites, "frames", None)
    assert sprites.load_sprites(workspace, one.episode) == made


def test_a_domain_that_is_drawn_anew_is_seen_anew(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = one_of(workspace)
    before = sprites.load_sprites(workspace, one.episode)
    drawn = ring.Ring.render
    monkeypatch.setattr(ring.Ring, "render", lambda self: 255 - drawn(self))
    assert sprites.load_sprites(workspace, one.episode) != before
    assert np.array_equal(unpacked(shown(workspace, one)), frames(one.episode))


def test_a_renderer_that_crashes_or_changes_its_size_is_one_line(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = one_of(workspace)
    drawn = ring.Ring.render

    def crashing(self: ring.Ring) -> Any:
        raise RuntimeError("no display")

    def growing(self: ring.Ring) -> Any:
        return drawn(self)[:, : -1 - self.at[0]]

    monkeypatch.setattr(ring.Ring, "render", crashing)
    with pytest.raises(StsError, match="failed to render at step 0: RuntimeError: no display"):
        shown(workspace, one)
    monkeypatch.setattr(ring.Ring, "render", growing)
    with pytest.raises(StsError, match="expected frames of one size"):
        shown(workspace, one)
    assert not workspace.path(sprites.FOLDER).exists()


def test_a_folder_that_cannot_be_written_costs_only_time(workspace: Workspace) -> None:
    workspace.path(sprites.FOLDER).write_text("in the way")
    one = one_of(workspace)
    first, again = (sprites.load_sprites(workspace, one.episode) for _ in range(2))
    assert first == again and workspace.path(sprites.FOLDER).read_text() == "in the way"


def test_an_episode_that_does_not_replay_has_no_sprite(workspace: Workspace) -> None:
    episode = one_of(workspace).episode
    object.__setattr__(episode, "scene", episode.scene[::-1].copy())
    with pytest.raises(ReplayMismatch):
        sprites.load_sprites(workspace, episode)


@pytest.mark.landing
def test_all_sprites_of_a_suite_are_made_by_another_process(workspace: Workspace) -> None:
    scenarios = suites.load(workspace, ring.SUITE).scenarios
    expected = {c.episode.content_hash for c in load(workspace, {s.hash for s in scenarios})}
    start_rendering(workspace, ring.SUITE)
    began, made = time.monotonic(), 0
    while made < len(expected) and time.monotonic() - began < 300:  # it gives way to all others
        time.sleep(0.1)
        made = len(list(workspace.path(sprites.FOLDER).glob("*.webp")))
    assert made == len(expected)


def test_a_person_who_plays_sees_the_frames_and_one_more_with_each_turn(
    workspace: Workspace,
) -> None:
    suite = suites.load(workspace, ring.SUITE)
    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        begun = at_play(workspace, store, suite, who, None)
        sent = {"session": begun["session"], "turns": [[2, 0], [1, 0]], "seconds": 3}
        data = at_play(workspace, store, suite, who, sent)
    json.dumps(data, allow_nan=False)
    assert [one["count"] for one in begun["sprites"]] == [ring.TAKEOVER + 1]
    assert [one["count"] for one in data["sprites"]] == [ring.TAKEOVER + 1, 1, 1]
    assert len(data["frames"]) == ring.TAKEOVER + 3 and data["you"] == "blue walker"
    last = pixels(data["sprites"][-1]["webp"])
    assert last.shape == (data["height"], data["width"], 3)
    # Right and then left: the walker is where it was at takeover, which is the sprite's last frame.
    context = pixels(data["sprites"][0]["webp"])
    row, column = divmod(ring.TAKEOVER, data["sprites"][0]["columns"])
    top, left = row * data["height"], column * data["width"]
    before = context[top : top + data["height"], left : left + data["width"]]
    assert np.array_equal(last[: ring.SIDE], before[: ring.SIDE])
    assert not np.array_equal(pixels(data["sprites"][1]["webp"])[: ring.SIDE], last[: ring.SIDE])


ORANGE = (230, 159, 0)  # the other walker, whom nobody who plays of the first can see


@pytest.mark.parametrize(("name", "sees"), [(ring.PEEPING, "observation"), (ring.NAME, "world")])
def test_a_person_is_shown_what_the_participant_may_see_or_else_is_a_baseline(
    tmp_path: Path, name: str, sees: str
) -> None:
    workspace = Workspace.open(str(tmp_path)).ensure()
    scenario, *_ = ring.scenarios(4, name)
    suite = suites.freeze(workspace, "rings", [scenario])
    turns = [[1 + t % 2, 0] for t in range(ring.HORIZON)]
    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        begun = at_play(workspace, store, suite, who, None)
        sent = {"session": begun["session"], "turns": turns, "seconds": 3}
        data = at_play(workspace, store, suite, who, sent)
    (made,) = load(workspace, {scenario.hash})
    assert made.sees == sees and data["finished"]

    wanted = [world.sight(0) for world in replayed(made)] if sees == "observation" else []
    seen = unpacked(data)
    assert np.array_equal(seen, wanted or frames(made.episode))
    shows_the_other = any((frame == ORANGE).all(-1).any() for frame in seen)
    assert shows_the_other is (sees == "world")
    judged = unpacked(shown(workspace, made))
    assert np.array_equal(judged, frames(made.episode)), "a judge sees everything all the same"


def replayed(one: Continuation) -> Iterator[ring.Peeping]:
    """The world before each step and after the last."""
    (world,) = domain(one.episode.domain).restore([one.episode.state])._worlds  # type: ignore[attr-defined]
    yield world
    for moves in one.episode.moves.tolist():
        world.step(moves)
        yield world


def test_a_scenario_that_cannot_be_shown_is_passed_over_in_a_turn(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suites.load(workspace, ring.SUITE)
    drawn = ring.Ring.render
    bells = set[int]()

    def crashing(self: ring.Ring) -> Any:
        if not bells or self.bell in bells:
            raise RuntimeError("no display")
        return drawn(self)

    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        first = at_play(workspace, store, suite, who, None)["session"]
        monkeypatch.setattr(ring.Ring, "render", crashing)
        none = at_play(workspace, store, suite, who, None)
        assert none == {"session": None, "broken": play.MAX_TRIES}
        scenario = next(s for s in suite.scenarios if play.session_key(who, s) == first)
        bells.add(json.loads(unwrap(ring.NAME, "1", scenario.recording.state))[2])
        assert at_play(workspace, store, suite, who, None)["session"] != first


def test_scenarios_that_cannot_be_shown_hide_none_that_can(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite, broken = suites.load(workspace, ring.SUITE), set[str]()
    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        order = sorted(suite.scenarios, key=lambda s: play.session_key(who, s))
        sound = order[play.MAX_TRIES]

        class Crashing(play.PlaySession):
            def __init__(self, workspace: Workspace, scenario: Any, person: Any) -> None:
                if scenario is not sound:
                    raise StsError("no display")
                super().__init__(workspace, scenario, person)

        monkeypatch.setattr(play, "PlaySession", Crashing)
        none, found = (at_play(workspace, store, suite, who, None, broken=broken) for _ in range(2))
        assert none == {"session": None, "broken": play.MAX_TRIES}
        assert found["session"] == play.session_key(who, sound)


def test_what_a_page_sends_closes_a_scenario_to_nobody_else(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = suites.load(workspace, ring.SUITE)
    plays, broken = play.PlaySessions(), set[str]()

    def failing(self: human.Play, turn: human.Turn) -> None:
        raise StsError("the partner failed")

    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        more: dict[str, Any] = {"plays": plays, "broken": broken}
        first = at_play(workspace, store, suite, who, None, **more)
        sent = {"session": first["session"], "turns": [[2, 0]]}
        with monkeypatch.context() as patch:
            patch.setattr(human.Play, "take", failing)
            other = at_play(workspace, store, suite, who, sent, **more)
        assert other["session"] != first["session"] and broken == set()
        again = at_play(workspace, store, suite, who, sent, **more)
    assert (again["session"], again["played"]) == (first["session"], 1)


def test_a_world_that_is_not_at_hand_is_passed_over_in_a_turn(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> Any:
        raise MissingExtra("it needs what is not installed")

    suite = suites.load(workspace, ring.SUITE)
    monkeypatch.setattr(play, "domain", missing)
    with Store.open(workspace) as store:
        who = add_person(store, "ann")
        data = at_play(workspace, store, suite, who, None)
    assert data == {"session": None, "broken": play.MAX_TRIES}
