"""Builds a report from a ratings table and a scores table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sts.errors import DamagedData, UnknownName
from sts.jobs.background import run_in_background
from sts.ratings import SOURCES
from sts_analysis.inputs.ratings import once, unsettled, valued
from sts_analysis.inputs.subject import Other, Subject
from sts_analysis.report import schema
from sts_analysis.report.against import against
from sts_analysis.report.agents import agents, side_by_side
from sts_analysis.report.annotators import annotators, efforts, together, unable
from sts_analysis.report.groups import linked, tagged
from sts_analysis.report.judges import alarms, judges
from sts_analysis.report.powered import powered
from sts_analysis.report.questions import questions
from sts_analysis.report.schema import SCHEMA, Comparison, Contrast, Report
from sts_analysis.report.stopping import stopping
from sts_analysis.report.validity import validity
from sts_analysis.report.values import entries, named, number
from sts_analysis.report.verdict import verdict, warnings
from sts_analysis.statistics import intervals
from sts_analysis.statistics.accuracy import accuracy
from sts_analysis.statistics.difficulty import difficulty
from sts_analysis.statistics.holm import holm
from sts_analysis.statistics.label_agreement import compare_labels
from sts_analysis.statistics.label_set import COMPARISON_DRAWS, LabelSet, analyse
from sts_analysis.statistics.separation import separation

if TYPE_CHECKING:  # a report on a file needs no database
    from sts.annotations.error_analysis import ErrorAnalysis

MANY = 500_000
"""Rows of a table from which on who judged is looked at beside the agents."""
UNKNOWN = {
    "category": "No categories are given: there is no rate of a category, and all scenarios are "
    "taken as a sample of one kind.",
    "annotator": "It is not given who judged: nothing is known of the annotators' agreement and "
    "accuracy, and each row without the name of a continuation is taken for one of its own.",
    "horizon": "No horizon is given: time to success is not known.",
    "step": "No step of a success is given: time to success is not known.",
}
"""What a report says where nothing stands in a column."""


def build(
    ratings: pd.DataFrame,
    scores: pd.DataFrame,
    *,
    suite: Subject,
    target: str = "sampled",
    seed: int = 0,
    contrasts: Sequence[tuple[str, str]] = (),
    provenance: Mapping[str, Any] | None = None,
    other: Other | None = None,
    blind: str | None = None,
    margin: float | None = None,
    reference: str | None = None,
    step: Callable[[], None] = lambda: None,
) -> Report:
    """Analyses a ratings table.

    Args:
      ratings: a checked ratings table.
      scores: a checked scores table, possibly empty.
      suite: what the report is about.
      target: "sampled" or "fixed", of the main intervals.
      seed: of every random draw; equal seeds give equal reports.
      contrasts: pairs of agents planned beforehand, adjusted among themselves (Holm).
      provenance: versions and commit, as `sts.provenance.collect_provenance` returns them.
      other: another version that this one is compared with.
      blind: the agent that guesses, beside which the others' scores are corrected.
      margin: as a share, by which an agent may be worse; None if nobody asks.
      reference: whom agents are held against; the first of each ranking unless one is named.
      step: called after each of four parts, for who waits.

    Raises:
      DamagedData: the table holds no continuation of an agent.
      UnknownName: a contrast names no ranked agent, or two that are not ranked together.
    """
    own = ratings[ratings["truth"] == ""]
    if own.empty:
        raise DamagedData(
            f"{suite.name}: expected continuations of agents, found only reference episodes"
        )
    references = once(ratings[(ratings["truth"] != "") & (ratings["source"] == "human")])
    pooled = accuracy(references, seed=seed)
    labels = _labels(once(own))
    present = [s for s in SOURCES if s != "settled" and getattr(labels, s)] or ["human"]
    worth = valued(ratings)
    settled = int(((worth["source"] == "settled") & (worth["truth"] == "")).sum())
    bases = {source: (worth, source) for source in present}
    if labels.settled and labels.human:
        bases["unsettled"] = (unsettled(worth), "human")
    sets = {
        name: analyse(
            table,
            source,
            scenarios=suite.scenarios,
            target=target,
            seed=seed,
            together=suite.together,
            deterministic=suite.deterministic,
        )
        for name, (table, source) in bases.items()
    }
    main = sets[present[0]]
    step()
    worthwhile = len(ratings) >= MANY
    with run_in_background(
        lambda: judges(main, ratings, worth, seed=seed), worth=worthwhile
    ) as judged:
        entries = agents(main, worth, suite=suite, references=references, blind=blind)
        step()
        comparisons = _comparisons(main)
        both = {"human", "automatic"} <= set(present)
        asked = questions(main, worth, seed=seed, margin=margin, reference=reference)
        who = judged()
    step()
    report = Report(
        schema=SCHEMA,
        suite=suite.name,
        target=target,
        level=intervals.LEVEL,
        seed=seed,
        draws=schema.Draws(comparisons=COMPARISON_DRAWS),
        labels=labels,
        labels_used=main.source,
        counts=_counts(main, own, references, settled),
        unknown=_unknown(own),
        rankings=_rankings(main),
        agents=entries,
        comparisons=comparisons,
        contrasts=_contrasts(comparisons, contrasts),
        **validity(main, entries, scores, seed=seed)._asdict(),
        annotators=annotators(ratings, references, seed=seed),
        annotators_together=together(ratings, references, pooled, seed=seed),
        label_sets={source: side_by_side(labelled) for source, labelled in sets.items()},
        human_automatic=schema.LabelAgreement(**compare_labels(once(ratings))._asdict())
        if both
        else None,
        scenarios=_scenarios(main, suite),
        provenance=_provenance(suite, provenance or {}),
        digests=_digests(suite),
        verdict="",
        warnings=(),
        selection=None if suite.part is None else schema.Selection(**suite.part._asdict()),
        tags=tagged(main, suite),
        pairs=linked(main, suite.pairs, called="pair"),
        series=linked(main, suite.series, called="dialogue"),
        against=None
        if other is None
        else against(main, worth, suite, other._replace(ratings=valued(other.ratings)), seed=seed),
        efforts=efforts(ratings),
        unable=unable(ratings),
        questions=asked,
        reviews=None if suite.reviews is None else _reviews(suite.reviews),
        stopping=stopping(main, ratings),
        powered=powered(sets, worth, suite),
        judges=who,
        alarms=alarms(who),
    )
    step()
    return dataclasses.replace(report, verdict=verdict(report), warnings=tuple(warnings(report)))


def _labels(own: pd.DataFrame) -> schema.Labels:
    judged = own[~own["verdict"].isin(("", "cannot_judge"))]
    sources = (field.name for field in dataclasses.fields(schema.Labels))
    return schema.Labels(**{source: int((judged["source"] == source).sum()) for source in sources})


def _unknown(own: pd.DataFrame) -> dict[str, str]:
    """What cannot be told because a column is not there, by the column."""
    judged = own[~own["verdict"].isin(("", "cannot_judge"))]
    successes = judged[judged["verdict"] == "success"]
    without = {
        "category": (own["category"] == "").all(),
        "annotator": len(judged) > 0 and (own["annotator"] == "").all(),
        "horizon": own["horizon"].isna().all(),
        "step": len(successes) > 0 and successes["step"].isna().all(),
    }
    return {column: UNKNOWN[column] for column, missing in without.items() if missing}


SHOWN = ("human", "settled")
"""Sources of the rows that make up what people are asked to judge."""


def _counts(
    main: LabelSet, own: pd.DataFrame, references: pd.DataFrame, settled: int
) -> schema.Counts:
    table = main.continuations
    judged, unjudgeable = int(table["y"].notna().sum()), int(table["unjudgeable"].sum())
    return schema.Counts(
        agents=len(main.outcomes.agents),
        ranked_agents=len(main.ranked),
        scenarios=len(main.outcomes.scenarios),
        categories=sum(map(bool, main.outcomes.categories)) or None,
        continuations=len(table),
        judged=judged,
        unjudgeable=unjudgeable,
        unjudged=len(table) - judged - unjudgeable,
        annotations=int(table["annotations"].sum()),
        cannot_judge=int(table["cannot_judge"].sum()),
        extra=int((own["extra"] & (own["source"] == main.source)).sum()),
        reference_annotations=len(references),
        settled=settled if main.source == "human" else 0,
        **_efforts(own, main.source),
    )


def _efforts(every: pd.DataFrame, source: str) -> dict[str, Any]:
    """What people did, and what they need not do because some continuations are one clip."""
    own = every[every["source"] == source]
    shown = every[every["source"].isin(SHOWN if source == "human" else (source,))]
    said = own[~own["verdict"].isin(("", "cannot_judge"))]
    apart = once(own)
    timed = own["seconds"].notna().any()
    known = (shown["clip"] != "").all()
    hours, saved = (rows["seconds"].sum() / 3600 for rows in (apart, own.drop(index=apart.index)))
    return {
        "judgements": len(once(said)),
        "clips": shown["clip"].nunique() if known else None,
        "clips_judged": said["clip"].nunique() if known else None,
        "adjudicated": _adjudicated(own),
        "hours": float(hours) if timed else None,
        "hours_saved": float(saved) if timed and known else None,
    }


def _adjudicated(own: pd.DataFrame) -> int:
    """How many clips a reviewer has decided; continuations, where clips are not known."""
    decided = own[(own["adjudicated"] != "") & (own["source"] == "human")]
    clip = decided["clip"].astype(object)
    return int(clip.where(clip != "", decided["continuation"]).nunique())


def _reviews(found: ErrorAnalysis) -> schema.Reviews:
    return schema.Reviews(
        errors=tuple(schema.Error(**row._asdict()) for row in found.rows),
        over={who: schema.Sampled(**over._asdict()) for who, over in found.samples.items()},
    )


def _rankings(main: LabelSet) -> tuple[schema.Ranking, ...]:
    outcomes, rankings = main.outcomes, main.rankings.number[main.ranked]
    entries = []
    for ranking in dict.fromkeys(rankings.tolist()):
        rows = main.ranked[rankings == ranking]
        columns = main.continued[rows].any(axis=0)
        entries.append(
            schema.Ranking(
                ranking=ranking,
                agents=tuple(outcomes.agents[row] for row in rows),
                scenarios=int(columns.sum()),
                categories=tuple(filter(None, outcomes.of_scenarios(columns).categories)),
            )
        )
    return tuple(entries)


def _comparisons(main: LabelSet) -> tuple[Comparison, ...]:
    """The comparisons of the agents in one ranking, the higher rate first in each."""
    compared, rows = main.comparisons, main.compared()
    a, b = main.names_of(rows)
    return entries(
        Comparison,
        a=a,
        b=b,
        difference=compared.difference[rows],
        interval=compared.interval[rows],
        p=compared.p[rows],
        scenarios=compared.scenarios[rows],
        method=[compared.method[row] for row in rows],
        standard_error=compared.error[rows],
        joint_interval=compared.joint_interval[rows],
        p_adjusted=compared.p_adjusted[rows],
        separated=compared.separated[rows],
    )


def _contrasts(
    comparisons: Sequence[Comparison], planned: Sequence[tuple[str, str]]
) -> tuple[Contrast, ...]:
    ranked = {name for pair in comparisons for name in (pair.a, pair.b)}
    chosen = []
    for a, b in planned:
        for name in (a, b):
            if name not in ranked:
                raise UnknownName("ranked agent", name, ranked)
        beside = {n for pair in comparisons if a in (pair.a, pair.b) for n in (pair.a, pair.b)}
        if b not in beside - {a}:
            raise UnknownName(f"agent ranked beside {a}", b, beside - {a})
        chosen += [pair for pair in comparisons if {pair.a, pair.b} == {a, b}]
    p = [np.nan if pair.p is None else pair.p for pair in chosen]
    adjusted = holm(np.array(p, dtype=np.float64))
    shared = [field.name for field in dataclasses.fields(schema.Pair)]
    return tuple(
        Contrast(**{name: getattr(pair, name) for name in shared}, p_holm=number(p))
        for pair, p in zip(chosen, adjusted, strict=True)
    )


def _scenarios(main: LabelSet, suite: Subject) -> tuple[schema.Scenario, ...]:
    """Each scenario: mean failure of the ranked agents, and how far it tells these apart."""
    outcomes, summary, ranked = main.outcomes, main.summary, main.ranked
    of_ranked = summary.at(ranked)
    without, apart = difficulty(of_ranked), separation(of_ranked)
    tags: dict[str, list[str]] = {}
    for tag, ids in suite.tags.items():
        for name in ids:
            tags.setdefault(name, []).append(tag)
    names = [outcomes.agents[row] for row in ranked]
    made = []
    for s, name in enumerate(outcomes.scenarios):
        judged = ranked[summary.number[ranked, s] > 0]
        made.append(
            schema.Scenario(
                scenario=name,
                category=outcomes.categories[outcomes.category[s]] or None,
                kind=outcomes.kind[s] or None,
                difficulty=number(1 - summary.mean[judged, s].mean()) if judged.size else None,
                agents=int(judged.size),
                pass_rates=named(outcomes.agents, summary.mean[:, s]),
                difficulty_without=named(names, without[:, s]),
                instruction=suite.instructions.get(name),
                tags=tuple(tags.get(name, ())),
                spread=number(apart.spread[s]),
                discrimination=number(apart.discrimination[s]),
                judged=named(outcomes.agents, summary.number[:, s]),
            )
        )
    return tuple(made)


def _digests(suite: Subject) -> schema.Digests | None:
    own = suite.digests
    if own is None:
        return None
    return schema.Digests(
        suite=own.suite,
        suite_hash=own.suite_hash,
        continuations=schema.Link(*own.continuations),
        authors={name: schema.Link(*end) for name, end in own.authors.items()},
        references=schema.Link(*own.references),
        labels=own.labels,
        scores=own.scores,
    )


def _provenance(suite: Subject, made: Mapping[str, Any]) -> schema.Provenance:
    commit, dirty = made.get("commit"), made.get("dirty")
    return schema.Provenance(
        suite_hash=suite.hash,
        annotations_hash=suite.annotations_hash,
        notes=suite.notes,
        versions={name: str(v) for name, v in made.items() if name not in ("commit", "dirty")},
        commit=commit,
        dirty=dirty,
    )
