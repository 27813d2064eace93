"""What a paper takes from a report: figures, tables, captions, methods, how to repeat it."""

import csv
import io
import re
import subprocess

import pytest

from sts_analysis.report.document import compute_report
from sts_analysis.report.paper import latex, methods, repeat
from sts_analysis.report.paper.files import format_paper
from sts_analysis.report.paper.references import WORKS
from sts_analysis.report.paper.tables import Table, list_tables
from tests.analysis.variants import VARIANTS, make_study, mark_slow_but
from tests.programs import require_program

HOSTILE = "a_b & 50% $x$ \\input{secret} #1 ~ ^ {<|>} --- ''"


@pytest.fixture(scope="module")
def report():
    return compute_report(make_study("tied"))


def test_folder_has_every_file_in_both_widths_and_three_formats(report) -> None:
    files = format_paper(report, title="A study")
    pictures = {"pass_rates", "categories", "time_to_success"}
    expected = {
        f"paper/{name}_{width}.{suffix}"
        for name in pictures
        for width in ("one_column", "two_columns")
        for suffix in ("svg", "pdf", "png")
    }
    tables = {f"paper/table_{name}.{s}" for name in list_tables(report) for s in ("tex", "csv")}
    texts = {"captions.md", "figures.tex", "methods.tex", "methods.txt", "references.bib"}
    texts |= {"repeat.md"}
    assert set(files) == expected | tables | {f"paper/{name}" for name in texts}
    assert files["paper/pass_rates_one_column.pdf"].startswith(b"%PDF")
    assert b"A study" in files["paper/pass_rates_one_column.svg"]
    captions = files["paper/captions.md"].decode()
    assert all(name in captions for name in pictures)
    width = re.search(rb'width="([\d.]+)pt"', files["paper/pass_rates_two_columns.svg"])
    assert width is not None and float(width[1]) == pytest.approx(518, abs=2)


def test_tables_hold_the_numbers_of_the_report(report) -> None:
    table = list_tables(report)["ranking"]
    rows = list(csv.reader(io.StringIO(table.csv().decode())))
    assert rows[0] == list(table.header)
    best = report.ranking.rows[0]
    assert rows[1][:3] == [best.agent, "1 to 2", f"{100 * best.pass_rate:.1f}"]
    assert "other scenarios like these" in table.caption


@pytest.mark.parametrize("name", mark_slow_but("rule, tied, interim, table only", VARIANTS))
def test_methods_paragraph_states_the_design_of_each_study(name) -> None:
    report = compute_report(make_study(name))
    text = methods.format_plain(report)
    conclusion = report.conclusion
    assert f"{conclusion.judged_clips:,} of {conclusion.planned_clips:,} clips" in text
    assert ("no person judged" in text) == (conclusion.source != "human")
    assert ("taken as independent" in text) == (not conclusion.units_known)
    assert ("interim" in text) == (conclusion.state == "interim")
    cited = methods.list_cited(report)
    assert cited and all(WORKS[key].short in text for key in cited)
    assert all(key in methods.format_latex(report) for key in cited)


def test_names_are_printed_and_never_run_by_latex() -> None:
    table = Table("t", HOSTILE, (HOSTILE,), "l", ((HOSTILE,),))
    text = table.latex()
    assert "\\input{" not in text and "$x$" not in text
    assert r"\textbackslash{}input\{secret\}" in text and r"50\%" in text


def test_wide_and_long_tables_are_cut_for_a_page() -> None:
    header = ("agent", *(f"c{i}" for i in range(12)))
    rows = tuple((f"a{i}", *("1" for _ in range(12))) for i in range(50))
    text = Table("t", "wide", header, "l" + "r" * 12, rows).latex()
    assert text.count(r"\begin{longtable}") == 3 and text.count("a49") == 3
    assert "longtable" in text.splitlines()[0]


@pytest.mark.latex
def test_latex_compiles(report, tmp_path) -> None:
    tables = "\n".join(table.latex() for table in list_tables(report).values())
    start = r"\documentclass{article}\usepackage{booktabs}\begin{document}"
    (tmp_path / "t.tex").write_text(rf"{start}{tables}\end{{document}}")
    words = [require_program("latex"), "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    assert subprocess.run(words, cwd=tmp_path, capture_output=True).returncode == 0


def test_instructions_to_repeat_name_every_input_and_hash(report) -> None:
    text = repeat.format_instructions(report)
    (file,) = report.provenance.inputs
    assert file.sha256 in text and f"{file.rows:,} rows" in text
    assert "sts report --table table" in text and "--paper" in text


def test_letters_that_latex_does_not_know_are_announced() -> None:
    assert not latex.needs_unicode("naïve, plain") and latex.needs_unicode("エージェント")
