"""Agents found by the names that reports print, and by those that a run takes."""

import pytest

from sts.continuations.versions import find_shown_name
from sts.errors import ArgumentError, UnknownName

TWO = {
    "gru#2c0a70de": ("gru", "2c0a70de11111111"),
    "gru#2d0a70de": ("gru", "2d0a70de22222222@7"),
    "random": ("random", "3333333333333333"),
}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("gru#2c0a70de", "gru#2c0a70de"),
        ("gru#2c", "gru#2c0a70de"),
        ("gru#2d0a70de22222222@7", "gru#2d0a70de"),
        ("random#3333", "random"),
        ("random", "random"),
    ],
)
def test_version_is_found_by_the_first_digits_of_its_fingerprint(name, expected):
    assert find_shown_name(name, TWO) == expected


@pytest.mark.parametrize("name", ["gru", "gru#2"])
def test_name_of_several_versions_lists_them(name):
    message = f"agent {name} has 2 versions: gru#2c0a70de, gru#2d0a70de; name one"
    with pytest.raises(ArgumentError, match=message):
        find_shown_name(name, TWO)


@pytest.mark.parametrize("name", ["gru#9", "lstm"])
def test_name_without_a_version_is_unknown(name):
    with pytest.raises(UnknownName, match="known: gru#2c0a70de, gru#2d0a70de, random"):
        find_shown_name(name, TWO)
