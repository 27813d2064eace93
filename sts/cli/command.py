"""Subcommands: values that each package contributes through `sts.commands`.

Its arguments are a table, a row each:

    Command(
        summary="show how a new pond looks",
        example="sts pond --seed 3",
        run=defer_import("sts_pond.showing:show"),
        arguments=(option("--seed S", "names the pond", 0), switch("--ice", "in winter")),
    )
"""

import argparse
from collections.abc import Callable, Sequence
from importlib import import_module
from keyword import iskeyword
from typing import Any, NamedTuple

from sts.cli.parser import MAX_NUMBER, check_bounds, read_whole

AddArgument = Callable[[argparse.ArgumentParser], object]
"""Adds an argument, or several, to a parser; imports nothing heavy."""


class Result(NamedTuple):
    """A command's findings: `value` for --json, `text` for people, and the exit code."""

    value: Any
    text: str
    code: int = 0


Run = Callable[[argparse.Namespace], Result | int]


class Command(NamedTuple):
    """One subcommand of `sts`.

    Attributes:
      summary: one line for `sts --help`.
      example: a command line that works, shown by `--help`; a {suite}, a {scenario} of it, an
        {agent} and an {other} in it are those of a demo.
      run: does the work and returns what is printed, or, where it has printed by itself, the exit
        code; `defer_import` names it, so that help imports nothing heavy.
      arguments: what it takes, apart from what every command takes.
      description: what its own help says in place of the summary.
    """

    summary: str
    example: str
    run: Run
    arguments: Sequence[AddArgument] = ()
    description: str = ""


def defer_import(path: str) -> Run:
    """Return a command's `run` that is the function at `module:name`, imported when it is used."""
    return lambda args: _import_function(path)(args)


def defer_in_workspace(path: str) -> Run:
    """Return what `defer_import` does, of a function of the arguments and the opened workspace."""

    def run(args: argparse.Namespace) -> Result | int:
        from sts.storage.workspace import Workspace

        return _import_function(path)(args, Workspace.open(args.workspace))

    return run


def _import_function(path: str) -> Callable[..., Result | int]:
    module, _, name = path.partition(":")
    function: Callable[..., Result | int] = getattr(import_module(module), name)
    return function


class Action(NamedTuple):
    """One of the actions of a command, as `action` makes it."""

    name: str
    summary: str
    example: str
    arguments: Sequence[AddArgument]
    description: str
    at: str


def action(
    example: str, summary: str, *arguments: AddArgument, description: str = "", at: str = ""
) -> Action:
    """Return an action of a command.

    Args:
      example: what follows the command's name in an example that works; the action's name is first.
      summary: one line.
      *arguments: as of a Command.
      description: as of a Command.
      at: its function, as `module:name`; "" for that of its own name in the module of the group.
    """
    name = example.partition(" ")[0]
    return Action(name, summary, example, arguments, description or summary, at)


def group(
    summary: str,
    example: str,
    module: str,
    *actions: Action,
    run: Callable[[str], Run] = defer_in_workspace,
) -> Command:
    """Return a command whose first word is the name of an action.

    Its functions are in `module`: `import_` for "import", `sign_out` for "sign-out". `run` is
    `defer_import` if they do without a workspace.
    """
    runs = {}
    for subcommand in actions:
        name = subcommand.name.replace("-", "_")
        default_path = f"{module}:{name}{'_' if iskeyword(name) else ''}"
        runs[subcommand.name] = run(subcommand.at or default_path)

    def add_actions(parser: argparse.ArgumentParser) -> None:
        leaves: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
        for subcommand in actions:
            example_line = f"{parser.prog} {subcommand.example}"
            leaf = leaves.add_parser(
                subcommand.name,
                help=subcommand.summary,
                description=subcommand.description,
                example=example_line,
            )
            for row in subcommand.arguments:
                row(leaf)

    return Command(summary, example, lambda args: runs[args.action](args), (add_actions,))


def argument(
    name: str, metavar: str | None, help: str | None = None, **settings: Any
) -> AddArgument:
    """Return the row of an argument without a flag; `settings` are those of `argparse`."""
    return lambda parser: parser.add_argument(name, metavar=metavar, help=help, **settings)


def option(
    flag: str,
    help: str,
    default: Any = None,
    *,
    least: int | None = None,
    most: int = MAX_NUMBER,
    **settings: Any,
) -> AddArgument:
    """Return the row of a flag with a value, such as "--seed S".

    Args:
      flag: and what help calls its value; nothing, where it is one of `choices`.
      help: a few words; a default that they do not name is added.
      default: where it is a number, the value is one of its type.
      least: makes the value a whole number from this on.
      most: with `least`, up to which.
      **settings: others of `argparse`.
    """
    name, _, metavar = flag.partition(" ")
    settings = {"metavar": metavar or None, "help": help, "default": default} | settings
    if isinstance(default, int | float):
        settings = {"type": type(default)} | settings
    if least is not None:
        settings["type"] = lambda text: check_bounds(name, read_whole(text), least, most)
    return lambda parser: parser.add_argument(name, **settings)


def repeatable(flag: str, help: str, **settings: Any) -> AddArgument:
    """Return the row of a flag that may be given several times; its values are a list."""
    return option(flag, help, [], action="append", **settings)


def switch(flag: str, help: str) -> AddArgument:
    """Return the row of a flag without a value."""
    return lambda parser: parser.add_argument(flag, action="store_true", help=help)


AGENTS = repeatable("--agent A", "a name, module:Class or PYTHON:module:Class", required=True)
SUITE = argument("suite", "NAME@VERSION", "or a part: NAME@VERSION+tag:T+category:C")
WORKERS = option("--workers W", "processes", 1, least=1)
