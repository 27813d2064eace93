"""The quality of the judging: one row a question, with a state, a finding and how to read it."""

from typing import Literal

import msgspec
import numpy as np
from markupsafe import Markup

from sts.ratings import RULE
from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.sections.categories import find_heat
from sts_analysis.report.text import decimal, decimal_range, percent, percent_range, pluralise
from sts_analysis.statistics.agreement import (
    Agreement,
    measure_across,
    measure_alpha,
    measure_kappa,
)
from sts_analysis.statistics.rates import MAX_UNJUDGEABLE
from sts_analysis.statistics.reference_accuracy import measure_accuracy

TITLE = "Quality of the judging"
NAV = "Judging"
MIN_AGREEMENT = 0.67
"""Krippendorff's bar for tentative conclusions (Content Analysis, chapter 12)."""
MIN_ACCURACY = 0.8
MAX_SHOWN = 8
MAX_UNEVEN = 0.1
"""Largest difference of an annotator's shares up to which it is not shown who judged whom."""
SAME = "Same annotators for all agents"
_SIGNS = {"fine": ("✓", "ok"), "look": ("!", "warn"), "stop": ("✗", "stop")}
UNKNOWN = "not known"


class Row(msgspec.Struct, frozen=True):
    """One question.

    Attributes:
      question: in a few words.
      state: "fine", "look" or "stop".
      finding: the answer in a few words.
      value: the figure behind it; None if it is not known.
      interval: of the value.
      reading: what follows.
    """

    question: str
    state: Literal["fine", "look", "stop"]
    finding: str
    value: float | None
    interval: Interval | None
    reading: str


class Result(msgspec.Struct, frozen=True):
    """What is known of the judging.

    Attributes:
      rows: questions.
      agents: rows of `judgements`.
      annotators: columns of `judgements`.
      judgements: verdicts of each annotator on each agent, each once; empty unless up to eight
        agents and two to eight annotators.
    """

    rows: tuple[Row, ...]
    agents: tuple[str, ...]
    annotators: tuple[str, ...]
    judgements: tuple[tuple[int, ...], ...]


def compute(study: Study) -> Result:
    """Answer what a reader asks about judging: how much, how alike, how accurate; see `Row`."""
    if study.source != "human":
        return Result(_answer_without_people(study), (), (), ())
    rows = [
        _compare_workloads(study),
        _measure_agreement(study),
        *_compare_conditions(study),
        _measure_accuracy(study),
        *_compare_with_rule(study),
        _count_unjudgeable(study),
    ]
    judging, order = study.outcomes.judging, study.order
    people = len(judging.annotators) if judging else 0
    if judging is None or not 2 <= people <= MAX_SHOWN or len(order) > MAX_SHOWN:
        return Result(tuple(row for row in rows if row), (), (), ())
    counts = judging.judgements.sum(axis=1)[order]
    return Result(
        rows=tuple(row for row in rows if row),
        agents=tuple(study.names),
        annotators=judging.annotators,
        judgements=tuple(tuple(int(n) for n in row) for row in counts),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the questions, and who judged whom unless annotators’ shares are much the same."""
    rows = join(_render_row(row) for row in result.rows)
    table = html(
        "<table class=plain><thead class=sr><tr>{}</tr></thead><tbody>{}</tbody></table>",
        join(
            html("<th scope=col>{}</th>", name)
            for name in ("State", "Question", "Finding", "Reading")
        ),
        rows,
    )
    gaps = [row.value for row in result.rows if row.question == SAME and row.state == "fine"]
    is_even = any(gap is not None and gap <= MAX_UNEVEN for gap in gaps)
    return join([table, "" if is_even else _render_judgements(result)])


def _render_row(row: Row) -> Markup:
    sign, kind = _SIGNS[row.state]
    ends = ""
    if row.interval is not None:
        ends = html(" <span class=soft>{}</span>", write_interval(row))
    return html(
        '<tr><td class="sign {}"><span role=img aria-label={}>{}</span></td>'
        "<th scope=row>{}</th><td><b>{}</b>{}</td><td class=soft>{}</td></tr>",
        kind,
        row.state,
        sign,
        row.question,
        row.finding,
        ends,
        row.reading,
    )


def write_interval(row: Row) -> str:
    """Write the interval of an answer in the unit of its finding."""
    if row.finding.endswith("%"):
        return percent_range(row.interval)
    return decimal_range(row.interval)


def _render_judgements(result: Result) -> Markup:
    if not result.judgements:
        return Markup("")
    most = max(max(row) for row in result.judgements) or 1
    head = join(html("<th scope=col><span>{}</span></th>", name) for name in result.annotators)
    body = join(
        html(
            "<tr><th scope=row>{}</th>{}</tr>",
            agent,
            join(html("<td class=h{}>{}</td>", find_heat(0.9 * n / most), n) for n in row),
        )
        for agent, row in zip(result.agents, result.judgements, strict=True)
    )
    return html(
        '<table class="heat who"><caption>Who judged whom, verdicts</caption><thead><tr>'
        "<th scope=col>Agent</th>{}</tr></thead><tbody>{}</tbody></table>",
        head,
        body,
    )


def _answer_without_people(study: Study) -> tuple[Row, ...]:
    who = "a rule" if study.source == "automatic" else "a model"
    errs = f"No person has. {who.capitalize()} errs where people would not."
    question = f"{who.split()[1].capitalize()} agrees with people"
    none = f"None of {study.progress.planned:,} clips has a person’s verdict."
    return (
        Row("Who judged", "look", who, None, None, errs),
        Row(question, "look", UNKNOWN, None, None, none),
    )


def _compare_workloads(study: Study) -> Row | None:
    """Compare who judged which agent; None for one agent, or if annotators are not known."""
    outcomes, model = study.outcomes, study.model.annotators
    agents = np.flatnonzero(~outcomes.baseline & np.isfinite(study.rates.rate))
    if model is None or len(agents) < 2 or len(model.workload) < 2:
        return None
    workload = study.rates.workload[agents]
    gaps = workload[:, None] - workload
    if not model.tell(gaps.reshape(-1, gaps.shape[-1])).all():
        reading = "Some agents share no annotator, not even by way of a third."
        return Row(SAME, "stop", "not connected", None, None, reading)
    most = float(np.abs(gaps).sum(axis=2).max() / 2)
    reading = f"Annotators’ shares differ by at most {percent(most)} between two agents."
    return Row(SAME, "fine", "connected", most, None, reading)


def _measure_agreement(study: Study) -> Row:
    question = "Annotators agree"
    found = measure_alpha(study.people_rows, study.outcomes)
    if not np.isfinite(found.value):
        reading = (
            "No clip has two verdicts. Have one in five judged twice."
            if not found.items
            else f"{found.reason.capitalize()}."
        )
        return Row(question, "look", UNKNOWN, None, None, reading)
    share = percent(found.share)
    clips = f"{pluralise(found.items, 'clip')} in {pluralise(found.units, 'unit')}"
    pairs = "pairs of one condition" if _has_both_conditions(study) else "pairs"
    reading = f"Krippendorff’s α, usual bar 0.67; {share} of {pairs} agree, on {clips}."
    return _report_agreement(question, "α", found, reading)


def _has_both_conditions(study: Study) -> bool:
    return study.people_rows["rubric_shown"].nunique() > 1


def _compare_conditions(study: Study) -> list[Row]:
    """Compare verdicts by the instruction alone with those by the success criterion."""
    if not _has_both_conditions(study):
        return []
    question = "Agree without the criterion"
    found = measure_across(study.people_rows, study.outcomes)
    if not np.isfinite(found.value):
        reading = f"{found.reason.capitalize()}." if found.items else "No clip has both conditions."
        return [Row(question, "look", UNKNOWN, None, None, reading)]
    reading = (
        f"Cohen’s κ of verdicts by the instruction alone with verdicts by the success criterion; "
        f"{percent(found.share)} agree, on {pluralise(found.items, 'clip')} in "
        f"{pluralise(found.units, 'unit')}."
    )
    return [_report_agreement(question, "κ", found, reading)]


def _measure_accuracy(study: Study) -> Row:
    question, rows = "Right on references", study.reference_rows
    found = measure_accuracy(rows) if len(rows) else None
    if found is None or not np.isfinite(found.balanced):
        return Row(question, "look", UNKNOWN, None, None, "No references were judged.")
    ends = interval(found.interval)
    fine = found.balanced >= MIN_ACCURACY
    answers = pluralise(found.successes + found.non_successes, "answer")
    by_rule = int((rows["truth_source"] == RULE).sum())
    reading = f"Mean of right on successes and right on others, {answers}" + (
        f"; {by_rule:,} on truths from a rule." if by_rule else "."
    )
    state: Literal["fine", "look"] = "fine" if fine else "look"
    return Row(question, state, percent(found.balanced), found.balanced, ends, reading)


def _compare_with_rule(study: Study) -> list[Row]:
    if "automatic" not in study.sources:
        return []
    found = measure_kappa(study.people_rows, study.outcomes_of("automatic"))
    if not np.isfinite(found.value):
        return [Row("Rule agrees with people", "look", UNKNOWN, None, None, found.reason)]
    reading = f"Cohen’s κ; {percent(found.share)} of {found.judgements:,} verdicts are the rule’s."
    return [_report_agreement("Rule agrees with people", "κ", found, reading)]


def _report_agreement(question: str, symbol: str, found: Agreement, reading: str) -> Row:
    ends = interval(found.interval)
    fine = ends is not None and ends[0] >= MIN_AGREEMENT
    finding = f"{symbol} {decimal(found.value)}"
    return Row(question, "fine" if fine else "look", finding, number(found.value), ends, reading)


def _count_unjudgeable(study: Study) -> Row:
    outcomes = study.outcomes
    bad, judged = int(outcomes.unjudgeable.sum()), int(outcomes.judged.sum())
    share = bad / max(bad + judged, 1)
    if study.model.bounded.any():
        reading = (
            "Intervals of agents with 5% or more hold whatever these clips were, and pairs differ "
            "significantly only if they do so with them against the agent in front."
        )
    else:
        reading = "Left out of the rates; below 5% for each agent."
    state: Literal["fine", "look"] = "look" if share >= MAX_UNJUDGEABLE else "fine"
    state = "look" if study.model.bounded.any() else state
    return Row("Could not be judged", state, f"{bad:,}", share, None, reading if bad else "")
