"""The public API: fifteen names, loaded when used, that do what the commands do."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import sts
from sts.cli.main import main

NAMES = [
    "Agent", "Category", "Domain", "Metric", "StsError", "Workspace", "build_report", "freeze",
    "label", "load_ratings", "load_report", "load_suite", "mine", "record", "run",
]  # fmt: skip
FUNCTIONS = [name for name in NAMES if name.islower()]
PAGE = Path(__file__).parents[1] / "docs" / "python.md"
STUB = Path(sts.__file__).with_suffix(".pyi")


def blocks(language: str) -> list[tuple[str, str]]:
    """Return the title and text of the page's code blocks in a language."""
    return re.findall(
        rf"^```{language}(?: title=(\S+))?\n(.*?)^```$", PAGE.read_text(), re.M | re.S
    )


def python(code: str, folder: Path) -> str:
    """Run code as a script in a folder, without its errors being hidden; return what it printed."""
    (folder / "script.py").write_text(code)
    done = subprocess.run(
        [sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_public_names_are_these_and_their_types_are_declared() -> None:
    declared = {
        str(alias.asname)
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sts.__all__ == NAMES == sorted(declared)
    assert set(NAMES) <= set(dir(sts))
    with pytest.raises(AttributeError, match="no attribute 'rank'"):
        sts.rank  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("name", NAMES)
def test_no_public_name_is_also_a_submodule(name: str) -> None:
    assert importlib.util.find_spec(f"sts.{name}") is None


def test_importing_all_submodules_replaces_no_public_name(tmp_path: Path) -> None:
    code = (
        "import pkgutil, sts\n"
        f"before = [getattr(sts, name) for name in {NAMES}]\n"
        "import sts.ratings, sts.api, sts.continuations.run, sts.trajectories.record\n"
        f"print(all(a is getattr(sts, n) for a, n in zip(before, {NAMES})))\n"
    )
    assert python(code, tmp_path) == "True\n"


def test_importing_sts_imports_nothing_heavy(tmp_path: Path) -> None:
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "numba", "sqlalchemy", "sts.api", "tqdm")
    code = f"import sys, sts; print([name for name in {heavy} if name in sys.modules])"
    assert python(code, tmp_path) == "[]\n"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_public_functions_document_arguments_errors_and_an_executed_example(name: str) -> None:
    function = getattr(sts, name)
    text = inspect.getdoc(function) or ""
    assert "Raises:" in text
    for parameter in inspect.signature(function).parameters:
        assert f"{parameter}: " in text or name == "load_report", parameter
    assert f"sts.{name}(" in "".join(text for _, text in blocks("pycon"))


@pytest.mark.parametrize("name", [name for name in NAMES if not name.islower()])
def test_public_classes_are_used_in_the_examples(name: str) -> None:
    examples = [text for language in ("pycon", "python") for _, text in blocks(language)]
    assert f"sts.{name}" in "".join(examples)
    assert inspect.getdoc(getattr(sts, name))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the examples of the page were executed, from an empty one."""
    folder = tmp_path_factory.mktemp("page")
    for title, text in blocks("python"):
        (folder / title).write_text(text)
    code = (
        "import doctest, sys\n"
        f"text = {''.join(text for _, text in blocks('pycon'))!r}\n"
        "test = doctest.DocTestParser().get_doctest(text, {}, 'python.md', None, 0)\n"
        "runner = doctest.DocTestRunner(optionflags=doctest.REPORT_NDIFF)\n"
        "runner.run(test)\n"
        "print(runner.tries > 40, runner.failures)\n"
    )
    out = python(code, folder)
    assert out.endswith("True 0\n"), out
    return folder


def test_examples_of_the_page_print_what_they_show(finished: Path) -> None:
    assert (finished / "report" / "report.html").exists()
    assert (finished / "sts-workspace" / "suites" / "mine" / "1" / "suite.json").exists()


def test_functions_and_commands_give_the_same_results(
    finished: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in (
        "record --agent reader --agent random --episodes 60 --steps 40 --seed 1",
        "mine mine --category keep-beside --category shadow-evil --category where-was-evil "
        "--per-category 3 --seed 1",
        "draft accept mine --all --as ana",
        "suite freeze mine",
        "run mine@1 --agent reader --agent local-search --agent random --continuations 4",
        "label mine@1",
    ):
        assert main(line.split()) == 0, capsys.readouterr().err
    there = finished / "sts-workspace"
    hashes = [
        [scenario.hash for scenario in sts.load_suite("mine@1", workspace=path).scenarios]
        for path in (None, there)
    ]
    assert hashes[0] == hashes[1]
    report = sts.build_report("mine@1", workspace=str(there))
    capsys.readouterr()
    assert main(["report", "mine@1", "--evidence", "none", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert [entry["pass_rate"] for entry in written["agents"]] == [
        entry.pass_rate for entry in report.agents
    ]
    assert capsys.readouterr() == ("", ""), "functions print nothing"


def test_paths_may_be_texts_and_workspaces_and_suites_may_be_open(finished: Path) -> None:
    path = finished / "sts-workspace"
    workspace = sts.Workspace.open(path)
    suite = sts.load_suite("mine@1", workspace=workspace)
    tables = [
        sts.load_ratings("mine@1", workspace=str(path)),
        sts.load_ratings("mine@1", workspace=path),
        sts.load_ratings(suite, workspace=workspace),
    ]
    assert all(table.equals(tables[0]) for table in tables) and len(tables[0]) == 108
    assert sts.run(suite, "reader", continuations=4, workspace=path)["made"].tolist() == [0]


def test_values_show_themselves_in_a_notebook(finished: Path) -> None:
    path = finished / "sts-workspace"
    suite = sts.load_suite("mine@1", workspace=path)
    assert "<table" in suite._repr_html_() and "keep-beside-01" in suite._repr_html_()
    report = sts.load_report(finished / "report")
    assert report._repr_html_().startswith("<iframe")


def test_errors_are_the_projects_own_and_name_the_value(tmp_path: Path) -> None:
    with pytest.raises(sts.StsError, match="unknown suite 'mine@1'"):
        sts.load_suite("mine@1", workspace=tmp_path)
    with pytest.raises(sts.StsError, match="expected 1 or more, found 0 continuations"):
        sts.run("core@2", "random", continuations=0, workspace=tmp_path)
    with pytest.raises(sts.StsError, match="nothing to mine"):
        sts.mine("mine", workspace=tmp_path)
    with pytest.raises(sts.StsError, match="unknown target 'all'"):
        sts.build_report(pd.DataFrame(), target="all")
    with pytest.raises(sts.StsError, match="compare_to needs a suite"):
        sts.build_report(pd.DataFrame(), compare_to="core@1")


def test_retried_work_is_a_warning_and_not_a_printed_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sts.cli.arguments import warn
    from sts.errors import StsWarning

    with pytest.warns(StsWarning, match="tried again"):
        warn("tried again")
    assert capsys.readouterr() == ("", "")


def test_a_script_without_a_main_guard_may_run_its_own_agent(tmp_path: Path) -> None:
    title, text = blocks("python")[0]
    (tmp_path / title).write_text(text)
    code = (
        "import sts\nprint('once')\n"
        "print(sts.record('still:Still', episodes=2, steps=3, workers=2)['agent'].tolist())\n"
    )
    assert python(code, tmp_path) == "once\n['still', 'still']\n"


def test_a_recording_that_fails_says_where_finished_episodes_are_saved(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text(
        "import still\n"
        "class Failing(still.Still):\n"
        "    name = 'failing'\n"
        "    def act(self, *arguments):\n"
        "        raise ValueError('enough')\n"
    )
    title, text = blocks("python")[0]
    (tmp_path / title).write_text(text)
    code = (
        "import sts\n"
        "try:\n"
        "    sts.record(['random', 'failing:Failing'], episodes=2, steps=3, domain='lambda-star')\n"
        "except sts.StsError as error:\n"
        "    print(error, error.__notes__)\n"
    )
    assert re.search("enough.*2 of 4 episodes are saved in", python(code, tmp_path))
