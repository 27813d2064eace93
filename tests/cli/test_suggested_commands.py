"""Every command that a message of the sources suggests is one that `sts` understands."""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from sts import registry
from sts.cli.main import build_parser
from sts.cli.parser import Parser
from sts.errors import StsError

ROOT = Path(__file__).parents[2]
FOLDERS = ("sts", "scenarios", "analysis", "annotator_app", "worlds")
VALUE = "1"
"""A placeholder for a value that the message fills in: a name, a number or a path."""
COMMAND = re.compile(r"\bsts ([a-z][a-z-]*(?: [^ ,;:()`”“\"]+)*)")
PROSE = {
    *("again", "and", "created", "it", "lists", "makes", "or", "reads", "rebuilds", "shows"),
    *("them", "would"),
}
"""Words that follow a command, or the program, in a sentence."""
ORIGIN = re.compile(r"^sts (live|record|demonstrate|run|mine) 1( |$)")
"""Sources of recordings, which are no suggestions."""


def list_messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and text of every string that is no docstring; VALUE stands for a value."""
    if path.suffix == ".mjs":
        yield from enumerate(path.read_text().splitlines(), 1)
        return
    tree = ast.parse(path.read_text())
    nodes = list(ast.walk(tree))
    left_out = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    left_out |= {
        id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values
    }
    for node in nodes:
        if id(node) not in left_out and isinstance(node, ast.Constant | ast.JoinedStr):
            parts = node.values if isinstance(node, ast.JoinedStr) else [node]
            texts = [part.value if isinstance(part, ast.Constant) else VALUE for part in parts]
            if all(isinstance(text, str) for text in texts):
                yield node.lineno, "".join(map(str, texts))


def list_suggestions(text: str) -> Iterator[list[str]]:
    """Yield the words of each command in a message, up to the next word of the sentence."""
    for match in COMMAND.finditer("" if ORIGIN.match(text) else text):
        words = [re.sub(r"\{\w+\}", VALUE, word.rstrip(".")) for word in match[1].split()]
        end = next((i for i, word in enumerate(words) if word in PROSE), len(words))
        if words[:end]:
            yield words[:end]


def find_fault(words: list[str]) -> str:
    """Return why the command line parser does not understand a command; "" if it does."""
    name, *rest = words
    try:
        parser = build_parser(name, registry.load_entry_point("sts.commands", "command", name))
        leaf, values = parser, rest
        if parser.leaves != [parser]:
            leaf = next((one for one in parser.leaves if one.prog.split()[2:] == rest[:1]), parser)
            values = rest[1:]
        is_found = leaf is not parser or not rest
        if is_found and values in ([], ["--help"]):
            return ""  # the command is named, without what it takes
        parser.parse_args([*rest[: len(rest) - len(values)], *fill_choices(leaf, values)])
    except (StsError, argparse.ArgumentTypeError) as error:
        return str(error)
    return ""


def fill_choices(leaf: Parser, values: list[str]) -> list[str]:
    """Return the values with a choice in place of a word such as VERDICT."""
    options = leaf._option_string_actions
    filled = list(values)
    for i, (flag, value) in enumerate(zip(values, values[1:], strict=False), 1):
        choices = options[flag].choices if flag in options else None
        if choices and (value.isupper() or value == VALUE):
            filled[i] = str(next(iter(choices)))
    return filled


@pytest.mark.landing
def test_every_command_that_a_message_suggests_is_understood():
    faults, count = [], 0
    for path in (p for folder in FOLDERS for p in sorted((ROOT / folder).rglob("*"))):
        if path.suffix not in (".py", ".mjs"):
            continue
        for line, text in list_messages(path):
            for words in list_suggestions(text):
                count += 1
                if fault := find_fault(words):
                    faults.append(
                        f"{path.relative_to(ROOT)}:{line}: sts {' '.join(words)}: {fault}"
                    )
    assert count > 80
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("start the next version with sts draft from m@1", "action of sts draft"),
        ("run sts labl again", "unknown command 'labl'"),
        ("add some with sts references add ID --verdikt V", "unrecognized arguments: --verdikt"),
        ("run sts annotators role 1 leader", "'leader'"),
        ("run it first: sts mine --split train", "required: NAME"),
    ],
)
def test_suggestion_of_an_unknown_command_is_found(text, fault):
    (words,) = list_suggestions(text)
    assert fault in find_fault(words)
