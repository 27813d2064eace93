"""Subcommands: functions that each package contributes through `sts.commands`.

The parameters of a command's function after the `*` are its arguments. Each is called as its flag,
and its default says what the command line takes:

    @declare("pond --seed 3")
    def pond(
        workspace: Workspace,
        *,
        seed: int = option("S", "names the pond", 0),
        ice: bool = switch("in winter"),
    ) -> Result:
        '''Show how a new pond looks.'''

Help of a command imports its function's module, so heavy modules are imported within functions.
`Deferred` keeps that module out of `sts --help`.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

from sts.cli.parser import MAX_NUMBER, Parser, check_bounds, read_whole

COMMON = ("workspace", "workspace_path", "as_json", "debug")
"""Parameters that any function may have before the `*`: the opened workspace, the path given for
it, and the flags --json and --debug."""


class Result(NamedTuple):
    """A command's findings: `value` for --json, `text` for people, and the exit code."""

    value: Any
    text: str
    code: int = 0


class Option:
    """An argument of the command line, as the default of the parameter that gets its value.

    Attributes:
      flag: such as "--agent"; "" for that of the parameter's name, None for none.
      bounds: the least and the largest value of a whole number, or None.
      settings: others of `argparse`.
    """

    def __init__(
        self, flag: str | None, bounds: tuple[int, int] | None = None, **settings: Any
    ) -> None:
        self.flag, self.bounds, self.settings = flag, bounds, settings

    def add(self, parser: argparse.ArgumentParser, name: str) -> None:
        """Add the argument of the parameter `name` to a parser."""
        if self.flag is None:
            parser.add_argument(name, **self.settings)
            return
        flag, bounds = self.flag or f"--{name.rstrip('_').replace('_', '-')}", self.bounds
        settings = dict(self.settings)
        if bounds is not None:
            settings["type"] = lambda text: check_bounds(flag, read_whole(text), *bounds)
        parser.add_argument(flag, dest=name, **settings)

    def read(self, name: str, values: Mapping[str, Any]) -> Any:
        """Return the value of the parameter `name`, given the values of all arguments."""
        return values[name]


class Command(NamedTuple):
    """One subcommand of `sts`, or one of the actions of one."""

    summary: str  # one line for `sts --help`
    # a command line that works, from the command's name on, shown by `--help`; a {suite}, a
    # {scenario} of it, an {agent} and an {other} in it are those of a demo
    example: str
    # does the work and returns what is printed, or, where it has printed by itself, the exit
    # code; parameters that are not of `COMMON` have an `Option` as default, or a named tuple of
    # them
    run: Callable[..., Result | int] | None
    description: str = ""  # what its own help says in place of the summary
    actions: Mapping[str, "Command"] = {}  # in place of `run`, by the word that chooses one

    @property
    def options(self) -> dict[str, Any]:
        """The defaults of the parameters of `run`: an `Option`, or a named tuple of them."""
        run = getattr(self.run, "__wrapped__", self.run)
        return getattr(run, "__kwdefaults__", None) or {}

    def add_arguments(self, parser: Parser) -> None:
        """Add all that the command takes to its parser."""
        for name, default in self.options.items():
            _add(parser, name, default)
        if self.actions:
            leaves: Any = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
            for name, action in self.actions.items():
                leaf = leaves.add_parser(
                    name,
                    help=action.summary,
                    description=action.description or action.summary,
                    example=f"{parser.prog} {action.example}",
                )
                action.add_arguments(leaf)

    def call(self, values: Mapping[str, Any]) -> Result | int:
        """Run the command, or its action, with the values of parsed arguments."""
        if self.run is None:
            return self.actions[values["action"]].call(values)
        names = [name for name in self.run.__annotations__ if name in COMMON]
        given = {name: values[name] for name in names if name != "workspace"}
        if "workspace" in names:
            from sts.storage.workspace import Workspace

            given["workspace"] = Workspace.open(values["workspace_path"])
        given |= {name: _read(values, name, default) for name, default in self.options.items()}
        return self.run(**given)


def _add(parser: argparse.ArgumentParser, name: str, default: Any) -> None:
    """Add to a parser what a parameter with this default is read from."""
    if isinstance(default, Option):
        default.add(parser, name)
        return
    for field, part in default._asdict().items():
        _add(parser, field, part)


def _read(values: Mapping[str, Any], name: str, default: Any) -> Any:
    """Return the value of a parameter with this default."""
    if isinstance(default, Option):
        return default.read(name, values)
    return type(default)(*(_read(values, *field) for field in default._asdict().items()))


def declare(
    example: str, *, description: str = ""
) -> Callable[[Callable[..., Result | int]], Command]:
    """Return a decorator that makes a function a command, which its docstring summarises."""

    def decorate(run: Callable[..., Result | int]) -> Command:
        line = (run.__doc__ or "").partition("\n")[0]
        return Command(line[:1].lower() + line[1:].removesuffix("."), example, run, description)

    return decorate


class Deferred(NamedTuple):
    """A command in a module that is imported when it is used, so that `sts --help` is quick."""

    path: str  # `module:Name` of the Command
    summary: str  # that of the command, whatever its docstring says

    def load(self) -> Command:
        """Import and return the command."""
        module, _, name = self.path.partition(":")
        command: Command = getattr(import_module(module), name)
        return command._replace(summary=self.summary)


def group(example: str, *actions: Command, summary: str = "") -> Command:
    """Return a command whose first word chooses an action: the first word of its example."""
    by_name = {action.example.partition(" ")[0]: action for action in actions}
    return Command(summary, example, None, actions=by_name)


def argument(metavar: str | Sequence[str], help: str | None = None, **settings: Any) -> Any:
    """Return what a parameter without a flag takes.

    Args:
      metavar: what help calls its value, or the values among which it chooses.
      help: a few words.
      **settings: others of `argparse`, such as `nargs`.
    """
    return Option(None, help=help, **_name_value(metavar, settings))


def option(
    metavar: str | Sequence[str],
    help: str,
    default: Any = None,
    *,
    flag: str = "",
    least: int | None = None,
    most: int = MAX_NUMBER,
    **settings: Any,
) -> Any:
    """Return what a parameter with a flag takes.

    Args:
      metavar: what help calls its value, or the values among which it chooses.
      help: a few words; a default that they do not name is added.
      default: where it is a number, the value is one of its type.
      flag: such as "--agent", where it is not that of the parameter's name.
      least: makes the value a whole number from this on.
      most: with `least`, up to which.
      **settings: others of `argparse`.
    """
    if isinstance(default, int | float):
        settings = {"type": type(default)} | settings
    bounds = None if least is None else (least, most)
    settings = _name_value(metavar, settings)
    return Option(flag, bounds, help=help, default=default, **settings)


def repeatable(metavar: str | Sequence[str], help: str, **settings: Any) -> Any:
    """Return what a flag that may be given several times takes; its values are a list."""
    return option(metavar, help, [], action="append", **settings)


def switch(help: str, *, flag: str = "") -> Any:
    """Return what a flag without a value takes."""
    return Option(flag, action="store_true", help=help)


def _name_value(metavar: str | Sequence[str], settings: dict[str, Any]) -> dict[str, Any]:
    """Add to settings what help calls a value, or each of several, or what it is one of."""
    if not isinstance(metavar, str):
        return {"choices": metavar} | settings
    return {"metavar": tuple(metavar.split()) if " " in metavar else metavar} | settings


AGENTS = repeatable(
    "A", "a name, module:Class or PYTHON:module:Class", flag="--agent", required=True
)
SUITE = argument("NAME@VERSION", "or a part: NAME@VERSION+tag:T+category:C")
WORKERS = option("W", "processes", 1, least=1)
