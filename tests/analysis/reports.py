"""Reports for tests, held against the JSON Schema that the package carries where they are odd."""

from __future__ import annotations

import functools
import json
import pickle
from typing import Any, TypeVar

import jsonschema  # type: ignore[import-untyped]
import pandas as pd

from sts_analysis.inputs import tables
from sts_analysis.inputs.ratings import check_ratings
from sts_analysis.inputs.scores import empty_scores
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.build import build
from sts_analysis.report.json_form import from_json, text
from sts_analysis.report.schema import Report
from sts_analysis.report.standard import shipped

T = TypeVar("T")


def sure(value: T | None) -> T:
    """What a report must have here, although it need not everywhere."""
    assert value is not None
    return value


@functools.cache
def validator() -> Any:
    """Of the shipped JSON Schema."""
    return jsonschema.Draft202012Validator(json.loads(shipped()))


def report_of(
    frame: pd.DataFrame,
    scores: pd.DataFrame | None = None,
    suite: Subject | None = None,
    **options: Any,
) -> Report:
    """The report of a table, which is the same when read back; of a bare table made once."""
    if suite is not None:
        return made_anew(frame, scores, suite, **options)
    key = pickle.dumps((frame, scores, options))
    if key not in _MADE:
        _MADE[key] = made_anew(frame, scores, **options)
    return _MADE[key]


_MADE: dict[bytes, Report] = {}


def made_anew(
    frame: pd.DataFrame,
    scores: pd.DataFrame | None = None,
    suite: Subject | None = None,
    **options: Any,
) -> Report:
    """The same, whatever was made before it."""
    report = build(
        check_ratings(tables.from_frame("t", frame)),
        empty_scores() if scores is None else scores,
        suite=suite or Subject("t@1"),
        **options,
    )
    assert from_json(json.loads(text(report))) == report
    return report


def valid(report: Report) -> Report:
    """The same report, which follows the schema."""
    validator().validate(json.loads(text(report)))
    return report
