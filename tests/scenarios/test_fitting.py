"""What a text says is held against what its scenario asks for."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Scenario
from sts_scenarios import categories, mining
from sts_scenarios.category import Category, Word
from sts_scenarios.fitting import fault, text_fault
from sts_scenarios.freezing import category_faults
from tests.examples import on_test_side, recorded

RULES = categories.installed(["lambda-star"])


@functools.cache
def mined() -> tuple[Scenario, ...]:
    recordings = on_test_side(
        recorded(count=30, team=2, steps=50, height=8, width=9, seed=5)
        + recorded(count=40, team=3, steps=50, height=8, width=9, seed=6)
    )
    return tuple(mining.mine(recordings, [*RULES.values()], per_category=8, seed=0).scenarios)


ANY = st.deferred(lambda: st.sampled_from(mined()))


def saying(scenario: Scenario, text: str, **parameters: Any) -> Scenario:
    instruction = dataclasses.replace(scenario.instruction, text=text)
    return dataclasses.replace(
        scenario, instruction=instruction, parameters=scenario.parameters | parameters
    )


def one_of(category: str, **parameters: Any) -> Scenario:
    found = next(s for s in mined() if s.category == category)
    return saying(found, "", **parameters)


def others(rule: Category) -> list[Category]:
    return [one for one in RULES.values() if one is not rule]


def found(scenario: Scenario, text: str) -> str | None:
    rule = RULES[scenario.category]
    return text_fault(saying(scenario, text), rule, others(rule))


WAYS = ("up-left", "up", "up-right", "left", "right", "down-left", "down", "down-right")
NUMBERS = {2: "two", 3: "three", 4: "four"}


def walking(scenario: Scenario) -> dict[str, Word]:
    """Return the direction and the number of cells that a walk is to have."""
    way, cells = scenario.parameters["direction"], scenario.parameters["cells"]
    told = f"diagonally {way}" if "-" in way else way
    also = [word for n, name in NUMBERS.items() if n != cells for word in (name, str(n))]
    return {
        "direction": Word(told, tuple(one for one in WAYS if one != way), (way,)),
        "cells": Word(NUMBERS[cells], tuple(also), (str(cells),)),
    }


WALK = dataclasses.replace(
    RULES["shadow-evil"],
    name="walk",
    wordings=("Walk {cells} cells {direction}.", "Head {direction} for {cells} cells."),
    words=walking,
)
"""A category with two words, of which one holds others."""


def walked(text: str, direction: str, cells: int, rule: Category = WALK) -> str | None:
    """Return what is wrong with a text that is to ask for a walk."""
    scenario = saying(mined()[0], text, direction=direction, cells=cells)
    return text_fault(scenario, rule, [*RULES.values()])


def test_every_wording_of_every_packaged_scenario_fits() -> None:
    assert {s.category for s in mined()} == {*RULES}
    for s in mined():
        rule = RULES[s.category]
        assert fault(s, RULES) is None
        own = {field: word.text for field, word in (rule.words(s) if rule.words else {}).items()}
        for wording in rule.wordings:
            assert found(s, wording.format(**own)) is None


@pytest.mark.parametrize("label", ["core@2", "babyai@2"])
def test_packaged_suites_say_what_they_ask_for(label: str, tmp_path: Any) -> None:
    assert category_faults(store.load(Workspace.open(tmp_path), label).scenarios) == []


@pytest.mark.parametrize("domain", ["lambda-star", "overcooked", "babyai"])
def test_whatever_fills_a_packaged_wording_is_told_as_a_word_or_checked_by_its_category(
    domain: str,
) -> None:
    for rule in categories.of(domain):
        filled = any("{" in one for one in rule.wordings)
        assert (rule.words is not None) == (filled and rule.wordings != ("{mission}",))


@given(ANY, ANY, st.data())
def test_the_text_of_another_scenario_contradicts_unless_it_asks_for_the_same(
    one: Scenario, other: Scenario, data: st.DataObject
) -> None:
    text = other.instruction.text
    if one.category != other.category:
        assert found(one, text) == f"its text is an instruction template of {other.category}"
    elif text != one.instruction.text:
        words = RULES[one.category].words
        same = words is None or {f: w.text for f, w in words(one).items()} == {
            f: w.text for f, w in words(other).items()
        }
        assert (found(one, text) is None) == same


OF_ANOTHER = "its text is an instruction template of evil-from-good"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Walk three cells left.", None),
        ("Please go LEFT, by three cells!", None),
        ("Three steps to the left, please: 3 cells.", None),
        ("Walk three cells right.", "its text does not contain 'left'"),
        ("Walk 4 cells left.", "its text does not contain 'three'"),
        (
            "Walk three cells left, then up.",
            "its text contains 'up' instead of 'left'",
        ),
        (
            "Walk three cells left, not four.",
            "its text contains 'four' instead of 'three'",
        ),
        ("Walk three cells up-left.", "its text does not contain 'left'"),
        ("Go on.", "its text does not contain 'left'"),
        ("seen from good's cell which way is evil? answer, with a direction", OF_ANOTHER),
        (
            "Shadow Evil: be on it or next to it for 7 steps in a row.",
            "its text is an instruction template of sh",
        ),
    ],
)
def test_a_text_of_ones_own_says_every_word_and_no_other(text: str, told: str | None) -> None:
    said = walked(text, "left", 3)
    assert said is None if told is None else (said or "").startswith(told)


def test_a_diagonal_is_not_the_two_ways_in_it() -> None:
    def said(text: str) -> str | None:
        return walked(text, "up-left", 2)

    assert said("Two cells up-left.") is None
    assert said("Two cells diagonally up-left.") is None
    assert "'diagonally up-left'" in (said("Two cells up and left.") or "")
    assert "contains 'up'" in (said("Two cells up-left, and then up.") or "")


def test_a_team_mate_is_named_where_there_are_several(tmp_path: Path) -> None:
    pair = one_of("catch-mate")
    assert pair.recording.participants == 2
    assert found(pair, "Stand where the other is.") is None
    assert "does not contain 'your team-mate'" in (found(pair, "Stand there.") or "")
    packaged = store.load(Workspace.open(tmp_path), "core@2").scenarios
    three = next(
        s for s in packaged if s.category == "follow-mate" and s.recording.participants == 3
    )
    words = RULES["follow-mate"].words
    assert words is not None
    mate = words(three)["mate"]
    assert len(mate.others) == 1
    steps = three.parameters["steps"]
    assert found(three, f"For {steps} steps go with {mate.text}, closely.") is None
    other = found(three, f"For {steps} steps go with {mate.others[0]}.") or ""
    assert f"'{mate.text.casefold()}'" in other.casefold()


def test_a_category_that_tells_no_words_is_held_to_those_of_others_alone() -> None:
    wordless = dataclasses.replace(WALK, words=None)
    for text, told in (
        ("Walk four cells right.", None),
        ("Off you go.", None),
        ("Say in which direction Evil lies from Good.", OF_ANOTHER),
    ):
        assert walked(text, "left", 3, wordless) == told
