"""Names and paths in backticks, in docstrings, comments and documentation, exist."""

from __future__ import annotations

import re
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = {
    "sts": ROOT / "sts",
    "sts_scenarios": ROOT / "scenarios/sts_scenarios",
    "sts_analysis": ROOT / "analysis/sts_analysis",
    "sts_annotator_app": ROOT / "annotator_app/sts_annotator_app",
    "sts_lambda_star": ROOT / "worlds/lambda_star/sts_lambda_star",
    "sts_babyai": ROOT / "worlds/babyai/sts_babyai",
    "sts_overcooked": ROOT / "worlds/overcooked/sts_overcooked",
    "tests": ROOT / "tests",
}
MENTION = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)*/?")
NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
SOURCES = (".py", ".md", ".toml", ".mjs", ".ts", ".j2", ".css", ".html")
FENCE = re.compile(r"^```.*?^```$", re.M | re.S)
OURS = r"\.py$|^(sts|scenarios|analysis|annotator_app|worlds|tests|docs)/[a-z]"
"""Paths of this project, among those of users' workspaces."""
FOREIGN = (
    "proxy_pass auth_request forward_auth limit_req synchronous_commit UNIQUE tsc revoke "
    "ColumnChunkMetaData"
).split()
"""Names of other programs, and of commands."""
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES.remove(ROOT / "docs/changelog.md")  # which names what there was


@cache
def list_files() -> list[Path]:
    return [file for folder in FOLDERS.values() for file in sorted(folder.rglob("*.py"))]


@cache
def split_tokens(file: Path) -> tuple[str, str]:
    """Return the code of a file, and its prose: docstrings and comments."""
    code: list[str] = []
    prose: list[str] = []
    with file.open("rb") as opened:
        for token in tokenize.tokenize(opened.readline):
            is_prose = token.type == tokenize.COMMENT or (
                token.type == tokenize.STRING and token.string.lstrip("rfRF").startswith('"""')
            )
            (prose if is_prose else code).append(token.string)
    return " ".join(code), "\n".join(prose)


@cache
def read_code() -> str:
    """Return the text of all code, of other sources than Python too, without prose."""
    texts = [split_tokens(file)[0] for file in list_files()]
    for folder in (*FOLDERS.values(), ROOT):
        files = folder.glob("*") if folder == ROOT else folder.rglob("*")
        texts += [f.read_text() for f in files if f.suffix in SOURCES[2:] and f.is_file()]
    return " ".join(texts)


@cache
def list_keys() -> frozenset[str]:
    """Return all short texts of code."""
    return frozenset(re.findall(r"[\"']([\w.-]+)[\"']", read_code()))


@cache
def list_words() -> frozenset[str]:
    """Return all words of code."""
    return frozenset(re.findall(r"\w+", read_code()))


@cache
def list_paths() -> frozenset[str]:
    """Return each file and folder of the project, and each tail of its path."""
    folders = (*FOLDERS.values(), ROOT / "docs", ROOT / ".ci")
    every = [*ROOT.glob("*"), *folders, *(path for folder in folders for path in folder.rglob("*"))]
    parts = [path.relative_to(ROOT).parts for path in every]
    return frozenset("/".join(one[n:]) for one in parts for n in range(len(one)))


def exists(name: str) -> bool:
    """Return True if a dotted name is one of code: its last part in the module that it names."""
    *modules, last = name.split(".")
    if "NAME" in name or name.isupper() or name in list_keys():
        return True  # a placeholder, or a key such as the group of an entry point
    if modules and (modules[0] in FOLDERS or last.isupper()):
        files = [f for f in list_files() if is_module(f, modules) or is_module(f, modules[:-1])]
        in_them = any(re.search(rf"\b{last}\b", split_tokens(file)[0]) for file in files)
        return in_them or any(is_module(file, [*modules, last]) for file in list_files())
    return {*modules, last} <= list_words()


@cache
def split_name(file: Path) -> list[str]:
    """Return the parts of a module's name."""
    folder = next(folder for folder in FOLDERS.values() if file.is_relative_to(folder))
    own = [folder.name, *file.relative_to(folder).with_suffix("").parts]
    return own[:-1] if own[-1] == "__init__" else own


def is_module(file: Path, parts: list[str]) -> bool:
    """Return True if a dotted name, or its end, is that of a module or package."""
    return bool(parts) and split_name(file)[-len(parts) :] == parts


def list_missing(text: str, known: str = "") -> Iterator[str]:
    """Yield each mention in a text of a name or file that neither exists nor is in `known`."""
    for mention in MENTION.findall(text):
        name = mention.removesuffix("()")
        if re.search(rf"\b{re.escape(Path(name).name)}", known):
            continue
        if "NAME" not in name and PATH.fullmatch(name) and re.search(OURS, name):
            if name.rstrip("/") not in list_paths():
                yield mention
        elif NAME.fullmatch(name) and not name.endswith(SOURCES) and not exists(name):
            yield mention


@pytest.mark.landing
def test_mentions_in_docstrings_and_comments_exist() -> None:
    found = {file: [*list_missing(split_tokens(file)[1])] for file in list_files()}
    assert {str(file.relative_to(ROOT)): names for file, names in found.items() if names} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_mentions_in_the_documentation_exist(page: Path) -> None:
    """A page may also name what its own examples make, and what other programs call theirs."""
    text = page.read_text()
    assert [*list_missing(FENCE.sub("", text), " ".join([*FENCE.findall(text), *FOREIGN]))] == []


@pytest.mark.parametrize(
    "parts",
    [("sts.jobs.tasks.", "ENOUGH"), ("agents/", "table.py"), ("sts/", "job/"), ("re", "prot")],
)
def test_stale_mention_is_found(parts: tuple[str, str]) -> None:
    stale = "".join(parts)  # which no code has as one word
    assert [*list_missing(f"See `{stale}`.")] == [stale]
    assert not [*list_missing("See `sts.jobs.tasks.MIN_FAILURES`, `sts/jobs/` and `test_docs.py`.")]
