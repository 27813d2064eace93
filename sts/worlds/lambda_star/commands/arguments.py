"""Arguments and files that several actions share."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


class Once(argparse.Action):
    """Keeps a value as usual, and refuses a second one, which would silently win."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Keeps `values`."""
        given: set[str] = vars(namespace).setdefault("_given", set())
        if self.dest in given:
            raise argparse.ArgumentError(self, "given twice; here it has one value")
        given.add(self.dest)
        setattr(namespace, self.dest, values)


def add_world(
    parser: argparse.ArgumentParser, *, size: str, team: int, steps: int, once: bool = True
) -> None:
    """Adds the arguments that say what environments are made to.

    Args:
      parser: of an action.
      size: the default of --size, as text.
      team: of --team.
      steps: of --steps.
      once: False lets these three be given more than once; they are None where they are not.
    """
    action: Any = Once if once else "append"

    def default(value: object) -> object:
        return value if once else None

    parser.add_argument(
        "--size", default=default(size), action=action, metavar="HxW", help=f"default: {size}"
    )
    parser.add_argument(
        "--team",
        type=int,
        default=default(team),
        action=action,
        metavar="P",
        help=f"participants (default: {team})",
    )
    parser.add_argument(
        "--steps",
        type=int,
        default=default(steps),
        action=action,
        metavar="T",
        help=f"default: {steps}",
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


def complexity(text: str | None) -> tuple[int, int] | None:
    """Returns (low, high) of "2-23".

    Raises:
      ArgumentError: not of that form.
    """
    import re

    from sts.errors import ArgumentError

    if text is None:
        return None
    match = re.fullmatch(r"(\d{1,6})-(\d{1,6})", text, re.ASCII)
    if not match:
        raise ArgumentError(f"expected --complexity like 2-23, found {text!r}")
    return int(match[1]), int(match[2])


def target(flag: str, name: str | None, suffix: str) -> Path | None:
    """Returns the file that a flag names, when it can be written.

    Raises:
      ArgumentError: another suffix, a folder, or a place where nothing can be written.
    """
    import os

    from sts.errors import ArgumentError

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
    """Writes a file that `target` returned.

    Raises:
      OSError: it cannot be written; names the file as its user did.
    """
    from sts.storage.files import write_atomically

    try:
        write_atomically(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
