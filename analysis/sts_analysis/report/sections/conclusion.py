"""What the study found: one sentence, how sure it is, and what it rests on."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.claim import State
from sts_analysis.report.core import Report, Study, html, join
from sts_analysis.report.headline import name_source, write_headline, write_support
from sts_analysis.report.markup import link_term
from sts_analysis.report.sections.warnings import list_warnings
from sts_analysis.report.text import Sentence, percent, pluralise, to_html
from sts_analysis.statistics import estimate as est

TITLE = ""
NAV = ""


class Fact(msgspec.Struct, frozen=True):
    """One of the facts below the sentence.

    Attributes:
      term: such as "Scenarios".
      value: the main figure.
      detail: what stands beside it.
    """

    term: str
    value: str
    detail: str


class Result(msgspec.Struct, frozen=True):
    """What the report claims, decided before any sentence was made.

    Attributes:
      state: "final", "interim", "withheld" or "single agent".
      source: of the labels: "human", "automatic" or "model".
      headline: the one sentence to quote.
      support: what stands below it.
      pill: the state, in two or three words.
      is_warning: whether the state is no ordinary result of people's judgement.
      facts: four facts.
      warnings: why agents, pairs or the whole are left out of the claim.
      suite: what the report is about.
      target: "sampled" or "fixed".
      level: of confidence.
      best: agents that no other is significantly better than; empty unless the state is final.
      significant_pairs: pairs of ranked agents that differ significantly.
      pairs: all pairs of ranked agents.
      p_bar: a pair differs significantly if its adjusted p is below this; of several bars, see
        comparisons, the largest.
      n_agents: without baselines.
      n_ranked: agents that can be compared.
      n_baselines: agents with privileged information.
      n_categories: None if no category is known.
      n_scenarios: judged or not.
      units: independent units that every interval rests on.
      effective_units: as many equally large units would be as precise.
      units_known: whether the trajectories of scenarios are known.
      annotators: people who judged, in alphabetical order.
      judgements: people's verdicts on agents' clips, each once; labels of another source.
      planned_clips: what was planned to be judged.
      judged_clips: what is judged of that.
      skipped_clips: what is not, as all agents that it shows had left the race.
      hours_judged: that people spent on agents' clips; null if no time is known.
      hours_saved: that the skipped clips would have taken; null if no time is known.
      missing: planned continuations that do not exist, by agent that lacks some.
      closed: why the study was closed early; "" if it was not.
      plan: the number of the plan; above 1 if something was added after a final conclusion.
      other_annotators: whether it is known which differences hold for other annotators, too.
      pairs_for_others: of the significant pairs, those that do.
      labels: source of labels that rates use where people have not judged: "automatic" or "model";
        "" for none.
    """

    state: State
    source: str
    headline: Sentence
    support: Sentence
    pill: str
    is_warning: bool
    facts: tuple[Fact, ...]
    warnings: tuple[Sentence, ...]
    suite: str
    target: str
    level: float
    best: tuple[str, ...]
    significant_pairs: int
    pairs: int
    p_bar: float
    n_agents: int
    n_ranked: int
    n_baselines: int
    n_categories: int | None
    n_scenarios: int
    units: int
    effective_units: float
    units_known: bool
    annotators: tuple[str, ...]
    judgements: int
    planned_clips: int
    judged_clips: int
    closed: str
    plan: int
    other_annotators: bool
    pairs_for_others: int
    missing: dict[str, int] = {}
    skipped_clips: int = 0
    hours_judged: float | None = None
    hours_saved: float | None = None
    labels: str = ""


def compute(study: Study) -> Result:
    """Say what the study found."""
    claim, outcomes, progress = study.claim, study.outcomes, study.progress
    judging = outcomes.judging
    judged = np.isfinite(outcomes.value).any(axis=0)
    effective = 0.0
    if judged.any():
        effective = est.weigh(judged, outcomes.category, outcomes.unit).effective_units
    categories = sum(map(bool, outcomes.categories)) or None
    annotators = judging.annotators if judging else ()
    judgements = (
        int((study.people_rows["verdict"] != "cannot_judge").sum())  # a clip may be of two agents
        if judging
        else int(outcomes.continuations.verdicts.sum())
    )
    final = claim.state == "final"
    judged_for, saved = _measure_hours(study)
    units_known = study.subject.knows_units(study.ratings)
    return Result(
        state=claim.state,
        source=study.source,
        headline=write_headline(study),
        support=write_support(study),
        pill=_name_state(study),
        is_warning=claim.state in ("interim", "withheld")
        or study.source != "human"
        or not (progress.is_complete or progress.closed),
        facts=_list_facts(study, categories, units_known, effective, judgements),
        warnings=list_warnings(study),
        suite=study.subject.name,
        target=study.options.target,
        level=est.CONFIDENCE,
        best=tuple(outcomes.agents[a] for a in claim.best) if final else (),
        significant_pairs=int(claim.significant.sum()),
        pairs=len(claim.significant),
        p_bar=float(claim.bar.max(initial=0.0)) if claim.bar.size else progress.bar,
        n_agents=int((~outcomes.baseline).sum()),
        n_ranked=len(claim.ranked),
        n_baselines=int(outcomes.baseline.sum()),
        n_categories=categories,
        n_scenarios=len(outcomes.scenarios),
        units=claim.units,
        effective_units=effective,
        units_known=units_known,
        annotators=annotators,
        judgements=judgements,
        planned_clips=progress.planned,
        judged_clips=progress.judged,
        closed=progress.closed,
        plan=progress.plan,
        other_annotators=claim.others is not None,
        pairs_for_others=int(claim.holds.sum()),
        missing={
            agent: int(count)
            for agent, count in zip(outcomes.agents, study.missing.sum(axis=1), strict=True)
            if count
        },
        skipped_clips=progress.skipped,
        hours_judged=judged_for,
        hours_saved=saved,
        labels=study.labels,
    )


def _measure_hours(study: Study) -> tuple[float | None, float | None]:
    """Return the hours that people spent, and those that skipped clips would have taken."""
    seconds = study.people_rows["seconds"]
    if study.source != "human" or not seconds.notna().any():
        return None, None
    return float(seconds.sum()) / 3600, study.progress.skipped * float(seconds.mean()) / 3600


def render(result: Result, report: Report) -> Markup:
    """Show the sentence, its support and the facts."""
    facts = join(
        html("<div><dt>{}</dt><dd><b>{}</b> <span>{}</span></dd></div>", f.term, f.value, detail)
        for f, detail in ((fact, _link_units(fact.detail)) for fact in result.facts)
    )
    return html(
        '<p class="{}">{}</p><h1>{}</h1><p class=lead>{}</p><dl class=facts>{}</dl>',
        "pill warn" if result.is_warning else "pill ok",
        result.pill,
        to_html(result.headline),
        to_html(result.support),
        facts,
    )


def _link_units(detail: str) -> Markup:
    before, units, after = detail.partition("independent units")
    return html("{}{}{}", before, link_term("unit", units) if units else "", after)


def _name_state(study: Study) -> str:
    state, progress = study.claim.state, study.progress
    if state == "withheld":
        return "Conclusion withheld"
    if state == "interim" or not (progress.is_complete or progress.closed):
        return "Interim"
    return name_source(study)


def _list_facts(
    study: Study, categories: int | None, units_known: bool, effective: float, judgements: int
) -> tuple[Fact, ...]:
    outcomes, progress, judging = study.outcomes, study.progress, study.outcomes.judging
    agents, baselines = int((~outcomes.baseline).sum()), int(outcomes.baseline.sum())
    tested = pluralise(agents, "agent")
    if baselines:
        tested += f", {pluralise(baselines, 'baseline')}"
    units = len(np.unique(outcomes.unit))
    independent = "taken as independent"
    if units_known:
        independent = f"in {units:,} independent units ({effective:.0f} effective)"
    if people := {name for names in study.subject.people.values() for name in names}:
        independent += f", recorded by {pluralise(len(people), 'person', 'people')}"
    if study.source != "human":
        who, said = ("a rule" if study.source == "automatic" else "a model"), "label"
    elif judging is None:
        who, said = "people", "judgement"
    else:
        who, said = pluralise(len(judging.annotators), "person", "people"), "judgement"
    has_plan = study.subject.plan is not None and study.source == "human"
    things = "clips" if has_plan or (study.agent_rows["clip"] != "").all() else "continuations"
    within = f", round {outcomes.round} of {outcomes.rounds}" if outcomes.draw == "rounds" else ""
    hours, saved = _measure_hours(study)
    time = f" in {_write_hours(hours)}" if hours is not None else ""
    if saved and progress.is_complete:
        within = f"; {_write_hours(saved)} saved"
    return (
        Fact(
            "Tested",
            tested,
            pluralise(categories, "category", "categories") if categories else "",
        ),
        Fact("Scenarios", f"{len(outcomes.scenarios):,}", independent),
        Fact("Judged by", who, pluralise(judgements, said) + time),
        Fact("Judged", percent(progress.share), f"of {progress.planned:,} {things}{within}"),
    )


def _write_hours(hours: float) -> str:
    return f"{hours:.1f} hours" if hours < 9.95 else f"{hours:.0f} hours"
