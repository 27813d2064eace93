"""Options of generated worlds: `--env-option KEY=VALUE`, and flags that domains declare.

A world's flags stand in the entry-point group `sts.flags` under its domain's name, as a sequence of
`Flag`. Help reads those of every world, so the module they stand in imports nothing heavy.
"""

import argparse
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sts import registry
from sts.cli.command import Option
from sts.cli.parser import check_bounds, read_whole
from sts.errors import ArgumentError, StsError

GROUP = "sts.flags"
_NAME = re.compile(r"(?!(?:help|env-option|workspace|json|debug)$)[a-z][a-z0-9-]*")
"""What a world may call a flag: not as one that every command has."""


class Flag(NamedTuple):
    """A flag of a world's own, for the commands that make new worlds.

    Attributes:
      name: "size" makes it `--size`; of small letters, digits and dashes, and none that every
        command has. If the command itself has a flag of that name, such as `--steps`, `read` gets
        the value of that one.
      metavar: what help calls its value.
      help: a few words, with the default.
      read: returns the settings that a value represents; raises ArgumentError if it is invalid.
    """

    name: str
    metavar: str
    help: str
    read: Callable[[str], dict[str, Any]]


class WorldSettings:
    """Values of `--env-option` and of the flags of installed worlds."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def read(self, domain: str) -> dict[str, Any]:
        """Return the settings for worlds of `domain`, whose flags alone may have been given.

        What `--env-option` gives wins.
        """
        arguments, domain_flags = self._values, _load_flags(domain)
        for name, flags in _list_flags().items():
            if arguments.get(f"--{name}") is not None and domain not in flags:
                usable = [
                    f"--{flag.name}" for flag in domain_flags if f"--{flag.name}" in arguments
                ]
                expected = ", ".join([*usable, "--env-option KEY=VALUE"])
                raise ArgumentError(
                    f"--{name} is for {', '.join(flags)}; for {domain} expected {expected}"
                )
        values = {
            flag.name: arguments.get(f"--{flag.name}", arguments.get(flag.name.replace("-", "_")))
            for flag in domain_flags
        }
        return read_values(domain, values) | parse_pairs(arguments["env_option"])


class _SettingsOption(Option):
    def add(self, parser: argparse.ArgumentParser, name: str) -> None:
        """Add `--env-option` and the flags of every installed world, but those of the command.

        A world's flag is kept under its name with the dashes, apart from the command's own.
        """
        super().add(parser, "env_option")
        option_strings = {option for action in parser._actions for option in action.option_strings}
        group = parser.add_argument_group("settings that a domain has a flag for")
        for flag_name, flags in _list_flags().items():
            flag = f"--{flag_name}"
            if flag not in option_strings:
                texts = (f"{domain}: {flag.help}" for domain, flag in flags.items())
                (metavar, *_) = (flag.metavar for flag in flags.values())
                text = "; ".join(texts).replace("%", "%%")
                group.add_argument(flag, dest=flag, metavar=metavar, help=text)

    def read(self, name: str, values: Mapping[str, Any]) -> WorldSettings:
        return WorldSettings(values)


WORLD_SETTINGS: Any = _SettingsOption(
    "",
    action="append",
    default=[],
    metavar="KEY=VALUE",
    help="a setting of the domain's worlds, a JSON value or text; repeatable",
)
"""The default of a parameter `settings: WorldSettings`, the last one of a command."""


def read_values(domain: str, flag_values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that values of the domain's flags stand for, by the flags' names."""
    settings: dict[str, Any] = {}
    for flag in _load_flags(domain):
        if (value := flag_values.get(flag.name)) is not None:
            with registry.translate_errors(f"--{flag.name} of domain {domain!r} failed"):
                settings |= flag.read(str(value))
    return settings


def _list_flags() -> dict[str, dict[str, Flag]]:
    """Return the flags of all worlds by name, and by whose they are."""
    flags_by_name: dict[str, dict[str, Flag]] = {}
    for domain in registry.list_entry_points(GROUP):
        try:
            flags = _load_flags(domain)
        except StsError:  # said to whoever wants worlds of this domain, and to nobody else
            continue
        for flag in flags:
            flags_by_name.setdefault(flag.name, {})[domain] = flag
    return flags_by_name


def _load_flags(domain: str) -> tuple[Flag, ...]:
    if domain not in registry.list_entry_points(GROUP):
        return ()
    flags = registry.load_entry_point(GROUP, "flags of domain", domain)
    if not isinstance(flags, Sequence) or not all(isinstance(flag, Flag) for flag in flags):
        raise StsError(f"entry point {GROUP}:{domain} is no sequence of Flag")
    for flag in flags:
        if not _NAME.fullmatch(str(flag.name)):
            raise StsError(
                f"entry point {GROUP}:{domain}: expected a flag's name of small letters, digits "
                f"and dashes that no command has for itself, found {flag.name!r}"
            )
    return tuple(flags)


def parse_pairs(texts: Sequence[str]) -> dict[str, Any]:
    """Return {"cells": 9} of ["cells=9"]: JSON values, or text where it is no JSON."""
    settings: dict[str, Any] = {}
    for pair in texts:
        key, equals, text = pair.partition("=")
        if not equals or not key.isidentifier():
            raise ArgumentError(f"expected a setting as KEY=VALUE, found {pair!r}")
        if key in settings:
            raise ArgumentError(f"the setting {key} is given twice")
        try:
            settings[key] = json.loads(text)
        except ValueError:
            settings[key] = text
    return settings


def read_whole_flag(flag: str, text: str, *, least: int | None = None) -> int:
    """Return the whole number that the text of a flag is; `least` is the smallest allowed one.

    Raises:
      ArgumentError: it is no whole number, or a smaller one.
    """
    try:
        number = read_whole(text)
    except argparse.ArgumentTypeError:
        raise ArgumentError(f"expected {flag} as a whole number, found {text!r}") from None
    return number if least is None else check_bounds(flag, number, least)
