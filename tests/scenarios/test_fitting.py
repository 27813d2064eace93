"""The text of a scenario is checked against its parameters and other categories' templates."""

import dataclasses
import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.types import Scenario
from sts_scenarios import categories
from sts_scenarios.category import Category, FieldValue
from sts_scenarios.freezing import find_category_faults
from sts_scenarios.validity import find_fault, find_text_fault
from tests.examples import on_test_side, recorded
from tests.mined import mine

RULES = categories.installed_categories(["lambda-star"])
OF_ANOTHER = "its text is an instruction template of evil-from-good"
WAYS = ("up-left", "up", "up-right", "left", "right", "down-left", "down", "down-right")
NUMBERS = {2: "two", 3: "three", 4: "four"}


@functools.cache
def mined() -> tuple[Scenario, ...]:
    recordings = on_test_side(
        recorded(count=30, team=2, steps=50, height=8, width=9, seed=5)
        + recorded(count=40, team=3, steps=50, height=8, width=9, seed=6)
    )
    return tuple(mine(recordings, [*RULES.values()], per_category=8, seed=0).scenarios)


ANY: st.SearchStrategy[Scenario] = st.deferred(lambda: st.sampled_from(mined()))


def replace_text(scenario: Scenario, text: str, **parameters: Any) -> Scenario:
    instruction = dataclasses.replace(scenario.instruction, text=text)
    given = scenario.parameters | parameters
    return dataclasses.replace(scenario, instruction=instruction, parameters=given)


def find_fault_of(scenario: Scenario, text: str) -> str | None:
    rule = RULES[scenario.category]
    others = [one for one in RULES.values() if one is not rule]
    return find_text_fault(replace_text(scenario, text), rule, others)


def words_of_walk(scenario: Scenario) -> dict[str, FieldValue]:
    """Return the direction and the number of cells of a walk, with the words that contradict it."""
    way, cells = scenario.parameters["direction"], scenario.parameters["cells"]
    told = f"diagonally {way}" if "-" in way else way
    also = [word for n, name in NUMBERS.items() if n != cells for word in (name, str(n))]
    return {
        "direction": FieldValue(told, tuple(one for one in WAYS if one != way), (way,)),
        "cells": FieldValue(NUMBERS[cells], tuple(also), (str(cells),)),
    }


WALK = dataclasses.replace(
    RULES["shadow-evil"],
    name="walk",
    templates=("Walk {cells} cells {direction}.", "Head {direction} for {cells} cells."),
    template_fields=words_of_walk,
)
"""A category with two words, some of which contain others."""
WORDLESS = dataclasses.replace(WALK, template_fields=None)


def test_every_wording_of_every_packaged_category_fits():
    assert {s.category for s in mined()} == {*RULES}
    for s in mined():
        rule = RULES[s.category]
        assert find_fault(s, RULES) is None
        own = {
            field: word.text
            for field, word in (rule.template_fields(s) if rule.template_fields else {}).items()
        }
        assert [find_fault_of(s, one.format(**own)) for one in rule.templates] == [None] * len(
            rule.templates
        )


@pytest.mark.parametrize("label", ["core@2", pytest.param("babyai@2", marks=pytest.mark.landing)])
def test_texts_of_a_packaged_suite_match_their_parameters(label, tmp_path):
    assert find_category_faults(store.load(Workspace.open(tmp_path), label).scenarios) == []


@pytest.mark.parametrize("domain", ["lambda-star", "overcooked", "babyai"])
def test_every_category_with_a_template_declares_its_words(domain):
    for rule in categories.load_categories(domain):
        filled = any("{" in one for one in rule.templates)
        assert (rule.template_fields is not None) == (filled and rule.templates != ("{mission}",))


@given(ANY, ANY)
def test_text_of_another_scenario_fits_only_when_it_asks_for_the_same(
    one: Scenario, other: Scenario
) -> None:
    text = other.instruction.text
    if one.category != other.category:
        expected = f"its text is an instruction template of {other.category}"
        assert find_fault_of(one, text) == expected
    elif text != one.instruction.text:
        template_fields = RULES[one.category].template_fields
        asked = [
            template_fields and {f: w.text for f, w in template_fields(s).items()}
            for s in (one, other)
        ]
        assert (find_fault_of(one, text) is None) == (asked[0] == asked[1])


@pytest.mark.parametrize(
    ("rule", "way", "text", "expected"),
    [
        (WALK, "left", "Walk three cells left.", None),
        (WALK, "left", "Please go LEFT, by three cells!", None),
        (WALK, "left", "Three steps to the left, please: 3 cells.", None),
        (WALK, "left", "Walk three cells right.", "its text does not contain 'left'"),
        (WALK, "left", "Walk 4 cells left.", "its text does not contain 'three'"),
        (
            WALK,
            "left",
            "Walk three cells left, then up.",
            "its text contains 'up' instead of 'left'",
        ),
        (
            WALK,
            "left",
            "Walk three cells left, not four.",
            "its text contains 'four' instead of 'three'",
        ),
        (WALK, "left", "Walk three cells up-left.", "its text does not contain 'left'"),
        (WALK, "left", "Go on.", "its text does not contain 'left'"),
        (
            WALK,
            "left",
            "seen from good's cell which way is evil? answer, with a direction",
            OF_ANOTHER,
        ),
        (
            *(WALK, "left", "Shadow Evil: be on it or next to it for 7 steps in a row."),
            "its text is an instruction template of shadow-evil",
        ),
        (WALK, "up-left", "Three cells up-left.", None),
        (WALK, "up-left", "Three cells diagonally up-left.", None),
        (
            WALK,
            "up-left",
            "Three cells up and left.",
            "its text does not contain 'diagonally up-left'",
        ),
        (
            *(WALK, "up-left", "Three cells up-left, and then up."),
            "its text contains 'up' instead of 'diagonally up-left'",
        ),
        (WORDLESS, "left", "Walk four cells right.", None),
        (WORDLESS, "left", "Off you go.", None),
        (WORDLESS, "left", "Say in which direction Evil lies from Good.", OF_ANOTHER),
    ],
)
def test_text_must_contain_each_word_and_none_that_contradicts(
    rule: Category, way: str, text: str, expected: str | None
) -> None:
    scenario = replace_text(mined()[0], text, direction=way, cells=3)
    assert find_text_fault(scenario, rule, [*RULES.values()]) == expected


def test_teammate_is_named_when_there_are_several(tmp_path):
    pair = next(s for s in mined() if s.category == "catch-mate")
    assert pair.recording.n_players == 2
    assert find_fault_of(pair, "Stand where the other is.") is None
    assert "does not contain 'your team-mate'" in (find_fault_of(pair, "Stand there.") or "")
    packaged = store.load(Workspace.open(tmp_path), "core@2").scenarios
    mates = (s for s in packaged if s.category == "follow-mate" and s.recording.n_players == 3)
    three, words = next(mates), RULES["follow-mate"].template_fields
    assert words is not None
    mate, steps = words(three)["mate"], three.parameters["steps"]
    assert len(mate.alternatives) == 1
    assert find_fault_of(three, f"For {steps} steps go with {mate.text}, closely.") is None
    other = find_fault_of(three, f"For {steps} steps go with {mate.alternatives[0]}.") or ""
    assert f"'{mate.text.casefold()}'" in other.casefold()
