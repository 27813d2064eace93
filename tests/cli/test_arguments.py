"""What commands print: nothing in it sets a terminal, and programs can read it."""

import io
import json
import sys
import threading

import pytest
from tqdm import tqdm

from sts.cli import arguments
from sts.cli.arguments import say, table, warn
from sts.cli.main import main

HOSTILE = "a\x1b[2J\x9b1m\N{RIGHT-TO-LEFT OVERRIDE}b"
COLOURS = "\x1b[38;2;1;2;3;48;2;4;5;6m▀\x1b[0m"
SHOWN = r"a\x1b[2J\x9b1m\u202eb"


def test_what_does_not_print_is_shown_as_its_number_and_colours_stay(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say(False, None, f"{HOSTILE}\n{COLOURS}{HOSTILE}")
    assert capsys.readouterr().out == f"{SHOWN}\n{COLOURS}{SHOWN}\n"


def test_warning_of_a_command_is_one_line_and_shows_unprintable_letters_as_numbers(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(argv: object, debug: object) -> int:
        warn(f"two\nlines {HOSTILE}")
        return 0

    monkeypatch.setattr("sts.cli.main._run", run)
    assert main(["record"]) == 0
    assert capsys.readouterr().err == f"sts: warning: two lines {SHOWN}\n"


def test_json_keeps_what_does_not_print_as_an_escape(capsys: pytest.CaptureFixture[str]) -> None:
    value = {HOSTILE: [HOSTILE, "\U000e0001", "Λ*"]}
    say(True, value, "")
    printed = capsys.readouterr().out
    assert json.loads(printed) == value and "Λ*" in printed
    assert all(line.isprintable() for line in printed.splitlines())


def test_a_cell_is_one_short_line() -> None:
    rows = table(("name", "n"), [(f"{HOSTILE}\nfrozen: yes", 1), ("x" * 5000, 2)]).splitlines()
    assert len(rows) == 3
    assert all(line.isprintable() and len(line) < 250 for line in rows)
    assert "... (5000 letters)" in rows[2]


def test_an_errors_line_sets_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trajectories", "verify", HOSTILE]) == 1
    assert capsys.readouterr().err == f"sts: {SHOWN}: no such file\n"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_is_drawn_again_while_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = threading.Event()
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(arguments, "_BEAT", 0.01)
    monkeypatch.setattr(tqdm, "refresh", lambda bar: drawn.set())
    with arguments.progress("waiting", "things"):
        assert drawn.wait(60)
