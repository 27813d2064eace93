"""No name can be shown as another, fill a page or break a line."""

import pytest

from sts.errors import ArgumentError
from sts.names import LIMIT, clean_name, printable, shown

TURNED = "evil\N{RIGHT-TO-LEFT OVERRIDE}tnega"


@pytest.mark.parametrize("name", ["a", "módulo:Agent", "松尾", "x" * LIMIT, "two words", "=1+1"])
def test_a_printable_name_stays_as_it_is(name: str) -> None:
    assert clean_name(f" {name}\t") == name


def test_two_spellings_of_one_letter_are_one_name() -> None:
    assert clean_name("e\N{COMBINING ACUTE ACCENT}") == clean_name(
        "\N{LATIN SMALL LETTER E WITH ACUTE}"
    )


@pytest.mark.parametrize(
    "name",
    [
        "",
        "  ",
        "x" * (LIMIT + 1),
        "x" * 5000,
        TURNED,
        "\N{LEFT-TO-RIGHT ISOLATE}a",
        "a\N{ZERO WIDTH SPACE}b",
        "a\nb",
        "a\0b",
        "\ud800",
    ],
)
def test_a_name_that_cannot_be_shown_is_refused_in_one_short_line(name: str) -> None:
    with pytest.raises(ArgumentError, match="expected a name of 1 to 200 printable") as error:
        clean_name(name)
    line = str(error.value)
    assert line.isprintable() and len(line) < 200


def test_what_an_error_shows_turns_nothing_and_is_short() -> None:
    assert shown(TURNED) == r"'evil\u202etnega'"
    assert shown("x" * 5000) == repr("x" * 60 + "...")


def test_a_text_is_shown_without_what_does_not_print() -> None:
    assert printable(f"{TURNED}\n") == "evil tnega"
