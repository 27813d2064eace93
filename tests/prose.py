"""Counts what `CONTRIBUTING.md` asks writers to avoid, and fails where a count has risen.

    python -m tests.prose                # counts by rule; exit code 1 if one is above its baseline
    python -m tests.prose --list RULE    # every match of a rule
    python -m tests.prose --update       # record counts that have fallen

Texts of frozen suites are hashed and therefore left out, and so is `sts_analysis`, which is still
to be rewritten.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASELINE = Path(__file__).parent / "data" / "prose.json"
PACKAGES = ("sts", "scenarios", "annotator_app", "worlds")
HASHED = re.compile(r"worlds/\w+/\w+/(categories|suites)/")
DIALECT = {
    r"\banew\b": "again; re- (rebuild, relabel)",
    r"\bbeside\b": "next to, in addition to, compared with",
    r"\bwho(m|se)?ever\b": "anyone who; the role",
    r"\b(no|some|any)body\b": "the role: an annotator, a reviewer",
    r"\bfor ever\b": "permanently",
    r"\blikewise\b": "also",
    r"\bby lot\b": "at random",
    r"\bseldom\b": "rarely",
    r"\b(is|are|was|were) none\b": "is not a ..., is missing",
    r"\bof (yours|ours|theirs)\b": "your, our, their",
    r"\b(is|are) (one|a) line\b": "prints a one-line error",
    r"\b(what|who) (is|are) (said|told|asked|held|kept|settled)\b": "a noun",
    r"\b(is|are|was|were|be|been) told\b": "is given, is shown, is notified",
    r"\b(tell|tells|told|telling) (\w+ ){0,2}apart\b": "distinguish; significantly different",
    r"\b(for|by|of|and|to) who (leads?|judges?|is|has|asks?|knows?|acts?)\b": "the role",
    r"\bstood?s?\b (in|at|there|for)\b": "is stored in, represents",
}
"""Patterns of the old dialect, and what to write instead."""
RIDDLE = re.compile(r"(What|Who|Whoever|Whether|Whatever|Where|Which|That|How)\b(?!.*\?)")
NO_ACTION = frozenset(
    """about after ahead alike along alone apart asked back before beside between chosen compared
    done drawn each ended every found framed fresh given held how joined kept left like linked
    listed made marked moved named now of offered once opened other others own packed played
    refused remembered said seen shown spoken standing taken there these together told towards
    typed unable unlike unpacked wanted way where whole with within written""".split()
)
"""Names that say of no function what it does."""
TEST_NAME = re.compile(
    r"_(is|are)_(one|a)_line|_that_(is|are)_no|_whoever_|_nobody|^test_(what|who)_"
)
LONGEST_NAME, LONGEST_SENTENCE = 75, 35


def in_python(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the rule and the place of every match in a module."""
    name, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text())
    test = name.startswith("tests/")
    docstrings = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstrings.add(id(node.value))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and not test:
            text, line = ast.get_docstring(node) or "", getattr(node, "lineno", 1)
            yield from (("docstrings: dialect", f"{name}:{line} {hit}") for hit in dialect(text))
            if RIDDLE.match(text):
                yield "docstrings: no noun or verb first", f"{name}:{line} {text.splitlines()[0]}"
        if isinstance(node, ast.FunctionDef):
            place = f"{name}:{node.lineno} {node.name}"
            properties = [ast.unparse(decorator) for decorator in node.decorator_list]
            if test and node.name.startswith("test_"):
                if TEST_NAME.search(node.name) or len(node.name) > LONGEST_NAME:
                    yield "names: tests", place
            elif node.name.strip("_") in NO_ACTION and not any(
                "property" in decorator for decorator in properties
            ):
                yield "names: functions without a verb", place
    if test or HASHED.search(name):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings and " " in node.value.strip():
                for hit in dialect(node.value):
                    yield "messages: dialect", f"{name}:{node.lineno} {hit}"


def dialect(text: str) -> Iterator[str]:
    """Yield every match of the dialect, with the sentence around it."""
    for sentence in re.split(r"(?<=[.!?:;])\s+|\n\s*\n", text):
        for pattern in DIALECT:
            for match in re.finditer(pattern, sentence, re.IGNORECASE):
                yield f"{match[0]}: {' '.join(sentence.split())[:90]}"


def in_page(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the rule and the place of every match in a page of the documentation."""
    name = path.relative_to(ROOT).as_posix()
    text = re.sub(r"```.*?```|<!--.*?-->|^\|.*?$", "", path.read_text(), flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "X", re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text))
    yield from (("docs: dialect", f"{name} {hit}") for hit in dialect(text))
    for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z*])|\n\s*\n|\n(?=[-*#\d])", text):
        if len(re.findall(r"[\w'’-]+", sentence)) > LONGEST_SENTENCE:
            yield "docs: long sentences", f"{name} {' '.join(sentence.split())[:90]}"


def in_template(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the rule and the place of every match in the texts of a page or script."""
    text = path.read_text()
    texts = re.findall(r"[\"`]([^\"`\n]{12,})[\"`]", text)
    if path.suffix == ".html":
        texts = [re.sub(r"{[{%].*?[}%]}|<[^>]*>", " \n\n", text, flags=re.S)]
    for part in texts:
        yield from (("messages: dialect", f"{path.name} {hit}") for hit in dialect(part))


def find_all() -> list[tuple[str, str]]:
    """Return every match: the rule, and where."""
    found: list[tuple[str, str]] = []
    for page in [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("*.md"))]:
        found += in_page(page)
    for package in (*PACKAGES, "tests"):
        for path in sorted((ROOT / package).rglob("*")):
            if path.suffix == ".py":
                found += in_python(path)
            elif path.suffix in (".html", ".mjs") and package != "tests":
                found += in_template(path)
    return found


def main() -> int:
    """Print the counts; return 1 if one is above its baseline."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", metavar="RULE", help="print every match of this rule")
    parser.add_argument("--update", action="store_true", help="record counts that have fallen")
    args = parser.parse_args()
    found = find_all()
    if args.list:
        print(*(place for rule, place in found if rule == args.list), sep="\n")
    baseline = json.loads(BASELINE.read_text())
    counts = {rule: Counter(rule for rule, _ in found)[rule] for rule in baseline}
    print(", ".join(f"{rule} {count}" for rule, count in counts.items()))
    risen = [rule for rule, count in counts.items() if count > baseline[rule]]
    for rule in risen:
        print(f"{rule}: {counts[rule]}, at most {baseline[rule]}; see --list '{rule}'")
    if args.update and not risen:
        BASELINE.write_text(json.dumps(counts, indent=1) + "\n")
    return bool(risen)


if __name__ == "__main__":
    sys.exit(main())
