"""What the study found: one sentence, how sure it is, and what it rests on."""

import msgspec
import numpy as np
from markupsafe import Markup

from sts_analysis.report.claim import State
from sts_analysis.report.core import Report, Study, html, interval, join
from sts_analysis.report.markup import link_term
from sts_analysis.report.sections.warnings import list_warnings
from sts_analysis.report.text import (
    Sentence,
    count_words,
    list_names,
    name,
    percent,
    percent_range,
    pluralise,
    points,
    to_html,
    write_sentence,
)
from sts_analysis.statistics import estimate as est
from sts_analysis.statistics.race import MIN_UNITS
from sts_analysis.statistics.rates import MIN_ANNOTATORS, MIN_CLIPS

TITLE = ""
NAV = ""
FEW_LEVEL = 3
FEW_AGENTS = 6
SOURCES = {"human": "", "automatic": "By a rule’s labels, ", "model": "By a model’s labels, "}
PILLS = {
    "human": "Judged by people",
    "automatic": "Rule labels: no person has judged",
    "model": "Model labels: no person has judged",
}


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
        headline=_write_headline(study),
        support=_write_support(study),
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


def name_source(study: Study) -> str:
    """Say whose labels the report rests on."""
    helped = {"": "", "automatic": ", with a rule’s labels", "model": ", with a model’s labels"}
    return PILLS[study.source] + helped[study.labels]


def _write_headline(study: Study) -> Sentence:
    claim, agents, progress = study.claim, study.outcomes.agents, study.progress
    source = SOURCES[study.source]
    share = f"{percent(progress.share)} judged"
    if claim.state == "single agent":
        (agent,) = np.flatnonzero(~study.outcomes.baseline)
        rate = percent(_rate(study, agent))
        if progress.is_complete or progress.closed:
            return write_sentence(source, name(agents[agent]), f" passes {rate}.")
        return write_sentence(
            f"Interim: {share}; {source.lower() or ''}",
            name(agents[agent]),
            f" passes {rate} so far.",
        )
    if claim.state == "withheld":
        return write_sentence("No conclusion: ", _write_reason(study), ".")
    if claim.state == "interim":
        count = len(study.resolved)
        resolved = f"{count} of {pluralise(len(claim.significant), 'pair')} resolved"
        return write_sentence(
            f"Interim: {share}, {resolved if count else 'nothing is decided yet'}."
        )
    said = _write_best(study)
    first = said[0]
    if first.kind == "text":
        recase = str.lower if source else str.upper
        text = recase(first.text[:1]) + first.text[1:]
        said = (msgspec.structs.replace(first, text=text), *said[1:])
    return write_sentence(source, said) if source else said


def _write_best(study: Study) -> Sentence:
    claim, agents = study.claim, study.outcomes.agents
    names = [agents[a] for a in claim.ranked]
    best = [agents[a] for a in claim.best]
    if not claim.significant.any():
        if np.isnan(claim.comparisons.p).all():
            return write_sentence(
                "no two agents differ in six or more units: too few for any to differ "
                "significantly."
            )
        return write_sentence("no two agents differ significantly.")
    if len(best) == 1:
        others = [one for one in names if one != best[0]]
        beaten = int(claim.better[names.index(best[0])].sum())
        if beaten < len(others):  # no agent is better, and it is ahead of some alone
            return write_sentence(name(best[0]), f" is ahead of {count_words(beaten)} others.")
        if len(others) == 1:
            return write_sentence(name(best[0]), " is best, ahead of ", name(others[0]), ".")
        return write_sentence(
            name(best[0]), f" is best, ahead of each of the {count_words(len(others))} others."
        )
    if len(best) <= FEW_LEVEL:
        return write_sentence(list_names(best), " are best; they do not differ significantly.")
    return write_sentence(
        f"the best is among {len(best)} of {len(names)} agents, ", name(best[0]), " in front."
    )


def _write_support(study: Study) -> Sentence:
    claim, agents, rates = study.claim, study.outcomes.agents, study.rates
    parts: list[object] = []
    if claim.state == "single agent":
        (agent,) = np.flatnonzero(~study.outcomes.baseline)
        ends = interval(rates.interval[agent])
        text = f"95% confidence interval {percent_range(ends)}, {_write_scope(study)}."
        return write_sentence(text, " One agent has no rank.", _write_closing(study))
    if claim.state == "withheld":
        text = "Rates are shown without ranks: an order of agents cannot be given."
        return write_sentence(text, _write_closing(study))
    if claim.state == "interim":
        return write_sentence(
            "Rates may change until everything that was planned is judged; "
            "there are no ranks before."
        )
    ranked = [agents[a] for a in claim.ranked]
    first, second = claim.ranked[:2]
    if len(claim.best) == 1:
        parts += [
            name(ranked[0]),
            f" passes {percent(_rate(study, first))}, the next, ",
            name(ranked[1]),
            f", {percent(_rate(study, second))}. ",
        ]
    else:
        _, gap = claim.read_difference(int(first), int(second))
        between = ""
        if np.isfinite(gap).all():
            low, high = map(points, gap.tolist())
            between = f": their difference lies between {low} and {high} points"
        parts += [
            "The first two, ",
            name(ranked[0]),
            " and ",
            name(ranked[1]),
            f", pass {percent(_rate(study, first))} and {percent(_rate(study, second))}",
            f"{between}. ",
        ]
    if len(ranked) > FEW_AGENTS:
        parts.append(
            f"{int(claim.significant.sum()):,} of {len(claim.significant):,} pairs of agents "
            "differ significantly. "
        )
    else:
        level = _find_level_group(study)
        if level and len(claim.best) == 1:
            parts += [list_names(level), " do not differ significantly. "]
    parts.append(
        f"All statements about order hold together at 95% confidence, {_write_scope(study)}."
    )
    parts += [_write_others(study), _write_closing(study)]
    return write_sentence(*parts)  # type: ignore[arg-type]


def _write_scope(study: Study) -> str:
    """Say for which scenarios and whose judgement statements hold."""
    outcomes, judging = study.outcomes, study.outcomes.judging
    categories = sum(map(bool, outcomes.categories))
    kind = (
        f"of {'this category' if categories == 1 else f'these {categories} categories'}"
        if categories
        else "like these"
    )
    scope = (
        f"for new scenarios {kind}"
        if study.options.target == "sampled"
        else "for these scenarios alone"
    )
    if judging is None:
        return scope
    people = judging.annotators
    if len(people) <= FEW_LEVEL:
        verb = "judges" if len(people) == 1 else "judge"
        return f"{scope}, as {''.join(p.text for p in list_names(people))} {verb}"
    return f"{scope}, as these {len(people)} annotators judge"


def _write_others(study: Study) -> str:
    """Say which differences hold for other annotators, too."""
    claim, judging = study.claim, study.outcomes.judging
    differ, hold = int(claim.significant.sum()), int(claim.holds.sum())
    if judging is None or not differ:
        return ""
    if claim.others is None:
        few = len(judging.annotators) < MIN_ANNOTATORS
        why = f"that takes {count_words(MIN_ANNOTATORS)}" if few else "they shared too little"
        return f" Whether other annotators would find the same is not known: {why}."
    which = f"{hold} of the {differ} differences also hold"
    if differ == 1:
        which = "The difference also holds" if hold else "The difference may not hold"
    elif hold == differ:
        which = f"{'Both' if differ == 2 else f'All {differ}'} differences also hold"
    elif not hold:
        which = f"None of the {differ} differences is shown to hold"
    return f" {which} for other annotators like these."


def _write_closing(study: Study) -> str:
    progress = study.progress
    parts = ""
    if progress.closed and not progress.is_complete:
        share, reason = percent(progress.share), progress.closed.rstrip(".")
        parts = f" The study was closed at {share} of what was planned: {reason}."
    elif progress.skipped and progress.is_complete:
        parts = (
            f" Judging ended at {percent(progress.share)} of what was planned, as every pair was "
            "resolved."
        )
    if progress.plan > 1:
        parts += f" This is plan {progress.plan}: something was added after a final conclusion."
    return parts


def _write_reason(study: Study) -> Sentence:
    claim, agents = study.claim, study.outcomes.agents
    compared = [agents[a] for a in np.flatnonzero(~study.outcomes.baseline)]
    if not np.isfinite(study.rates.rate).any():
        return write_sentence("nothing is judged")
    if claim.reason == "units":
        return write_sentence(
            f"{pluralise(claim.units, 'independent unit')} of scenarios, and at least {MIN_UNITS} "
            "are needed"
        )
    if claim.reason == "lacking":
        return write_sentence("all agents but one lack more than a tenth of the scenarios")
    if not compared:
        return write_sentence("there are only baselines")
    if claim.reason == "copies":
        return write_sentence(
            "the study was closed before all was judged, it was not judged in rounds, and agents "
            "differ in how many of their continuations share a clip"
        )
    if claim.reason == "clips":
        return write_sentence(f"fewer than {MIN_CLIPS} clips of an agent are judged")
    apart = "in different scenarios" if claim.reason == "scenarios" else "by different people"
    return write_sentence(list_names(compared), f" were judged {apart}")


def _find_level_group(study: Study) -> list[str]:
    """Return the largest run of neighbours of which no two differ significantly, if any."""
    runs = study.claim.level_runs
    longest = max(runs, key=lambda run: run[1] - run[0], default=(0, 0))
    if longest[1] - longest[0] < 2:
        return []
    return [study.outcomes.agents[a] for a in study.claim.ranked[longest[0] : longest[1]]]


def _rate(study: Study, agent: int | np.int64) -> float | None:
    rate = float(study.rates.rate[agent])
    return rate if np.isfinite(rate) else None


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
