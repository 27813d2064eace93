"""Errors cross from worker processes as what they are."""

import pickle

import pytest

from sts.errors import ReplayMismatch, StsError, TamperedSuite, UnknownName

ERRORS = [
    ReplayMismatch("step 3: elsewhere", step=3),
    UnknownName("agent", "x", ["b", "a"]),
    TamperedSuite("edited"),
    StsError("failed"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_an_error_comes_out_of_another_process_as_it_went_in(error: StsError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_line_counts_the_names_that_it_does_not_list() -> None:
    names = [f"n{i}" for i in range(9)]
    assert str(UnknownName("thing", "x", names, most=2)) == (
        "unknown thing 'x'; known: n0, n1 and 7 more"
    )
    assert "more" not in str(UnknownName("thing", "x", names, most=9))
