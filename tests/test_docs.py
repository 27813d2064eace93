"""The documentation's commands are run, in order, in a fresh workspace.

Every `sts` of a page is run by one process, as most of a short command's time goes to its start.
"""

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


ONE_PROCESS = """
coproc STS { python -P -c '
import os, shlex, sys
from sts.cli.main import main

codes = open(os.dup(1), "w")
os.dup2(2, 1)
exec(os.environ["BEFORE"])
for line in sys.stdin:
    print(main(shlex.split(line)), file=codes, flush=True)
'; }
sts() {
  local code
  printf '%q ' "$@" >&"${STS[1]}"
  echo >&"${STS[1]}"
  read -r code <&"${STS[0]}" && return "$code"
}
"""
ITS_END = """
exec {STS[1]}>&-
wait "$STS_PID"
"""
WITH_COMMANDS = [p for p in DOCS if any(lang == "sh" for lang, _, _ in blocks(p))]
EACH = pytest.mark.parametrize("path", WITH_COMMANDS, ids=lambda p: p.stem)
EPISODES = re.compile(r"^(sts lambda-star (?:.*\\\n)*.*--episodes )\d+", re.M)
CONTINUATIONS = re.compile(r"^(sts run .*--continuations )\d+", re.M)
CHECK = re.compile(r"^(sts domain check .*)$", re.M)

FEWER_TRIALS = """
from sts.worlds.overcooked import trials

def table(path, whole=trials.table):
    rows = whole(path)
    return rows[rows.groupby(["run", "workerid_num", "round_num"], sort=False).ngroup() < 8]

trials.table = table
"""


def commands(path: Path) -> str:
    """Returns the shell commands of a page."""
    return "".join(text for language, _, text in blocks(path) if language == "sh")


def fewer(shell: str) -> str:
    """Returns the same commands with no more episodes and steps than show that they work."""
    shell = CHECK.sub(r"\g<1> --seeds 2 --steps 8", EPISODES.sub(r"\g<1>10", shell))
    return CONTINUATIONS.sub(r"\g<1>1", shell)


def run(path: Path, shell: str, folder: Path, before: str = "") -> None:
    """Runs commands of a page in a folder that holds its files, and some Python before them."""
    (folder / "tests").symlink_to(ROOT / "tests")
    for language, title, text in blocks(path):
        if language == "python" and title:
            (folder / title).write_text(text)
    script = f"set -euo pipefail{ONE_PROCESS}{shell}{ITS_END}"
    bin = Path(sys.executable).parent
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STS_")}
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environment | {"PATH": f"{bin}{os.pathsep}{os.environ['PATH']}", "BEFORE": before},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, f"{shell}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


@EACH
def test_the_commands_of_a_page_run(path: Path, tmp_path: Path) -> None:
    shell = fewer(commands(path))
    run(path, shell, tmp_path, FEWER_TRIALS if "import --format overcooked" in shell else "")


@pytest.mark.slow
@EACH
def test_the_commands_of_a_page_run_as_they_stand(path: Path, tmp_path: Path) -> None:
    run(path, commands(path), tmp_path)


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
