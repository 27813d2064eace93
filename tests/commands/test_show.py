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

from sts.annotations.database.annotation_store import AnnotationStore
from sts.annotations.queue.items import make_item
from sts.cli.main import main
from sts.commands.show import _choose_frames
from sts.commands.terminal import (
    NO_COLOURS,
    _visible_width,
    describe_legend,
    describe_utterances,
    draw_half_blocks,
    format_strip,
    join_columns,
)
from sts.continuations import continuation_store as store
from sts.domains import load_domain
from sts.storage.workspace import Workspace
from sts.suites import drafts, lint
from sts.suites import suite_store as suites
from sts.suites.suite import Suite
from sts.trajectories import trajectory_store as trajectories
from sts_lambda_star.domain import LambdaStar
from sts_scenarios.rules.categories import scenario_criterion
from tests.annotations.examples import a_submission
from tests.annotator_app import ring
from tests.examples import CLEAN_TAKE, in_this_process, play_turns, recorded, scenarios
from tests.programs import require_package
from tests.stores import add_person, claim_items, enqueue, submit


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("show")
    workspace = Workspace.open(str(folder))
    suites.freeze_scenarios(workspace, "mine", scenarios(2))
    words = ["--agent", "random", "--agent", "local-search", "--continuations", "2"]
    assert main(["run", "mine@1", *words, "--workspace", str(folder)]) == 0
    return folder


def run_show(capsys: pytest.CaptureFixture[str], root: Path, *words: str) -> list[str]:
    capsys.readouterr()
    assert main(["show", *words, "--workspace", str(root)]) == 0
    return capsys.readouterr().out.splitlines()


def test_two_agents_are_shown_side_by_side(root, capsys, monkeypatch):
    words = ["mine@1/clean-take-01", "--agent", "random", "--agent", "local-search"]
    monkeypatch.setenv("COLUMNS", "160")
    wide = run_show(capsys, root, *words)
    pair = [line for line in wide if "║" in line]
    assert len(pair) >= 9 and all(line.count("║") == 1 for line in pair)
    assert any("random #0" in line and "local-search #0" in line for line in wide)
    monkeypatch.setenv("COLUMNS", "80")
    narrow = run_show(capsys, root, *words)
    assert not any("║" in line for line in narrow)
    assert max(map(len, narrow)) <= 80
    monkeypatch.setenv("COLUMNS", "40")
    assert join_columns("a\nbb", "c") == "a    ║   c\nbb   ║"


def test_filmstrip_marks_the_takeover_and_every_player():
    episode = recorded(count=1)[0].episode
    lines = format_strip(episode, [0, 6, 14], judged=(0,), takeover=6).splitlines()
    assert len(lines) == 1 + 6
    titles = lines[0].split()
    assert titles == ["-6", "+0", "┃", "+8"]
    assert all(line.count("┃") == 1 for line in lines)
    assert "┃" not in format_strip(episode, [0, 6, 14], judged=(0,))
    episode = recorded("random", count=1, team=1)[0].episode
    for frame in range(episode.steps + 1):
        text = format_strip(episode, [frame], judged=(0,)).partition("\n")[2]
        assert all(letter in text for letter in "@GE") and "A" not in text
        assert "A" in format_strip(episode, [frame], judged=()).partition("\n")[2]


def test_continuation_is_shown_by_the_first_digits_of_its_id(root, capsys):
    lines = run_show(capsys, root, "mine@1/clean-take-02", "--agent", "random", "--index", "1")
    (title,) = [line for line in lines if line.startswith("random #1")]
    id = title.partition("(")[2].rstrip(")")
    again = run_show(capsys, root, id[:10])
    assert again[:2] == [title, f"“{CLEAN_TAKE}”"]
    asked = "asked: A, drawn as @; others: B; G is Good, E is Evil"
    assert [line for line in again if line.startswith("asked")] == [asked]
    assert sum("@" in line for line in again) > 3
    assert again[-1] == "not judged yet"
    (one,) = scenarios(1)
    turns = [(4, 0), (4, 1)] + [(4, 0)] * 6
    kept = play_turns(one, turns)
    assert (
        describe_utterances(kept.episode, kept.players, kept.takeover) == "A says “yes” in step +2"
    )


def test_mark_of_the_evaluated_player_is_not_a_glyph_of_the_domain(monkeypatch):
    episode = recorded("random", count=1, team=2)[0].episode
    world = load_domain("lambda-star")
    layout = replace(world.scene_layout(episode.state), glyphs=("@", "E", "A", "B"))
    monkeypatch.setattr(type(world), "scene_layout", lambda self, state: layout)
    assert describe_legend(episode, (0, 1)) == "asked: A, B, drawn as &; @ is Good, E is Evil"
    assert "&" in format_strip(episode, [0], judged=(0, 1))


def test_human_verdicts_and_automatic_labels_are_shown_separately(root, capsys):
    workspace = Workspace.open(str(root))
    found = store.load(workspace, {s.hash for s in suites.load(workspace, "mine@1").scenarios})
    one = next(c for c in found if (c.agent, c.identity.index) == ("random", 1))
    with AnnotationStore.open(workspace) as opened:
        enqueue(opened, [make_item(one, "mine@1")], required=3)
        for person, verdict, step in (
            *(("Ana", "success", 4), ("Bo", "cannot_judge", None), ("Cy", "success", 2)),
        ):
            number = add_person(opened, person).id
            (claim,) = claim_items(opened, number, suite="mine@1")
            sent = a_submission(claim) | {"verdict": verdict, "step": step, "reason": "dark"}
            submit(opened, number, [sent])
    assert run_show(capsys, root, one.id)[-1] == (
        "judged by 3 people: 2 success (at +4, +2), 1 cannot_judge"
    )
    assert main(["label", "mine@1", "--workspace", str(root)]) == 0
    words = " ".join(" ".join(run_show(capsys, root, one.id)).split())
    assert "judged by 3 people: 2 success" in words and "; automatic label of mine@1: " in words
    (value,) = json.loads("".join(run_show(capsys, root, one.id, "--json")))
    verdicts = [each["verdict"] for each in value["judgements"]]
    assert verdicts == ["success", "cannot_judge", "success"]
    assert value["automatic_labels"][0]["suites"] == ["mine@1"]


@pytest.mark.parametrize("file", ["annotations.sqlite3", "labels/mine-1.parquet"])
def test_unreadable_verdicts_do_not_hide_the_filmstrip(root, capsys, tmp_path, file):
    copy = tmp_path / "copy"
    shutil.copytree(root, copy)
    (copy / file).parent.mkdir(exist_ok=True)
    (copy / file).write_bytes(b"not a database, but long enough to look like one at least" * 20)
    assert main(["show", "mine@1/clean-take-01", "--workspace", str(copy)]) == 0
    printed = capsys.readouterr()
    assert printed.err.count("\n") == 1 and " are left out: " in printed.err
    assert "@" in printed.out


HOSTILE = "Go\x1b[2J\x1b]0;x\x07 \N{RIGHT-TO-LEFT OVERRIDE}home\n\x9b31mfrozen: yes" + "y" * 5000


def test_stored_text_cannot_control_the_terminal_or_add_lines(root, capsys, monkeypatch):
    (one,) = scenarios(1)
    told = replace(one.instruction, text=HOSTILE)
    hostile = replace(one, instruction=told, id=HOSTILE, tags=(HOSTILE,))
    trajectory = recorded(count=1)[0]
    people = tuple(replace(p, name=HOSTILE) for p in trajectory.players)
    workspace = Workspace.open(str(root))
    trajectories.save(workspace, [replace(trajectory, players=people, source=HOSTILE)])
    suites.write(
        workspace.path("suites", "hostile", "1"), Suite("hostile", 1, None, "", (hostile,), {})
    )
    drafts.create_draft(workspace, "mine", [hostile])
    (id,) = (t.id for t in trajectories.load(workspace))
    monkeypatch.setattr(lint, "find_field_faults", lambda scenario: [])
    monkeypatch.setattr(suites, "find_field_faults", lambda scenario: [])
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


def test_excess_frames_take_no_memory():
    tracemalloc.start()
    assert _choose_frames(3, 8, 10**6) == list(range(9))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pictures")
    workspace = Workspace.open(str(folder))
    suites.freeze_scenarios(workspace, "rings", ring.scenarios(2))
    words = ["--agent", ring.RINGER, "--continuations", "1"]
    with pytest.MonkeyPatch.context() as patch:
        in_this_process(patch)
        assert main(["run", ring.SUITE, *words, "--workspace", str(folder)]) == 0
    return folder


def test_frames_are_shown_only_on_colour_terminals(pictures, capsys, monkeypatch):
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer"]
    plain = run_show(capsys, pictures, *words)
    assert plain.count(NO_COLOURS) == 2 and "\x1b" not in "".join(plain)
    monkeypatch.setenv("COLORTERM", "truecolor")
    monkeypatch.setattr("sts.commands.terminal.shows_colours", lambda: True)
    monkeypatch.setenv("COLUMNS", "100")
    lines = run_show(capsys, pictures, *words)
    assert sum("▀" in line for line in lines) == 2
    assert max(_visible_width(line) for line in lines) <= 100
    frame = np.zeros((2, 24, 3), np.uint8)
    frame[0], frame[1] = (1, 2, 3), (4, 5, 6)
    assert draw_half_blocks(frame) == ["\x1b[38;2;1;2;3;48;2;4;5;6m▀" * 24 + "\x1b[0m"]


def test_continuation_is_written_as_mp4_and_webp(pictures, tmp_path, capsys, monkeypatch):
    av = require_package("av")
    file, exact = tmp_path / "out" / "one.mp4", tmp_path / "one.webp"
    words = [f"{ring.SUITE}/ring-00", "--agent", "ringer", "--mp4", str(file), "--webp", str(exact)]
    count = ring.TAKEOVER + ring.HORIZON + 1
    assert run_show(capsys, pictures, *words)[-1] == f"{count} pictures written to {file}"
    raw = file.read_bytes()
    assert 0 < raw.index(b"moov") < raw.index(b"mdat"), "what a player needs first stands first"
    with av.open(str(file)) as film:
        frames = [frame.to_ndarray(format="rgb24") for frame in film.decode(video=0)]
    with Image.open(exact) as image:
        assert image.format == "WEBP" and image.n_frames > 1  # type: ignore[attr-defined]
        side = image.size[0]
        times = frames[0].shape[1] // side
        seen = np.asarray(image.convert("RGB")).astype(int)
    middle = frames[0][times // 2 :: times, times // 2 :: times][: seen.shape[0], :side]
    assert len(frames) == count and times * side >= 360
    assert abs(middle.astype(int) - seen).mean() < 6
    assert [one.name for one in file.parent.iterdir()] == ["one.mp4"]
    monkeypatch.setitem(sys.modules, "av", None)
    words[-3] = str(tmp_path / "other.mp4")
    assert main(["show", *words, "--workspace", str(pictures)]) == 2
    assert "standardised-test-suite[video]" in capsys.readouterr().err
    assert not (tmp_path / "other.mp4").exists()


def test_board_is_painted_for_a_film_with_the_annotators_overlay(
    root, tmp_path, capsys, monkeypatch
):
    file, asked = tmp_path / "one.webp", []
    paint = LambdaStar.frames

    def frames(self, episode, focus):
        asked.append(focus)
        return paint(self, episode, focus)

    monkeypatch.setattr(LambdaStar, "frames", frames)
    chosen = next(
        one
        for one in suites.load(Workspace.open(str(root)), "core@2").scenarios
        if (found := scenario_criterion(one)) is not None and found.overlay.player_view
    )
    said = run_show(capsys, root, f"core@2/{chosen.id}", "--webp", str(file))[-1]
    with Image.open(file) as image:
        count = len(list(ImageSequence.Iterator(image)))
    assert said == f"{count} pictures written to {file}"
    assert [(one.players, one.takeover, one.sight) for one in asked] == [
        (chosen.players, chosen.context, True)
    ]
    assert asked[0].text == chosen.instruction.text


def test_film_needs_frames_and_a_single_continuation(root, pictures, tmp_path, capsys, monkeypatch):
    words = ["--webp", str(tmp_path / "x.webp"), "--workspace"]
    with monkeypatch.context() as without:
        without.delattr(LambdaStar, "frames")
        assert main(["show", "mine@1/clean-take-01", "--agent", "random", *words, str(root)]) == 2
    assert "does not render frames" in capsys.readouterr().err
    two = [f"{ring.SUITE}/ring-00", f"{ring.SUITE}/ring-01"]
    assert main(["show", *two, *words, str(pictures)]) == 2
    assert "expected one continuation, found 2" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
