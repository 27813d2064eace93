"""Error messages and the names in them: nothing shown turns, fills or breaks a line."""

import pickle

import pytest

from sts.errors import ArgumentError, ReplayMismatch, StsError, TamperedSuite, UnknownName
from sts.names import MAX_NAME_CHARS, clean_name, quote, replace_unprintable

ERRORS = [
    ReplayMismatch("step 3: elsewhere", step=3),
    UnknownName("agent", "x", ["b", "a"]),
    TamperedSuite("edited"),
    StsError("failed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_error_survives_pickling(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_unknown_name_error_counts_names_it_does_not_list():
    names = [f"n{i}" for i in range(9)]
    found = str(UnknownName("thing", "x", names, most=2))
    assert found == "unknown thing 'x'; known: n0, n1 and 7 more"
    assert "more" not in str(UnknownName("thing", "x", names, most=9))


TURNED = "evil\N{RIGHT-TO-LEFT OVERRIDE}tnega"


@pytest.mark.parametrize(
    "name", ["a", "módulo:Agent", "松尾", "x" * MAX_NAME_CHARS, "two words", "=1+1"]
)
def test_printable_name_is_kept_and_normalised(name):
    assert clean_name(f" {name}\t") == name
    assert clean_name(f"{name[1:]}e\N{COMBINING ACUTE ACCENT}") == f"{name[1:]}é"


@pytest.mark.parametrize(
    "name",
    [
        *("", "  ", "x" * (MAX_NAME_CHARS + 1), "x" * 5000, "a\nb", "a\0b", "\ud800"),
        *(TURNED, "\N{LEFT-TO-RIGHT ISOLATE}a", "a\N{ZERO WIDTH SPACE}b"),
    ],
)
def test_unprintable_or_long_name_is_rejected(name):
    with pytest.raises(ArgumentError, match="expected a name of 1 to 200 printable") as error:
        clean_name(name)
    line = str(error.value)
    assert line.isprintable() and len(line) < 200


def test_names_in_errors_are_escaped_and_short():
    assert quote(TURNED) == r"'evil\u202etnega'"
    assert quote("x" * 5000) == repr("x" * 60 + "...")
    assert replace_unprintable(f"{TURNED}\n") == "evil tnega"
