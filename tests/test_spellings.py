"""Names that differ only in how they are written, and what a user says about them."""

import pytest

from sts.errors import ArgumentError
from sts.spellings import find_spellings, fold_name, is_rounded, make_spellings


@pytest.mark.parametrize(
    "first, second",
    [
        ("Ann", "ann"),
        ("Ann", " ann "),
        ("Ann B", "Ann  B"),
        ("\uff21nn", "Ann"),
        ("Mu\u0308ller", "m\u00fcller"),
        ("stra\u00dfe", "STRASSE"),
        ("007", "7.0"),
        ("s01", "s1"),
    ],
)
def test_names_are_near_equal_when_only_their_writing_differs(first, second):
    assert fold_name(first) == fold_name(second)


@pytest.mark.parametrize(
    "first, second",
    [("1.01", "1.1"), ("lr-0.01", "lr-0.1"), ("a00b1c", "a0b01c"), ("v2", "v20"), ("Ann", "Anna")],
)
def test_names_that_mean_different_things_are_not_near_equal(first, second):
    assert fold_name(first) != fold_name(second)


def test_groups_of_spellings_hold_every_spelling_once():
    assert find_spellings(["b", "Ann", "ann", "ann", "ANN"]) == [("ANN", "Ann", "ann")]


def test_pair_is_open_until_every_spelling_is_distinct():
    names = ["Ann", "ann", "ANN"]
    assert make_spellings().find_pairs(names) == [("ANN", "Ann", 1)]
    assert make_spellings(distinct="Ann|ANN").find_pairs(names) == [("ANN", "ann", 1)]
    assert not make_spellings(distinct="Ann|ann|ANN").find_pairs(names)
    three = ["Ann|ann", "ann|ANN", "ANN|Ann"]
    assert not make_spellings(distinct=three).find_pairs(names)


def test_spelling_stands_for_its_name_only_where_both_occur():
    spellings = make_spellings(["Ann=ann", "ANN=Ann"])
    assert spellings.resolve(["ann", "Ann", "ANN"]) == {"ann": "ANN", "Ann": "ANN"}
    assert spellings.resolve(["ann"]) == {}


def test_names_with_the_sign_itself_can_be_answered():
    assert make_spellings("Gru?a=1=gru?a=1").same == {"gru?a=1": "Gru?a=1"}
    assert [*make_spellings(distinct="a|b|A|b").distinct] == [frozenset({"a|b", "A|b"})]


@pytest.mark.parametrize("text", ["Ann", "Ann=Bob", "=ann", "Ann=Ann", ""])
def test_answer_without_two_spellings_is_rejected(text):
    with pytest.raises(ArgumentError, match="--same: expected two spellings of one name"):
        make_spellings(text)


def test_spelling_that_stands_for_itself_is_rejected():
    with pytest.raises(ArgumentError, match="stands for itself"):
        make_spellings(["Ann=ann", "ann=Ann"])


def test_ten_thousand_spellings_are_compared_in_linear_time(monkeypatch):
    folded: list[str] = []

    def fold(name: str) -> str:
        folded.append(name)
        return name.casefold()

    monkeypatch.setattr("sts.spellings.fold_name", fold)
    letters = "abcdefghijklmn"
    names = [
        "".join(c.upper() if i >> k & 1 else c for k, c in enumerate(letters)) for i in range(10**4)
    ]
    (pair,) = make_spellings().find_pairs(names)
    assert pair.others == 10**4 - 2 and len(folded) == 10**4


def test_rounded_identifiers_are_recognised_and_hashes_are_not():
    assert all(map(is_rounded, ["1.925e+18", "1E+16", "9007199254740992.0"]))
    assert not any(map(is_rounded, ["1925036343869802752", "7e12345", "12.0", "ann"]))
