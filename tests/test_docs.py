"""The documentation's commands are run, in order, in a fresh workspace.

Every `sts` of a page is run by one process, a copy of one that has imported what commands need.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sts import registry
from sts.cli.main import build_parser
from sts.errors import StsError
from sts_analysis.report.core import FORMAT
from tests.waiting import PATIENCE
from tests.worlds.overcooked.recordings import import_cut_recordings
from tests.zygote import Zygote

ROOT = Path(__file__).resolve().parent.parent
DOCS = sorted((ROOT / "docs").glob("*.md"))
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.M | re.S)


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Return (language, title, text) of each fenced block."""
    return [(m[1], m[2] or "", m[3]) for m in BLOCK.finditer(path.read_text())]


PLAYED = """
exec {lines}>../lines {codes}<../codes
sts() {
  local code
  printf '%q ' "$@" >&"$lines"
  echo >&"$lines"
  read -r code <&"$codes" && return "$code"
}
"""
WITH_COMMANDS = [p for p in DOCS if any(lang == "sh" for lang, _, _ in blocks(p))]
IMPORTED = "altair pandas sts_analysis.api sts_scenarios.api sts.numerics.warm_up".split()
"""Modules whose imports most commands share."""
RESTRICTIONS = {
    r"^(sts (?:run|label|report) core@[23])(?!\S)": r"\1+category:keep-beside",
    r"^(sts (?:run|label|report) babyai@3)(?!\S)": r"\1+category:babyai-fetch",
    r"^(sts run (?:core|babyai|spring|lake).*--continuations )\d+": r"\g<1>1",
    r"^sts domain check.*": r"\g<0> --seeds 2 --steps 12",
    r"^sts (?:run|mine|record|lambda-star score)(?!.*--workers)": r"\g<0> --workers 1",
    r"^sts run": r"\g<0> --no-replay",
    r"^(sts lambda-star score .*--episodes )\d+": r"\g<1>10",
    r"^(sts lambda-star score .*) --agent q-learning --agent cooperative-q-learning": r"\1",
    r"^(sts lambda-star score .*) --size 15x15(.*) --team 10(.*) --steps 200": r"\1\2\3",
    r"^(sts lambda-star score .*) --size 7x7(.*) --team 2(.*) --steps 100": r"\1\2\3",
    r"^(sts power --scenarios )216": r"\g<1>20",
    r"^(sts record .*--episodes )100(?= --size)": r"\g<1>50",
    r"^(sts demonstrate .*--episodes )\d+": r"\g<1>40",
    r"^(sts measure skill)": r"\1 --environments 2 --runs 2",
    r"^(sts measure anytime)( .*)--runs \d+": r"\1\2--runs 5",
    r"^(sts measure check .*--environments )\d+": r"\g<1>2",
    r"^(sts measure check --class )frozen-lake": r"\1cups",
    r"^(sts report \S+@\S+)(?!.*--clips)": r"\1 --clips 2",
    r"^(sts report .*) --paper": r"\1",
    r"^sts draft show .*--profiles": r"\g<0> --agent blind",
    r"^sts trajectories import --format overcooked-2019\n": "",
    r"^sts suite (?:build|show) kitchen.*\n": "",
}
"""Patterns of commands that take long, and what is run before a change lands.

The recordings of Overcooked are imported beforehand, but for most of their steps, and the recipe
`kitchen` has a test of its own.
"""


def commands(path: Path) -> str:
    """Return the shell commands of a page."""
    return "".join(text for language, _, text in blocks(path) if language == "sh")


def restrict(shell: str) -> str:
    """Return commands on fewer scenarios, episodes or runs."""
    for pattern, replacement in RESTRICTIONS.items():
        shell = re.sub(pattern, replacement, shell, flags=re.M)
    return shell


@pytest.fixture(scope="module")
def imported() -> Iterator[Zygote]:
    """A process that has imported what commands need, which plays each page as a copy."""
    made = Zygote(IMPORTED)
    yield made
    made.close()


def run(path: Path, shell: str, folder: Path, imported: Zygote, patch: pytest.MonkeyPatch) -> None:
    """Run commands of a page in a folder that holds its files."""
    (folder / "tests").symlink_to(ROOT / "tests")
    for language, title, text in blocks(path):
        if language == "python" and title:
            (folder / title).write_text(text)
    for name in [name for name in os.environ if name.startswith("STS_")]:
        patch.delenv(name)
    patch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    log, *pipes = (folder.parent / name for name in ("log", "lines", "codes"))
    for pipe in pipes:
        os.mkfifo(pipe)
    copy = imported.start((), folder, log, pipes)
    command = ["bash", "-c", f"set -euo pipefail{PLAYED}{shell}"]
    options: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, capture_output=True, text=True, **options)
    copy.wait(PATIENCE)
    said = f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}\n{log.read_text()[-3000:]}"
    assert done.returncode == 0, f"{shell}\n{said}"


def list_pages() -> Iterator[Any]:
    """Yield each page with its restricted commands, and, in the slow tier, with all of them."""
    for path in WITH_COMMANDS:
        tier = () if path.stem == "quickstart" else pytest.mark.landing
        yield pytest.param(path, False, marks=tier, id=path.stem)
        if restrict(commands(path)) != commands(path):
            yield pytest.param(path, True, marks=pytest.mark.slow, id=f"{path.stem}-whole")


@pytest.mark.parametrize(("path", "whole"), [*list_pages()])
def test_commands_of_every_page_run(path, whole, tmp_path, imported, monkeypatch):
    shell, folder = commands(path), tmp_path / "page"
    folder.mkdir()
    if not whole:
        shell = restrict(shell)
        if path.stem == "overcooked":
            import_cut_recordings(folder / "sts-workspace")
    run(path, shell, folder, imported, monkeypatch)


def test_restrictions_are_of_commands_in_the_docs():
    every = "".join(map(commands, WITH_COMMANDS))
    assert [p for p in RESTRICTIONS if not re.search(p, every, re.M)] == []


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
    paths = re.findall(
        r"`((?:sts|scenarios|analysis|annotator_app|worlds|tests)/[\w/.]*)`", architecture
    )
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert f"report.json: {FORMAT};" in (ROOT / "docs/data_standard.md").read_text()
