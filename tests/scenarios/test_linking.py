"""Pairs and dialogues of a draft: made by command, checked, shown, frozen and credited together."""

import functools
import json
from pathlib import Path

import pytest

from sts.storage.workspace import Workspace
from sts.suites import suite as types
from sts.suites import suite_store as suites
from sts.trajectories import trajectory_store as trajectory_store
from sts_scenarios.rules import categories
from tests.examples import on_test_side
from tests.scenarios.curating import Curation, recordings, run_commands

WHEN, LATER, COUNT = "when-evil-01", "when-evil-02", "count-others-01"


@functools.cache
def find_shared_steps() -> list[tuple[str, int, int]]:
    """Return where when-evil and count-others ask the same player of one recording."""
    when, count = (categories.load_category(name) for name in ("when-evil", "count-others"))
    for one in on_test_side(recordings()):
        places = [{(c.step, c.player) for c in rule.find_candidates(one)} for rule in (when, count)]
        found = sorted(places[0] & places[1])
        if len(found) > 1:
            return [(one.id, *place) for place in found]
    raise AssertionError("no recording has two such steps")


@pytest.fixture(scope="module")
def mined(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft of two candidates at one step, and of another when-evil at a later one."""
    root = tmp_path_factory.mktemp("linking") / "w"
    trajectory_store.save(Workspace.open(root), recordings())
    early, late = find_shared_steps()[0], find_shared_steps()[-1]
    run_commands(
        root,
        "mine own --category where-is-good --per-category 2",
        *(
            f"draft add own --trajectory {id} --takeover {step} --player {player} --category {name}"
            " --user Ana"
            for name, (id, step, player) in (
                ("when-evil", early),
                ("count-others", early),
                ("when-evil", late),
            )
        ),
        "draft accept own --all --user Ana",
    )
    return root


def report_of(curator: Curation, continuations: int) -> dict:
    curator(f"run own@1 --agent rule --agent random --continuations {continuations}")
    curator("label own@1")
    curator("report own@1")
    return json.loads(curator.workspace.path("reports", "own-1", "report.json").read_text())


def test_pair_is_shown_frozen_run_and_credited_together(curator, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")
    said = curator.draft(f"pair {WHEN} {COUNT}")
    assert said == f"pair {COUNT}+{WHEN}: {WHEN}, {COUNT}, by Ana\n"
    assert curator.view()[WHEN]["status"] == "accepted"
    shown = curator(f"show own/{WHEN} --frames 3")
    assert f"{WHEN} (" in shown and f"{COUNT} (" in shown and "║" in shown
    assert "can be frozen" in curator.draft("check")
    curator("suite freeze own")
    halves = {s.id: s for s in suites.load(curator.workspace, "own@1").scenarios if s.pair}
    assert {*halves} == {WHEN, COUNT}
    asked = {id: s.instruction.text for id, s in halves.items()}
    shown = curator("suite show own@1")
    assert f"pair: {COUNT} “{asked[COUNT]}” | {WHEN} “{asked[WHEN]}”" in shown
    assert "own@1 is sound" in curator("suite verify own@1")

    report = report_of(curator, continuations=3)
    (group,) = report["pairs"]["groups"]
    assert {*group["scenarios"]} == {WHEN, COUNT}
    rates = {s["scenario"]: s["pass_rates"] for s in report["scenarios"]["rows"]}
    for row in report["pairs"]["rows"]:
        product = rates[WHEN][row["agent"]] * rates[COUNT][row["agent"]]
        assert row["joint_success"] == pytest.approx(product)
        assert group["joint_success"][row["agent"]] == pytest.approx(product)
        assert row["groups"] == 1 and row["interval"] is None
    assert report["conclusion"]["n_scenarios"] == 5, "halves stay ordinary scenarios"
    assert report["conclusion"]["units"] < 5
    part = curator("suite show own@1+category:when-evil")
    terms = "+category:when-evil: 3 of its 5 scenarios, 1 of them as they belong with another"
    assert terms in part


def test_half_without_its_other_half_is_not_frozen(curator):
    def lacks(id: str) -> str:
        return f"{id}: the other half of its pair '{COUNT}+{WHEN}' is missing"

    curator.draft(f"pair {WHEN} {COUNT}")
    curator.draft(f"undo {COUNT}")
    assert lacks(WHEN) in curator.draft("check", code=1)
    assert curator.draft(f"pair {WHEN}") == f"apart: {WHEN}, by Ana\n"
    curator.draft(f"pair {WHEN} {COUNT}")
    curator("suite freeze own")
    curator("draft new --from own@1")
    curator.draft(f"retire {WHEN} --reason easy")
    for refused in (curator.draft("check", code=1), curator("suite freeze own", code=1)):
        assert lacks(COUNT) in refused
    curator.draft(f"pair {COUNT}")
    assert "can be frozen" in curator.draft("check")
    curator("suite freeze own")
    before, after = (
        next(s for s in suites.load(curator.workspace, f"own@{n}").scenarios if s.id == COUNT)
        for n in (1, 2)
    )
    assert (before.pair, after.pair) == (f"{COUNT}+{WHEN}", "")
    assert before.hash == after.hash


def test_dialogue_is_frozen_as_ordered_turns_of_one_recording(curator):
    said = curator.draft(f"dialogue {WHEN} {LATER}")
    assert said == f"dialogue from {WHEN}: {WHEN}, {LATER}, by Ana\n"
    shown = curator(f"show own/{LATER} --frames 3")
    assert shown.index(f"{LATER} (") < shown.index(f"{WHEN} (")
    curator("suite freeze own")
    turns = types.group_dialogues(suites.load(curator.workspace, "own@1").scenarios)[f"from {WHEN}"]
    assert [(s.id, s.turn) for s in turns] == [(WHEN, 1), (LATER, 2)]
    assert f"dialogue: {WHEN} “" in curator("suite show own@1")
    report = report_of(curator, continuations=2)
    (group,) = report["dialogues"]["groups"]
    assert (group["group"], group["scenarios"]) == (f"from {WHEN}", [WHEN, LATER])
    assert report["pairs"] is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (f"pair {WHEN} {LATER}", "have the same state at takeover, and"),
        (f"pair {WHEN}", f"{WHEN} is in no pair to split"),
        (f"pair {WHEN} {LATER} {COUNT}", "a pair has two halves, and"),
        (f"pair {WHEN} {WHEN}", "name the other candidates, too"),
        (f"pair {WHEN} when-evil-77", "unknown candidate of draft own 'when-evil-77'"),
        (f"dialogue {LATER} {WHEN}", "each turn of a dialogue must start after"),
        (f"dialogue {WHEN} {COUNT}", "each turn of a dialogue must start"),
        (f"dialogue {WHEN} where-is-good-01", "must be of one recording"),
    ],
)
def test_invalid_pair_or_dialogue_is_refused_without_side_effects(curator, words, line):
    before = curator.view()
    assert line in curator.draft(words, by="Ben", code=2)
    assert curator.view() == before
    assert "Ben" not in curator("annotators ls")


def test_half_of_one_pair_is_not_put_into_another(curator):
    curator.draft(f"pair {WHEN} {COUNT}")
    said = curator.draft(f"pair {WHEN} {LATER}", code=2)
    assert f"{WHEN} already is half of the pair" in said


SIDES = """
from dataclasses import replace

from sts_lambda_star.categories import shadow_evil


def candidates(trajectory, context, horizon):
    for one in shadow_evil.CATEGORY.candidates(trajectory, context, horizon):
        for way in ("left", "right"):
            asked = {"direction": way, **one.parameters}
            fields = one.fields | {"direction": way}
            yield replace(one, parameters=asked, fields=fields, answer=way, pair="sides")


SIDES = replace(
    shadow_evil.CATEGORY,
    name="sides",
    candidates=candidates,
    prefilter=None,
    templates=("Stay close to Evil for {steps} steps, and then go {direction}.",),
)
"""


def test_category_that_offers_pairs_is_mined_in_pairs(bare, tmp_path, monkeypatch):
    (tmp_path / "sides.py").write_text(SIDES)
    monkeypatch.chdir(tmp_path)
    bare("mine own --category sides:SIDES --per-category 3")
    view = bare.view()
    assert [id for id in view] == [f"sides-{n:02d}" for n in range(1, 7)]
    bare.draft("accept --all")
    bare("suite freeze own --category sides:SIDES")
    pairs = types.group_pairs(suites.load(bare.workspace, "own@1").scenarios)
    assert len(pairs) == 3
    for halves in pairs.values():
        assert {s.parameters["direction"] for s in halves} == {"left", "right"}
        assert len({s.takeover_hash for s in halves}) == 1
        assert len({s.instruction.text.replace("left", "right") for s in halves}) == 1
    bare("draft new --from own@1")
    bare("mine own --category sides:SIDES --per-category 2 --seed 4")
    new = [id for id in bare.view() if id not in view]
    assert len(new) % 2 == 0, "later candidates come in pairs, too"
    assert not new or min(new) == "sides-07"
