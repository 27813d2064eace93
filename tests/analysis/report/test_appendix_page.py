"""The appendix as a page, as JSON, as CSV and as a schema: all from the same results."""

import hashlib
import json

import jsonschema  # type: ignore[import-untyped]
import msgspec
import pytest

from sts.annotations.vault.digests import Digests, read_digests
from sts.storage.chains import Link
from sts.storage.csv_tables import parse_csv
from sts_analysis.inputs.gather import gather_table
from sts_analysis.inputs.mapping import make_mapping
from sts_analysis.inputs.subject import Subject
from sts_analysis.inputs.tables import InputFile
from sts_analysis.report.appendix import provenance
from sts_analysis.report.core import Options, Report, Study
from sts_analysis.report.csv_files import format_tables
from sts_analysis.report.document import load_appendix, render_appendix
from sts_analysis.report.json_schema import make_schema, parse_docstring
from sts_analysis.report.markup import render_table
from sts_analysis.report.schema_docs import KEYS, write_page
from tests.analysis.studies import compute_appendix, draw_rows, make_study, read_section

HOSTILE = "<script>alert(1)</script>"
FORMULA = "=cmd|' /C calc'!A0"


@pytest.fixture(scope="module")
def report() -> Report:
    rows = draw_rows({HOSTILE: 0.8, FORMULA: 0.4, "fair": 0.5})
    rows["annotator"] = rows["annotator"].replace({"a": f'"{HOSTILE}', "b": "ben"})
    rows["scenario"] = rows["scenario"].replace({"s03": "'\"><img src=x onerror=alert(1)>"})
    pairs = {f"p{i}": (f"s{2 * i:02}", f"s{2 * i + 5:02}") for i in range(6) if i not in (1,)}
    subject = Subject(
        "table",
        rows[["scenario", "category"]].drop_duplicates().assign(kind="instruction"),
        pairs=pairs,
        instructions={"s00": f"Do {HOSTILE} & wait"},
    )
    return compute_appendix(make_study(rows, subject=subject, margin=0.1))


def test_foreign_names_are_escaped(report) -> None:
    page = render_appendix(report)
    assert "<script" not in page and "<img" not in page and page.count("&lt;script&gt;") > 10
    assert "Do &lt;script&gt;alert(1)&lt;/script&gt; &amp; wait" in page


def test_page_of_a_report_read_from_json_is_the_same(report) -> None:
    text = msgspec.json.encode(report)
    again = msgspec.json.decode(text, type=type(report))
    assert again == report and render_appendix(again) == render_appendix(report)
    assert "NaN" not in text.decode()


def test_sections_without_content_are_absent_from_page_and_navigation(report) -> None:
    page = render_appendix(report)
    for name in ("dialogues", "tags", "corrected", "version", "guessing", "label_sources"):
        assert f'id="{name}"' not in page and f'href="#{name}"' not in page
    for name in ("rates", "comparisons", "scenarios", "pairs", "consistency", "provenance"):
        assert page.count(f'href="#{name}"') == page.count(f'<section id="{name}"') == 1


def test_csv_files_hold_the_lists_of_the_report_without_formulas(report) -> None:
    files = format_tables(report)
    table = parse_csv("rates.csv", files["rates.csv"])
    place = {title: i for i, title in enumerate(table.header)}
    for row, cells in zip(report.rates.rows, table.rows, strict=True):
        assert cells[place["agent"]] == row.agent  # the reader removes the guard
        low, high = (float(cells[place[f"interval_{end}"]]) for end in ("low", "high"))
        assert (low, high) == row.interval
    assert b"\n=cmd" not in files["rates.csv"] and b"\n'=cmd" in files["rates.csv"]
    scenarios = parse_csv("scenarios.csv", files["scenarios.csv"])
    assert f"pass_rates_{HOSTILE}" in scenarios.header
    assert "comparisons_contrasts.csv" not in files  # an empty list
    nested = parse_csv("annotators.csv", files["annotators.csv"]).header
    assert {"references_answered", "references_sensitivity_interval_low"} < {*nested}


def test_json_follows_its_schema_and_every_key_is_described(report) -> None:
    schema = make_schema(type(report))
    jsonschema.validate(json.loads(msgspec.json.encode(report)), schema)
    for name, record in schema["$defs"].items():
        for key, value in record["properties"].items():
            assert value["description"], f"{name}.{key}"


def test_described_page_lists_each_section_and_main_numbers_that_exist(report) -> None:
    kind = type(report)
    page = write_page(kind)
    assert all(f"\n## {name}\n" in page for name in load_appendix())
    schema = make_schema(kind)

    def follow(path: str) -> None:
        record = schema["$defs"]["AppendixReport"]
        for key in path.split("."):
            value = record["properties"][key]
            inner = msgspec.json.encode(value).decode().partition("#/$defs/")[2].partition('"')[0]
            record = schema["$defs"].get(inner, {})

    for keys in KEYS.values():
        for path in keys.split(", "):
            if not path.startswith("ranking."):  # of the main page
                follow(path)


def test_provenance_names_the_tables_that_were_read(tmp_path) -> None:
    path = tmp_path / "my <table>.csv"
    path.write_text("Model,scenario,verdict\n" + "".join(f"A,s{i},pass\n" for i in range(6)))
    mapping = make_mapping({"agent": "Model"}, success="pass", failure="fail")
    gathered = gather_table(path, mapping)
    found = provenance.compute(Study(gathered, Options(), {"sts": "1", "commit": "abc"}))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.inputs == (InputFile("my <table>.csv", 6, digest),)
    assert found.columns == {"agent": "Model"} and found.verdict_words["pass"] == "success"
    assert found.versions == {"sts": "1"} and found.commit == "abc"


def test_digests_of_a_report_are_read_back_from_its_json(tmp_path) -> None:
    digests = Digests("core@2", "ab", Link(9, "c"), {"ana": Link(2, "d")}, Link(0, ""), "e", None)
    study = make_study(draw_rows({"A": 0.5, "B": 0.4}), subject=Subject("core@2", digests=digests))
    (tmp_path / "report.json").write_bytes(msgspec.json.encode(compute_appendix(study)))
    assert read_digests(tmp_path / "report.json") == digests


def test_long_tables_are_folded_in_part() -> None:
    page = render_table(["Agent", "Rate"], ([f"a{i}", "1%"] for i in range(45)))
    shown, _, folded = page.partition("<details><summary>25 more</summary>")
    assert shown.count("<th scope=row>") == 20 and folded.count("<th scope=row>") == 25
    assert "<details>" not in render_table(["Agent", "Rate"], ([f"a{i}", 1] for i in range(40)))


def test_docstring_becomes_a_summary_and_descriptions() -> None:
    text = """A record.

    More.

    Attributes:
      first: of two; None without
        one.
      second: the other: this.
    """
    summary, keys = parse_docstring(text)
    assert summary == "A record."
    assert keys == {"first": "of two; null without one.", "second": "the other: this."}


def test_scenarios_show_the_first_agents_and_the_csv_file_all() -> None:
    study = make_study(draw_rows({f"a{i:02}": 0.9 - i / 40 for i in range(23)}, scenarios=12))
    report = compute_appendix(study)
    assert {len(row.pass_rates) for row in report.scenarios.rows} == {20}
    header = parse_csv("scenarios.csv", format_tables(report, study)["scenarios.csv"]).header
    assert sum(title.startswith("pass_rates_") for title in header) == 23
    assert "of the first 20 agents" in read_section(report, "scenarios")
