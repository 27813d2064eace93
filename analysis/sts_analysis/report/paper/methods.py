"""The methods paragraph of a paper, made from a template, and the works that it cites."""

import re

from sts_analysis.report.core import Report
from sts_analysis.report.paper import latex
from sts_analysis.report.paper.references import WORKS
from sts_analysis.report.text import pluralise

_CITED = re.compile(r" ?\[([a-z0-9, ]+)\]")
_SOURCES = {
    "human": "judged by {annotators} in {judgements}",
    "automatic": "labelled by a rule; no person judged",
    "model": "labelled by a model; no person judged",
}


def write_paragraph(report: Report) -> str:
    """Write the paragraph; citations stand in brackets as keys of `references.WORKS`."""
    conclusion = report.conclusion
    people = (
        pluralise(len(conclusion.annotators), "annotator") if conclusion.annotators else "people"
    )
    judged = _SOURCES[conclusion.source].format(
        annotators=people, judgements=pluralise(conclusion.judgements, "verdict")
    )
    units = (
        f"{conclusion.units:,} independent units (connected components of scenarios that share a "
        "trajectory, a generated world, a pair or a dialogue)"
        if conclusion.units_known
        else f"{conclusion.units:,} scenarios, taken as independent"
    )
    sentences = [
        f"We evaluated {pluralise(conclusion.n_agents, 'agent')} on "
        f"{pluralise(conclusion.n_scenarios, 'scenario')} of {conclusion.suite} with the "
        "Standardised Test Suite [abramson2022].",
        f"{conclusion.judged_clips:,} of {conclusion.planned_clips:,} clips were {judged}.",
        "The pass rate is the mean verdict, with success counting 1 and each scenario weighing the "
        "same"
        + (
            ", adjusted for the annotators who judged by a logistic model in which leniency and "
            "favours are random [breslow1993]."
            if len(conclusion.annotators) > 1
            else "."
        ),
        f"Standard errors are cluster-robust over {units} [liang1986, bell2002], with "
        "Satterthwaite's degrees of freedom [pustejovsky2018].",
        "Intervals of rates are Wilson's with the effective number of trials [wilson1927].",
    ]
    if conclusion.pairs:
        sentences.append(
            "Agents were compared on the scenarios that they share; p values of all "
            f"{conclusion.pairs:,} pairs are adjusted by Holm's method [holm1979], and rank sets "
            "follow from them [mogstad2024]."
        )
    if conclusion.other_annotators:
        sentences.append(
            f"{conclusion.pairs_for_others:,} of the {conclusion.significant_pairs:,} significant "
            "differences hold for other annotators too, whose variance the same model gives."
        )
    if conclusion.closed:
        sentences.append(
            f"The study was closed early ({conclusion.closed}); a pair then differs significantly "
            f"below an adjusted p of {conclusion.p_bar:.2g}, or less if it has less information "
            "than others."
        )
    elif conclusion.state == "interim":
        sentences.append("The study is not complete, and these results are interim.")
    version = report.provenance.versions.get("sts", "")
    sentences.append(f"Numbers were computed by sts {version}.")
    return " ".join(sentences)


def list_cited(report: Report) -> list[str]:
    """Return the keys of the works that the paragraph cites, in alphabetical order."""
    found = _CITED.findall(write_paragraph(report))
    return sorted({key for keys in found for key in keys.split(", ")})


def format_plain(report: Report) -> str:
    """Return the paragraph as text, with the list of works."""

    def cite(match: re.Match[str]) -> str:
        return f" ({'; '.join(WORKS[key].short for key in match[1].split(', '))})"

    text = _CITED.sub(cite, write_paragraph(report))
    works = [f"- {WORKS[key].format_plain()}" for key in list_cited(report)]
    return "\n".join([text, "", "References", "", *works]) + "\n"


def format_latex(report: Report) -> str:
    """Return the paragraph as LaTeX, which cites from `references.bib`."""
    pieces = _CITED.split(write_paragraph(report))  # text, keys, text, keys, ...
    text = "".join(
        rf"~\cite{{{piece.replace(' ', '')}}}" if place % 2 else latex.escape(piece)
        for place, piece in enumerate(pieces)
    )
    return f"{latex.UNICODE}\n{text}\n" if latex.needs_unicode(text) else f"{text}\n"
