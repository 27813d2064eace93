"""Every command: an example that parses, its defaults, no abbreviated flag, what was meant."""

import argparse
import inspect
import re
import shlex
import subprocess
import sys

import pytest

from sts import registry
from sts.cli import command, demo
from sts.cli.main import build_parser, main
from sts.cli.parser import Parser
from sts.entry_points import PLUGINS, list_group
from sts.errors import ArgumentError

WORLDS = tuple(sorted({p.value.partition(".")[0] for p in list_group(PLUGINS)}))
HEAVY = {
    "altair",
    "numpy",
    "numba",
    "pyarrow",
    "pandas",
    "scipy",
    "sqlite3",
    "sqlalchemy",
    "streamlit",
} | {
    "importlib.metadata"  # a parser of e-mail comes along
}


def commands() -> list[tuple[str, Parser, Parser]]:
    """Return each command's name, its parser, and one of its leaves."""
    every = []
    for name in registry.list_entry_points("sts.commands"):
        parser = build_parser(name, registry.load_entry_point("sts.commands", "command", name))
        every += [(name, parser, leaf) for leaf in parser.leaves]
    return every


EVERY = pytest.mark.parametrize(
    ("name", "parser", "leaf"), [pytest.param(*one, id=one[2].prog) for one in commands()]
)


@EVERY
def test_every_subcommand_shows_a_valid_example(name, parser, leaf):
    for shown in {parser, leaf}:
        words = shlex.split(demo.fill_example(shown.example))
        assert words[:2] == ["sts", name]
        assert shown is parser or words[2] == leaf.prog.split()[-1]
        assert f"example: {demo.fill_example(shown.example)}" in shown.format_help()
        parser.parse_args(words[2:])


COMMANDS = registry.list_entry_points("sts.commands")
TABLES = [name for name, point in COMMANDS.items() if ".table:" in point.value]
TABLES += ["lambda-star", "overcooked", "interactive"]


@pytest.mark.parametrize(
    ("name", "parser", "leaf"),
    [pytest.param(*one, id=one[2].prog) for one in commands() if one[0] in TABLES],
)
def test_every_command_table_row_names_a_function(name, parser, leaf, monkeypatch):
    asked = []

    def stub(path):
        asked.append(path)
        return lambda *given: len(given)

    monkeypatch.setattr(command, "_import_function", stub)
    words = shlex.split(demo.fill_example(leaf.example))[1 + len(parser.prog.split()[1:]) :]
    given = registry.load_entry_point("sts.commands", "command", name).run(parser.parse_args(words))
    monkeypatch.undo()
    assert len(inspect.signature(command._import_function(*asked)).parameters) == given


@EVERY
def test_every_option_has_help_and_a_default(name, parser, leaf):
    for action in leaf._actions:
        if action.option_strings and action.dest != "help":
            formatter = leaf.formatter_class
            line = formatter(leaf.prog)._expand_help(action) if action.help else ""
            takes_value = action.nargs != 0 and not action.required
            repeatable = isinstance(action, argparse._AppendAction)
            assert line, f"{leaf.prog} {action.option_strings[0]} has no help"
            assert "default" in line or repeatable or not takes_value, line


@EVERY
def test_abbreviated_flag_is_rejected_with_a_suggestion(name, parser, leaf):
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
def test_misspelt_word_gets_a_suggestion(words, line, capsys):
    assert main(words) == 2
    assert re.search(line.replace("?", r"\?"), capsys.readouterr().err)


def test_arguments_after_two_dashes_are_positional():
    assert build_parser(
        "show", registry.load_entry_point("sts.commands", "command", "show")
    ).parse_args(["--index", "1", "--", "--odd"]).what == ["--odd"]


@pytest.mark.parametrize(
    "words",
    [
        *(["--help"], ["suite", "ls"], ["record", "--help"], ["demo", "--help"], ["fly"]),
        *(["run", "core@2", "--agents"], ["report", "--table", "{table}"]),
    ],
    ids=" ".join,
)
def test_light_commands_import_no_heavy_module(words, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("agent,verdict\nann,success\n")  # without a column that it needs
    code = (
        "import sys\nfrom sts.cli.main import main\n"
        f"main({[word.format(table=table) for word in words]!r})\n"
        f"heavy = {HEAVY!r} & set(sys.modules)\n"
        f"worlds = {WORLDS!r}\n"
        "print([*heavy, *(name for name in sys.modules if name.partition('.')[0] in worlds\n"
        "       and name not in worlds and not name.endswith(('.entry_points', '.suites')))])\n"
    )
    if "--help" in words:  # whose examples are those of the worlds
        code = code.replace(repr(WORLDS), "()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
