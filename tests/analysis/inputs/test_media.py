"""The column `media`: files in the table's folder and addresses, and what is refused."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import sts
from sts.errors import DamagedData
from sts_analysis.inputs.gather import gather_table

ADDRESS = "https://example.org:8443/a%20b/clip.MP4?sign=1&x=%2E#t=3"


def table(folder: Path, *media: str) -> Path:
    rows = [f'a,s{n},success,"{cell}"' for n, cell in enumerate(media)]
    path = folder / "t.csv"
    path.write_text("\n".join(["agent,scenario,verdict,media", *rows]) + "\n")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a table with clips in and next to it."""
    inside = tmp_path / "study"
    (inside / "clips").mkdir(parents=True)
    for place in ("study/a.mp4", "study/clips/b b.PNG", "outside.mp4", "study/page.svg"):
        (tmp_path / place).write_bytes(b"not opened")
    (inside / "link.mp4").symlink_to("a.mp4")
    (inside / "out.mp4").symlink_to("../outside.mp4")
    (inside / "up").symlink_to("..")
    (inside / "folder.mp4").mkdir()
    os.mkfifo(inside / "pipe.mp4")
    return inside


def test_media_are_addresses_as_written_and_paths_in_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.socket", None)
    cells = ["a.mp4", "./clips/../a.mp4", "link.mp4", "clips/b b.PNG", "", ADDRESS]
    expected = ["a.mp4", "a.mp4", "a.mp4", "clips/b b.PNG", "", ADDRESS]
    path = table(folder, *cells)
    assert sts.load_ratings(path)["media"].tolist() == expected
    monkeypatch.chdir(folder)
    assert sts.load_ratings("t.csv")["media"].tolist() == expected
    assert gather_table(path).media_folder == folder


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("../outside.mp4", "expected a path in the table's folder, found '../outside.mp4'"),
        ("clips/../../outside.mp4", "expected a path in the table's folder, found"),
        ("out.mp4", "expected a path in the table's folder, found 'out.mp4'"),
        ("up/outside.mp4", "expected a path in the table's folder, found"),
        ("/etc/a.mp4", "expected a path in the table's folder, or an https:// or http:// address"),
        ("//example.org/a.mp4", "expected a path in the table's folder, or an https:// or http:"),
        ("C:\\clips\\a.mp4", "expected a path in the table's folder, or an https:// or http:"),
        ("file:///study/a.mp4", "expected a path in the table's folder, or an https:// or http:"),
        ("JavaScript:alert(1)//a.mp4", "expected a path in the table's folder, or an https:// or"),
        ("data:video/mp4;base64,AA.mp4", "expected a path in the table's folder, or an https:// o"),
        ("folder.mp4", "expected a file in the table's folder, found 'folder.mp4'"),
        ("pipe.mp4", "expected a file in the table's folder, found 'pipe.mp4'"),
        ("page.svg", r"expected an image or a video \(\.png \.jpg .*\.ogv\), found 'page\.svg'"),
        ("https://example.org/page?x=.mp4", r"expected an image or a video \(\.png"),
        ("https:///a.mp4", "expected an address such as https://example.org/clip.mp4, found"),
        ("http://[::1/a.mp4", "expected an address such as"),
        ("http://h:99999/a.mp4", "expected an address such as"),
        ("https://h/a b.mp4", "expected an address such as"),
        ("https://h/\x1b[2J.mp4", r"expected at most 2000 printable characters, found .*\\x1b"),
        ("a\u202e.mp4", "expected at most 2000 printable characters"),
        (f"https://h/{'x' * 2000}.mp4", "expected at most 2000 printable characters"),
    ],
)
def test_other_media_are_refused_with_their_line(folder: Path, cell: str, expected: str) -> None:
    with pytest.raises(DamagedData, match=rf"^t\.csv, line 4: media: {expected}") as error:
        sts.load_ratings(table(folder, "a.mp4", "", cell, ADDRESS))
    assert str(error.value).isprintable() and len(str(error.value)) < 300


def test_data_frame_can_have_only_addresses() -> None:
    frame: Any = pd.DataFrame({"agent": "a", "scenario": ["s", "t"], "verdict": "success"})
    gathered = gather_table(frame.assign(media=["", ADDRESS]))
    assert gathered.ratings["media"].tolist() == ["", ADDRESS] and gathered.media_folder is None
    with pytest.raises(DamagedData, match=r"table, row 2: media: .* as a data frame has no folder"):
        sts.load_ratings(frame.assign(media=[ADDRESS, "a.mp4"]))


def test_rows_of_one_continuation_show_the_same_media() -> None:
    frame = pd.DataFrame(
        {"agent": "a", "scenario": "s", "continuation": 0, "annotator": ["x", "y"]}
    ).assign(verdict="success", media=[ADDRESS, ADDRESS.replace("clip", "other")])
    with pytest.raises(DamagedData, match="row 2: continuation '0' has media .* here and .* above"):
        sts.load_ratings(frame)
    assert sts.load_ratings(frame.assign(continuation=[0, 1]))["media"].nunique() == 2
