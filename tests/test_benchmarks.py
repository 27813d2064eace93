"""The page of benchmarks is short, and each section quotes what its own command measures."""

import re
from types import SimpleNamespace

import pytest

from tests.benchmarks import measure
from tests.benchmarks.live import LINES
from tests.benchmarks.measure import FIGURE, PAGE, ROOT, SECTIONS, TABLES, fill_figures, read_figure

NAMES = sorted(path.stem for path in SECTIONS.glob("*.md"))
ROWS = """
## Speed

| what | ours | aim |
| --- | --- | --- |
| a step | 2 | 3 s |
| a run | not measured |  |
"""


def test_page_of_benchmarks_has_at_most_1500_words():
    assert len(PAGE.read_text().split()) <= 1500


def test_each_section_of_the_page_names_its_command():
    page, targets = PAGE.read_text(), (ROOT / "Makefile").read_text()
    found = re.findall(r"<!-- ([\w-]+) -->\n(.*?)<!-- end of \1 -->", page, re.S)
    assert sorted(name for name, _ in found) == NAMES
    for name, section in found:
        assert f"Measured by `make {name}` on " in section
        assert f"\n{name}: " in targets


@pytest.mark.parametrize("name", NAMES)
def test_figures_of_a_section_are_in_columns_of_its_tables(name):
    tables = (TABLES / f"{name}.md").read_text()
    for line in (SECTIONS / f"{name}.md").read_text().splitlines():
        row = ""
        for reference in FIGURE.findall(line):
            row, _, column = reference.replace("..", row).rpartition(" | ")
            cells = f"| {row.partition(' | ')[2]} |{' x |' * 20}"
            filled = re.sub(r"(?m)^\{[\w.]+\}$", cells, tables)
            assert read_figure(filled, f"{row} | {column}")


def test_section_is_filled_with_figures_and_ratios():
    line = "{Speed | a step | ours} of {.. | aim}: {second / first}, {first / second}"
    assert fill_figures(line, ROWS) == "2 of 3 s: 1.5, 0.667"
    assert fill_figures("{Speed | a run | ours}{.. | aim}, {first / second}", ROWS) == (
        "not measured, "
    )
    with pytest.raises(LookupError, match="a walk"):
        fill_figures("{Speed | a walk | ours}", ROWS)


def test_command_writes_its_tables_and_updates_its_section_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "ROOT", tmp_path)
    monkeypatch.setattr(measure, "PAGE", tmp_path / "page.md")
    measure.PAGE.write_text(before := PAGE.read_text())
    lines = [(domain, count or "none: timer and file", 300, 1, 60.0) for domain, count in LINES]
    measure.write("bench-live", live=SimpleNamespace(ticks=lines, keys=[]))
    start, end = "<!-- bench-live -->", "<!-- end of bench-live -->"
    old, new = (re.split(f"{start}|{end}", text) for text in (before, measure.PAGE.read_text()))
    assert new[::2] == old[::2]
    assert "| 8 of Overcooked | 60 | aim: 300 | 5 |" in new[1]
    assert "| lambda-star | 8 |" in (tmp_path / "build/benchmarks/bench-live.md").read_text()
