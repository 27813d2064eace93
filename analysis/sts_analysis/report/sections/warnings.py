"""The warnings of a report: what is missing, left out or doubtful in its data."""

from collections.abc import Sequence

import numpy as np

from sts.spellings import suggest_flags
from sts_analysis.report.core import Study
from sts_analysis.report.text import (
    MAX_NAMES,
    Part,
    Sentence,
    list_names,
    name,
    pluralise,
    write_sentence,
)
from sts_analysis.statistics.rates import MIN_CLIPS
from sts_analysis.statistics.tabulation import Outcomes


def list_warnings(study: Study) -> tuple[Sentence, ...]:
    """Return what a reader must know of the data beside the conclusion, a sentence each."""
    claim, agents = study.claim, study.outcomes.agents
    warnings = _describe_subject(study) + _describe_names(study) + _describe_missing(study)
    warnings += [
        write_sentence(name(agents[a]), f" is not ranked: {explain_place(study, a)}.")
        for a in (*claim.lacking, *claim.incomparable)
    ]
    if study.outcomes.draw in ("random", "uneven") and not study.progress.is_complete:
        what = "clips" if (study.agent_rows["clip"] != "").any() else "continuations"
        warnings.append(
            write_sentence(
                f"A part is judged, and not in rounds: the judged {what} are taken as drawn at "
                "random in each category."
            )
        )
    if changed := study.changed_pairs:
        more = f" and {pluralise(len(changed) - 1, 'other pair')}" if len(changed) > 1 else ""
        pair = list_names([changed[0].first, changed[0].second])
        text = f"{more}: judgements have changed since a look, which would now decide otherwise."
        warnings.append(write_sentence(pair, text, " Its decision stands."))
    if claim.state != "final":
        return tuple(warnings)
    pairs = claim.comparisons
    undecided = {
        "cannot be distinguished from their annotators": ~pairs.identifiable,
        "differ in fewer than six units": pairs.identifiable & np.isnan(pairs.p),
        "would differ significantly, but {} missing continuations could change it": claim.unsettled,
    }
    for why, chosen in undecided.items():
        if count := int(chosen.sum()):
            at = int(np.flatnonzero(chosen)[0])
            first = [agents[pairs.first[at]], agents[pairs.second[at]]]
            more = f" (and {count - 1:,} other pairs)" if count > 1 else ""
            why = why.format(f"{pairs.missing[at]:,}")
            warnings.append(write_sentence(list_names(first), f"{more} {why}: undecided."))
    return tuple(warnings)


def _describe_subject(study: Study) -> list[Sentence]:
    """Say what was left out, what is special about the scenarios, and what agents state."""
    subset, reading = study.subject.subset, study.gathered.reading
    sentences = [write_sentence(text) for text in (reading.questions if reading else ())]
    people, judgements, reasons = study.gathered.excluded
    if people:
        who, what = pluralise(people, "person", "people"), pluralise(judgements, "judgement")
        text = f"Excluded by a study lead: {what} by {who} ({'; '.join(reasons)})."
        sentences.append(write_sentence(text))
    if subset is not None:
        counts = f"{subset.scenarios} of its {subset.suite_scenarios} scenarios"
        n_joined = len(subset.joined)
        joined = f", {n_joined} of them as they belong to another" if n_joined else ""
        text = f"This is about a part of {subset.suite}, {subset.filter}: {counts}{joined}."
        sentences.append(write_sentence(text))
    sentences += [write_sentence(f"{note[:1].upper()}{note[1:]}.") for note in study.subject.notes]
    stated = study.agent_rows[["agent", "notes"]].drop_duplicates()
    return sentences + [
        write_sentence(name(str(agent)), f": {note}.")
        for agent, note in stated.itertuples(index=False)
        if note
    ]


def _describe_names(study: Study) -> list[Sentence]:
    """Name what differs only in how it is written, and agents of the scores that are not judged."""
    outcomes, gathered = study.outcomes, study.gathered
    named = {
        "Agents": outcomes.agents,
        "Scenarios": outcomes.scenarios,
        "Categories": outcomes.categories,
        "Scores": tuple(map(str, gathered.scores["metric"])),
    }
    sentences = []
    for noun, names in named.items():
        pairs = gathered.spellings.find_pairs(names)
        if not pairs:
            continue
        first, second, others = pairs[0]
        more = f" (and {pluralise(len(pairs) - 1, 'other name')})" if pairs[1:] else ""
        more = f" (and {pluralise(others, 'other spelling')})" if others else more
        both = list_names([first, second])
        text = f"{more} differ only in how they are written"
        if study.subject.hash is None and noun != "Scores":
            text += f"; add {suggest_flags(first, second)}"
        sentences.append(write_sentence(f"{noun} ", both, f"{text}."))
    if gathered.unmatched:
        unused = study.scores["agent"].isin(gathered.unmatched).sum()
        text = f"{pluralise(int(unused), 'row')} of the scores not used: no ratings of "
        sentences.append(write_sentence(text, list_names(gathered.unmatched), "."))
    return sentences


def _describe_missing(study: Study) -> list[Sentence]:
    """Say which planned continuations are missing, of the agents that lack most at first."""
    outcomes, missing = study.outcomes, study.missing
    lacked = missing.sum(axis=1)
    agents = [int(a) for a in np.argsort(-lacked, kind="stable") if lacked[a]]
    sentences = []
    if absent := study.gathered.absent:
        sentences.append(write_sentence("No continuation exists of ", list_names(absent), "."))
    made = outcomes.continuations
    if not agents:
        return sentences
    parts: list[str | Part] = ["Planned continuations are missing: "]
    for agent in agents[:MAX_NAMES]:
        planned = int(lacked[agent] + (made.agent == agent).sum())
        whole = int(((missing[agent] > 0) & ~outcomes.continued[agent]).sum())
        text = f" {lacked[agent]:,} of {planned:,}"
        text += f" ({pluralise(whole, 'whole scenario')})" if whole else ""
        parts += [", " if agent != agents[0] else "", name(outcomes.agents[agent]), text]
    if len(agents) > MAX_NAMES:
        parts.append(f", and of {pluralise(len(agents) - MAX_NAMES, 'other agent')}")
    parts.append(".")
    if study.gathered.missing is None and not study.options.planned:
        parts.append(_ask_about_plan(outcomes, agents))
    return [write_sentence(*parts), *sentences]


def _ask_about_plan(outcomes: Outcomes, lacking: Sequence[int]) -> str:
    """Ask how many continuations were planned, if agents of a table that lack some have too few.

    The most that an agent has in a scenario is taken as its plan. For an agent that lacks some in
    every scenario, that is too small.
    """
    made = outcomes.continuations
    most = made.tally(made.agent >= 0, outcomes.value.shape).max(axis=1)
    fewest, planned = min(int(most[agent]) for agent in lacking), "N"
    text = " Planned are as many as an agent has in one scenario at most"
    if fewest < most.max():
        text, planned = f"{text}, here {fewest:,}, but {most.max():,} of another", f"{most.max()}"
    return f"{text}; if more were planned, state --planned {planned}."


def explain_place(study: Study, agent: int) -> str:
    """Return why an agent is not among the ranked ones; "" if it is, or is a baseline."""
    claim = study.claim
    if agent in claim.lacking:
        wanted = int(np.isfinite(study.outcomes.value).any(axis=0).sum())
        return f"{claim.lacking[agent]} of {wanted} scenarios missing"
    if agent in claim.incomparable:
        return {
            "scenarios": "judged in no scenario of another agent",
            "clips": f"fewer than {MIN_CLIPS} clips judged",
        }.get(claim.incomparable[agent], "cannot be distinguished from its annotators")
    return "" if np.isfinite(study.rates.rate[agent]) else "nothing judged"
