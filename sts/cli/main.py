"""The one command, `sts`: finds its subcommands by entry point and turns errors into one line."""

import argparse
import errno
import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import sts
from sts import registry
from sts.cli import arguments
from sts.cli.command import Command, Deferred, Result
from sts.cli.parser import Parser
from sts.errors import ArgumentError, StsError, StsWarning, UnknownName
from sts.names import escape_unprintable

_MAX_LINE_CHARS = 1000
"""Letters of an error's line."""
_DISK_ERRORS = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ENOENT: "no such file",
    errno.EISDIR: "expected a file, found a folder",
    errno.ENOTDIR: "a folder on its path is a file",
}


def _format_command_list() -> str:
    """Return a line for each command; one that cannot be loaded hides no other."""
    names = registry.list_entry_points("sts.commands")
    width = max(map(len, names), default=0)
    return "\n".join(f"  {name:<{width}}  {_load_summary(name)}" for name in names)


def _load_summary(name: str) -> str:
    try:
        return _load_command(name).summary
    except StsError as error:
        return f"CANNOT BE USED: {' '.join(str(error).split())}"


def _load_command(name: str) -> Command | Deferred:
    names = registry.list_entry_points("sts.commands")
    if name not in names:
        raise UnknownName("command", name, names, most=len(names))
    command = registry.load_entry_point("sts.commands", "command", name)
    if not isinstance(command, Command | Deferred):
        raise StsError(f"entry point sts.commands:{name} is not a Command")
    return command


def _add_common(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("common")
    help = "default: STS_WORKSPACE or sts-workspace"
    group.add_argument("--workspace", dest="workspace_path", metavar="DIR", help=help)
    help = "print JSON for a program to read"
    group.add_argument("--json", dest="as_json", action="store_true", help=help)
    group.add_argument("--debug", action="store_true", help="show the traceback of an error")


def load_deferred(command: Command | Deferred) -> Command:
    """Return a command, imported if it is deferred."""
    return command.load() if isinstance(command, Deferred) else command


def build_parser(name: str, command: Command | Deferred) -> Parser:
    """Return the parser of a command, with the flags that all of them have."""
    command = load_deferred(command)
    described = command.description or command.summary
    parser = Parser(prog=f"sts {name}", description=described, example=f"sts {command.example}")
    command.add_arguments(parser)
    for leaf in parser.leaves:
        _add_common(leaf)
    return parser


def describe_os_error(error: OSError) -> str:
    """Return one line that says which file could not be used, and why."""
    reason = _DISK_ERRORS.get(error.errno or 0, error.strerror or str(error))
    where = error.filename2 or error.filename
    return f"{where}: {reason}" if where else reason


def _configure_streams() -> None:
    """Have a terminal without Greek letters show their numbers, and a closed stream nothing."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _reserve_stdout() -> None:
    """Keep standard output for us: whatever else writes there, past Python too, goes to stderr."""
    try:
        handle = os.dup(1)
        os.dup2(2, 1)
    except OSError:  # one of them is closed
        return
    sys.stdout = open(handle, "w", encoding=getattr(sys.stdout, "encoding", None))  # noqa: SIM115


def _drop_stdout() -> None:
    """Drop what waits in stdout, at which the interpreter's last flush would complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _check_text(argv: Sequence[str]) -> None:
    for word in argv:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ArgumentError(f"expected arguments in UTF-8, found {word!r}") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run `sts` and return its exit code: 0 done, 1 data, 2 arguments, 130 interrupted."""
    if argv is None:  # run as a program
        # `python -m` has put the current folder before all that is installed
        registry.add_current_folder()
        _reserve_stdout()
    code = _main(argv)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        _drop_stdout()
    except OSError as error:
        _drop_stdout()
        return _print_error(describe_os_error(error), 1, error, debug=False)
    return code


def _main(argv: Sequence[str] | None) -> int:
    argv = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in argv
    _configure_streams()
    with warnings.catch_warnings():
        warnings.simplefilter("always", StsWarning)
        show = warnings.showwarning

        def print_warning(
            message: Warning | str, category: type[Warning], *where: Any, **more: Any
        ) -> None:
            if issubclass(category, StsWarning):
                print(f"sts: warning: {escape_unprintable(str(message))}", file=sys.stderr)
            else:
                show(message, category, *where, **more)

        warnings.showwarning = print_warning
        return _run(argv, debug)


def _run(argv: Sequence[str], debug: bool) -> int:
    """Run a command and return its exit code; an error is printed in one line."""
    try:
        _check_text(argv)
        if not argv or argv[0] in ("-h", "--help"):
            print("usage: sts COMMAND [...]\n\nThe open Standardised Test Suite.\n")
            print(_format_command_list())
            print("\n`sts COMMAND --help` shows a command's arguments and an example.")
            return 0
        if argv[0] in ("-V", "--version"):
            print(f"sts {sts.__version__}")
            return 0
        command = load_deferred(_load_command(argv[0]))
        values = vars(build_parser(argv[0], command).parse_args(argv[1:]))
        done = command.call(values)
        if isinstance(done, Result):
            arguments.print_result(values["as_json"], done.value, done.text)
            return done.code
        return done
    except StsError as error:
        return _print_error(str(error), error.exit_code, error, debug)
    except BrokenPipeError:
        _drop_stdout()
        return 0
    except OSError as error:
        return _print_error(describe_os_error(error), 1, error, debug)
    except SystemExit as done:  # argparse, after --help
        return int(done.code or 0)
    except MemoryError as error:
        message = "not enough memory for this; ask for less at once, or for fewer --workers"
        return _print_error(message, 1, error, debug)
    except KeyboardInterrupt as error:
        notice = "interrupted; what was finished is kept, the same command goes on from there"
        return _print_error(notice, 130, error, debug)


def _print_error(line: str, code: int, error: BaseException, debug: bool) -> int:
    if debug:
        import traceback  # which only an error waits for

        traceback.print_exception(error)
    for note in () if debug else getattr(error, "__notes__", ()):
        print(f"sts: {escape_unprintable(note)}", file=sys.stderr)
    print(f"sts: {_shorten(escape_unprintable(' '.join(line.split())))}", file=sys.stderr)
    return code


def _shorten(line: str) -> str:
    """Return the ends of a line that is long, as what was found may be: what to do stands last."""
    excess, half = len(line) - _MAX_LINE_CHARS, _MAX_LINE_CHARS // 2
    return line if excess <= 0 else f"{line[:half]} [{excess} letters] {line[-half:]}"


if __name__ == "__main__":
    sys.exit(main())
