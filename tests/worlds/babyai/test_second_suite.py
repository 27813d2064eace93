"""Lints over every scenario of the packaged suite babyai@2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from sts.suites import store
from sts.suites.lint import lint
from sts.suites.types import DIFFICULTIES, Scenario, pairs
from sts_scenarios import categories, gates
from sts_scenarios.freezing import category_faults
from sts_scenarios.profiles import compute_profiles
from tests.reproduction.suites import renew_babyai
from tests.reproduction.suites.renew_babyai import CATEGORIES, UNSEEN

SECOND = store.load(Workspace.open("no-workspace-here"), "babyai@2")
RULES = {one.name: one for one in categories.of("babyai")}
PAIRS = {"babyai-before-or-after", "babyai-stand-or-take", "babyai-this-or-that"}


def test_it_holds_ten_of_eighteen_categories_of_every_difficulty_there_is() -> None:
    units = Counter(
        category for _, category in {(s.pair or s.id, s.category) for s in SECOND.scenarios}
    )
    assert units == dict.fromkeys(RULES, 10)
    for name in RULES:
        own = [s for s in SECOND.scenarios if s.category == name]
        hard = {*DIFFICULTIES[:2]} if name == "babyai-unlock" else {*DIFFICULTIES}
        assert {s.difficulty for s in own} == hard
        assert len({s.world for s in own}) == 10
    assert {s.category for halves in pairs(SECOND.scenarios).values() for s in halves} == PAIRS


def first_of_each() -> list[Scenario]:
    """Return the first scenario or pair of each category and difficulty."""
    chosen: dict[tuple[str, str], str] = {}
    for one in SECOND.scenarios:
        chosen.setdefault((one.category, one.difficulty), one.pair or one.id)
    return [one for one in SECOND.scenarios if (one.pair or one.id) in chosen.values()]


ALL_OR_SOME = pytest.mark.parametrize(
    "scenarios",
    [first_of_each(), SECOND.scenarios],
    ids=["some", "all"],
)


@ALL_OR_SOME
def test_it_is_sound_and_says_what_it_asks(scenarios: Sequence[Scenario]) -> None:
    assert {one.category for one in scenarios} == {*RULES}
    assert lint(scenarios) == [] and category_faults(scenarios) == []


def test_it_says_what_of_its_parent_was_retired_and_why() -> None:
    assert SECOND.parent == "babyai@1"
    retired = {one.id: one.reason for one in SECOND.changes if one.kind == "retired"}
    assert retired.keys() == {f"babyai-{name}" for name in UNSEEN}
    assert all("sees nothing" in why for why in retired.values())
    assert not retired.keys() & {s.id for s in SECOND.scenarios}


def test_words_are_its_own_and_wordings_take_turns() -> None:
    for kind in CATEGORIES:
        own = [s.instruction.text for s in SECOND.scenarios if s.category == f"babyai-{kind}"]
        starts = Counter(text.split()[0] for text in own)
        assert len(starts) > 1, kind
    said = Counter(s.parameters["side"] for s in SECOND.scenarios if "side" in s.parameters)
    assert said == {"left": 5, "right": 5}


@ALL_OR_SOME
def test_each_is_judged_by_a_sentence_whose_fields_are_filled(
    scenarios: Sequence[Scenario],
) -> None:
    for one in scenarios:
        criterion = RULES[one.category].criterion(one)
        assert criterion is not None
        for text in (criterion.done, criterion.guideline):
            assert text.endswith(".") and "{" not in text


def test_a_build_gives_the_same_scenarios_hash_by_hash(tmp_path: Path) -> None:
    made = renew_babyai.build(tmp_path / "2")
    assert [hash_without_code(s) for s in made.scenarios] == [
        hash_without_code(s) for s in SECOND.scenarios
    ]
    assert made.changes == SECOND.changes


def hash_without_code(scenario: Scenario) -> str:
    """Return the hash of a scenario without the fingerprint of whoever was recorded."""
    rest = {k: v for k, v in scenario.provenance.items() if k != "fingerprint"}
    return replace(scenario, provenance=rest).row_hash


def test_its_scenarios_pass_the_gates() -> None:
    made = [one.profile for one in compute_profiles(SECOND.scenarios)]
    rows = gates.of_suite(SECOND.scenarios, RULES, made)
    assert {one.category for one in rows} == {f"babyai-{kind}" for kind in CATEGORIES}
    assert [one for one in rows if not one.held] == []
