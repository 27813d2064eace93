"""Strips as pictures: what a scene holds is in its frame, and the gallery is what `sts` draws."""

from __future__ import annotations

import errno
import json
import re
import shlex
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import sts.storage.files
from sts.cli.main import main
from sts.episodes import Episode
from sts_lambda_star import filmstrips
from sts_lambda_star import state as states
from sts_lambda_star.board import CELL_SIZE
from sts_lambda_star.intelligence.score import PUBLISHED_AGENTS
from tests.worlds.lambda_star.examples import state

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "agents.md"
MAKING = re.findall(r"^`sts (lambda-star filmstrip .*)`$", PAGE.read_text(), re.M)
SVG = "{http://www.w3.org/2000/svg}"
HEIGHT, WIDTH = 4, 5  # of the state by hand, where three take part beside Good and Evil
GLYPHS = ["G", "E", "A", "B", "C"]


def episode(*scenes: list[int]) -> Episode:
    """An episode in which objects go where we like: Good, Evil, A, B and C on these cells."""
    nothing = np.zeros((len(scenes) - 1, 3), np.int8)
    scene = np.array(scenes, np.uint16)
    return Episode("lambda-star", states.encode(state()), nothing, nothing, nothing, scene)


def draw_strip(one: Episode, frames: list[int], title: str = "somebody") -> ElementTree.Element:
    return ElementTree.fromstring(filmstrips.draw_filmstrip(one, frames, title=title))


def number(shape: ElementTree.Element, name: str) -> float:
    return float(shape.get(name, "none"))


def letters(root: ElementTree.Element) -> list[dict[str, tuple[float, float]]]:
    """Return where each letter stands on each board, in cells."""
    return [
        {
            text.text or "": (number(text, "x") / CELL_SIZE, number(text, "y") / CELL_SIZE)
            for text in board.iter(f"{SVG}text")
        }
        for board in root.findall(f"{SVG}svg")
    ]


def trails(root: ElementTree.Element) -> list[ElementTree.Element]:
    return [path for path in root.iter(f"{SVG}path") if path.get("stroke-linecap")]


def write_svg(tmp_path: Path, *words: str) -> bytes:
    file = tmp_path / "plotting.svg"
    assert main(["lambda-star", "filmstrip", *words, "--svg", str(file)]) == 0
    return file.read_bytes()


def test_each_object_stands_in_its_cell_and_those_that_share_it_crowd():
    scenes = [0, 6, 12, 18, 19], [1, 7, 13, 19, 15]
    boards = letters(draw_strip(episode(*scenes), [0, 1]))
    for scene, board in zip(scenes, boards, strict=True):
        middles = [(cell % WIDTH + 0.5, cell // WIDTH + 0.5) for cell in scene]
        assert board == dict(zip(GLYPHS, middles, strict=True))
    (board,) = letters(draw_strip(episode([6, 17, 6, 6, 6]), [0]))
    sharing = [board[glyph] for glyph in "GABC"]
    assert len(set(sharing)) == 4
    assert np.mean(sharing, 0).tolist() == [1.5, 1.5]
    assert np.abs(np.array(sharing) - 1.5).max() < 0.5


@pytest.mark.parametrize("cell", [0, 4, 15, 19, 2, 10, 9, 17])
@pytest.mark.parametrize("sharing", [2, 3, 4])
def test_objects_that_share_an_edge_cell_are_drawn_on_the_board(cell: int, sharing: int):
    elsewhere = [c for c in range(HEIGHT * WIDTH) if c != cell]
    root = draw_strip(episode([*elsewhere[: 5 - sharing], *[cell] * sharing]), [0])
    xs: list[float] = []
    ys: list[float] = []
    for shape in root.findall(f"{SVG}svg")[0]:
        if shape.tag == f"{SVG}circle":
            x, y, r = (number(shape, name) for name in ("cx", "cy", "r"))
            xs, ys = [*xs, x - r, x + r], [*ys, y - r, y + r]
        for corner in (shape.get("points") or "").split():
            x, y = map(float, corner.split(","))
            xs, ys = [*xs, x], [*ys, y]
    over = 1.0  # what a single shape's tip, in the middle of a cell, may have
    assert -over <= min(xs) and max(xs) <= WIDTH * CELL_SIZE + over
    assert -over <= min(ys) and max(ys) <= HEIGHT * CELL_SIZE + over


def test_boards_that_do_not_fit_in_a_row_wrap():
    many = episode(*([0, 17, 2, 3, 4] for _ in range(30)))
    root = draw_strip(many, list(range(30)))
    assert number(root, "width") <= 900
    sides = ("x", "y", "width", "height")
    boxes = [tuple(number(box, side) for side in sides) for box in root.findall(f"{SVG}rect")]
    assert len(set(boxes)) == 30 and len({y for _, y, _, _ in boxes}) > 1
    for x, y, width, height in boxes:
        assert x + width <= number(root, "width")
        assert y + height + 15 <= number(root, "height")
    one = draw_strip(many, [0, 1, 2])
    assert len({box.get("y") for box in one.findall(f"{SVG}rect")}) == 1


def test_trail_over_the_edge_leaves_one_side_and_enters_the_other():
    inside = draw_strip(episode([0, 17, 11, 8, 8], [0, 17, 12, 8, 8]), [1])
    (path,) = trails(inside)
    assert path.get("d", "").count("M") == 1
    over = draw_strip(episode([0, 17, 14, 8, 8], [0, 17, 10, 8, 8]), [1])
    (path,) = trails(over)
    starts = re.findall(r"M([\d.-]+) ([\d.-]+)l(-?\d+) (-?\d+)", path.get("d", ""))
    assert sorted(float(x) // CELL_SIZE for x, *_ in starts) == [-1, WIDTH - 1]
    assert {(right, down) for _, _, right, down in starts} == {(str(CELL_SIZE), "0")}
    cells = [0, 1, 2, 3, 4, 9, 14]  # a trail fades, and ends after a few steps
    faded = trails(draw_strip(episode(*([0, 17, cell, 8, 8] for cell in cells)), [6]))
    seen = [number(path, "stroke-opacity") for path in faded]
    assert len(seen) == 4 and seen == sorted(set(seen), reverse=True)


def test_rewards_of_good_and_evil_are_drawn_in_nine_cells_each():
    root = draw_strip(episode([0, 12, 6, 6, 6]), [0])
    around = {"#009E73": (0, 1), "#D55E00": (12, -1)}  # Good in the corner: around the edges
    for path in root.iter(f"{SVG}path"):
        if path.get("stroke") not in around or path.get("stroke-linecap"):
            continue
        centre, sign = around.pop(path.get("stroke", ""))
        lines = re.findall(r"M(\d+) (\d+)l(\d+) (-?\d+)", path.get("d", ""))
        assert {int(down) * sign < 0 for *_, down in lines} == {True}
        middles = {
            (
                int((int(y) + int(down) / 2) // CELL_SIZE),
                int((int(x) + int(right) / 2) // CELL_SIZE),
            )
            for x, y, right, down in lines
        }
        row, column = divmod(centre, WIDTH)
        assert middles == {
            ((row + dy) % HEIGHT, (column + dx) % WIDTH) for dy in (-1, 0, 1) for dx in (-1, 0, 1)
        }
    assert not around


def test_frames_are_named_by_their_step_and_coloured_as_in_a_browser():
    root = draw_strip(episode(*([0, 17, 2, 3, 4] for _ in range(5))), [0, 2, 4], "a < b & c")
    named = [text.text for text in root.findall(f"{SVG}text")]
    assert named == ["a < b & c", "start", "step 2", "step 4"]
    assert root.get("aria-label") == "a < b & c"
    player = (ROOT / "worlds" / "lambda_star" / "sts_lambda_star" / "board.mjs").read_text()
    used = {e.get("fill", "") for e in root.iter() if e.tag in (f"{SVG}circle", f"{SVG}polygon")}
    assert len(used) == 5 and all(colour in player for colour in used)


def test_strip_is_the_same_bytes_for_a_seed_and_needs_no_other_file(tmp_path: Path):
    words = ["--agent", "local-search", "--team", "5", "--size", "12x12"]
    first = write_svg(tmp_path, *words)
    assert write_svg(tmp_path, *words) == first
    assert write_svg(tmp_path, *words, "--seed", "1") != first
    assert write_svg(tmp_path, *words, "--index", "1") != first
    for word in ("script", "href", "url(", "style", "@", "http://www.w3.org/1999"):
        assert word not in first.decode()
    assert len(first) < 40_000


def test_strip_shows_the_episode_that_the_score_counts(capsys):
    shared = ["--agent", "local-search", "--size", "7x6", "--team", "2", "--steps", "12", "--json"]
    assert main(["lambda-star", "score", *shared, "--episodes", "1", "--seed", "5"]) == 0
    score = json.loads(capsys.readouterr().out)
    assert main(["lambda-star", "filmstrip", *shared, "--seed", "5"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["mean"] == pytest.approx(score["agents"][0]["mean"])


def test_strip_without_a_file_is_text(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["lambda-star", "filmstrip", "--agent", "random", "--steps", "9"]) == 0
    title, frames, *rows, legend = capsys.readouterr().out.splitlines()
    assert title.startswith("random: mean reward ")
    assert frames.split() == ["0", "3", "6", "9"] and len(rows) == 8
    assert all(letter in "".join(rows) for letter in "GEABC")
    assert legend == "G Good, E Evil, A B C players"


@pytest.mark.parametrize(
    ("team", "legend"),
    [
        (1, "G Good, E Evil, A player"),
        (5, "G Good, E Evil, A B C D F players, + more than two in that cell"),
        (9, "G Good, E Evil, A to K players, + more than two in that cell"),
    ],
)
def test_legend_names_what_the_scenes_have(team: int, legend: str, capsys):
    words = ["--agent", "random", "--size", "3x3", "--team", str(team)]
    assert main(["lambda-star", "filmstrip", *words]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == legend


def test_scenes_are_printed_even_if_the_picture_cannot_be_written(tmp_path, monkeypatch, capsys):
    def full(path: Path, data: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path.parent / ".part"))

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sts.storage.files, "write_atomically", full)
    assert main(["lambda-star", "filmstrip", "--agent", "random", "--svg", "a.svg"]) == 1
    out, err = capsys.readouterr()
    assert out.startswith("random: mean reward ") and "->" not in out
    assert err.startswith("sts: a.svg: ") and err.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--agent nobody", "unknown agent 'nobody'; known: "),
        ("--agent random --svg filmstrips.png", ".svg"),
        ("--agent random --svg file/plotting.svg", "--svg file/plotting.svg: file is not a"),
        ("--agent random --svg none/plotting.svg", "the folder none does not exist"),
        ("--agent random --agent oracle", "--agent is given twice"),
        ("--agent random --size 5x5 --size 6x6", "--size is given twice"),
        ("--agent random --frames 1", "--frames of 2 or more"),
        ("--agent random --index -1", "--index of 0 or more"),
        ("--agent random --team 0", "team of 1"),
    ],
)
def test_invalid_flags_print_one_line(words: str, said: str, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("")
    assert main(["lambda-star", "filmstrip", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert said in err


def test_gallery_shows_every_behaviour_and_no_other():
    commands = [shlex.split(line) for line in MAKING]
    agents = [words[words.index("--agent") + 1] for words in commands]
    assert set(PUBLISHED_AGENTS) <= set(agents)
    files = [words[words.index("--svg") + 1] for words in commands]
    shown = re.findall(r"!\[.*\]\((images/agents/.*)\)", PAGE.read_text())
    there = (ROOT / "docs" / "images" / "agents").iterdir()
    assert files == [f"docs/{name}" for name in shown]
    assert sorted(files) == sorted(str(file.relative_to(ROOT)) for file in there)


@pytest.mark.parametrize("line", MAKING, ids=lambda line: line.split("--agent ")[1].split()[0])
def test_gallery_is_what_its_commands_draw(line: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = shlex.split(line)
    file = words[words.index("--svg") + 1]
    (tmp_path / file).parent.mkdir(parents=True)
    assert main(words) == 0
    drawn_now, kept = (tmp_path / file).read_bytes(), (ROOT / file).read_bytes()
    assert drawn_now == kept, f"stale: run sts {line}"
    assert len(kept) < 40_000
