"""The page about `report.json`, made from the docstrings of the results.

python -m sts_analysis.report.schema_docs docs/report_json.md
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sts_analysis.report.core import FORMAT, Report
from sts_analysis.report.document import define_report
from sts_analysis.report.json_schema import find_record, make_schema

KEYS = {
    "suite, target of intervals": "conclusion.suite, conclusion.target",
    "conclusion, warnings": "conclusion.headline, conclusion.support, conclusion.warnings",
    "pass rate, interval": "ranking.rows.pass_rate, ranking.rows.interval",
    "rank, rank set": "ranking.rows.rank, ranking.rows.rank_set",
    "continuations, judgements": "rates.rows.continuations, rates.rows.judgements",
    "rates by category and kind": "rates.categories, rates.kinds",
    "consistency, time to success": "consistency.rows.alike, time_to_success.rows.median_step",
    "corrected pass rate": "corrected.rows.corrected_rate",
    "difference of two agents": "comparisons.rows.difference, comparisons.rows.interval",
    "its p, adjusted p": "comparisons.rows.p, comparisons.rows.p_adjusted",
    "correlations, annotators": "correlations.rows, annotators.rows",
    "human, settled, automatic and model labels": "label_sources.verdicts, label_sources.rows",
}
"""Where the main numbers are."""
MIN_SHARED = 3
"""Records with the same key, described alike, from which on it is described once."""
_HEAD = f"""# `report.json`

The format is `{FORMAT}`: an object with a key for each section, `null` for a section without
content. Keys never vanish; `null` is an unknown value. Shares lie between 0 and 1, intervals are
pairs of ends at 95% confidence, and steps count from the takeover. A text is a list of parts with
`text` and `kind`. Each list of records is also a CSV file, `tables/SECTION.csv` for the key `rows`
and `tables/SECTION_KEY.csv` for others. The JSON Schema is `report.schema.json`. This page is
generated from the source.

"""


def write_page(kind: type[Report]) -> str:
    """Return the page about a type of report, in Markdown."""
    schema = make_schema(kind)
    records = schema["$defs"]
    report = records.pop(find_record(schema))
    records.pop("text.Part")
    listed = list(_iter_records(records, report, ""))
    used = Counter(pair for _, _, keys in listed for pair in keys)
    shared = dict(pair for pair, count in reversed(used.most_common()) if count >= MIN_SHARED)
    table = [f"| {words} | `{keys.replace(', ', '`, `')}` |" for words, keys in KEYS.items()]
    lines = ["| number | key |", "|---|---|", *table, "", "## Keys of several records", ""]
    lines += [f"- `{key}`: {shared[key]}" for key in sorted(shared)]
    for path, words, keys in listed:
        lines += ["", f"{'###' if '.' in path else '##'} {path}", ""]
        lines += [words[:1].upper() + words[1:], ""]
        lines += [f"- `{key}`: {words}" for key, words in keys if shared.get(key) != words]
    return _HEAD + "\n".join(lines) + "\n"


def _iter_records(
    records: dict[str, Any], record: dict[str, Any], prefix: str
) -> Iterator[tuple[str, str, list[tuple[str, str]]]]:
    """Yield path, description and plain keys of each record inside another, each type once."""
    plain, inside = [], []
    for key, value in record["properties"].items():
        path, words = f"{prefix}.{key}".strip("."), value["description"]
        inner = records.pop(find_record(value), {})
        if "properties" in inner:
            inside.append((path, {**inner, "description": words}))
        else:
            plain.append((key, words))
    if prefix:
        yield prefix, record["description"], plain
    else:  # a section with the records of another
        yield from ((key, words, []) for key, words in plain if key != "schema")
    for path, inner in inside:
        yield from _iter_records(records, inner, path)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(write_page(define_report()), encoding="utf-8")
