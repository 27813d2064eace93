"""The packaged suites of Λ*, and the tables of quality checks in the docs."""

import functools
import json
from collections import Counter
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from sts.suites import suite_store as store
from sts.suites.lint import lint_scenarios
from sts.suites.suite import DIFFICULTIES, Scenario, Suite, group_dialogues, group_pairs
from sts.trajectories.trajectory import Trajectory
from sts_lambda_star.categories import AGENTS, CURATION
from sts_scenarios.rules import categories, quality_checks
from sts_scenarios.rules.profiles import compute_profiles
from sts_scenarios.rules.validity import find_fault, matches
from tests.reproduction.suites import build_core, gate_table
from tests.reproduction.suites.gate_recordings import MEASURES
from tests.reproduction.suites.gate_table import (
    agents_row,
    measured,
    pool_row,
    shaky_row,
    suite_row,
)

LABELS = ("core@2", "core@3")
SUITES = {label: store.load(Workspace.open("no-workspace-here"), label) for label in LABELS}
RULES = categories.installed_categories(["lambda-star"])
PAIRS = ("beside-or-leave", "evade-or-shadow")
CATEGORIES = (
    *("ambush", "clean-take", "count-others", "evade-evil", "evil-from-good", "find-good-again"),
    *("follow-mate", "good-apart", "hold-until-evil", "keep-beside", "last-move", "next-move"),
    *("return-to-first", "shadow-evil", "when-evil", "where-was-evil", "catch-mate", *PAIRS),
)
TURNS = ("find-good-again", "keep-beside", "where-is-good")
EACH = pytest.mark.parametrize("suite", SUITES.values(), ids=LABELS)


def by_category(suite: Suite) -> dict[str, list[Scenario]]:
    """Return the scenarios of each category, without the turns of dialogues."""
    easy = build_core.EASY if suite.version == 3 else ()
    out: dict[str, list[Scenario]] = {name: [] for name in (*CATEGORIES, *easy)}
    for one in suite.scenarios:
        if not one.dialogue:
            out[one.category].append(one)
    return out


@EACH
def test_core_has_as_many_sound_scenarios_per_category_as_it_states(suite):
    own = by_category(suite)
    counts = {name: len(every) for name, every in own.items()}
    assert counts == {name: 20 if name in (*PAIRS, *build_core.EASY) else 10 for name in own}
    assert len({*CATEGORIES} - {*PAIRS, "catch-mate"}) == 16
    assert lint_scenarios(suite.scenarios) == []
    assert [find_fault(one, RULES) for one in suite.scenarios] == [None] * len(suite.scenarios)
    for name, every in own.items():
        found = Counter(one.difficulty for one in every)
        assert all(found[difficulty] >= 2 for difficulty in DIFFICULTIES), name
        assert len({one.world for one in every}) >= 10
        templates = (*RULES[name].templates, *RULES[name].earlier_templates)
        used = {t for t in templates if any(matches(one.text, t) for one in every)}
        assert len(used) >= 3, name


@EACH
def test_core_has_contrast_pairs_dialogues_and_a_reacting_partner(suite):
    every = group_pairs(suite.scenarios)
    kinds = Counter(halves[0].category for halves in every.values())
    assert kinds == dict.fromkeys(PAIRS, 10)
    for halves in every.values():
        assert len({one.takeover_hash for one in halves}) == 1
        assert len({one.parameters["asked"] for one in halves}) == 2
    talks = group_dialogues(suite.scenarios)
    assert len(talks) == 2
    for turns in talks.values():
        assert tuple(one.category for one in turns) == TURNS
        assert len({(one.trajectory, one.players) for one in turns}) == 1
        begins = [one.step for one in turns]
        for one, begin, later in zip(turns, begins, begins[1:], strict=False):
            assert begin + one.horizon <= later
    reacting = [one for one in suite.scenarios if one.partner.startswith("agent:")]
    assert {one.category for one in reacting} == {"catch-mate"} and len(reacting) == 10


@EACH
def test_no_answer_of_core_exceeds_its_share(suite):
    rows = quality_checks.check_suite(sum(by_category(suite).values(), []), RULES)
    assert (
        len(rows) == (7 if suite.version == 3 else 6)
        and [row for row in rows if not row.is_passed] == []
    )


@EACH
def test_recorders_and_teams_of_core_are_mixed_and_few_chosen_by_effect(suite):
    who = Counter(one.provenance["recorded_by"][0] for one in suite.scenarios)
    assert who["random"] + who["person-like-script"] >= 0.25 * who.total()
    assert len(who) >= 8 and max(who.values()) < 0.25 * who.total()
    assert {one.recording.n_players for one in suite.scenarios} == set(range(1, 9))
    rules = [one.provenance.get("chosen_by") for one in suite.scenarios]
    assert all(rule["agents"] == [*CURATION] for rule in rules if rule)
    for name, own in by_category(suite).items():
        count = sum("chosen_by" in one.provenance for one in own)
        assert 0 < count <= len(own) / 2 if name in CATEGORIES else count == 0, name


@EACH
def test_every_scenario_of_core_has_a_complete_success_criterion(suite):
    rules = categories.scenario_categories(suite.scenarios)
    for one in suite.scenarios:
        criterion = rules[one.category].criterion(one)
        assert criterion is not None
        for text in (criterion.success_criterion, criterion.edge_cases):
            assert text.endswith(".") and "{" not in text


def test_core_2_keeps_most_of_its_parent_and_gives_a_reason_for_each_change():
    suite = SUITES["core@2"]
    ids = {one.id for one in suite.scenarios}
    retired, gained = (
        {c.id for c in suite.changes if c.kind == kind} for kind in ("retired", "added")
    )
    kept = ids - gained
    assert suite.parent == "core@1" and gained <= ids and retired and not retired & ids
    assert len(kept) >= 0.8 * len(kept | retired)
    assert all(change.reason for change in suite.changes)


def test_core_3_has_the_moments_of_core_2_in_plainer_words_and_easier_ones():
    old, new = SUITES.values()
    by_id = {one.id: one for one in old.scenarios}
    reworded = [one for one in new.scenarios if one.replaces]
    kept = {one.id: one.hash for one in new.scenarios if one.id in by_id}
    assert (new.parent, len(reworded), len(kept), len(new.scenarios)) == ("core@2", 200, 16, 316)
    assert all(by_id[id].hash == hash for id, hash in kept.items())
    for one in reworded:
        before = by_id[one.replaces]
        assert one.text != before.text
        assert (one.takeover_hash, one.players, one.horizon, one.partner, one.parameters) == (
            *(before.takeover_hash, before.players, before.horizon, before.partner),
            before.parameters,
        )
    added = Counter(change.kind for change in new.changes)
    assert added == {"replaced": 200, "added": 100}
    share = sum(one.kind == "question" for one in new.scenarios) / len(new.scenarios)
    assert 1 / 4 <= share <= 1 / 3
    assert new.provenance["rules"] == json.loads(json.dumps(build_core.rules()))


@pytest.mark.slow
@EACH
def test_scenarios_of_core_separate_agents_in_different_ways(suite):
    own = by_category(suite)
    scenarios = sum(own.values(), [])
    made = [one.profile for one in compute_profiles(scenarios, AGENTS)]
    held = ("passed by all or none", "pairs of one profile")
    every = quality_checks.check_suite(scenarios, RULES, made)
    rows = [row for row in every if row.name in held]
    assert len(rows) == 2 * len(own)
    if suite.version == 2:
        assert [row for row in rows if not row.is_passed] == []


@pytest.mark.slow
def test_two_builds_of_core_agree_in_every_hash(tmp_path, monkeypatch):
    monkeypatch.setattr(build_core, "PER_CATEGORY", 5)
    first, second = (build_core.build(tmp_path / name) for name in ("a", "b"))
    assert first.hash == second.hash == store.read(tmp_path / "a").hash
    assert (first.label, first.parent) == ("core@3", "core@2")
    reasons = {change.id: change.reason for change in first.changes}
    assert {*reasons.values()} == {build_core.WORDS, "an easier category"}


# tables of the docs

FOLDER = Path(__file__).parents[2] / "docs"
PAGES = {"lambda-star": "curator.md", "babyai": "babyai.md", "overcooked": "overcooked.md"}
DOCS = {domain: (FOLDER / page).read_text() for domain, page in PAGES.items()}
HELD = {one.name: one for domain in MEASURES for one in gate_table.list_controlled(domain)}
POOLS = {"babyai-stand-or-take": 200, "way-or-stay": 200}
"""Sizes of the pools that differ from their domain's, as the pages state."""
ROWS = (pool_row, suite_row, agents_row)


@functools.cache
def recordings(domain: str) -> list[Trajectory]:
    return MEASURES[domain].recordings()


def test_docs_list_every_category_in_every_table():
    for name, rule in HELD.items():
        tables = len(ROWS) + MEASURES[rule.domain].shaky
        assert DOCS[rule.domain].count(f"| `{name}` | ") >= tables, name
    missions = {f"babyai-{kind}" for kind in ("go-to", "open", "pick-up", "put-next", "sequence")}
    assert {one.name for one in categories.load_categories("babyai")} - {*HELD} == missions


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(HELD))
def test_docs_state_the_measured_gates(name):
    rule = HELD[name]
    one = measured(rule, recordings(rule.domain), pool=POOLS.get(name))
    for row in (*ROWS, *([shaky_row] if one.shaky else [])):
        assert row(one) in DOCS[rule.domain]
