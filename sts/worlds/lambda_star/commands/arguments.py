"""Arguments and files that several actions share."""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from sts.errors import ArgumentError
from sts.worlds.lambda_star.flags import FLAGS, size


def add_world(parser: argparse.ArgumentParser, *, once: bool = True, **defaults: str) -> None:
    """Adds the arguments that say what environments are made to, with these defaults, as text.

    Not `once` lets --size, --team and --steps be given more than once; they are None where they are
    not.
    """
    kinds: dict[str, Any] = {"size": size, "team": int, "steps": int}
    for flag in FLAGS:
        if flag.name in defaults:
            default = defaults[flag.name]
            parser.add_argument(
                f"--{flag.name}",
                type=kinds[flag.name],
                default=default if once else None,
                action="store" if once else "append",
                metavar=flag.metavar,
                help=f"{flag.help.partition(' (')[0]} (default: {default})",
            )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="names the environments (default: 0)"
    )
    parser.add_argument(
        "--patterns",
        choices=("paper", "lambdastar-2016"),
        default="paper",
        help="how Good and Evil move: as the paper or as its program has it (default: paper)",
    )


def add_class(parser: argparse.ArgumentParser, more: str = "") -> None:
    """Add the arguments that say which environments are drawn, and how many.

    `more` is what help says further of the range of K.
    """
    parser.add_argument(
        "--complexity",
        type=complexity,
        metavar="LOW-HIGH",
        help=f"range of K (default: what can be drawn of 2-23{more})",
    )
    parser.add_argument(
        "--episodes", type=int, default=1000, metavar="N", help="environments (default: 1000)"
    )


def complexity(text: str) -> tuple[int, int]:
    """Return (low, high) of "2-23"."""
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def target(flag: str, name: str | None, suffix: str) -> Path | None:
    """Returns the file that a flag names, when it has the suffix and can be written."""
    if name is None:
        return None
    path = Path(name)
    if path.suffix != suffix:
        raise ArgumentError(f"expected {flag} with a name that ends in {suffix}, found {name!r}")
    if path.is_dir():
        raise ArgumentError(f"expected {flag} with a file, found the folder {name}")
    folder = path.parent
    if not folder.exists():
        raise ArgumentError(f"{flag} {name}: the folder {folder} does not exist; make it first")
    if not folder.is_dir():
        raise ArgumentError(f"{flag} {name}: {folder} is not a folder; choose another place")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArgumentError(f"{flag} {name}: nothing can be written in {folder}")
    return path


def write(path: Path, data: bytes) -> None:
    """Writes a file that `target` returned; an error names it as its user did."""
    from sts.storage.files import write_atomically

    try:
        write_atomically(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
