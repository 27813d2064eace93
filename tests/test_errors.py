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
