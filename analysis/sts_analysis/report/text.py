"""Sentences of typed parts, and numbers as they stand in a sentence.

A section's result holds parts, not markup, so that the page, the terminal, JSON and LaTeX show the
same sentence.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec
from markupsafe import Markup, escape

NONE = "–"
MAX_NAMES = 5
_WORDS = "no one two three four five six seven eight nine ten".split()


class Part(msgspec.Struct, frozen=True):
    """A part of a sentence.

    Attributes:
      text: as it is shown.
      kind: what it is: text, the name of an agent, a person or a category, or a figure.
    """

    text: str
    kind: Literal["text", "name", "figure"] = "text"


Sentence = tuple[Part, ...]
"""Parts in their order; spaces are in the parts of text."""


def name(text: str) -> Part:
    """Return the part of a sentence that is a name."""
    return Part(text, "name")


def write_sentence(*parts: str | Part | Iterable[Part]) -> Sentence:
    """Join texts and parts to a sentence."""
    joined: list[Part] = []
    for part in parts:
        if isinstance(part, str):
            joined.append(Part(part))
        elif isinstance(part, Part):
            joined.append(part)
        else:
            joined += part
    return tuple(joined)


def explain_labels(source: str) -> str:
    """Say how rates use the labels of a program, "automatic" or "model"."""
    whose = "a rule’s" if source == "automatic" else "a model’s"
    return (
        f"Where people have not judged, rates use {whose} labels, corrected by where both judged "
        "(prediction-powered)."
    )


def list_names(names: Sequence[str], *, most: int = MAX_NAMES) -> Sentence:
    """Join names as in "a, b and c"; of more than `most`, the first and the number of others."""
    shown = [name(one) for one in (names if len(names) <= most else names[: most - 1])]
    ends = list(shown[-1:]) if len(names) <= most else [Part(f"{len(names) - most + 1} others")]
    rest = shown[:-1] if len(names) <= most else shown
    parts: list[Part] = []
    for index, part in enumerate(rest):
        parts += [part] if index == 0 else [Part(", "), part]
    return tuple([*parts, Part(" and "), *ends] if parts else ends)


def to_plain(sentence: Sentence) -> str:
    """Return a sentence as plain text."""
    return "".join(part.text for part in sentence)


def to_html(sentence: Sentence) -> Markup:
    """Return a sentence as HTML, in which names and figures are bold."""
    return Markup("").join(
        escape(part.text) if part.kind == "text" else Markup("<b>{}</b>").format(part.text)
        for part in sentence
    )


def count_words(number: int) -> str:
    """Write a number, up to ten in words."""
    return _WORDS[number] if 0 <= number < len(_WORDS) else f"{number:,}"


def pluralise(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: "1 agent", "2 agents"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def percent(share: float | None) -> str:
    """Write a share as a whole percentage; what is near 0 or 1 is not shown as 0% or 100%."""
    if share is None:
        return NONE
    whole = round(100 * share)
    if whole == 0 and share > 1e-9:
        return "<1%"
    if whole == 100 and share < 1 - 1e-9:
        return ">99%"
    return f"{whole}%"


def percent_range(interval: Sequence[float] | None) -> str:
    """Write an interval of a share, as in "34–41%"."""
    if interval is None:
        return NONE
    return f"{100 * interval[0]:.0f}–{100 * interval[1]:.0f}%"


def points(difference: float | None) -> str:
    """Write a difference of shares in whole points with a sign."""
    if difference is None:
        return NONE
    whole = round(100 * difference)
    return f"{whole:+d}".replace("-", "\N{MINUS SIGN}") if whole else "0"


def point_range(interval: Sequence[float] | None) -> str:
    """Write an interval of a difference, as in "−8 to +10"."""
    return NONE if interval is None else f"{points(interval[0])} to {points(interval[1])}"


def p_value(p: float | None) -> str:
    """Write a p value to three digits."""
    if p is None:
        return NONE
    return "<.001" if p < 0.001 else f"{p:.3f}".lstrip("0") if p < 1 else "1.000"


def decimal(number: float | None, digits: int = 2) -> str:
    """Write a number with a true minus sign."""
    return NONE if number is None else f"{number:.{digits}f}".replace("-", "\N{MINUS SIGN}")


def decimal_range(interval: Sequence[float] | None) -> str:
    """Write an interval of a number, as in "0.31 to 0.58"."""
    return NONE if interval is None else f"{decimal(interval[0])} to {decimal(interval[1])}"


def write_point(rounds: float | None) -> str:
    """Write how many rounds had been judged at a look, such as "¼ round"; a dash for None."""
    if rounds is None:
        return NONE
    if rounds < 1:
        return f"{_QUARTERS[rounds]} round"
    return pluralise(round(rounds), "round")


_QUARTERS = {0.25: "¼", 0.5: "½", 0.75: "¾"}
