"""Bad input for every command: each row is a command line that is right except for one thing.

The rows come from the commands' own parsers: a parameter's type decides what is bad for it. Each
row must end with exit code 1 or 2 and one line of errors, in bounded time and memory, and leave
everything on the disk as it was.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import mmap
import os
import resource
import shlex
import signal
import struct
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from sts.cli.main import main
from sts.cli.parser import Parser
from sts.continuations.run import run
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectories
from tests.examples import accepted, recorded, scenarios
from tests.faults.commands import leaves
from tests.faults.processes import fork, wait
from tests.faults.trials import BrokenPromise, Setting

LETTERS = 1100  # of the line of errors, at most
SECONDS = 20  # on the clock, at most; a refusal takes a tenth of one on an idle machine
MEGABYTES = 256  # more than before, at most
ADDRESSES = 2**32  # bytes that a process may address in addition, so that no machine is filled

LONG = "x" * 5000
NAMES = ("nowhere", "../../nowhere", "%00", "two\nlines", LONG, "<b>x</b>", "\u202ex", "-x")
"""Names of nothing."""
TEXTS = ("two\nlines", LONG, "\u202ex", "")
"""What is not allowed as a name."""
WHOLE = ("nan", "inf", "1e9999", "1.5", "٣", "1_0", str(10**30), str(-(10**30)), "", LONG)
FRACTIONS = ("nan", "inf", "-inf", "1e9999", "٣", "1_0", "-1", "", LONG)
READ = ("nowhere", "folder", "pipe", "empty", "binary", "long", "loop", "empty/x", LONG, "")
WRITTEN = ("folder", "pipe", "loop", "empty/x", LONG, "")
WORKSPACES = ("empty", "pipe", "loop", "empty/x", LONG, "damaged", "newer")
FLAGS = ("--nowhere", "--workspac=x", "--json=yes", "--debug=yes", "--help=x", "--workspace") + (
    "--workspace=a --workspace=b",
    "--two\nlines",
    f"--{LONG}",
    "--<b>",
    "--\u202ex",
    "-x",
    "-",
)
DATABASES = ("nonsense://x", "postgresql://", "postgresql://127.0.0.1:1/x", "\u202e", LONG)

GOOD = {
    "agent": "random", "category": "clean-take", "continuation": "0", "draft": "mine",
    "episodes": "2", "file": "binary", "files": "binary", "format": "minari", "metric": "log_prob",
    "name": "Ana", "new": "two@1", "old": "two@1", "reason": "because", "role": "lead",
    "suite": "two@1", "takeover": "4", "to": "sqlite", "trajectory": "0", "verdict": "success",
    "teacher": "reader", "people": "5", "recipe": "kitchen",
    "what": "two@1/clean-take-01", "id": "clean-take-01", "word": "yes",
    "draft.name": "mine", "draft add.player": "0",
}  # fmt: skip
"""What is right for a required parameter, by its name or by its command's and its own."""
OUTPUTS = {"workspace backup.file", "trajectories export.file", "annotations export.file"}
OUTPUTS |= {"lambda-star.table", "figure", "svg", "webp", "mp4", "out", "zip"}
NEW = {"annotators add.name", "mine.name", "suite save.name", "tag"}
NEW |= {f"draft edit.{one}" for one in "category criterion edge_cases pair dialogue".split()}
FREE = {"reason", "instruction", "note", "title", "description", "source", "played_by", "author"}
"""For which any text is right."""
ELSEWHERE = ("domain", "lambda-star", "overcooked", "power", "measure")
"""Commands that may do without a workspace, or without what is in it."""
HEAVY = ("sts_analysis.report.document", "sts_annotator_app.shell.server", "sts_scenarios.mining")
JUDGING = ("annotations", "annotators", "references")
"""Commands that always open the database."""


class Row(NamedTuple):
    """A command line that must be refused: its command, what is wrong in it, and its words.

    `environment` holds the variables that are set for it.
    """

    command: str
    what: str
    words: tuple[str, ...]
    environment: Mapping[str, str] = {}

    def __str__(self) -> str:
        """Return it as it could be typed, long words cut."""
        words = [*(f"{name}={text}" for name, text in self.environment.items()), "sts", *self.words]
        return shlex.join(word if len(word) < 80 else f"{word[:40]}... " for word in words)


def rows(leaf: Parser) -> Iterator[Row]:
    """Yield what is bad for a command, one thing a row."""
    command = leaf.prog.removeprefix("sts ")
    actions = [one for one in leaf._actions if one.dest != "help"]
    usual = _words(command, actions)
    for flags in FLAGS:
        yield Row(command, "a flag", (*usual, *flags.split(" ")))
    if not any(one.nargs in ("*", "+", "?") for one in actions if not one.option_strings):
        yield Row(command, "a word too many", (*usual, "surplus"))
    for one in actions:
        for bad in bad_values(command, one):
            yield Row(command, one.dest, _words(command, actions, one, bad))
    for url in DATABASES if command.startswith(JUDGING) else ():
        yield Row(command, "the database", usual, {"STS_DATABASE_URL": url})


def bad_values(command: str, parameter: argparse.Action) -> Sequence[str]:
    """Return what is bad for a parameter of a command, by its type and its name in the help."""
    name, metavar = parameter.dest, str(parameter.metavar)
    names = {name, f"{command}.{name}", f"{command.split()[0]}.{name}"}
    if parameter.nargs == 0 or names & FREE:
        return ()
    if name == "workspace_path":
        return () if command.startswith(ELSEWHERE) else WORKSPACES
    if parameter.type is int:
        return WHOLE if name in ("seed", "port") else (*WHOLE, "-1")
    if parameter.type is float:
        return FRACTIONS
    if names & OUTPUTS:
        return WRITTEN
    if metavar.startswith("FILE"):
        return READ
    return TEXTS if names & NEW else NAMES


def _words(
    command: str,
    actions: Sequence[argparse.Action],
    changed: argparse.Action | None = None,
    bad: str = "",
) -> tuple[str, ...]:
    """Return a command line with what is required, and a bad value of what is changed."""
    words = command.split()
    for one in actions:
        flag = one.option_strings[0] if one.option_strings else ""
        if one is changed:
            words.append(f"{flag}={bad}" if flag else bad)
        elif one.required and one.nargs not in ("*", "?"):
            names = f"{command}.{one.dest}", f"{words[0]}.{one.dest}", one.dest
            words += [flag] * bool(flag) + [next(GOOD[name] for name in names if name in GOOD)]
    return tuple(words)


class Outcome(NamedTuple):
    """How a row ended: its exit code, None if it did not; its errors; and what it took."""

    code: int | None
    errors: str
    megabytes: float


def outcome(row: Row, folder: Path) -> Outcome:
    """Run a row in a forked process in `folder`; end all that it has begun."""
    held = mmap.mmap(-1, 8)  # shared with the forked process

    def work() -> int:
        os.setsid()
        page, pages = resource.getpagesize(), Path("/proc/self/statm")
        most = int(pages.read_text().split()[0]) * page
        resource.setrlimit(resource.RLIMIT_AS, (most + ADDRESSES, resource.RLIM_INFINITY))
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.chdir(folder)
        os.environ.pop("STS_DATABASE_URL", None)
        os.environ.update({"STS_WORKSPACE": "workspace", "BROWSER": "true"} | dict(row.environment))
        # A command would take first what was freed before, and the peak would not rise.
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the most so far is what there is now
        held[:] = struct.pack("d", int(pages.read_text().split()[1]) * page / 2**20)
        return main([*row.words])

    with tempfile.NamedTemporaryFile() as errors:
        child = fork(work, Path(os.devnull), Path(errors.name))
        ended = wait(child, SECONDS)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
        if ended is None:
            os.waitpid(child, 0)
        text = errors.read().decode("utf-8", "replace")
    (before,) = struct.unpack("d", held[:])
    return Outcome(ended and ended.code, text, ended.megabytes - before if ended else 0.0)


def fault_of(found: Outcome) -> str:
    """Return why an outcome is not a refusal as it should be, or ""."""
    lines = found.errors.splitlines()
    if found.code is None:
        return f"it was not refused in {SECONDS} s"
    if found.code not in (1, 2):
        return f"expected exit code 1 or 2, found {found.code}"
    if len(lines) != 1 or "Traceback" in found.errors:
        return f"expected one line, found {len(lines)}"
    if len(lines[0]) > LETTERS or not lines[0].isprintable():
        return f"expected a line that can be read, found {len(lines[0])} letters"
    if found.megabytes > MEGABYTES:
        return f"it took {found.megabytes:.0f} MB"
    return ""


def contents(folder: Path) -> dict[str, str]:
    """Return what a folder contains: by name the mode, and a hash of what a file holds."""
    found = {}
    for path in folder.rglob("*"):
        held = path.read_bytes() if path.is_file() else b""
        name = str(path.relative_to(folder))
        found[name] = f"{path.lstat().st_mode:o} {hashlib.sha256(held).hexdigest()}"
    return found


def check_refused(row: Row, folder: Path) -> None:
    """Try a row in a furnished folder; raise BrokenPromise unless it is refused as it should be."""
    before = contents(folder)
    found = outcome(row, folder)
    after = contents(folder)
    broken = fault_of(found)
    for name in {*before, *after}:
        if before.get(name) != after.get(name):
            broken = broken or f"expected nothing to be kept, found {name} changed"
    if broken:
        raise BrokenPromise(broken, [row, *found.errors.splitlines()[:20]])


def furnished(folder: Path) -> Path:
    """Fill a folder with a workspace to work in, and with files that are bad to read."""
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "empty").touch()
    (folder / "binary").write_bytes(bytes(range(256)) * 8)
    (folder / "long").write_bytes(b"x" * 2**20)
    (folder / "loop").symlink_to("loop")
    for name, text in (("damaged", b"\xff\x00"), ("newer", b"schema = 9999\n")):
        (folder / name).mkdir()
        (folder / name / "workspace.toml").write_bytes(text)
    workspace, two = Workspace.open(folder / "workspace").create(), scenarios(2)
    suites.freeze_scenarios(workspace, "two", two)
    accepted(workspace, "mine", two)
    trajectories.save(workspace, recorded(count=3))
    run(workspace, two, ("random",), count=1, seed=0, workers=1, progress=lambda done, total: None)
    return folder


def import_heavy() -> None:
    """Import once what each forked process would import again."""
    for name in HEAVY:
        import_module(name)


def trial(setting: Setting) -> Counter[str]:
    """Try a few rows that are drawn, each in the same folder."""
    import_heavy()
    every = [row for leaf in leaves() for row in rows(leaf)]
    furnished(setting.folder)
    chosen = setting.random.choice(len(every), 20, replace=False)
    for number in chosen:
        check_refused(every[number], setting.folder)
    return Counter({"bad command lines": len(chosen)})
