"""Every command: an example that parses, its defaults, no abbreviated flag, what was meant."""

from __future__ import annotations

import argparse
import inspect
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sts import registry
from sts.cli import command, demo
from sts.cli.main import main, parser_of
from sts.cli.parser import Parser
from sts.errors import ArgumentError

HEAVY = {"numpy", "numba", "pyarrow", "pandas", "scipy", "sqlite3", "sqlalchemy", "streamlit"} | {
    "importlib.metadata"  # a parser of e-mail comes along
}


def commands() -> list[tuple[str, Parser, Parser]]:
    """Return each command's name, its parser, and one of its leaves."""
    every = []
    for name in registry.named("sts.commands"):
        parser = parser_of(name, registry.load("sts.commands", "command", name))
        every += [(name, parser, leaf) for leaf in parser.leaves]
    return every


EVERY = pytest.mark.parametrize(
    ("name", "parser", "leaf"), [pytest.param(*one, id=one[2].prog) for one in commands()]
)


@EVERY
def test_every_subcommand_shows_an_example_that_its_parser_takes(
    name: str, parser: Parser, leaf: Parser
) -> None:
    for shown in {parser, leaf}:
        words = shlex.split(demo.fill_example(shown.example))
        assert words[:2] == ["sts", name]
        assert shown is parser or words[2] == leaf.prog.split()[-1]
        assert f"example: {demo.fill_example(shown.example)}" in shown.format_help()
        parser.parse_args(words[2:])


TABLES = tuple(
    name for name, point in registry.named("sts.commands").items() if ".table:" in point.value
) + ("lambda-star", "overcooked", "interactive")


@EVERY
def test_every_row_of_a_table_names_a_function(
    name: str, parser: Parser, leaf: Parser, monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in TABLES:
        pytest.skip("it has a function of its own")
    asked = []

    def stub(path: str) -> Callable[..., int]:
        asked.append(path)
        return lambda *given: len(given)

    monkeypatch.setattr(command, "_function", stub)
    words = shlex.split(demo.fill_example(leaf.example))[1 + len(parser.prog.split()[1:]) :]
    given = registry.load("sts.commands", "command", name).run(parser.parse_args(words))
    monkeypatch.undo()
    assert len(inspect.signature(command._function(*asked)).parameters) == given


@EVERY
def test_every_option_is_explained_with_its_default(
    name: str, parser: Parser, leaf: Parser
) -> None:
    for action in leaf._actions:
        if action.option_strings and action.dest != "help":
            formatter: Any = leaf.formatter_class
            line = formatter(leaf.prog)._expand_help(action) if action.help else ""
            takes_value = action.nargs != 0 and not action.required
            repeatable = isinstance(action, argparse._AppendAction)
            assert line, f"{leaf.prog} {action.option_strings[0]} has no help"
            assert "default" in line or repeatable or not takes_value, line


@EVERY
def test_an_abbreviated_flag_is_refused_and_the_whole_one_suggested(
    name: str, parser: Parser, leaf: Parser
) -> None:
    action = leaf.prog.split()[2:]
    for flag in (one for one in leaf._option_string_actions if len(one) > 6):
        with pytest.raises(ArgumentError, match="did you mean --") as refused:
            parser.parse_args([*action, flag[:-1]])
        assert f"unrecognized arguments: {flag[:-1]}; " in str(refused.value)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["sute", "ls"], "did you mean suite?"),
        (["suite", "lss"], "unknown action of sts suite 'lss'; .*did you mean ls?"),
        (["run", "core@2", "--agents=random"], "--agents=random; did you mean --agent?"),
        (["trajectories", "ls", "--split", "tests"], "value of --split 'tests'; .*mean test?"),
    ],
)
def test_what_was_meant_is_said(
    words: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    import re

    assert main(words) == 2
    assert re.search(line.replace("?", r"\?"), capsys.readouterr().err)


def test_what_follows_two_dashes_is_no_flag() -> None:
    assert parser_of("show", registry.load("sts.commands", "command", "show")).parse_args(
        ["--index", "1", "--", "--odd"]
    ).what == ["--odd"]


@pytest.mark.parametrize(
    "words",
    [["--help"], ["suite", "ls"], ["record", "--help"], ["run", "core@2", "--agents"], ["fly"]],
    ids=" ".join,
)
def test_help_a_list_of_suites_and_a_refusal_import_nothing_heavy(words: list[str]) -> None:
    assert imported(words) == "[]"


def test_a_table_without_a_column_is_refused_before_anything_heavy(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("agent,verdict\nann,success\n")
    assert imported(["report", "--table", str(tmp_path / "t.csv")]) == "[]"


def imported(words: list[str]) -> str:
    """Return which heavy packages a process has imported that ran `sts` with these words."""
    code = (
        "import sys\nfrom sts.cli.main import main\n"
        f"main({words!r})\n"
        f"print(sorted({HEAVY!r} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]
