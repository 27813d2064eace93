"""The sentences of a report's conclusion: the one to quote, and what stands below it."""

import msgspec
import numpy as np

from sts_analysis.report.core import Study, interval
from sts_analysis.report.text import (
    Sentence,
    count_words,
    list_names,
    name,
    percent,
    percent_range,
    pluralise,
    points,
    write_sentence,
)
from sts_analysis.statistics.race import MIN_UNITS
from sts_analysis.statistics.rates import MIN_ANNOTATORS, MIN_CLIPS

FEW_LEVEL = 3
FEW_AGENTS = 6
SOURCES = {"human": "", "automatic": "By a rule’s labels, ", "model": "By a model’s labels, "}
PILLS = {
    "human": "Judged by people",
    "automatic": "Rule labels: no person has judged",
    "model": "Model labels: no person has judged",
}


def name_source(study: Study) -> str:
    """Say whose labels the report rests on."""
    helped = {"": "", "automatic": ", with a rule’s labels", "model": ", with a model’s labels"}
    return PILLS[study.source] + helped[study.labels]


def write_headline(study: Study) -> Sentence:
    """Write the one sentence to quote: who is best, or why nothing can be said yet."""
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


def write_support(study: Study) -> Sentence:
    """Write what stands below the headline: rates, and about what all of it holds."""
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
