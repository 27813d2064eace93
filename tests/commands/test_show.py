"""Strips in the terminal: context, takeover and continuation, two agents side by side."""

import json
import shutil
import sys
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from sts.annotations.items import item_of
from sts.annotations.store import Store
from sts.cli.main import main
from sts.commands.show import _frames
from sts.commands.terminal import (
    NO_COLOURS,
    _width,
    describe_legend,
    describe_utterances,
    draw_half_blocks,
    join_columns,
    strip,
)
from sts.continuations import store
from sts.domains import domain
from sts.storage.workspace import Workspace
from sts.suites import drafts, lint
from sts.suites import store as suites
from sts.suites.types import Suite
from sts.trajectories import store as trajectories
from sts.worlds.lambda_star.domain import LambdaStar
from sts_scenarios.categories import criterion
from tests.annotations.examples import a_submission
from tests.annotator_app import ring
from tests.examples import in_this_process, played, recorded, scenarios
from tests.stores import add_person, claim_items, enqueue, submit


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("show")
    workspace = Workspace.open(str(folder))
    suites.freeze(workspace, "mine", scenarios(2))
    words = ["--agent", "random", "--agent", "local-search", "--continuations", "2"]
    assert main(["run", "mine@1", *words, "--workspace", str(folder)]) == 0
    return folder


def shown(capsys: pytest.CaptureFixture[str], root: Path, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["show", *words, "--workspace", str(root)]) == 0
    return capsys.readouterr().out.splitlines()


def test_two_agents_on_one_scenario_stand_side_by_side(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["mine@1/clean-take-01", "--agent", "random", "--agent", "local-search"]
    monkeypatch.setenv("COLUMNS", "160")
    wide = shown(capsys, root, *words)
    pair = [line for line in wide if "║" in line]
    assert len(pair) >= 9 and all(line.count("║") == 1 for line in pair)
    assert any("random #0" in line and "local-search #0" in line for line in wide)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = shown(capsys, root, *words)
    assert not any("║" in line for line in narrow)
    assert max(map(len, narrow)) <= 80


def test_a_bar_stands_between_the_takeover_and_what_follows() -> None:
    episode = recorded(count=1)[0].episode
    lines = strip(episode, [0, 6, 14], judged=(0,), takeover=6).splitlines()
    assert len(lines) == 1 + 6
    titles = lines[0].split()
    assert titles == ["-6", "+0", "┃", "+8"]
    assert all(line.count("┃") == 1 for line in lines)
    assert "┃" not in strip(episode, [0, 6, 14], judged=(0,))


def test_every_frame_shows_everybody() -> None:
    episode = recorded("random", count=1, team=1)[0].episode
    for frame in range(episode.steps + 1):
        text = strip(episode, [frame], judged=(0,)).partition("\n")[2]
        assert all(letter in text for letter in "@GE") and "A" not in text
        assert "A" in strip(episode, [frame], judged=()).partition("\n")[2]


def test_what_was_said_is_told_with_its_step(tmp_path: Path) -> None:
    (one,) = scenarios(1)
    turns = [(4, 0), (4, 1)] + [(4, 0)] * 6
    workspace = Workspace.open(str(tmp_path))
    kept = played(one, turns).finish(workspace, seconds=1.0)
    assert describe_utterances(kept.episode, kept.roles, kept.takeover) == "A says “yes” in step +2"


def test_blocks_of_unequal_height_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert join_columns("a\nbb", "c") == "a    ║   c\nbb   ║"
    monkeypatch.setenv("COLUMNS", "9")
    assert join_columns("a\nbb", "c") is None


def test_a_continuation_is_shown_by_the_first_digits_of_its_id(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, root, "mine@1/clean-take-02", "--agent", "random", "--index", "1")
    (title,) = [line for line in lines if line.startswith("random #1")]
    id = title.partition("(")[2].rstrip(")")
    again = shown(capsys, root, id[:10])
    assert again[0] == title
    assert again[1] == "“Go to Good.”"


def test_who_is_asked_what_the_letters_mean_and_that_nobody_has_judged_are_said(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = shown(capsys, root, "mine@1/clean-take-02", "--agent", "random")
    told = "asked: A, drawn as @; others: B; G is Good, E is Evil"
    assert [line for line in lines if line.startswith("asked")] == [told, told]
    assert sum("@" in line for line in lines) > 3
    assert lines[-1] == "not judged yet"


def test_the_mark_of_who_is_asked_is_no_letter_of_the_domain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    episode = recorded("random", count=1, team=2)[0].episode
    world = domain("lambda-star")
    picture = replace(world.picture(episode.state), glyphs=("@", "E", "A", "B"))
    monkeypatch.setattr(type(world), "picture", lambda self, state: picture)
    assert describe_legend(episode, (0, 1)) == "asked: A, B, drawn as &; @ is Good, E is Evil"
    assert "&" in strip(episode, [0], judged=(0, 1))


def test_human_judgements_and_automatic_labels_are_shown_as_what_they_are(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = Workspace.open(str(root))
    found = store.load(workspace, {s.hash for s in suites.load(workspace, "mine@1").scenarios})
    one = next(c for c in found if (c.agent, c.identity.index) == ("random", 1))
    with Store.open(workspace) as opened:
        enqueue(opened, [item_of(one, "mine@1")], required=3)
        for person, verdict, step in (
            ("Ana", "success", 4),
            ("Bo", "cannot_judge", None),
            ("Cy", "success", 2),
        ):
            number = add_person(opened, person).id
            (claim,) = claim_items(opened, number, suite="mine@1")
            sent = a_submission(claim) | {"verdict": verdict, "step": step, "reason": "dark"}
            submit(opened, number, [sent])
    assert shown(capsys, root, one.id)[-1] == (
        "judged by 3 people: 2 success (at +4, +2), 1 cannot_judge"
    )
    assert main(["label", "mine@1", "--workspace", str(root)]) == 0
    words = " ".join(" ".join(shown(capsys, root, one.id)).split())
    assert "judged by 3 people: 2 success" in words and "; automatic label of mine@1: " in words
    (value,) = json.loads("".join(shown(capsys, root, one.id, "--json")))
    assert [each["verdict"] for each in value["judgements"]] == [
        "success",
        "cannot_judge",
        "success",
    ]
    assert value["automatic_labels"][0]["suites"] == ["mine@1"]


@pytest.mark.parametrize("file", ["annotations.sqlite3", "labels/mine-1.parquet"])
def test_what_was_said_and_cannot_be_read_hides_no_strip(
    root: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, file: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_bytes(b"not a database, but long enough to look like one at least" * 20)
    assert main(["show", "mine@1/clean-take-01", "--workspace", str(copy)]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and " are left out: " in printed.err
    assert "@" in printed.out


HOSTILE = "Go\x1b[2J\x1b]0;x\x07 \N{RIGHT-TO-LEFT OVERRIDE}home\n\x9b31mfrozen: yes" + "y" * 5000


def test_nothing_in_a_file_sets_a_terminal_or_makes_a_line_of_its_own(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = scenarios(1)
    told = replace(one.instruction, text=HOSTILE)
    hostile = replace(one, instruction=told, id=HOSTILE, tags=(HOSTILE,))
    trajectory = recorded(count=1)[0]
    people = tuple(replace(p, name=HOSTILE) for p in trajectory.participants)
    workspace = Workspace.open(str(root))
    trajectories.save(workspace, [replace(trajectory, participants=people, source=HOSTILE)])
    suites.write(
        workspace.path("suites", "hostile", "1"), Suite("hostile", 1, None, "", (hostile,), {})
    )
    drafts.begin(workspace, "mine", [hostile])
    (id,) = (t.id for t in trajectories.load(workspace))
    monkeypatch.setattr(lint, "field_faults", lambda scenario: [])
    monkeypatch.setattr(suites, "field_faults", lambda scenario: [])
    for words in (
        ["show", f"hostile@1/{HOSTILE}"],
        ["suite", "show", "hostile@1"],
        ["suite", "ls"],
        ["draft", "show", "mine"],
        ["draft", "show", "mine", HOSTILE],
        ["trajectories", "ls"],
        ["trajectories", "show", id],
        ["trajectories", "show", HOSTILE],
        ["show", HOSTILE],
    ):
        for more in ([], ["--json"]):
            main([*words, *more, "--workspace", str(root)])
            printed = capsys.readouterr()
            for line in (printed.out + printed.err).split("\n"):
                assert line.isprintable() and not line.startswith("frozen")
            if more and printed.out:
                json.loads(printed.out)


def test_more_frames_than_there_are_take_no_more_room() -> None:
    tracemalloc.start()
    assert _frames(3, 8, 10**6) == list(range(9))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pictures")
    workspace = Workspace.open(str(folder))
    suites.freeze(workspace, "rings", ring.scenarios(2))
    words = ["--agent", ring.RINGER, "--continuations", "1"]
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        assert main(["run", ring.SUITE, *words, "--workspace", str(folder)]) == 0
    return folder


def test_pictures_are_shown_where_the_terminal_has_colours(
    pictures: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer"]
    plain = shown(capsys, pictures, *words)
    assert plain.count(NO_COLOURS) == 2 and "\x1b" not in "".join(plain)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr("sts.commands.terminal.shows_colours", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    lines = shown(capsys, pictures, *words)
    assert sum("▀" in line for line in lines) == 2
    assert max(_width(line) for line in lines) <= 100


def test_half_blocks_show_two_pixels_above_each_other() -> None:
    frame = np.zeros((2, 24, 3), np.uint8)
    frame[0], frame[1] = (1, 2, 3), (4, 5, 6)
    assert draw_half_blocks(frame) == ["\x1b[38;2;1;2;3;48;2;4;5;6m▀" * 24 + "\x1b[0m"]


def test_pictures_of_one_continuation_are_written_as_an_animation(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "out" / "one.webp"
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer", "--webp", str(file)]
    frames = ring.TAKEOVER + ring.HORIZON + 1
    assert shown(capsys, pictures, *words)[-1] == f"{frames} pictures written to {file}"
    with Image.open(file) as image:
        assert image.format == "WEBP" and image.n_frames > 1  # type: ignore[attr-defined]


def test_pictures_of_one_continuation_are_written_as_a_film_that_begins_at_once(
    pictures: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    av = pytest.importorskip("av")
    file, exact = tmp_path / "out" / "one.mp4", tmp_path / "one.webp"
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer", "--mp4", str(file), "--webp", str(exact)]
    count = ring.TAKEOVER + ring.HORIZON + 1
    assert shown(capsys, pictures, *words)[-1] == f"{count} pictures written to {file}"
    raw = file.read_bytes()
    assert 0 < raw.index(b"moov") < raw.index(b"mdat"), "what a player needs first stands first"
    with av.open(str(file)) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    with Image.open(exact) as image:
        side = image.size[0]
        times = frames[0].shape[1] // side
        seen = np.asarray(image.convert("RGB")).astype(int)
    middle = frames[0][times // 2 :: times, times // 2 :: times][: seen.shape[0], :side]
    assert len(frames) == count and times * side >= 360
    assert abs(middle.astype(int) - seen).mean() < 6
    assert [one.name for one in file.parent.iterdir()] == ["one.mp4"]


def test_a_film_without_its_extra_is_one_line_that_says_what_to_install(
    pictures: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer", "--mp4", str(tmp_path / "x.mp4")]
    assert main(["show", *words, "--workspace", str(pictures)]) == 2
    assert "standardised-test-suite[video]" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_boards_that_a_browser_draws_are_painted_for_a_film_with_what_judges_see_marked(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, asked = tmp_path / "one.webp", []
    paint = LambdaStar.frames

    def frames(self, episode, focus):
        asked.append(focus)
        return paint(self, episode, focus)

    monkeypatch.setattr(LambdaStar, "frames", frames)
    chosen = next(
        one
        for one in suites.load(Workspace.open(str(root)), "core@2").scenarios
        if (found := criterion(one)) is not None and found.overlay.sight
    )
    said = shown(capsys, root, f"core@2/{chosen.id}", "--webp", str(file))[-1]
    with Image.open(file) as image:
        count = len(list(ImageSequence.Iterator(image)))
    assert said == f"{count} pictures written to {file}"
    assert [(one.roles, one.takeover, one.sight) for one in asked] == [
        (chosen.roles, chosen.takeover, True)
    ]
    assert asked[0].text == chosen.instruction.text


def test_what_has_no_pictures_or_is_not_one_is_one_line(
    root: Path,
    pictures: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["--webp", str(tmp_path / "x.webp"), "--workspace"]
    with monkeypatch.context() as without:
        without.delattr(LambdaStar, "frames")
        assert main(["show", "mine@1/clean-take-01", "--agent", "random", *words, str(root)]) == 2
    assert "does not render frames" in capsys.readouterr().err
    two = [f"{ring.SUITE}/ring-00", f"{ring.SUITE}/ring-01"]
    assert main(["show", *two, *words, str(pictures)]) == 2
    assert "expected one continuation, found 2" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
