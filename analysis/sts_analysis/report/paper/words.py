"""Words that captions, tables and the paragraph on methods share."""

from collections.abc import Iterable

from sts_analysis.report.schema import Report

LABELS = {
    "automatic": "All labels are automatic, by rule: no person has judged, and this is no STS "
    "result.",
    "model": "All labels are a model's: no person has judged, and this is no STS result.",
}


def thousands(number: int) -> str:
    """A count with commas: 1,600."""
    return f"{number:,}"


def span(numbers: Iterable[int]) -> str:
    """One count, or the least and the most: "1,600", "12 to 1,600"."""
    every = sorted(set(numbers))
    if len(every) == 1:
        return thousands(every[0])
    return f"{thousands(every[0])} to {thousands(every[-1])}"


def plural(number: int, noun: str) -> str:
    """A count of things: "1 scenario", "1,600 continuations", "3 categories"."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{thousands(number)} {noun if number == 1 else many}"


def sentences(*parts: str) -> str:
    """Sentences in one text; empty ones are left out."""
    return " ".join(filter(None, parts))


def labelled(report: Report) -> str:
    """Says that no person has judged, where none has; else ""."""
    return LABELS.get(report.labels_used, "")
