"""The first draft of an environment without categories: an empty one, and tables of candidates."""

import json
from pathlib import Path

import pytest

from sts.suites import suite_store as suites
from sts.suites.drafts import open_draft
from sts.trajectories import trajectory_store as store
from tests.scenarios.curating import Curation

COLUMNS = "trajectory,takeover,player,category,context,horizon,instruction,tags\n"


def ids(curator: Curation, split: str) -> list[str]:
    return sorted(t.id for t in store.load(curator.workspace) if t.split == split)


def write(folder: Path, *rows: str, header: str = COLUMNS) -> str:
    path = folder / "candidates.csv"
    path.write_text(header + "".join(f"{row}\n" for row in rows))
    return str(path)


def test_candidates_of_a_table_in_a_new_draft_become_a_suite(bare, tmp_path):
    said = bare("draft new first --domain lambda-star")
    assert said.startswith("draft first is empty, for scenarios of lambda-star")
    assert bare("draft show first").startswith("draft first has no candidates yet; add some with ")
    file = write(
        tmp_path,
        *(f"{id},20,1,near,9,12,Stay near {i}.,a; b" for i, id in enumerate(ids(bare, "test")[:3])),
        f"{ids(bare, 'test')[3]},15,0,far,,8,Go away.,",
    )
    assert "added 4 candidates" in bare("draft", "add", "first", "--csv", file, "--user", "Ana")
    bare("draft accept first --all")
    bare("suite freeze first --unreviewed")
    found = suites.load(bare.workspace, "first@1").scenarios
    assert [s.id for s in found] == ["far-01", "near-01", "near-02", "near-03"]
    assert (found[1].context, found[1].horizon, found[1].players) == (9, 12, (1,))
    assert found[1].tags == ("a", "b") and found[0].text == "Go away."
    assert "sts draft new --from first@1" in bare("draft new first --domain lambda-star", code=2)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("{test},99,0,near,9,12,Stay.,", "expected a takeover from 9 to 28"),
        ("{test},20,0,near,9,-3,Stay.,", "horizon: expected a whole number, found '-3'"),
        ("{test},,0,near,9,12,Stay.,", "expected a value for takeover"),
        ("{test},20,0,near,9,12,,", "category near has no words of its own: add an instruction"),
        ("zz,20,0,near,9,12,Stay.,", "unknown trajectory 'zz'"),
        ("{train},20,0,near,9,12,Stay.,", "is of the train split; expected one of the test split"),
    ],
)
def test_table_with_a_bad_line_adds_nothing_and_names_the_line(bare, tmp_path, row, reason):
    bare("draft new first --domain lambda-star")
    test, train = ids(bare, "test"), ids(bare, "train")
    good = f"{test[0]},20,0,near,9,12,Stay.,"
    file = write(tmp_path, good, row.format(test=test[1], train=train[0]))
    said = bare("draft", "add", "first", "--csv", file, code=1)
    assert f"{file}: 1 of 2 lines refused, so nothing was added: line 3: " in said
    assert reason in said
    assert open_draft(bare.workspace, "first").load_ids() == []


def test_table_of_candidates_with_wrong_columns_is_refused(bare, tmp_path):
    bare("draft new first --domain lambda-star")
    for header, reason in (
        ("takeover,player\n", "missing columns 'trajectory', 'category'"),
        (
            f"{COLUMNS.replace('tags', 'tag')}t,9,0,near,9,12,Stay.,x\n",
            "unknown column 'tag'; expected trajectory, takeover",
        ),
        (COLUMNS, "expected a line for each candidate, found the header alone"),
    ):
        said = bare("draft", "add", "first", "--csv", write(tmp_path, header=header), code=1)
        assert reason in said


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("draft new", "expected NAME --domain D for an empty draft, or --from NAME@VERSION"),
        ("draft new first", "expected NAME --domain D"),
        ("draft new first --domain lambda-sta", "did you mean lambda-star?"),
        ("draft new first --from own@1", "expected NAME --domain D"),
        ("draft new 'My Suite' --domain lambda-star", "expected a suite name of lower-case"),
        ("draft add none --trajectory 1", "start an empty one with sts draft new NAME --domain D"),
        ("draft add own --takeover 3", "expected --trajectory, --player, --category, or --csv"),
        ("draft add own --csv a --edge-cases b", "--csv cannot be combined with --edge-cases"),
    ],
)
def test_incomplete_new_draft_or_candidate_names_what_is_missing(curator, line, reason):
    assert reason in curator(line, code=2)


def test_draft_of_one_domain_refuses_scenarios_of_another(bare):
    bare("draft new first --domain babyai")
    test = ids(bare, "test")[0]
    moment = "--takeover 20 --player 0 --category near --instruction Stay."
    said = bare(f"draft add first --trajectory {test} {moment}", code=1)
    assert "draft first is for babyai: expected no scenario of lambda-star" in said
    assert json.loads(bare("draft show first --json"))["candidates"] == []
