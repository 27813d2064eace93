"""`sts live`: from a plan over journals to the scores of a report."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from sts.cli.main import main
from sts.live.interactions import Interaction, read_interactions
from sts.live.journal import Journal
from sts.live.plans import Plan, load_plan
from sts.live.types import Opening, Participant
from sts.storage.csv_tables import parse_csv
from sts.storage.workspace import Workspace

AGENTS = ("reader", "rule")


def type_live(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["live", *words, "--workspace", str(root)])
    return code, *capsys.readouterr()


@pytest.fixture
def plan(tmp_path, capsys) -> Plan:
    words = [word for agent in AGENTS for word in ("--agent", agent)]
    code, out, err = type_live(tmp_path, capsys, "new", "pilot", *words, "--people", "4")
    assert (code, err) == (0, "")
    assert (
        "4 people x (1 practice + 2) sessions of 5 minutes in lambda-star: 1.0 person-hours" in out
    )
    assert "sessions of an agent at one place" in out
    return load_plan(Workspace.open(tmp_path), "pilot")


def journal_path(root: Path, plan: Plan, number: int) -> Path:
    return root / f"live/sessions/{len(plan.cells):012}{number:012}.jsonl"


def play(
    root: Path, plan: Plan, number: int, marks: list[str], *, setter="human", text="Go.", **end
) -> None:
    """Write the journal of a planned session with these marks, "" for none."""
    cell = plan.cells[number]
    agent = plan.agent_of(cell)
    path = journal_path(root, plan, number)
    journal = Journal(path, new=True)
    people = (
        Participant(setter, f"p{cell.person}", "setter", None),
        Participant("agent", agent.name, "solver", 0, agent.fingerprint),
    )
    opening = Opening(path.stem, "evaluate", plan.domain, b"", people, 0.25, 9, "", plan.name)
    opening = opening._replace(cell=number, practice=cell.practice)
    journal.append("opened", at=0.0, **opening.to_json())
    for i, mark in enumerate(marks):
        journal.append("told", t=i, at=i * 60, text=text, to=[0], by=0, prompt="", typed="free")
        journal.append("step", t=i, at=i * 60 + 1, late_ms=0)
        if mark:
            journal.append("marked", t=i + 1, at=i * 60 + 2, instruction=i, mark=mark, by=0)
    if end.get("reason", "finished"):
        journal.append("ended", t=len(marks), at=300.0, reason=end.get("reason", "finished"))
    journal.close()


def play_all(root: Path, plan: Plan, **more) -> None:
    """Play a study in which the reader succeeds twice of three times, and the rule never."""
    for number, cell in enumerate(plan.cells):
        good = plan.agent_of(cell).name == "reader"
        play(root, plan, number, ["success", "success", ""] if good else ["failure"], **more)


def test_study_is_scored_from_its_journals(tmp_path, capsys, plan):
    play_all(tmp_path, plan)
    code, out, err = type_live(tmp_path, capsys, "score", "pilot", "--json")
    assert (code, err) == (0, "")
    value = json.loads(out)
    reader, rule = value["agents"]
    assert (reader["agent"], reader["instructions"], reader["unmarked"]) == ("reader", 12, 4)
    assert reader["score"] == pytest.approx(2 / 3) and rule["score"] == 0
    assert reader["person_hours"] == pytest.approx(4 * 300 / 3600)
    assert (value["metric"], value["practice"], value["broke_off"]) == ("interactive", 4, [])
    rows = pq.read_table(value["path"]).to_pylist()
    assert {(row["agent"], row["fingerprint"]) for row in rows} == {
        (agent.name, agent.fingerprint) for agent in plan.agents
    }
    assert json.loads(rows[0]["parameters"]).keys() == {"prompts", "study", "suite"}
    assert [row["hours"] for row in rows] == pytest.approx([1 / 3, 1 / 3])
    assert len(read_interactions(Path(value["interactions"]))) == 4 * (1 + 3 + 1)
    assert type_live(tmp_path, capsys, "score", "pilot")[0] == 0
    assert pq.read_table(value["path"]).num_rows == 2  # scored again, it replaces itself


def test_progress_of_a_study_is_shown_by_person(tmp_path, capsys, plan):
    code, out, _ = type_live(tmp_path, capsys, "show", "pilot")
    assert code == 0 and "place 4, free" in out
    play(tmp_path, plan, 3, [])
    play(tmp_path, plan, 4, ["success"])
    play(tmp_path, plan, 5, ["failure"], reason="")
    code, out, _ = type_live(tmp_path, capsys, "show", "pilot", "--json")
    value = json.loads(out)
    assert code == 0 and [row["person"] for row in value["people"]] == [
        "place 1, free", "p1", "place 3, free", "place 4, free"
    ]  # fmt: skip
    assert value["people"][1] == {
        "person": "p1", "planned": 3, "finished": 2, "unfinished": 1,
        "hours": pytest.approx((300 + 300 + 2) / 3600),
    }  # fmt: skip


def test_studies_are_listed_and_other_sessions_counted(tmp_path, capsys, plan):
    play(tmp_path, plan, 1, ["success"])
    play(tmp_path, plan, 2, [], reason="")
    record = Journal(tmp_path / f"live/sessions/{7:024x}.jsonl", new=True)
    record.append("opened", at=0.0, **Opening("r", "record", "x", b"", (), 1.0, 9).to_json())
    record.close()
    code, out, _ = type_live(tmp_path, capsys, "ls", "--json")
    value = json.loads(out)
    (row,) = value["studies"]
    assert code == 0 and value["outside_studies"] == 1
    assert (row["study"], row["people"], row["planned"]) == ("pilot", 4, 12)
    assert (row["finished"], row["unfinished"]) == (1, 1)
    assert "1 session outside studies" in type_live(tmp_path, capsys, "ls")[1]


def test_interactions_are_exported_as_csv_without_formulas(tmp_path, capsys, plan):
    play(tmp_path, plan, 1, ["success", ""], text="=1+1, and go.")
    file = tmp_path / "out.csv"
    assert type_live(tmp_path, capsys, "score", "pilot", "--csv", str(file))[0] == 0
    table = parse_csv("out.csv", file.read_bytes())
    first, second = (dict(zip(table.header, row, strict=True)) for row in table.rows)
    assert table.header == list(Interaction._fields)
    assert (first["text"], first["mark"], first["latency_s"]) == ("=1+1, and go.", "success", "2.0")
    assert (second["mark"], second["latency_s"]) == ("unmarked", "")
    assert b"'=1+1" in file.read_bytes()


def test_second_study_of_the_same_agents_overwrites_nothing(tmp_path, capsys, plan):
    play_all(tmp_path, plan)
    assert type_live(tmp_path, capsys, "score", "pilot")[0] == 0
    type_live(tmp_path, capsys, "new", "again", "--agent", "reader", "--people", "1")
    play(tmp_path, load_plan(Workspace.open(tmp_path), "again"), 1, ["failure"], reason="left")
    code, out, _ = type_live(tmp_path, capsys, "score", "again", "--json")
    assert code == 0 and json.loads(out)["agents"][0]["score"] == 0
    rows = pq.read_table(tmp_path / "scores/interactive.parquet").to_pylist()
    assert sorted((row["agent"], row["value"]) for row in rows) == [
        ("reader", 0), ("reader", pytest.approx(2 / 3)), ("rule", 0)
    ]  # fmt: skip


def test_marks_of_scripts_are_stored_as_setter_and_never_as_interactive(tmp_path, capsys, plan):
    play_all(tmp_path, plan, setter="script")
    code, out, _ = type_live(tmp_path, capsys, "score", "pilot", "--json")
    assert code == 0 and json.loads(out)["metric"] == "setter"
    assert [path.name for path in (tmp_path / "scores").iterdir()] == ["setter.parquet"]


def test_sessions_that_broke_off_are_counted_and_not_scored(tmp_path, capsys, plan):
    play(tmp_path, plan, 1, ["success"])
    play(tmp_path, plan, 2, ["failure"], reason="")
    code, out, _ = type_live(tmp_path, capsys, "score", "pilot")
    assert code == 0 and "1 scored session, 0 for practice, 1 broke off" in out
    assert "no interval: one person shows no spread" in out


def test_damaged_journal_or_empty_study_gives_one_line(tmp_path, capsys, plan):
    code, _, err = type_live(tmp_path, capsys, "score", "pilot")
    assert code == 1 and "found none in 0 sessions" in err and err.count("\n") == 1
    play(tmp_path, plan, 1, ["success"])
    path = journal_path(tmp_path, plan, 1)
    path.write_bytes(path.read_bytes().replace(b'"success"', b'"failure"'))
    code, _, err = type_live(tmp_path, capsys, "score", "pilot")
    assert code == 1 and "was altered" in err and err.count("\n") == 1
    assert not (tmp_path / "scores").exists()
