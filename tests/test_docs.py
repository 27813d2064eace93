"""The documentation's commands are run, in order, in a fresh workspace."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests import rooms

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Returns (language, title, text) of each fenced block."""
    return [(m[1], m[2] or "", m[3]) for m in BLOCK.finditer(path.read_text())]


WITH_COMMANDS = [p for p in DOCS if any(lang == "sh" for lang, _, _ in blocks(p))]


@pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda p: p.stem)
def test_the_commands_of_a_page_run(path: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    for language, title, text in blocks(path):
        if language == "python" and title:
            (tmp_path / title).write_text(text)
    script = "set -euo pipefail\n" + "".join(t for lang, _, t in blocks(path) if lang == "sh")
    bin = Path(sys.executable).parent
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STS_")}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env=environment | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{script}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" in target:
                continue
            found = (page.parent / target).resolve()
            assert found.exists(), f"{page.name} links to {target}, which is not there"
            if found.suffix == ".md" and found not in reached:
                reached.add(found)
                waiting.append(found)
    assert set(DOCS) <= reached


def test_commands_in_the_docs_exist() -> None:
    from importlib.metadata import entry_points

    known = {point.name for point in entry_points(group="sts.commands")}
    for page in (*DOCS, ROOT / "README.md"):
        for name in re.findall(r"(?:^|`|\$ )sts ([a-z][a-z-]+)", page.read_text(), re.M):
            assert name in known, f"{page.name}: sts {name}"


def test_every_file_that_the_architecture_names_is_there() -> None:
    named = re.findall(
        r"`((?:sts|scenarios|analysis|annotator_app)/[\w/.]*)`",
        (ROOT / "docs/architecture.md").read_text(),
    )
    assert len(named) > 20
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_picture_of_the_house_is_of_today() -> None:
    assert (ROOT / "docs/images/architecture.svg").read_text() == rooms.picture()
