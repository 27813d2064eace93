"""The parser of every command: plain numbers, no short or repeated flag, defaults, an example."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
from collections.abc import Iterable
from typing import Any, NoReturn

from sts.cli import demo
from sts.errors import ArgumentError, UnknownName, suggest_similar

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
"""What every file and database has room for."""
MAX_NUMBER = 10**19
"""The bound of a flag without one: 19 digits."""


def read_whole(text: str) -> int:
    """Return the whole number that a text is, in plain digits; else raise ArgumentTypeError."""
    if not _WHOLE.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected a whole number, found {text!r}")
    return int(text)


def check_bounds(flag: str, value: int, least: int, most: int = MAX_NUMBER) -> int:
    """Return the value of a flag; raise ArgumentError if it is under `least` or over `most`."""
    if not least <= value <= most:
        bounds = f"{least} {'or more' if most == MAX_NUMBER else f'to {most}'}"
        raise ArgumentError(f"expected {flag} of {bounds}, found {value}")
    return value


def _read_finite(text: str) -> float:
    with contextlib.suppress(ValueError):
        number = float(text)
        if math.isfinite(number) and text.isascii() and "_" not in text:
            return number
    raise argparse.ArgumentTypeError(f"expected a number, found {text!r}")


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are `ArgumentError`.

    Attributes:
      example: a command line that works, shown by --help; a {suite}, a {scenario} of it, an {agent}
        and an {other} in it are those of a demo.
    """

    def __init__(self, *args: Any, example: str = "", **settings: Any) -> None:
        """Take what `argparse.ArgumentParser` takes, and an example."""
        settings = {"formatter_class": _Help} | settings | {"allow_abbrev": False}
        super().__init__(*args, **settings)
        self.register("type", int, read_whole)
        self.register("type", float, _read_finite)
        self.example = example

    @property
    def leaves(self) -> list[Parser]:
        """The parsers of its subcommands, or itself where it has none."""
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                return list(action.choices.values())
        return [self]

    def error(self, message: str) -> NoReturn:
        """Raise the message as an ArgumentError, with where to read more."""
        raise ArgumentError(f"{message} (see {self.prog} --help)")

    def format_help(self) -> str:
        """Return the help, with the example below on a line to copy, whatever its length."""
        text = super().format_help()
        return f"{text}\nexample: {demo.fill_example(self.example)}\n" if self.example else text

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Return as `argparse` does, when no flag is unknown; all parsing comes through here."""
        if self.leaves == [self]:
            self._check_flags(args)
        return super().parse_known_args(args, namespace)

    def _check_flags(self, arguments: Iterable[str]) -> None:
        """Refuse unknown flags before missing ones, and flags that are given twice."""
        flags = set()
        for argument in arguments:
            flag = argument.partition("=")[0]
            if flag == "--":
                return
            if flag.startswith("--") and flag not in self._option_string_actions:
                meant = suggest_similar(flag, self._option_string_actions)
                self.error(f"unrecognized arguments: {argument}{meant}")
            if flag in flags:
                self.error(f"{flag} is given twice")
            if type(self._option_string_actions.get(flag)) is argparse._StoreAction:
                flags.add(flag)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is not None and value not in action.choices:
            flag = "/".join(action.option_strings)
            kind = f"value of {flag}" if flag else f"action of {self.prog}"
            raise UnknownName(kind, str(value), map(str, action.choices))


class _Help(argparse.HelpFormatter):
    def _get_help_string(self, action: argparse.Action) -> str | None:
        """Return the help of an option with its default, where the text does not say it itself."""
        takes_value = bool(action.option_strings) and action.nargs != 0 and not action.required
        several = isinstance(action, argparse._AppendAction)
        if action.help is None or not takes_value or several or "default" in action.help:
            return action.help
        default = "none" if action.default in (None, "") else "%(default)s"
        return f"{action.help} (default: {default})"
