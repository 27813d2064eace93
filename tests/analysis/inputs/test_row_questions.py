"""Rows that may be no observation of their own are refused, or asked about with an option."""

from typing import Any

import pandas as pd
import pytest

import sts
from sts.errors import DamagedData
from sts_analysis.inputs.gather import gather_table
from sts_analysis.inputs.mapping import make_mapping

CELLS = pd.DataFrame(
    [(a, s, k) for a in ("x", "y") for s in ("s", "t", "u") for k in range(4)],
    columns=["agent", "scenario", "k"],
).assign(verdict=[1, 0, 0, 1] * 6)
PLAIN = CELLS.drop(columns="k")


def ask(frame: pd.DataFrame, **options: Any) -> tuple[str, ...]:
    reading = gather_table(frame, make_mapping(**options)).reading
    assert reading is not None
    return reading.questions


def test_rows_equal_in_every_column_are_refused() -> None:
    frame = PLAIN.assign(id=range(24))
    twice = pd.concat([frame, frame[4:6]])
    expected = (
        r"table, row 25: equal in every column to row 5, as 2 rows repeat another; remove "
        r"repeated rows, or state keep_equal_rows"
    )
    with pytest.raises(DamagedData, match=expected):
        sts.load_ratings(twice)
    assert len(sts.load_ratings(twice, keep_equal_rows=True)) == 26
    assert len(sts.load_ratings(frame)) == 24


def test_equal_rows_are_attempts_if_no_column_could_distinguish_them() -> None:
    assert len(sts.load_ratings(PLAIN)) == 24
    assert len(sts.load_ratings(PLAIN.assign(study="pilot", category="c"))) == 24


@pytest.mark.parametrize("name", ["Rater", "by"])
def test_column_that_looks_like_an_annotator_is_asked_about(name: str) -> None:
    frame = CELLS.assign(k="person " + CELLS["k"].astype(str)).rename(columns={"k": name})
    (question,) = ask(frame)
    assert f"does it name annotators (columns={{'annotator': '{name}'}}" in question
    assert question.endswith(f"If neither, state unused='{name}'.")
    assert ask(frame, unused=name) == ()
    flags = ask(frame, of_command=True)[0]
    assert f"--column annotator={name}" in flags and f"--unused {name}" in flags
    report = sts.build_report(frame)
    assert question in "".join(part.text for w in report.conclusion.warnings for part in w)


def test_measurement_and_description_are_not_asked_about() -> None:
    frame = CELLS.assign(
        k=[0.1 * n for n in range(24)], scenario_name=CELLS["scenario"].str.upper(), note=""
    )
    assert ask(frame.rename(columns={"k": "lead_time"})) == ()


def test_identifier_that_repeats_is_asked_about() -> None:
    frame = PLAIN.assign(episode_id=[n // 2 for n in range(24)])
    (question,) = ask(frame)
    assert "'episode_id' has 12 values in 24 rows: are rows of one value copies, or" in question
    assert ask(PLAIN.assign(episode_id=range(24))) == ()
    people = frame.assign(annotator=["ann", "ben"] * 12, continuation=frame["episode_id"])
    assert ask(people) == ()


@pytest.mark.parametrize(
    ("name", "word"), [("Status", "Rejected"), ("kind of row", "Preview"), ("Finished", False)]
)
def test_column_that_looks_like_a_status_is_asked_about(name: str, word: Any) -> None:
    frame = PLAIN.assign(**{name: ["Approved"] * 23 + [word]})
    (question,) = ask(frame)
    shown = {False: "0"}.get(word, word)
    assert f"leave_out='{name}={shown}'" in question
    assert len(sts.load_ratings(frame, leave_out=f"{name}={shown}")) == 23


@pytest.mark.parametrize("column", ["media", "video file"])
def test_video_of_two_agents_is_reported(column: str) -> None:
    address = "https://example.org/"
    names = [f"{address}{n}.mp4" for n in range(24)]
    assert ask(PLAIN.assign(**{column: names})) == ()
    gap: list[Any] = [*names[:23], None]
    assert ask(PLAIN.assign(**{column: gap})) == ()
    (question,) = ask(PLAIN.assign(**{column: [*names[:23], names[0]]}))[:1]
    assert f"'{address}0.mp4' for several agents, x, y" in question
