"""Who can be best, in words: twenty shapes of result, and what must hold in all of them."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts_analysis.report.best import best
from sts_analysis.report.words import listed


def pairs(text: str) -> set[tuple[str, str]]:
    """Pairs (better, worse) out of words such as "ab ac"."""
    return {(word[0], word[1]) for word in text.split()}


SHAPES = {
    ("ab", ""): "a and b cannot be told apart: either can be best.",
    ("ab", "ab"): "a is best, above b.",
    ("abc", ""): "No two agents can be told apart: a, b and c can each be best.",
    ("abc", "ab ac bc"): "a is best, above all 2 others: b and c. All 3 pairs are told apart.",
    ("abc", "ab ac"): "a is best, above all 2 others: b and c. 2 of 3 pairs are told apart.",
    ("abc", "ac"): "Best is one of a and b. a is above c. 1 of 3 pairs is told apart.",
    ("abc", "bc"): "Best is one of a and b. b is above c. 1 of 3 pairs is told apart.",
    ("abc", "ab"): "Best is one of a and c. a is above b. 1 of 3 pairs is told apart.",
    ("abc", "ac bc"): "Best is one of a and b. Both are above c. 2 of 3 pairs are told apart.",
    ("abc", "ab bc"): "a is best, above b; c is below b. 2 of 3 pairs are told apart.",
    ("abcd", "ab ac ad"): "a is best, above all 3 others: b, c and d. 3 of 6 pairs are told apart.",
    ("abcd", "ac ad bc bd"): "Best is one of a and b. Both are above c and d. "
    "4 of 6 pairs are told apart.",
    ("abcd", "ad"): "Best is one of a, b and c. a is above d. 1 of 6 pairs is told apart.",
    ("abcd", "ad bd cd"): "Best is one of a, b and c. All 3 are above d. "
    "3 of 6 pairs are told apart.",
    ("abcd", "ad bd ac"): "Best is one of a and b. Both are above d; a is above c. "
    "3 of 6 pairs are told apart.",
    ("abcd", "ac bd"): "Best is one of a and b. a is above c; b is above d. "
    "2 of 6 pairs are told apart.",
    ("abcd", "ab ac cd"): "a is best, above b and c; d is below one of these. "
    "3 of 6 pairs are told apart.",
    ("abcd", "ac cd"): "Best is one of a and b. "
    "The 2 are each below at least one of them. 2 of 6 pairs are told apart.",
    ("abcdef", "ad bd cd ae bf af"): "Best is one of a, b and c. All 3 are above d; "
    "a is above e; a and b are above f. 6 of 15 pairs are told apart.",
    ("abcdef", "ad be cf"): "Best is one of a, b and c. "
    "The 3 are each below at least one of them. 3 of 15 pairs are told apart.",
    ("abcdef", "af bf cf df ef"): "Best is one of a, b, c, d and e. All 5 are above f. "
    "5 of 15 pairs are told apart.",
    ("abcdefg", "ag"): "Best is one of a, b, c, d and 2 others. a is above g. "
    "1 of 21 pairs is told apart.",
}


@pytest.mark.parametrize(("shape", "words"), SHAPES.items(), ids=" ".join)
def test_a_shape_of_result_has_its_words(shape: tuple[str, str], words: str) -> None:
    assert best(list(shape[0]), pairs(shape[1])) == words


@given(st.data())
def test_each_statement_of_who_can_be_best_holds(
    data: st.DataObject,
) -> None:
    names = list("abcdef"[: data.draw(st.integers(2, 6))])
    order = data.draw(st.permutations(names))
    every = [(a, b) for a, b in itertools.combinations(order, 2)]
    above = {pair for pair in every if data.draw(st.booleans())}
    said = best(names, above)
    first = [name for name in names if not any(worse == name for _, worse in above)]
    if not above:
        assert "told apart" in said and listed(names) in said
    elif len(first) == 1:
        assert said.startswith(f"{first[0]} is best, above ")
    else:
        assert said.startswith(f"Best is one of {listed(first)}. ")
        for part in said.split(". ")[1].rstrip(".").split("; "):
            who, _, whom = part.partition(" above ")
            if whom:
                own = first if who.split()[0] in ("Both", "All") else _names(who)
                assert {(a, b) for a in own for b in _names(whom)} <= above


def _names(words: str) -> list[str]:
    return [word for word in words.replace(",", "").split() if word in set("abcdef")]
