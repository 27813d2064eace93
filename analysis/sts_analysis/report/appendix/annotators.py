"""The people who judged: each of them, and what judging took."""

import msgspec
import numpy as np
import pandas as pd
from markupsafe import Markup

from sts_analysis.report.core import Interval, Report, Study, html, interval, join, number
from sts_analysis.report.markup import fold, render_records, render_table
from sts_analysis.report.text import decimal, percent, percent_range, pluralise, points
from sts_analysis.statistics.reference_accuracy import (
    TOLERANCES,
    measure_accuracy,
    measure_marker_errors,
)
from sts_analysis.statistics.tabulation import UNCOUNTED

TITLE = "Annotators"
NAV = "Annotators"


class References(msgspec.Struct, frozen=True):
    """Answers on reference episodes, whose verdict is known.

    Attributes:
      answered: episodes judged.
      right: of these, judged right.
      cannot_judge: episodes answered with "cannot judge".
      sensitivity: share of successes that were judged a success.
      sensitivity_interval: of the sensitivity.
      specificity: share of the others that were not judged a success.
      specificity_interval: of the specificity.
      balanced_accuracy: mean of sensitivity and specificity.
      balanced_accuracy_interval: of the balanced accuracy.
      marker_error: median error of markers in steps, positive for late.
    """

    answered: int
    right: int
    cannot_judge: int
    sensitivity: float | None
    sensitivity_interval: Interval | None
    specificity: float | None
    specificity_interval: Interval | None
    balanced_accuracy: float | None
    balanced_accuracy_interval: Interval | None
    marker_error: float | None


class Row(msgspec.Struct, frozen=True):
    """One annotator.

    Attributes:
      annotator: a pseudonym.
      judgements: verdicts on agents' clips, each once.
      cannot_judge: clips answered with "cannot judge".
      effect: how much more often than the pool of annotators they answer success.
      effect_se: standard error of the effect.
      agreement: chance that their verdict equals another annotator's of the same clip.
      shared: their verdicts on clips that others judged too.
      references: their answers on reference episodes.
      median_seconds: for one judgement; null if times are unknown.
      hours: for all judgements and references; null if times are unknown.
    """

    annotator: str
    judgements: int
    cannot_judge: int
    effect: float | None
    effect_se: float | None
    agreement: float | None
    shared: int
    references: References
    median_seconds: float | None
    hours: float | None


class Markers(msgspec.Struct, frozen=True):
    """Markers of all annotators on references.

    Attributes:
      steps: tolerance.
      share: of markers off by at most so many steps.
      interval: of the share.
    """

    steps: int
    share: float
    interval: Interval | None


class Cost(msgspec.Struct, frozen=True):
    """What judging took.

    Attributes:
      judgements: on agents' clips.
      timed: judgements with a time.
      hours: for these.
      reference_hours: for reference episodes.
      median_seconds: for one judgement.
      hours_saved_by_shared_clips: more, had each continuation been judged by itself.
    """

    judgements: int
    timed: int
    hours: float | None
    reference_hours: float | None
    median_seconds: float | None
    hours_saved_by_shared_clips: float | None


class Result(msgspec.Struct, frozen=True):
    """Annotators, and their work.

    Attributes:
      rows: annotators by name.
      references: answers of all annotators.
      markers: errors of markers by tolerance; empty without markers on references.
      cost: of judging.
    """

    rows: tuple[Row, ...]
    references: References
    markers: tuple[Markers, ...]
    cost: Cost


def compute(study: Study) -> Result | None:
    """Describe the annotators; None if they are not known."""
    rows = study.people_rows
    if rows.empty:
        return None
    return Result(
        rows=_list_people(study, rows),
        references=_measure_references(study.reference_rows),
        markers=_list_markers(study.reference_rows),
        cost=_measure_cost(study, rows),
    )


def render(result: Result, report: Report) -> Markup:
    """Show the annotators, and folded the errors of their markers."""
    parts = [_render_people(result), html("<p class=cap>{}</p>", _write_caption(result))]
    if result.markers:
        parts.append(fold("Markers on reference episodes", _render_markers(result)))
    return join(parts)


def _list_people(study: Study, rows: pd.DataFrame) -> tuple[Row, ...]:
    references = study.reference_rows
    agreement, effects = _measure_agreement(rows), _find_effects(study)
    by_reference = {
        str(name): answers for name, answers in references.groupby("annotator", observed=True)
    }
    timed = pd.concat([rows, references])[["annotator", "seconds"]]
    seconds = timed.groupby("annotator", observed=True)["seconds"].sum(min_count=1)
    found = []
    for annotator, answers in rows.groupby("annotator", observed=True):
        name = str(annotator)
        unable = int((answers["verdict"] == "cannot_judge").sum())
        share, shared = agreement.get(name, (None, 0))
        effect, error = effects.get(name, (None, None))
        found.append(
            Row(
                annotator=name,
                judgements=len(answers) - unable,
                cannot_judge=unable,
                effect=effect,
                effect_se=error,
                agreement=share,
                shared=shared,
                references=_measure_references(by_reference.get(name, references.iloc[:0])),
                median_seconds=number(answers["seconds"].median()),
                hours=number(seconds[annotator] / 3600),
            )
        )
    return tuple(found)


def _measure_references(answers: pd.DataFrame) -> References:
    accuracy = measure_accuracy(answers)
    counted = ~answers["verdict"].isin(UNCOUNTED)
    right = (answers["verdict"] == "success") == (answers["truth"] == "success")
    return References(
        answered=int(counted.sum()),
        right=int((right & counted).sum()),
        cannot_judge=accuracy.cannot_judge,
        sensitivity=number(accuracy.sensitivity),
        sensitivity_interval=interval(accuracy.sensitivity_interval),
        specificity=number(accuracy.specificity),
        specificity_interval=interval(accuracy.specificity_interval),
        balanced_accuracy=number(accuracy.balanced),
        balanced_accuracy_interval=interval(accuracy.interval),
        marker_error=number(measure_marker_errors(answers).median),
    )


def _find_effects(study: Study) -> dict[str, tuple[float | None, float | None]]:
    """Return effect and standard error of each annotator; None if the data cannot tell."""
    judging, model = study.outcomes.judging, study.model.annotators
    if judging is None or model is None or len(judging.annotators) < 2:
        return {}
    columns = zip(judging.annotators, *model.effects, strict=True)
    return {name: (number(effect), number(se)) for name, effect, se in columns}


def _measure_agreement(rows: pd.DataFrame) -> dict[str, tuple[float, int]]:
    """Return each annotator's agreement with others on the same clips, and how many verdicts."""
    counted = rows[~rows["verdict"].isin(UNCOUNTED).to_numpy()]
    clip, number_of = pd.factorize(counted["continuation"])
    if not len(number_of):
        return {}
    success = (counted["verdict"] == "success").to_numpy()
    total, yes = np.bincount(clip), np.bincount(clip, success)
    alike = np.where(success, yes[clip], (total - yes)[clip]) - 1
    shared = total[clip] > 1
    share = alike[shared] / (total[clip][shared] - 1)
    who, names = pd.factorize(counted["annotator"][shared])
    sums, counts = np.bincount(who, share, len(names)), np.bincount(who, minlength=len(names))
    return {
        str(name): (float(s / n), int(n)) for name, s, n in zip(names, sums, counts, strict=True)
    }


def _list_markers(references: pd.DataFrame) -> tuple[Markers, ...]:
    found = measure_marker_errors(references)
    if not found.markers:
        return ()
    return tuple(
        Markers(steps, float(share), interval(ends))
        for steps, share, ends in zip(TOLERANCES, found.within, found.intervals, strict=True)
    )


def _measure_cost(study: Study, rows: pd.DataFrame) -> Cost:
    everything = study.agent_rows
    mine = ((everything["source"] == "human") & (everything["annotator"] != "")).to_numpy()
    seconds = rows["seconds"]
    saved = everything["seconds"][mine].sum() - seconds.sum()
    known = bool(seconds.notna().any())
    return Cost(
        judgements=len(rows),
        timed=int(seconds.notna().sum()),
        hours=float(seconds.sum() / 3600) if known else None,
        reference_hours=number(study.reference_rows["seconds"].sum(min_count=1) / 3600),
        median_seconds=number(seconds.median()),
        hours_saved_by_shared_clips=float(saved / 3600) if known else None,
    )


def _render_people(result: Result) -> Markup:
    answered = result.references.answered > 0
    return render_records(
        result.rows,
        {
            "Annotator": "annotator",
            "Judgements": "judgements",
            "Cannot judge": "cannot_judge",
            "Effect ± error, points": _write_effect,
            "Agreement with others": "agreement",
            "References right": lambda row: (
                f"{row.references.right:,} of {row.references.answered:,}" if answered else None
            ),
            "Balanced accuracy": lambda row: _write_accuracy(row.references),
            "Median time": lambda row: (
                None if row.median_seconds is None else f"{row.median_seconds:.0f} s"
            ),
            "Hours": lambda row: decimal(row.hours, 1),
        },
    )


def _write_effect(row: Row) -> str:
    if row.effect is None or row.effect_se is None:
        return "–"
    return f"{points(row.effect)} ± {100 * row.effect_se:.0f}"


def _write_accuracy(references: References) -> str:
    if references.balanced_accuracy is None:
        return "–"
    ends = percent_range(references.balanced_accuracy_interval)
    return f"{percent(references.balanced_accuracy)} ({ends})"


def _write_caption(result: Result) -> str:
    cost, sentences = result.cost, []
    if any(row.effect is not None for row in result.rows):
        sentences.append(
            "Effect: how much more often than the pool an annotator answers success, for the same "
            "agents and scenarios."
        )
    if cost.hours is not None:
        times = f"Judging took {decimal(cost.hours, 1)} hours"
        if cost.timed < cost.judgements:
            times += f" for the {cost.timed:,} of {cost.judgements:,} judgements with a time"
        if cost.reference_hours:
            times += f", references {decimal(cost.reference_hours, 1)} more"
        sentences.append(f"{times}.")
        if cost.hours_saved_by_shared_clips:
            saved = decimal(cost.hours_saved_by_shared_clips, 1)
            sentences.append(f"Clips that continuations share saved {saved} hours.")
    return " ".join(sentences)


def _render_markers(result: Result) -> Markup:
    return render_table(
        ["Off by at most", "Share of markers", "95% interval"],
        (
            [pluralise(row.steps, "step"), percent(row.share), percent_range(row.interval)]
            for row in result.markers
        ),
    )
