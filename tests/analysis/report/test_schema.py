"""The written standard of a report is the typed one, and a reader refuses anything else by name."""

import ast
import copy
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from sts.errors import ArgumentError, DamagedData, NewerFormat
from sts_analysis.report import json_form, schema, standard
from sts_analysis.report.json_form import from_json, read, to_json
from sts_analysis.report.schema import Report
from tests.analysis.reports import report_of, valid, validator
from tests.analysis.worlds import ratings_table

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden" / "report_v2.json"


@pytest.fixture(scope="module")
def report() -> Report:
    frame = ratings_table(
        skills={"a": 1.0, "b": 0.0, "oracle": 2.0},
        categories=["go", "lift"],
        seed=3,
        scenarios=2,
        continuations=2,
        references=4,
        automatic=True,
        baselines=("oracle",),
    )
    return valid(report_of(frame))


@pytest.fixture
def content(report: Report) -> dict[str, Any]:
    values: dict[str, Any] = json.loads(json_form.text(report))
    return values


def test_the_shipped_schema_is_the_one_that_the_types_make() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(standard.json_schema()))
    assert standard.shipped() == standard.json_schema()


def test_the_page_of_the_docs_is_the_one_that_the_types_make() -> None:
    assert (ROOT / "docs" / "report_json.md").read_text() == standard.page()


def test_the_module_writes_both(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard, "__file__", str(tmp_path / "standard.py"))
    monkeypatch.setattr(sys, "argv", ["standard", str(tmp_path / "page.md")])
    assert standard.main() == 0
    assert (tmp_path / standard.SHIPPED).read_text() == standard.shipped()
    assert (tmp_path / "page.md").read_text() == standard.page()


def test_every_key_is_described_and_every_object_has_a_sentence() -> None:
    defined = json.loads(standard.json_schema())
    for kind in (defined, *defined["$defs"].values()):
        assert kind["description"].endswith(".")
        assert all(key["description"] for key in kind["properties"].values())


def test_the_golden_report_of_version_2_is_read_and_written_as_it_is() -> None:
    report = read(GOLDEN)
    assert [(entry.agent, entry.rank) for entry in report.agents] == [
        ("a", 1), ("b", 1), ("oracle", None),
    ]  # fmt: skip
    assert report.comparisons[0].scenarios == 3 and report.contrasts[0].p_holm is not None
    assert json_form.text(report) == GOLDEN.read_text()
    validator().validate(json.loads(GOLDEN.read_text()))


def test_what_is_written_is_read_as_the_same(report: Report, tmp_path: Path) -> None:
    (tmp_path / json_form.FILE).write_text(json_form.text(report))
    assert read(tmp_path) == read(tmp_path / json_form.FILE) == report


@pytest.mark.parametrize(
    ("named", "error", "line"),
    [
        ("sts-report/1", DamagedData, "found sts-report/'1'; make the report again"),
        ("sts-report/3", NewerFormat, "found sts-report/'3'; read it with a later version"),
        ("theirs/2", DamagedData, "expected the schema sts-report/2, found 'theirs/2'"),
        (None, DamagedData, "found 'None'"),
    ],
)
def test_another_schema_is_refused_and_named(
    content: dict[str, Any], named: str | None, error: type[Exception], line: str
) -> None:
    content["schema"] = named
    with pytest.raises(error) as refusal:
        from_json(content, name="r.json")
    assert str(refusal.value).startswith("r.json: expected the schema sts-report/2")
    assert line in str(refusal.value) and type(refusal.value) is error


def changed(content: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy in which what stands at a path is something else; ... takes it away."""
    whole = copy.deepcopy(content)
    inside: Any = whole
    *outer, last = [int(step) if step.isdecimal() else step for step in path.split(".")]
    for step in outer:
        inside = inside[step]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return whole


BAD = [
    ("agents", {}, "report.json.agents: expected a list, found '{}'"),
    ("agents.0", 3, "report.json.agents[0]: expected an object, found '3'"),
    ("agents.0.pass_rate", "1", "report.json.agents[0].pass_rate: expected a number, found"),
    ("agents.0.pass_rate", True, "report.json.agents[0].pass_rate: expected a number"),
    ("agents.0.judged", 1.5, "report.json.agents[0].judged: expected a whole number, found '1.5'"),
    (
        "agents.0.judged",
        None,
        "report.json.agents[0].judged: expected a whole number, found 'null'",
    ),
    ("agents.0.interval", [0], "report.json.agents[0].interval: expected a list of 2, found"),
    ("agents.0.guess_penalised", 1, "report.json.agents[0].guess_penalised: expected an object"),
    ("agents.0.sees", ..., "report.json.agents[0]: expected a key 'sees', found none"),
    ("agents.0.categories.go", None, "report.json.agents[0].categories.go: expected an object"),
    ("agents.0.consistency.pass_hat_k", {"x": 1.0}, "expected keys that are whole numbers"),
    ("agents.0.categories", [], "report.json.agents[0].categories: expected an object"),
    ("comparisons.0.separated", 1, "expected true or false, found '1'"),
    ("verdict", 1, "report.json.verdict: expected text, found '1'"),
]


@pytest.mark.parametrize(("path", "value", "line"), BAD)
def test_what_the_schema_does_not_allow_is_refused_with_its_place(
    content: dict[str, Any], path: str, value: Any, line: str
) -> None:
    other = changed(content, path, value)
    with pytest.raises(DamagedData) as refusal:
        from_json(other)
    assert line in str(refusal.value)
    assert not validator().is_valid(other)


def test_a_key_that_the_schema_does_not_name_is_passed_over(
    content: dict[str, Any], report: Report
) -> None:
    other = changed(content, "agents.0.later", 1) | {"further": []}
    assert from_json(other) == report and validator().is_valid(other)


def test_no_report_is_an_argument_error_and_no_json_a_damaged_file(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no report at .*; check the path"):
        read(tmp_path / "away.json")
    (tmp_path / "report.json").write_text("{")
    with pytest.raises(DamagedData, match="expected a report, found"):
        read(tmp_path)
    (tmp_path / "report.json").write_text('{"level": NaN}')
    with pytest.raises(DamagedData, match="NaN is not JSON"):
        read(tmp_path)


def test_a_report_is_frozen(report: Report) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.agents[0].rank = 1  # type: ignore[misc]
    assert hash(report.counts) == hash(dataclasses.replace(report.counts))


def subscripts(path: Path) -> set[str]:
    """The texts that a module takes by subscript or by `get`."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        taken = None
        if isinstance(node, ast.Subscript):
            taken = node.slice
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            taken = node.args[0] if node.func.attr == "get" else None
        if isinstance(taken, ast.Constant) and isinstance(taken.value, str):
            found.add(taken.value)
    return found


def test_who_takes_a_report_spells_none_of_its_keys() -> None:
    kinds = [kind for kind in vars(schema).values() if isinstance(kind, type)]
    kinds = [kind for kind in kinds if dataclasses.is_dataclass(kind)]
    named = {key for kind in kinds for key in json_form.keys(kind)}
    readers = [
        f"analysis/sts_analysis/report/{name}.py"
        for name in ("page", "tables", "verdict", "terminal")
    ]
    readers += [
        "analysis/sts_analysis/report/notebook.py",
        "analysis/sts_analysis/commands/report.py",
    ]
    readers += [
        "analysis/sts_analysis/report/write.py",
        "annotator_app/sts_annotator_app/pages/report.py",
    ]
    for reader in readers:
        assert not subscripts(ROOT / reader) & named, reader
    drawn = subscripts(ROOT / "analysis/sts_analysis/report/figures.py") & named
    assert drawn <= {"agent", "kind", "separated"}  # columns of the data that it draws


def test_to_json_gives_plain_values(report: Report) -> None:
    assert json.loads(json.dumps(to_json(report), allow_nan=False)) == to_json(report)
