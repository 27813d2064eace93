"""The statement of standards: computed, in the curator's words, or named as missing."""

import json
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from sts.annotations.vault.digests import Digests
from sts.cli.main import main
from sts.continuations.run import run
from sts.storage.chains import Link
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.statement import FILE, QUESTIONS
from sts_analysis.inputs.subject import Subject
from sts_analysis.report.appendix import statement
from sts_analysis.report.results import read_report
from tests.analysis.studies import (
    compute_appendix,
    draw_rows,
    make_rows,
    make_study,
    read_section,
)
from tests.annotator_app.serving import quiet

SUITE = "few@1"
RATES = {"a": 0.9, "b": 0.5, "c": 0.2}


def find(result: statement.Result) -> dict[str, tuple[str, str]]:
    return {row.item: (row.source, row.text) for row in result.rows}


def name_missing(result: statement.Result) -> set[str]:
    return {row.item for row in result.rows if row.source == "missing"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory) -> Workspace:
    """Return a workspace with a suite of twelve scenarios, which two agents have continued."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("w"))).create()
    every = suites.load(workspace, "core@3").scenarios
    kept = [s for s in every if s.category in ("walk", "reach-good")][::4]
    suites.freeze_scenarios(workspace, "few", kept)
    run(workspace, kept, ["random", "local-search"], count=2, seed=0, workers=1, progress=quiet)
    return workspace


def state(workspace: Workspace, capsys, suite: str = SUITE) -> dict:
    capsys.readouterr()
    assert main(["suite", "statement", suite, "--json", "--workspace", str(workspace.root)]) == 0
    return json.loads(capsys.readouterr().out)


def test_table_states_what_can_be_computed_and_names_the_rest():
    study = make_study(draw_rows(RATES))
    result = statement.compute(study)
    items = find(result)
    count = f"{study.progress.judged} of {study.progress.planned} clips as often as planned"
    assert items["Labels"] == ("computed", f"Judged by people, {count}.")
    assert {*map(str.strip, QUESTIONS)} <= {
        k.lower().replace(" ", "_") for k in name_missing(result)
    }
    assert name_missing(result) >= {"Suite", "Fingerprints", "Exactness of replay", "Prediction"}
    assert items["Sight"] == (
        "computed",
        "3 of 3 agents see what a player sees. With more, and not ranked: none.",
    )
    assert items["Content"][1] == "24 scenarios: c0 (6), c1 (6), c2 (6), c3 (6)."
    assert items["Command"] == ("computed", "sts report --table table --target sampled --seed 0")
    assert items["Consistency"][0] == "computed" and "to" in items["Consistency"][1]
    assert items["Families of agents"][1].startswith("Three largest deviations from")


def test_figures_are_those_of_the_sections_they_come_from():
    scores = pd.DataFrame({"agent": [*RATES], "metric": "probes", "value": ["3", "2", "1"]})
    report = compute_appendix(make_study(draw_rows(RATES), scores=scores))
    items = find(report.statement)
    (row,) = report.correlations.rows
    share = f"A share of {row.reliability_first:.3f} of the variance"
    assert items["Reliability of the ranking"][1].startswith(share)
    assert f"probes {row.rho:.2f} (–, n = 3)" in items["Prediction"][1]
    alike = {r.alike: r.agent for r in report.consistency.rows}
    assert f"{100 * min(alike):.0f}% ({alike[min(alike)]}) to" in items["Consistency"][1]


def test_variants_of_an_agent_are_one_family():
    scores = pd.DataFrame(
        {"agent": [*"abc"], "metric": "x", "value": "1", "family": ["big", "big", "small"]}
    )
    items = find(statement.compute(make_study(draw_rows(RATES), scores=scores)))
    text = items["Families of agents"][1]
    assert "big in c" in text and "small in c" not in text  # the other family deviates alike


def test_deviations_that_mirror_others_are_not_listed():
    rows = make_rows({name: "1a 0a 1a 1a " * 4 for name in "abc"}, categories=2)
    text = find(statement.compute(make_study(rows)))["Families of agents"][1]
    assert text.count(" in c0 ") == 3


def test_families_need_two_categories_of_five_units():
    rows = draw_rows(RATES, scenarios=16)  # four of each category
    assert "Families of agents" in name_missing(statement.compute(make_study(rows)))


@pytest.mark.parametrize("rates", [{"a": 0.5}, {"a": 0.0, "b": 1.0}])
def test_study_of_one_agent_or_of_no_variance_is_stated(rates):
    result = statement.compute(make_study(draw_rows(rates)))
    assert len(result.rows) == 22
    assert ("Families of agents" in name_missing(result)) == (len(rates) == 1)


def test_words_of_the_curator_are_escaped_and_marked():
    subject = Subject("table", statement={"assumptions": "<b>Agents act</b> & annotators see."})
    report = compute_appendix(make_study(draw_rows(RATES), subject=subject))
    assert find(report.statement)["Assumptions"][0] == "curator"
    section = read_section(report, "statement")
    assert "&lt;b&gt;Agents act&lt;/b&gt; &amp; annotators see." in section
    assert section.count("<b class=warn>Missing: </b>") == len(name_missing(report.statement))


def test_training_and_time_to_act_are_those_that_continuations_declare():
    study = make_study(draw_rows({"ana": 0.6, "clone": 0.5}))
    numbers = study.agent_rows.drop_duplicates("agent").set_index("agent")["continuation"]
    ids = pd.Series({number: f"id-{name}" for name, number in numbers.items()})
    declared = {"id-ana": {"tick": 0.25}, "id-clone": {"trained_on": "9 episodes"}}
    load: Any = lambda ids: [  # noqa: E731
        SimpleNamespace(id=id, provenance=declared[id], fingerprint=f"f{n}")
        for n, id in enumerate(sorted(ids, reverse=True))
    ]
    study.gathered = study.gathered._replace(ids=ids, load=load)
    items = find(statement.compute(study))
    assert items["Fingerprints"] == ("computed", "ana f1, clone f0")
    assert items["Reaction time"][1].endswith("for people, seconds a step: ana (0.25).")
    assert items["Training"][1].endswith("declare: clone (9 episodes).")


def test_number_of_replayed_continuations_is_that_of_the_digests():
    digests = Digests("s@1", "0", Link(1234, "0"), {}, Link(0, ""))
    found = find(
        statement.compute(make_study(draw_rows(RATES), subject=Subject("s@1", digests=digests)))
    )
    assert found["Exactness of replay"][1].startswith("1,234 continuations")


def test_unjudged_suite_states_its_content_and_words(workspace, capsys):
    file = workspace.path("suites", "few", "1", FILE)
    file.write_text('abilities = "Walking."\n')
    value = state(workspace, capsys)
    file.unlink()
    items = {row["item"]: row for row in value["rows"]}
    known = {name for name, row in items.items() if row["source"] != "missing"}
    assert known == {"Abilities", "Content", "Suite"}
    assert items["Abilities"] == {
        "standard": "Validity", "item": "Abilities", "source": "curator", "text": "Walking.",
    }  # fmt: skip
    assert main(["suite", "statement", SUITE, "--workspace", str(workspace.root)]) == 0
    text = capsys.readouterr().out
    assert "20 of 22 items are missing" in text and "run `sts label few@1` first" in text


def test_command_and_report_state_the_same(workspace, capsys, tmp_path):
    where = ["--workspace", str(workspace.root)]
    assert main(["label", SUITE, *where]) == 0
    value = state(workspace, capsys)
    assert main(["report", SUITE, "--out", str(tmp_path / "out"), *where]) == 0
    report = read_report(tmp_path / "out")
    assert [row["text"] for row in value["rows"]] == [row.text for row in report.statement.rows]
    items = find(report.statement)
    suite = suites.load(workspace, SUITE)
    assert items["Suite"][1] == f"few@1, hash {suite.hash}."
    assert items["Training"][1].endswith("declare: none.")
    names = [part.split()[0] for part in items["Fingerprints"][1].split(", ")]
    assert names == ["local-search", "random"]
    assert "people" not in items["Reaction time"][1]


def test_damaged_labels_are_an_error_and_not_a_blank(workspace, capsys):
    assert main(["label", SUITE, "--workspace", str(workspace.root)]) == 0
    (file,) = workspace.path("labels").glob("*.parquet")
    whole = file.read_bytes()
    file.write_bytes(whole[:-9])
    code = main(["suite", "statement", SUITE, "--workspace", str(workspace.root)])
    file.write_bytes(whole)
    assert code == 1 and str(file.name) in capsys.readouterr().err


def test_part_of_a_suite_and_a_later_version_are_stated(workspace, capsys):
    value = state(workspace, capsys, "core@3")
    texts = {row["item"]: row["text"] for row in value["rows"]}
    assert texts["Suite"].endswith("grown from core@2.")
    value = state(workspace, capsys, f"{SUITE}+category:walk")
    texts = {row["item"]: row["text"] for row in value["rows"]}
    assert (
        texts["Content"] == "5 scenarios: walk (5)." and value["suite"] == f"{SUITE}+category:walk"
    )


def test_unknown_suite_or_invalid_words_print_one_line(workspace, capsys):
    where = ["--workspace", str(workspace.root)]
    assert main(["suite", "statement", "fewer@1", *where]) == 2
    assert "fewer@1" in capsys.readouterr().err
    file = workspace.path("suites", "few", "1", FILE)
    file.write_text("abilities = 3\n")
    assert main(["suite", "statement", SUITE, *where]) == 1
    file.unlink()
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and FILE in error
