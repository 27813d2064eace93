"""The fingerprints of the agents that come with the suite: what of the suite they cover."""

from __future__ import annotations

import ast
import functools
import itertools
import os
import shutil
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import sts
from sts.agents.identity.closure import Meaning, meaning
from sts.agents.identity.identity import PACKAGES, READ
from sts.agents.identity.modules import Modules

SUITE = Path(sts.__file__).parent
POINTS = {point.name: point.value for point in entry_points(group="sts.agents")}
NAMES = tuple(name for name, value in POINTS.items() if value.startswith("sts."))
LEARNER, COOK, SEEKER = "sarsa", "overcooked-greedy", "babyai-seeker"


@functools.cache
def read(name: str, suite: str = "sts", roots: tuple[str, ...] = ()) -> Meaning:
    module, _, kind = POINTS[name].partition(":")
    module = suite + module.removeprefix("sts")
    packages = PACKAGES - {"sts"} | {suite}
    inside = tuple(suite + one.removeprefix("sts") for one in READ)
    found = Modules(module, packages=packages, read=inside, roots=roots)
    return meaning(found, module, kind)


@pytest.fixture
def copy(tmp_path: Path) -> Callable[..., str]:
    """Returns what copies the suite to a folder of its own, by another name, with files edited."""
    numbers = itertools.count()

    def made(name: str, files: tuple[str, ...], edit: Callable[[str], str]) -> str:
        root = tmp_path / str(next(numbers))
        skipped = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SUITE, root / name, ignore=skipped, copy_function=os.symlink)
        for file in files or [own.relative_to(root / name) for own in (root / name).rglob("*.py")]:
            own = root / name / file
            text = own.read_text()
            own.unlink()
            own.write_text(edit(text))
        return str(root)

    return made


def test_every_agent_of_ours_says_all_that_it_is_but_for_weights() -> None:
    for name in NAMES:
        found = read(name)
        assert found.code and found.hidden == ()
        assert found.outside == (name == "overcooked-cloned")


def test_renaming_and_reformatting_the_suite_change_no_agent(copy: Callable[..., str]) -> None:
    root = copy("renamed", (), lambda text: f"# Ours.\n{text.replace('sts.', 'renamed.')}\n# Here.")
    for name in ("rule", COOK, SEEKER, "recorded"):
        assert read(name, "renamed", (root,)) == read(name)
    shared = "worlds/lambda_star/agents/sets.py", "worlds/lambda_star/agents/learner.py"
    root = copy("sts", shared, lambda text: ast.unparse(ast.parse(text)))
    assert read(LEARNER, roots=(root,)) == read(LEARNER)


def more(text: str) -> str:
    """Returns a module in which every whole number is one more."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and type(node.value) is int:
            node.value += 1
    return ast.unparse(tree)


@pytest.mark.parametrize(
    ("files", "covered"),
    [
        (("worlds/lambda_star/agents/sets.py",), {"rule", LEARNER}),  # kernels that they share
        (("worlds/lambda_star/agents/learner.py",), {LEARNER}),  # an adapter that they share
        (("numerics/draws.py",), {"rule", LEARNER}),
        (("worlds/overcooked/basics.py", "worlds/babyai/agents/missions.py"), {COOK, SEEKER}),
        (
            (
                "worlds/lambda_star/intelligence/score.py",
                "numerics/compiled.py",
                "domains/adapted.py",
                "engine/session.py",
            ),
            set(),
        ),
    ],
)
def test_an_edit_renames_the_agents_that_use_what_was_edited_and_no_other(
    copy: Callable[..., str], files: tuple[str, ...], covered: set[str]
) -> None:
    root = copy("sts", files, more)
    names = ("rule", LEARNER, COOK, SEEKER)
    assert {name for name in names if read(name, roots=(root,)) != read(name)} == covered
