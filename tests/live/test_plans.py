"""Plans of live evaluations: hidden names, worlds, files and their errors."""

import json
import re

import msgspec
import pytest

from sts import agents as registry
from sts.domains import load_domain
from sts.errors import ArgumentError, DamagedData, NewerFormat, StsError
from sts.live.openings import open_evaluation
from sts.live.plans import Plan, list_studies, load_plan, make_plan, plan_path, save_plan
from sts.live.prompts import load_prompts, parse_prompts
from sts.storage.files import canonical_json
from sts.storage.workspace import Workspace
from sts.trajectories.trajectory import get_split

NAMES = ("reader", "rule", "blind", "local-search")


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan("pilot", NAMES, people=6, minutes=3, seed=2)


def test_everyone_practises_once_and_then_meets_every_agent(plan):
    for person in range(6):
        cells = [cell for cell in plan.cells if cell.person == person]
        assert [cell.order for cell in cells] == [0, 1, 2, 3, 4]
        assert [cell.practice for cell in cells] == [True] + [False] * 4
        assert [plan.agent_of(cells[0]).name] == ["random"]
        assert {plan.agent_of(cell).name for cell in cells[1:]} == {*NAMES}
    assert plan.person_hours == 6 * 5 * 3 / 60
    assert plan.agents[0].fingerprint == registry.fingerprint(registry.load("reader"))


def test_each_session_has_a_world_of_its_own(plan):
    assert len({cell.seed for cell in plan.cells}) == len(plan.cells)
    other = make_plan("pilot", NAMES, people=6, minutes=3, seed=3)
    assert not {cell.seed for cell in plan.cells} & {cell.seed for cell in other.cells}


def test_same_arguments_give_the_same_plan(plan):
    assert make_plan("pilot", NAMES, people=6, minutes=3, seed=2) == plan
    assert make_plan("pilot", NAMES, people=6, minutes=3, seed=3) != plan


def test_people_of_a_rehearsal_are_called_scripts(plan):
    trial = make_plan("pilot", NAMES, people=6, minutes=3, seed=2, rehearsal=True)
    assert plan.person_hours > trial.person_hours == 0
    for study, kind in ((plan, "human"), (trial, "script")):
        setter, agent = open_evaluation(study, 1, "p-1").participants
        assert (setter.kind, setter.name, agent.kind) == (kind, "p-1", "agent")


def test_saved_plan_is_read_back_and_never_overwritten(plan, tmp_path):
    workspace = Workspace.open(tmp_path)
    path = save_plan(workspace, plan)
    before = path.read_bytes()
    assert load_plan(workspace, "pilot") == plan and list_studies(workspace) == ["pilot"]
    with pytest.raises(ArgumentError, match="study 'pilot' already exists"):
        save_plan(workspace, make_plan("pilot", NAMES[:2], people=1))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"format": "live-plan/2"}, NewerFormat, "live-plan format 2; this version reads up to 1"),
        ({"format": "suite/1"}, DamagedData, "expected format live-plan/1, found 'suite/1'"),
        ({"people": 5}, DamagedData, "same number of sessions for each person"),
        ({"agents": []}, DamagedData, "not a plan of a live study"),
        ({"minutes": "3"}, DamagedData, "Expected `float`, got `str`"),
        ({"name": "other"}, DamagedData, "expected the plan of pilot, found that of 'other'"),
        ({"split": "both"}, DamagedData, "expected a split of train, test, any, found 'both'"),
        ({"surprise": 1}, DamagedData, "unknown field `surprise`"),
    ],
)
def test_damaged_or_newer_plan_gives_one_sentence(plan, tmp_path, change, error, text):
    workspace = Workspace.open(tmp_path)
    path = plan_path(workspace, "pilot")
    path.parent.mkdir(parents=True)
    path.write_bytes(canonical_json(msgspec.to_builtins(plan) | change))
    with pytest.raises(error, match=re.escape(text)) as failure:
        load_plan(workspace, "pilot")
    assert "\n" not in str(failure.value)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(StsError, match=r"plan\.json"):
        load_plan(workspace, "pilot")


@pytest.mark.parametrize(
    ("names", "more", "text"),
    [
        (["reader"], {"sessions_per_person": 2}, "--sessions-per-person: expected 1 to 1, found 2"),
        (["reader", "reader"], {}, "expected each agent once"),
        (["random"], {}, "expected --domain, or agents of one domain"),
        (["babyai-bot"], {"domain": "lambda-star"}, "plays only in babyai"),
        (["reader"], {"people": 0}, "--people: expected 1 to 500, found 0"),
        (["reader"], {"split": "both"}, "--split: expected one of train, test, any, found 'both'"),
        (["reader"], {"tick": 0.0}, "--tick: expected 0.02 to 60, found 0.0"),
    ],
)
def test_impossible_study_is_refused(names, more, text):
    with pytest.raises(ArgumentError, match=re.escape(text)):
        make_plan("x", names, **{"people": 2} | more)


def test_plan_in_test_worlds_draws_only_these_and_says_so(tmp_path):
    workspace = Workspace.open(tmp_path)
    for name, split in (("some", "test"), ("all", "any")):
        planned = make_plan(name, ["reader"], people=4, split=split)
        stored = json.loads(save_plan(workspace, planned).read_bytes())
        assert ("split" in stored) == (split == "test")
        assert load_plan(workspace, name) == planned
        openings = [open_evaluation(planned, n, "a") for n in range(len(planned.cells))]
        world = load_domain("lambda-star").world_id
        found = {get_split(world(opening.state)) for opening in openings}
        assert found == ({"test"} if split == "test" else {"test", "train"})


@pytest.mark.parametrize("domain", ["lambda-star", "babyai", "overcooked", "elsewhere:Garden"])
def test_packaged_prompts_cover_each_kind_and_difficulty(domain, monkeypatch):
    monkeypatch.setattr("sts.live.prompts.code_path", lambda name: PATHS[name])
    prompts = load_prompts(domain)
    assert {prompt.kind for prompt in prompts} == {"instruction", "question", "play"}
    for kind in ("instruction", "question"):
        levels = {prompt.difficulty for prompt in prompts if prompt.kind == kind}
        assert levels == {"easy", "medium", "hard"}
    assert "Ask the other player to bring you something." in {prompt.text for prompt in prompts}


PATHS = {
    "lambda-star": "sts_lambda_star.domain:LambdaStar",
    "babyai": "sts_babyai.environment:BabyAI",
    "overcooked": "sts_overcooked.environment:Overcooked",
    "elsewhere:Garden": "tests.live.examples:Garden",
}


def test_prompts_of_a_lab_are_read_and_those_of_other_domains_left_out(tmp_path):
    file = tmp_path / "ours.toml"
    line = '[[prompt]]\nkind = "play"\ndifficulty = "hard"\ntext = "{}"\n{}\n'
    file.write_text(line.format("Juggle.", 'domains = ["garden"]') + line.format("Sing.", ""))
    assert [prompt.text for prompt in load_prompts("garden", file)] == ["Juggle.", "Sing."]
    assert [prompt.text for prompt in load_prompts("pond", file)] == ["Sing."]
    file.write_text(line.format("Sing.", "") * 2)
    with pytest.raises(DamagedData, match="expected each prompt once, found 'Sing.' twice"):
        load_prompts("pond", file)
    file.write_text(line.format("Sing.", 'domains = ["garden"]'))
    with pytest.raises(DamagedData, match="expected 1 to 1000 prompts for pond, found 0"):
        load_prompts("pond", file)


@pytest.mark.parametrize(
    ("old", "new"),
    [('"play"', '"task"'), ('"hard"', '"awful"'), ("Sing.", ""), ("Sing.", "a\\tb"),
     ("text", "words"), ("[[prompt]]", "[[promp"), ("Sing.", "a" * 201)],
)  # fmt: skip
def test_invalid_file_of_prompts_gives_one_sentence(old, new):
    raw = '[[prompt]]\nkind = "play"\ndifficulty = "hard"\ntext = "Sing."\n'
    with pytest.raises(DamagedData, match="^ours.toml: not a file of prompts: ") as failure:
        parse_prompts("ours.toml", raw.replace(old, new).encode())
    assert "\n" not in str(failure.value)
