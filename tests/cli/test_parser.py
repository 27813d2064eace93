"""Every command: an example that parses, its defaults, no abbreviated flag, what was meant."""

import argparse
import contextlib
import inspect
import re
import shlex
import subprocess
import sys
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from sts import registry
from sts.cli import demo
from sts.cli.command import COMMON, Command, Option
from sts.cli.main import build_parser, load_deferred, main
from sts.cli.parser import Parser
from sts.cli.settings import WORLD_SETTINGS, WorldSettings
from sts.entry_points import PLUGINS, list_group
from sts.errors import ArgumentError
from sts.storage.workspace import Workspace

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


NAMES = {"Workspace": Workspace}
"""What modules of commands import for the type checker alone."""


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


def leaf_commands() -> list[tuple[str, Command]]:
    """Return every command without actions, and every action, with what is typed for it."""
    every = []
    for name in registry.list_entry_points("sts.commands"):
        found = load_deferred(registry.load_entry_point("sts.commands", "command", name))
        every += [(f"{name} {one}", action) for one, action in found.actions.items()] or [
            (name, found)
        ]
    return every


LEAVES = pytest.mark.parametrize(
    ("words", "found"), [pytest.param(*one, id=one[0]) for one in leaf_commands()]
)
SAMPLES = ("3", "10x10", "2-23", "0.5")
"""Words, of which every option takes at least one."""


def is_instance(value: object, hint: Any) -> bool:
    """Return True if a value is of a type, such as `list[str] | None`."""
    if hint is Any:
        return True
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType):
        return any(is_instance(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if origin in (list, tuple):
        if not isinstance(value, origin):
            return False
        kinds = inner * len(value) if origin is list else inner
        return all(map(is_instance, value, kinds))
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


def parse_sample(action: argparse.Action) -> object:
    """Return what an argument makes of a word that it takes."""
    if action.nargs == 0:
        return True
    words = [*map(str, action.choices)] if action.choices else SAMPLES
    for word in words:
        with contextlib.suppress(ArgumentError, argparse.ArgumentTypeError, ValueError):
            value = action.type(word) if callable(action.type) else word
            several = action.nargs in ("*", "+", 2)
            value = [value, value] if several else value
            return [value] if isinstance(action, argparse._AppendAction) else value
    raise AssertionError(f"{action.dest} takes none of {SAMPLES}")


def check_types(parser: Parser, name: str, hint: Any, default: Any) -> None:
    """Compare what an option or a named tuple of options yields with a parameter's type."""
    if not isinstance(default, Option):
        assert type(default) is hint, name
        fields = get_type_hints(hint, localns=NAMES)
        assert [*fields] == [*default._fields], name
        for field, kind in fields.items():
            check_types(parser, field, kind, getattr(default, field))
    elif isinstance(default, type(WORLD_SETTINGS)):
        assert hint is WorldSettings, name
    else:
        (action,) = (one for one in parser._actions if one.dest == name)
        assert is_instance(parse_sample(action), hint), name
        is_given = action.required or action.nargs == "*"  # of none, argparse makes a list
        default = action.default
        if isinstance(default, str):
            default = parser._get_value(action, default)
        assert is_given or is_instance(default, hint), name


@LEAVES
def test_summary_of_a_command_is_the_first_line_of_its_docstring(words, found):
    line = (inspect.getdoc(found.run) or "").partition("\n")[0]
    assert found.summary == line[:1].lower() + line[1:].removesuffix(".")


@LEAVES
def test_parameters_of_a_command_are_its_options(words, found):
    signature = inspect.signature(found.run)
    for name, parameter in signature.parameters.items():
        is_option = parameter.kind is parameter.KEYWORD_ONLY
        assert is_option == (name not in COMMON), name
        assert is_option == (parameter.default is not parameter.empty), name
    parser = Parser(prog=words)
    found.add_arguments(parser)
    hints = get_type_hints(found.run, localns=NAMES)
    for name, default in found.options.items():
        check_types(parser, name, hints[name], default)
    assert hints.get("workspace", Workspace) is Workspace
    assert hints.get("workspace_path", str | None) == str | None
    assert {hints.get(name, bool) for name in ("as_json", "debug")} == {bool}


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
