"""A paragraph on methods, written from what a report says was done: no sentence for what was not.

A sentence cites by "[@key]", keys of `references.WORKS`.
"""

import re
from collections.abc import Iterator

from sts_analysis.report.paper import latex, references
from sts_analysis.report.paper.words import plural, span, thousands
from sts_analysis.report.schema import Agent, Report
from sts_analysis.report.words import claim

_CITED = re.compile(r"\[@([a-z0-9, @]+)\]")
_FIGURES = re.compile(r"[\d.]+")
_DIGITS = 16
_TESTS = {
    "stratified paired t": "a paired t test over scenarios [@miller2024]",
    "normal, continuations": "a normal test of the continuations' noise alone",
    "sign flips": "exact sign flips of the differences",
    "both rates' intervals": "the intervals of both rates where no difference varies "
    "[@newcombe1998]",
    "deterministic": "their rates themselves where both are deterministic",
}
"""How a comparison was made, by words of its method."""
_LABELLERS = {
    "automatic": "No person judged: each continuation was labelled by its category's rule, so "
    "these are no human judgements.",
    "model": "No person judged: each continuation was labelled by a model, so these are no human "
    "judgements.",
}


def sentences(report: Report) -> list[str]:
    """The paragraph's sentences, in their order."""
    parts = (_design, _labels, _annotators, _rates, _comparisons, _others, _repeat)
    return [sentence for part in parts for sentence in part(report)]


def plain(report: Report) -> str:
    """The paragraph as text, and the list of what it cites."""
    said = " ".join(sentences(report))
    text = _CITED.sub(
        lambda m: f"({'; '.join(references.WORKS[key].short for key in _keys(m[1]))})", said
    )
    listed = [references.WORKS[key].plain() for key in cited(report)]
    return "\n".join([text, "", "References", "", *(f"- {line}" for line in listed)]) + "\n"


def as_latex(report: Report) -> str:
    """The paragraph as LaTeX, which cites from `references.bib`."""
    said = " ".join(sentences(report))
    pieces = _CITED.split(said)  # text, keys, text, keys, ...
    made = [
        rf"\cite{{{','.join(_keys(piece))}}}" if place % 2 else latex.escape(piece)
        for place, piece in enumerate(pieces)
    ]
    text = "".join(made).replace(r" \cite", r"~\cite") + "\n"
    return f"{latex.UNICODE}\n{text}" if latex.foreign(text) else text


def cited(report: Report) -> list[str]:
    """Keys of the works that the paragraph cites, in alphabetical order."""
    said = " ".join(sentences(report))
    return sorted({key for keys in _CITED.findall(said) for key in _keys(keys)})


def _keys(text: str) -> list[str]:
    return [key.strip(" @") for key in text.split(",")]


def _design(report: Report) -> Iterator[str]:
    counts = report.counts
    where = f" in {plural(counts.categories, 'category')}" if counts.categories else ""
    scenarios, agents = plural(counts.scenarios, "scenario"), plural(counts.agents, "agent")
    if report.provenance.suite_hash is None:
        yield (
            f"We analysed a table of ratings of {agents} on {scenarios}{where} as the Standardised "
            "Test Suite does [@abramson2022]."
        )
    else:
        source = f"the suite {report.suite}"
        if report.selection is not None:
            part = report.selection
            source = f"a part of the suite {part.suite} ({part.meaning} of {part.of} scenarios)"
        yield (
            f"We evaluated {agents} on the {scenarios}{where} of {source} with the Standardised "
            "Test Suite [@abramson2022]."
        )
        yield (
            "In each scenario an agent observed a recorded context, in which its actions were "
            "forced to be the recorded ones, and acted on its own from the takeover point on."
        )
    made = span(entry.continuations for entry in report.agents)
    if counts.agents == 1:
        yield f"It has {plural(counts.continuations, 'continuation')}."
    else:
        every = thousands(counts.continuations)
        yield f"The agents have {made} continuations each, {every} in all."
    short = [entry for entry in report.agents if entry.missing]
    if short:
        yield (
            f"{_count(len(short), 'agent')} lacked continuations of some scenarios, and "
            f"{'its rate is' if len(short) == 1 else 'their rates are'} over the others."
        )
    bounds = [entry for entry in report.agents if entry.sees != "observation"]
    if bounds:
        yield (
            f"The agent{'s' * (len(bounds) > 1)} {_named(bounds)} "
            f"{'sees' if len(bounds) == 1 else 'see'} more than an agent may, and "
            f"{'is a bound' if len(bounds) == 1 else 'are bounds'} outside the ranking."
        )


def _labels(report: Report) -> Iterator[str]:
    counts = report.counts
    if report.labels_used in _LABELLERS:
        yield _LABELLERS[report.labels_used]
        if counts.judged < counts.continuations:
            yield (
                f"{thousands(counts.judged)} of the {thousands(counts.continuations)} "
                "continuations have a label; the others enter no rate."
            )
        return
    if not counts.judged:
        yield "None of them has been judged yet."
        return
    if counts.annotations:
        people = sum(one.annotations > 0 for one in report.annotators)
        who = f" by {plural(people, 'annotator')}" if people else ""
        given = counts.judgements or counts.annotations
        yield (
            f"{thousands(counts.judged - counts.settled)} continuations were judged{who} as "
            f"success or failure, in {plural(given, 'judgement')}."
        )
    if counts.settled:
        yield (
            f"{thousands(counts.settled)} continuations were settled by a rule as not done without "
            "being looked at, and count as failures."
        )
    copied = counts.clips is not None and counts.clips < counts.continuations
    if copied:
        yield (
            f"Continuations that look and sound the same are one clip and share its judgements "
            f"({thousands(counts.clips or 0)} clips)."
        )
    if counts.adjudicated:
        yield (
            f"The value of {plural(counts.adjudicated, 'clip')} is what a reviewer decided after "
            "the annotators."
        )
    if counts.annotations > counts.judged - counts.settled:
        yield "A continuation's value is the mean of its annotators' verdicts, success being 1."
    if counts.unjudgeable:
        yield (
            f"{thousands(counts.unjudgeable)} could not be judged by anyone who looked and enter "
            "no rate."
        )
    if counts.unjudged:
        yield f"{thousands(counts.unjudged)} have not been judged yet and enter no rate."


def _annotators(report: Report) -> Iterator[str]:
    pooled = report.annotators_together
    if not report.annotators:
        return
    people = sum(one.annotations > 0 for one in report.annotators)
    if people and report.counts.judged:
        who = "this annotator" if people == 1 else f"these {people} annotators"
        yield (
            f"The intervals hold for the judgement of {who}; what others would say is not in them."
        )
    if pooled.balanced_accuracy is not None and pooled.interval is not None:
        low, high = (_percent(end) for end in pooled.interval)
        yield (
            f"On reference episodes of known outcome the annotators "
            f"answered with a balanced accuracy of {_percent(pooled.balanced_accuracy)} "
            f"(95% interval {low} to {high}; {plural(pooled.references, 'answer')})."
        )
    alpha = pooled.alpha
    if alpha.alpha is not None:
        yield (
            f"Krippendorff's alpha [@krippendorff2004] was {alpha.alpha:.2f} over "
            f"{plural(alpha.continuations, 'continuation')} that two or more annotators judged."
        )
    if any(entry.corrected_pass_rate for entry in report.agents):
        yield (
            "Pass rates corrected for the annotators' errors on reference episodes have an "
            "interval that counts the errors of both [@lang2014]."
        )


def _rates(report: Report) -> Iterator[str]:
    judged = [entry for entry in report.agents if entry.pass_rate is not None]
    if not judged:
        return
    yield (
        "An agent's pass rate is its mean success, each scenario weighing the same, which with "
        "unequal numbers of continuations differs from the share of continuations."
        if not _even(report)
        else "An agent's pass rate is its mean success, each scenario weighing the same."
    )
    if not any(entry.interval for entry in judged):
        yield "No interval of a rate is known."
        return
    if any(entry.scenarios_judged < report.counts.scenarios for entry in judged):
        yield (
            "A scenario in which an agent is not judged leaves its weight to the others of its "
            "category, and a category without any to the other categories."
        )
    ways = _ways(judged, stratified=(report.counts.categories or 0) > 1)
    yield f"Intervals are nominal 95% intervals {claim(report)}: {'; '.join(ways)}."
    if any(entry.method.startswith("stratified t") for entry in judged):
        yield (
            "They take the variance between scenarios, and not the standard error over all "
            "continuations, for continuations of one scenario are alike [@miller2024]."
        )


def _even(report: Report) -> bool:
    """Whether each agent has as many judged continuations of each scenario."""
    return (
        all(
            one.judged is not None and len(set(one.judged.values())) == 1
            for one in report.scenarios
        )
        and len({next(iter((one.judged or {}).values()), 0) for one in report.scenarios}) == 1
    )


def _ways(judged: list[Agent], *, stratified: bool) -> list[str]:
    """How the intervals were made, each way once."""
    strata = " stratified by category" if stratified else ""
    ways = []
    for entry in judged:
        if entry.interval is None:
            continue
        if entry.method.startswith("stratified t"):
            words = (
                f"Student's t with scenarios as a sample{strata} and Satterthwaite's degrees of "
                "freedom [@satterthwaite1946]"
            )
        elif entry.method.startswith("exact"):
            words = "where an agent is deterministic exact, as another continuation ends alike"
        elif entry.method.startswith("Wilson") and "no spread" in entry.method:
            words = "where no scenario differed from another, Wilson's with scenarios as trials"
        elif entry.method.startswith("Wilson"):
            words = "Wilson's score interval with an effective number of trials [@wilson1927]"
        else:
            words = " ".join(_FIGURES.sub("", entry.method).split())
        ways.append(words)
    return list(dict.fromkeys(ways))


def _comparisons(report: Report) -> Iterator[str]:
    known = [pair for pair in report.comparisons if pair.p is not None]
    if known:
        ways = [words for start, words in _TESTS.items() if any(start in p.method for p in known)]
        yield f"Agents were compared scenario by scenario{f' by {_and(ways)}' if ways else ''}."
        if sum((pair.p or 0) > 0 for pair in known) > 1:
            yield (
                "P values and joint intervals are adjusted for all pairs by a step-down procedure "
                f"[@romano2005] on {thousands(report.draws.comparisons)} draws of a multiplier "
                "bootstrap [@chernozhukov2013]."
            )
        yield (
            "An agent's rank set holds every rank that these comparisons leave open; all hold "
            "together with 95% confidence."
        )
    for alarm in report.alarms:
        yield alarm.text
    if len(report.rankings) > 1:
        yield (
            f"There are {len(report.rankings)} rankings, as not all agents met the same scenarios."
        )
    if report.contrasts:
        yield (
            f"{_count(len(report.contrasts), 'comparison')} planned beforehand "
            f"{'was' if len(report.contrasts) == 1 else 'were'} adjusted among themselves "
            "[@holm1979]."
        )


def _others(report: Report) -> Iterator[str]:
    if any(one.spearman is not None for one in report.correlations):
        yield (
            "Metrics were correlated across the ranked agents by Spearman's coefficient "
            "[@spearman1904], with permutation p values"
            + (
                " and the intervals of Bonett and Wright [@bonett2000]."
                if any(one.interval for one in report.correlations)
                else "."
            )
        )
    if any(entry.consistency.icc is not None for entry in report.agents):
        yield (
            "Consistency across continuations of one scenario is the intraclass correlation "
            "[@shrout1979]."
        )
    times = [entry.time_to_success for entry in report.agents]
    if any(one.mean_area is not None for one in times):
        spread = "; the interval of its mean height is made as a pass rate's, for sampled scenarios"
        yield (
            "Time to success is the share of continuations that have succeeded by each step after "
            f"takeover{spread if any(one.interval for one in times) else ''}."
        )


def _repeat(report: Report) -> Iterator[str]:
    version = report.provenance.versions.get("sts")
    tool = f"sts {version}" if version else "sts"
    commit = f", commit {report.provenance.commit}" if report.provenance.commit else ""
    edited = ", edited since" if report.provenance.dirty else ""
    yield (
        f"The analysis was made by {tool}{commit}{edited}; all of its random draws come from the "
        f"seed {report.seed}."
    )
    if report.provenance.suite_hash:
        yield f"The suite's hash begins with {report.provenance.suite_hash[:_DIGITS]}."
    if report.provenance.annotations_hash and report.labels_used == "human":
        digits = report.provenance.annotations_hash[:_DIGITS]
        yield f"The hash of what people had judged begins with {digits}."


def _named(entries: list[Agent]) -> str:
    return _and([entry.agent for entry in entries])


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(number: int, noun: str) -> str:
    return f"One {noun}" if number == 1 else f"{thousands(number)} {noun}s"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
