"""`report.json`: what is read is what was written, and anything else is refused in a sentence."""

from pathlib import Path

import msgspec
import pytest

from sts.errors import ArgumentError, DamagedData, NewerFormat
from sts_analysis.report import results
from sts_analysis.report.document import compute_report, render_appendix, render_page
from tests.analysis.variants import VARIANTS, make_study, mark_slow_but


@pytest.mark.parametrize("name", mark_slow_but("rule, tied, interim, table only", VARIANTS))
def test_report_is_the_same_after_a_round_trip_and_so_are_its_pages(name) -> None:
    report = compute_report(make_study(name))
    again = results.decode(results.encode(report))
    assert again == report
    assert render_page(again) == render_page(report)
    assert render_appendix(again) == render_appendix(report)


def test_no_key_of_a_result_is_left_out() -> None:
    report = compute_report(make_study("table only"))
    content = msgspec.json.decode(results.encode(report))
    assert set(content) == {field.name for field in msgspec.structs.fields(report)}
    assert content["score"] is None
    row = content["ranking"]["rows"][0]
    assert set(row) == {f.name for f in msgspec.structs.fields(report.ranking.rows[0])}


def test_equal_studies_give_equal_bytes() -> None:
    first, second = (results.encode(compute_report(make_study("tied"))) for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    ("content", "error", "words"),
    [
        (b"", DamagedData, "expected a report of format sts-report/3"),
        (b"[1]", DamagedData, "expected a report of format"),
        (b"[" * 100_000, DamagedData, "expected a report of format"),
        (b'{"schema": "other/1"}', DamagedData, "expected a report of format"),
        (b'{"schema": "sts-report/2"}', DamagedData, "build the report again"),
        (b'{"schema": "sts-report/4"}', NewerFormat, "read it with a later version"),
        (b'{"schema": "sts-report/3", "ranking": 1}', DamagedData, "ranking"),
        (b'{"schema": "sts-report/3"}', DamagedData, "conclusion"),
    ],
)
def test_other_file_than_a_report_is_refused(tmp_path: Path, content, error, words) -> None:
    path = tmp_path / "report.json"
    path.write_bytes(content)
    with pytest.raises(error, match=words):
        results.read_report(tmp_path)


def test_missing_report_is_named(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no report at"):
        results.read_report(tmp_path / "nothing")
