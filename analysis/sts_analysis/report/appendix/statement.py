"""The statement of standards: what a suite's results can be relied on for, and what is missing.

Source: Chollet 2019 (arXiv 1911.01547), sections I.3.4 and II.1.3.
"""

import shlex
from collections import Counter

import msgspec
import numpy as np
from markupsafe import Markup

from sts.ratings import ACCESS_LEVELS
from sts.suites.statement import QUESTIONS
from sts_analysis.inputs.scores import PASS_RATE
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.appendix import consistency, correlations, provenance
from sts_analysis.report.core import Report, Study, html, interval, join
from sts_analysis.report.headline import name_source
from sts_analysis.report.markup import render_table
from sts_analysis.report.sections import judging
from sts_analysis.report.text import decimal, decimal_range, percent, pluralise, point_range, points
from sts_analysis.statistics.interactions import measure_interactions
from sts_analysis.statistics.rank_correlations import measure_noise, measure_reliability

TITLE = "Statement of standards"
NAV = "Standards"
STANDARDS = {
    "Reliability": "Consistency, Annotators agree, Right on references, Reliability of the "
    "ranking, Exactness of replay, Reproduction",
    "Validity": "Labels, Assumptions, Abilities, Prediction, Content",
    "Standardisation": "Suite, Fingerprints, Command",
    "Freedom from bias": "Innate knowledge, Learned knowledge, Sight, Reaction time, Training, "
    "Families of agents, Other advantages, Publication",
}


class Row(msgspec.Struct, frozen=True):
    """One item of the statement.

    Attributes:
      standard: "Reliability", "Validity", "Standardisation" or "Freedom from bias".
      item: its name.
      source: "computed", "curator" for the curator's words, or "missing".
      text: what is known; the question to the curator where an answer is missing.
    """

    standard: str
    item: str
    source: str
    text: str


class Result(msgspec.Struct, frozen=True):
    """The statement of standards.

    Attributes:
      rows: all items, by standard.
    """

    rows: tuple[Row, ...]


def compute(study: Study) -> Result:
    """Make the statement of a study."""
    return make_statement(study.subject, study)


def make_statement(subject: Subject, study: Study | None) -> Result:
    """Make the statement of a suite; `study` is None if nothing of it is judged."""
    found = _describe_suite(subject, study)
    if study is not None:
        found |= _describe_study(study) | _describe_agents(study) | _describe_families(study)
    rows = []
    for standard, items in STANDARDS.items():
        for item in items.split(", "):
            key = item.lower().replace(" ", "_")
            known = found.get(item, "") or subject.statement.get(key, "")
            source = "curator" if key in QUESTIONS else "computed"
            text = known or QUESTIONS.get(key, "not known from the data")
            rows.append(Row(standard, item, source if known else "missing", text))
    return Result(tuple(rows))


def render(result: Result, report: Report) -> Markup:
    """Show a table for each standard."""
    marks = {"missing": html("<b class=warn>Missing: </b>"), "curator": html("<b>Curator: </b>")}
    parts = []
    for standard in STANDARDS:
        own = (row for row in result.rows if row.standard == standard)
        rows = ((row.item, html("{}{}", marks.get(row.source, ""), row.text)) for row in own)
        table = render_table(["Item", "Finding"], rows, texts=("Finding",))
        parts.append(html("<h3>{}</h3><div class=looks>{}</div>", standard, table))
    return join(parts)


def _describe_suite(subject: Subject, study: Study | None) -> dict[str, str]:
    names = subject.scenarios["category"].tolist()
    if study is not None and not names:
        names = [study.outcomes.categories[c] for c in study.outcomes.category]
    sizes = ", ".join(f"{name} ({n})" for name, n in sorted(Counter(names).items()) if name)
    parent = f", grown from {subject.parent}" if subject.parent else ""
    return {
        "Content": f"{pluralise(len(names), 'scenario')}: {sizes}." if sizes else "",
        "Suite": f"{subject.name}, hash {subject.hash}{parent}." if subject.hash else "",
    }


def _describe_study(study: Study) -> dict[str, str]:
    ranked, digests = study.claim.ranked, study.subject.digests
    judged, planned = study.progress.judged, pluralise(study.progress.planned, "clip")
    count = f", {judged:,} of {planned} as often as planned" if study.source == "human" else ""
    found = {"Labels": f"{name_source(study)}{count}."}
    found["Command"] = shlex.join(
        ["sts", "report", *study.find_result(provenance.compute).arguments]
    )
    alike, scores = study.find_result(consistency.compute), study.find_result(correlations.compute)
    rows = [(r.alike, r.agent) for r in (alike.rows if alike else ()) if r.alike is not None]
    if rows:
        low, high = (f"{percent(share)} ({agent})" for share, agent in (min(rows), max(rows)))
        found["Consistency"] = f"Two continuations of a scenario end alike: {low} to {high}."
    for row in study.find_result(judging.compute).rows:
        if row.value is not None:
            found[row.question] = f"{row.finding}, {judging.write_interval(row)}. {row.reading}"
    noise = measure_noise(study.claim.comparisons, ranked)
    share = measure_reliability(study.rates.rate[ranked], noise)
    if np.isfinite(share):
        text = f"A share of {decimal(share, 3)} of the variance between pass rates is no error"
        found["Reliability of the ranking"] = f"{text} ({len(ranked)} ranked agents)."
    if digests is not None:
        made = pluralise(digests.continuations.number, "continuation")
        found["Exactness of replay"] = f"{made} replayed their context exactly; others are refused."
    texts = [
        f"{row.second} {decimal(row.rho)} ({decimal_range(row.interval)}, n = {row.agents})"
        for row in (scores.rows if scores else ())
        if row.first == PASS_RATE and row.rho is not None
    ]
    if texts:
        found["Prediction"] = (
            f"Rank correlation of the pass rate with {'; '.join(texts)}, of the scores as measured."
        )
    return found


def _describe_agents(study: Study) -> dict[str, str]:
    """Return what agents may see, and what the first continuation of each says of it."""
    rows, ids = study.agent_rows.drop_duplicates("agent"), study.gathered.ids
    sees = dict(zip(rows["agent"], rows["sees"], strict=True))
    more = [f"{name} ({access})" for name, access in sees.items() if access != ACCESS_LEVELS[0]]
    text = f"{len(sees) - len(more)} of {pluralise(len(sees), 'agent')} see what a player sees."
    found = {"Sight": f"{text} With more, and not ranked: {', '.join(more) or 'none'}."}
    load = study.gathered.load
    names = {} if ids is None else dict(zip(ids[rows["continuation"]], rows["agent"], strict=True))
    made = sorted((names[one.id], one.id, one) for one in (load(names) if load else ()))
    if not made:
        return found
    ticks, trained = (
        [f"{name} ({one.provenance[key]})" for name, _, one in made if one.provenance.get(key)]
        for key in ("tick", "trained_on")
    )
    people = f" It did not for people, seconds a step: {', '.join(ticks)}." if ticks else ""
    return found | {
        "Fingerprints": ", ".join(f"{name} {one.fingerprint}" for name, _, one in made),
        "Reaction time": f"The world waits for an agent, so speed gives no advantage.{people}",
        "Training": "Worlds are of the test split; training episodes (sts mine NAME --split train) "
        f"are not. Training that agents declare: {'; '.join(trained) or 'none'}.",
    }


def _describe_families(study: Study) -> dict[str, str]:
    outcomes, ranked, scores = study.outcomes, study.claim.ranked, study.scores
    named = dict(zip(scores["agent"], scores["family"], strict=True))
    names = [named.get(outcomes.agents[a]) or outcomes.agents[a] for a in ranked]
    families, place = np.unique(names, return_inverse=True)
    if len(families) < 2:
        return {}
    kept, residual, ends = measure_interactions(
        outcomes.value[ranked], outcomes.category, outcomes.unit, place
    )
    some = tuple(slice(1 if n == 2 else n) for n in residual.shape)  # two deviate alike
    size = np.abs(residual[some])
    order = np.argsort(-size, axis=None, kind="stable")[:3]
    texts = [
        f"{families[f]} in {outcomes.categories[kept[c]]} {points(residual[f, c])} points "
        f"({point_range(interval(ends[f, c]))})"
        for f, c in zip(*np.unravel_index(order, size.shape), strict=True)
    ]
    counts = f"of {residual.size} in {len(kept)} categories with five units or more"
    text = f"Three largest deviations from a family’s mean plus a category’s ({counts})"
    return {"Families of agents": f"{text}: {'; '.join(texts)}."} if len(kept) > 1 else {}
