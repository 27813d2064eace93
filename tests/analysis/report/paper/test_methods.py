"""The paragraph on methods: each sentence holds for this report, and what it cites is listed."""

import dataclasses
import re

import pandas as pd

from sts_analysis.report.paper import methods, references
from sts_analysis.report.paper.figure_3 import figure_3
from sts_analysis.report.paper.repeat import commands, repeat
from sts_analysis.report.paper.tables import tables
from sts_analysis.report.schema import Alarm, Report
from tests.analysis.report.paper.tables import made, usual
from tests.analysis.reports import report_of


def said(report: Report) -> str:
    return methods.plain(report).partition("\nReferences\n")[0]


def test_what_was_done_is_said_with_its_counts() -> None:
    text = said(usual())
    counts = usual().counts
    for words in (
        "4 agents on 12 scenarios in 4 categories",
        "48 continuations each, 192 in all",
        f"{counts.judged} continuations were judged by 2 annotators",
        f"in {counts.annotations} judgements",
        "mean of its annotators' verdicts",
        "The agent seer sees more than an agent may, and is a bound",
        "balanced accuracy",
        "exact sign flips",
        "for the judgement of these 2 annotators",
        "a step-down procedure",
        "for fresh scenarios of the same categories",
        "the seed 0",
    ):
        assert words in text, words


def test_what_was_not_done_is_not_said() -> None:
    rows = [
        {"agent": "a", "scenario": f"s{s}", "verdict": "success" if s % 2 else "failure"}
        for s in range(4)
        for _ in range(2)
    ]
    text = said(report_of(pd.DataFrame(rows), target="fixed"))
    for words in (
        "annotator", "balanced", "alpha", "compared", "rank", "Spearman", "Time to", "settled",
        "clip", "bound", "reviewer", "categor", "recorded context", "stratified", "Lang",
        "bootstrap", "planned",
    ):  # fmt: skip
        assert words not in text, words
    assert "for fresh continuations of these very scenarios" in text


def test_without_categories_nothing_is_said_of_them() -> None:
    rows = [
        {"agent": a, "scenario": f"s{s}", "verdict": "success" if (s + n) % d else "failure"}
        for a, d in (("a", 2), ("b", 3))
        for s in range(14)
        for n in range(3)
    ]
    report = report_of(pd.DataFrame(rows))
    captions = [one.caption for one in tables(report).values()]
    captions += [one.caption for one in (figure_3(report),) if not isinstance(one, str)]
    assert len(captions) == 3
    for text in (said(report), *captions):
        assert "categor" not in text and "for fresh scenarios like these" in text


def test_nothing_judged_has_no_word_on_rates() -> None:
    text = said(made(judged=0, references=0))
    assert "None of them has been judged yet" in text and "pass rate" not in text
    assert "interval" not in text and "compared" not in text


def test_labels_by_rule_are_called_no_human_judgements() -> None:
    text = said(made(judged=0, references=0, automatic=True))
    assert "No person judged" in text and "annotator" not in text and "judgements." in text


def test_a_method_without_a_sentence_is_named_as_the_report_has_it() -> None:
    report = usual()
    agents = tuple(dataclasses.replace(one, method="oracle's, 3.5 df") for one in report.agents)
    text = said(dataclasses.replace(report, agents=agents))
    assert "oracle's, df" in text and "Student's" not in text


def test_what_must_be_known_of_the_judges_is_said() -> None:
    alarm = Alarm("annotators_confounded", (("best", "good"),), "They had different judges.")
    text = said(dataclasses.replace(usual(), alarms=(alarm,)))
    assert "They had different judges." in text and "different judges" not in said(usual())


def test_what_is_cited_is_listed_in_both_forms_and_nothing_else() -> None:
    for report in (usual(), made(judged=0, references=0), made(skills={"a": 99.0}, baselines=())):
        keys = methods.cited(report)
        assert "abramson2022" in keys and set(keys) <= set(references.WORKS)
        bib = references.bibtex(keys)
        assert re.findall(r"^@\w+\{(\w+),$", bib, re.M) == keys
        cites = re.findall(r"\\cite\{([^}]*)\}", methods.as_latex(report))
        assert {key for cite in cites for key in cite.split(",")} == set(keys)
        listed = methods.plain(report).partition("\nReferences\n")[2]
        assert listed.count("\n- ") == len(keys) and "[@" not in methods.plain(report)


def test_every_work_has_what_an_entry_needs() -> None:
    for key, work in references.WORKS.items():
        assert {"author", "title", "year"} <= set(work.fields) and work.short[-4:] == key[-4:]
        assert {"journal"} if work.kind == "article" else {"publisher"} <= set(work.fields)
        assert references.bibtex([key]).count("{") == references.bibtex([key]).count("}")


def test_the_commands_make_the_same_report_again() -> None:
    report = usual()
    assert commands(report) == ["sts report --table t@1 --target sampled --seed 0 --paper"]
    hashed = dataclasses.replace(report.provenance, suite_hash="abc", commit="def", dirty=True)
    suite = dataclasses.replace(report, suite="core@2+tag:a b", provenance=hashed, seed=3)
    assert commands(suite) == [
        "sts suite verify core@2",
        "sts report 'core@2+tag:a b' --target sampled --seed 3 --paper",
    ]
    (margin,) = commands(made(margin=0.05))
    assert "--non-inferiority-margin 5 --reference-agent" in margin
    text = repeat(suite)
    assert "hash of the suite: `abc`" in text and "commit `def`, edited since" in text
    assert re.search(r"SHA-256 of report.json: `[0-9a-f]{64}`", text)
