"""The documentation's commands are run, in order, in a fresh workspace.

Every `sts` of a page is run by one process, as most of a short command's time goes to its start.
"""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sts import registry
from sts.cli.main import build_parser
from sts.errors import StsError

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Return (language, title, text) of each fenced block."""
    return [(m[1], m[2] or "", m[3]) for m in BLOCK.finditer(path.read_text())]


ONE_PROCESS = """
coproc STS { python -P -c '
import os, shlex, sys
from sts.cli.main import main

codes = open(os.dup(1), "w")
os.dup2(2, 1)
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
CONTINUATIONS = re.compile(r"^(sts run .*--continuations )\d+", re.M)
PARTS = {"core@3": "keep-beside", "babyai@3": "babyai-fetch"}
"""A category of each suite that takes long as a whole."""


def commands(path: Path) -> str:
    """Return the shell commands of a page."""
    return "".join(text for language, _, text in blocks(path) if language == "sh")


def restrict(shell: str, suite: str) -> tuple[str, int]:
    """Return commands on a category of a suite instead of the whole, and their number."""
    own = re.compile(rf"^(sts (?:run|label|report) {suite})(?!\S)", re.M)
    return own.subn(rf"\1+category:{PARTS[suite]}", shell)


def run(path: Path, shell: str, folder: Path) -> None:
    """Run commands of a page in a folder that holds its files."""
    (folder / "tests").symlink_to(ROOT / "tests")
    for language, title, text in blocks(path):
        if language == "python" and title:
            (folder / title).write_text(text)
    script = f"set -euo pipefail{ONE_PROCESS}{shell}{ITS_END}"
    environment = {k: v for k, v in os.environ.items() if not k.startswith("STS_")}
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    options: dict[str, Any] = {"cwd": folder, "env": environment, "stdin": subprocess.DEVNULL}
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, **options)
    assert done.returncode == 0, f"{shell}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def test_commands_of_the_quickstart_run(tmp_path):
    """Of the category that the page shows alone, each scenario continued once."""
    page = ROOT / "docs/quickstart.md"
    part, parts = restrict(commands(page), "core@3")
    once, runs = CONTINUATIONS.subn(r"\g<1>1", part)
    assert (parts, runs) == (3, 1)
    run(page, once, tmp_path)


@pytest.mark.landing
@EACH
def test_commands_of_every_page_run(path, tmp_path):
    """Of BabyAI's suite one category; its demo runs the whole, in `test_demo`."""
    shell, parts = restrict(commands(path), "babyai@3")
    assert (parts == 4) is (path.stem == "babyai")
    run(path, shell, tmp_path)


@pytest.mark.slow
def test_commands_on_the_whole_suite_of_babyai_run(tmp_path):
    page = ROOT / "docs/babyai.md"
    run(page, commands(page), tmp_path)


def test_every_command_in_the_docs_parses():
    lines = [
        (page.stem, line)
        for page in DOCS
        for line in commands(page).replace("\\\n", " ").splitlines()
        if line.startswith("sts ")
    ]
    assert len(lines) > 100
    known = registry.list_entry_points("sts.commands")
    for page in (*DOCS, ROOT / "README.md"):
        for name in re.findall(r"(?:^|`|\$ )sts ([a-z][a-z-]+)", page.read_text(), re.M):
            assert name in known, f"{page.name}: sts {name}"
    for stem, line in lines:
        _, name, *words = shlex.split(line, comments=True)
        try:
            build_parser(
                name, registry.load_entry_point("sts.commands", "command", name)
            ).parse_args(words)
        except StsError as error:
            pytest.fail(f"{stem}.md: {line}: {error}")


def test_every_page_is_linked_from_the_readme():
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


def test_tests_and_files_named_in_the_docs_exist():
    promises = (ROOT / "docs/reliability.md").read_text()
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", promises)
    assert len(named) > 10
    assert [n for n in named if f"def {n[1]}(" not in (ROOT / n[0]).read_text()] == []
    architecture = (ROOT / "docs/architecture.md").read_text()
    paths = re.findall(r"`((?:sts|scenarios|analysis|annotator_app)/[\w/.]*)`", architecture)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
