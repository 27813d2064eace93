"""What plug-ins may use: the names exist, are typed and documented, and nothing else is used."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.plugins import page
from tests.plugins.installing import ROOT

ALLOWED = {"sts", *page.MODULES}
BLOCK = re.compile(r"^```(?:python|pycon)[^\n]*\n(.*?)^```$", re.M | re.S)
OURS = r"sts(?:_scenarios|_analysis|_annotator_app)?(?:\.[\w.]+)?"
IMPORT = re.compile(rf"^(?:>>> |\.\.\. )? *(?:from|import) ({OURS})\b", re.M)
FILES = sorted([*(ROOT / "worlds").rglob("*.py"), *(ROOT / "tests" / "data").rglob("*.py")])
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def list_internal(code: str) -> Iterator[str]:
    """Yield the modules of this project that code imports and that are not for plug-ins."""
    for node in ast.walk(ast.parse(code)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        if isinstance(node, ast.ImportFrom) and node.module == "sts":
            names += [f"sts.{alias.name}" for alias in node.names if alias.name != "plugin"]
        for name in names:
            if re.fullmatch(OURS, name):
                yield from {name} - ALLOWED


@pytest.mark.parametrize("module", page.MODULES)
def test_names_are_imported_from_the_modules_that_the_stub_names(module):
    loaded = import_module(module)
    stub = ast.parse(Path(str(loaded.__file__)).with_suffix(".pyi").read_text())
    named = [
        alias for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    ]
    assert [*loaded.HOMES] == [str(alias.asname).lstrip("_") for alias in named]
    assert [*loaded.HOMES] == [*dict.fromkeys(loaded.__all__)] and len(loaded.HOMES) > 10
    assert all(getattr(loaded, name) is not None for name in loaded.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        loaded.nothing  # noqa: B018


def test_page_of_names_is_current():
    written = (ROOT / "docs" / "plugins.md").read_text()
    assert written == page.write_page(), "run python -m tests.plugins.page docs/plugins.md"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_packaged_worlds_and_examples_use_the_names_for_plugins(file):
    assert not list(list_internal(file.read_text()))


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_code_in_the_documentation_uses_the_names_for_plugins(file):
    for block in BLOCK.findall(file.read_text()):
        assert {*IMPORT.findall(block)} <= ALLOWED
