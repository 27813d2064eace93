"""Templates are compiled once, and again when they or what compiles them change."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jinja2
import pytest

from analysis.report.bytecode import Bytecode


@pytest.fixture(autouse=True)
def compiles(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The sources that are compiled from here on."""
    sources: list[str] = []
    generate = jinja2.Environment._generate

    def counted(self: jinja2.Environment, source: Any, *rest: Any, **names: Any) -> str:
        sources.append(str(source))
        return str(generate(self, source, *rest, **names))

    monkeypatch.setattr(jinja2.Environment, "_generate", counted)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)
    return sources


def rendered(folder: Path, source: str) -> str:
    loader = jinja2.DictLoader({"page": source})
    return (
        jinja2.Environment(loader=loader, bytecode_cache=Bytecode(folder))
        .get_template("page")
        .render(name="Ana")
    )


def test_a_template_is_compiled_once(tmp_path: Path, compiles: list[str]) -> None:
    for _ in range(3):
        assert rendered(tmp_path, "hello {{ name }}") == "hello Ana"
    assert len(compiles) == 1


def test_a_changed_template_is_compiled_again(tmp_path: Path, compiles: list[str]) -> None:
    rendered(tmp_path, "hello {{ name }}")
    assert rendered(tmp_path, "bye {{ name }}") == "bye Ana"
    assert len(compiles) == 2


@pytest.mark.parametrize("damage", [b"", b"other", None])
def test_damaged_code_is_compiled_again(
    tmp_path: Path, compiles: list[str], damage: bytes | None
) -> None:
    rendered(tmp_path, "hello {{ name }}")
    (file,) = (tmp_path / "__pycache__").iterdir()
    file.write_bytes(file.read_bytes()[:-30] if damage is None else damage)
    assert rendered(tmp_path, "hello {{ name }}") == "hello Ana"
    assert len(compiles) == 2


def test_where_nothing_can_be_written_a_page_is_made_all_the_same(
    tmp_path: Path, compiles: list[str]
) -> None:
    (tmp_path / "__pycache__").write_text("a file")
    for _ in range(2):
        assert rendered(tmp_path, "hello {{ name }}") == "hello Ana"
    assert len(compiles) == 2
