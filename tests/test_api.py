"""The public API: fifteen names, loaded when used, that do what the commands do."""

import ast
import doctest
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
from sts.cli.arguments import warn
from sts.cli.main import main
from sts.errors import StsWarning

NAMES = [
    "Agent", "Category", "Domain", "Metric", "StsError", "Workspace", "build_report", "freeze",
    "label", "load_ratings", "load_report", "load_suite", "mine", "record", "run",
]  # fmt: skip
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


def test_public_names_are_these_and_their_types_are_declared():
    declared = {
        str(alias.asname)
        for node in ast.parse(STUB.read_text()).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sts.__all__ == NAMES == sorted(declared)
    assert set(NAMES) <= set(dir(sts))
    assert [name for name in NAMES if importlib.util.find_spec(f"sts.{name}")] == []
    with pytest.raises(AttributeError, match="no attribute 'rank'"):
        sts.rank  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.landing
def test_importing_all_submodules_replaces_no_public_name(tmp_path):
    heavy = ("numpy", "pandas", "pyarrow", "scipy", "numba", "sqlalchemy", "sts.api", "tqdm")
    code = (
        f"import sys, sts\nprint([name for name in {heavy} if name in sys.modules])\n"
        f"before = [getattr(sts, name) for name in {NAMES}]\n"
        "import sts.ratings, sts.api, sts.continuations.run, sts.trajectories.record\n"
        f"print(all(a is getattr(sts, n) for a, n in zip(before, {NAMES})))\n"
    )
    assert python(code, tmp_path) == "[]\nTrue\n"


@pytest.mark.parametrize("name", NAMES)
def test_public_functions_document_arguments_errors_and_an_executed_example(name):
    thing = getattr(sts, name)
    text = inspect.getdoc(thing) or ""
    if name.islower():
        assert "Raises:" in text
        for parameter in inspect.signature(thing).parameters:
            assert f"{parameter}: " in text or name == "load_report", parameter
        assert f"sts.{name}(" in "".join(text for _, text in blocks("pycon"))
    else:
        examples = [text for language in ("pycon", "python") for _, text in blocks(language)]
        assert text and f"sts.{name}" in "".join(examples)


@pytest.mark.parametrize("name", NAMES)
def test_examples_in_docstrings_of_public_names_are_right(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("STS_WORKSPACE", raising=False)
    text = inspect.getdoc(getattr(sts, name)) or ""
    example = doctest.DocTestParser().get_doctest(text, {}, f"sts.{name}", None, 0)
    assert 2 <= len(example.examples) <= 8
    printed: list[str] = []
    results = doctest.DocTestRunner().run(example, out=printed.append)
    assert results == (0, len(example.examples)), "".join(printed)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
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
    assert (folder / "report" / "report.html").exists()
    return folder


@pytest.mark.landing
def test_functions_and_commands_give_the_same_results(finished, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for line in (
        "record --agent reader --agent random --episodes 60 --steps 40 --seed 1",
        "mine mine --category keep-beside --category shadow-evil --category where-was-evil "
        "--per-category 4 --seed 1",
        "draft accept mine --all --user ana",
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
    assert main(["report", "mine@1", "--clips", "none", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    rates = [entry["pass_rate"] for entry in written["ranking"]["rows"]]
    assert rates == [entry.pass_rate for entry in report.ranking.rows]
    assert capsys.readouterr() == ("", ""), "functions print nothing"


def test_paths_workspaces_and_suites_are_accepted_in_every_form(finished):
    path = finished / "sts-workspace"
    workspace = sts.Workspace.open(path)
    suite = sts.load_suite("mine@1", workspace=workspace)
    tables = [
        sts.load_ratings("mine@1", workspace=str(path)),
        sts.load_ratings("mine@1", workspace=path),
        sts.load_ratings(suite, workspace=workspace),
    ]
    assert all(table.equals(tables[0]) for table in tables) and len(tables[0]) == 144
    assert sts.run(suite, "reader", continuations=4, workspace=path)["new"].tolist() == [0]
    assert "<table" in suite._repr_html_() and "keep-beside-01" in suite._repr_html_()
    report = sts.load_report(finished / "report")
    assert report._repr_html_().startswith("<iframe")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: sts.load_suite("mine@1", workspace=path), "unknown suite 'mine@1'"),
        (
            lambda path: sts.run("core@2", "random", continuations=0, workspace=path),
            "expected 1 or more, found 0 continuations",
        ),
        (lambda path: sts.mine("mine", workspace=path), "nothing to mine"),
        (lambda path: sts.build_report(pd.DataFrame(), target="all"), "unknown target 'all'"),
        (
            lambda path: sts.build_report(pd.DataFrame(), compare_to="core@1"),
            "compare_to needs a suite",
        ),
    ],
)
def test_errors_are_sts_errors_that_name_the_value(call, message, tmp_path):
    with pytest.raises(sts.StsError, match=message):
        call(tmp_path)


def test_retried_work_is_a_warning_and_not_a_printed_line(capsys):
    with pytest.warns(StsWarning, match="tried again"):
        warn("tried again")
    assert capsys.readouterr() == ("", "")


FAILING = """
import still
class Failing(still.Still):
    name = "failing"
    def act(self, *arguments):
        raise ValueError("enough")
"""
SCRIPT = """
import sts
print("once")
print(sts.record("still:Still", episodes=2, steps=3, workers=2)["agent"].tolist())
try:
    sts.record(["random", "failing:Failing"], episodes=2, steps=3, domain="lambda-star")
except sts.StsError as error:
    print(error, error.__notes__)
"""


@pytest.mark.landing
def test_script_without_a_main_guard_runs_its_own_agent(tmp_path):
    title, text = blocks("python")[0]
    (tmp_path / title).write_text(text)
    (tmp_path / "failing.py").write_text(FAILING)
    first, second, last = python(SCRIPT, tmp_path).splitlines()
    assert (first, second) == ("once", "['still', 'still']")
    assert re.search("enough.*2 of 4 episodes are saved in", last)
