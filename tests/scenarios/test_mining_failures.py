"""Mining from failures, and without candidates that the same agents pass equally often."""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sts.annotations.database.annotation_store import AnnotationStore
from sts.continuations import continuation_store as continuations
from sts.domains import load_domain
from sts.engine.replay import verify
from sts.jobs.pool import create_pool
from sts.storage.workspace import Workspace
from sts.suites import suite_store as suites
from sts.suites.lint import lint_scenarios
from sts.suites.suite import Scenario, Suite
from sts.trajectories import trajectory_store as trajectory_store
from sts.trajectories.trajectory import Player, Trajectory
from sts_annotator_app.curation.drafts import DraftCache
from sts_scenarios.draft.editing import Editor
from sts_scenarios.mining import (
    GatheredSteps,
    MiningTerms,
    failures,
    gather_candidates,
    make_mined,
    response_profiles,
)
from sts_scenarios.mining.building import FAILURE_TAG
from sts_scenarios.mining.request import MiningRequest, run_request
from sts_scenarios.rules import categories
from sts_scenarios.rules.category import Candidate, Category
from sts_scenarios.rules.chance import (
    OpenLoopAgent,
    compute_open_loop_pass_rate,
    compute_pass_rate,
)
from sts_scenarios.rules.profiles import CONTINUATIONS, compute_profile, load_players
from tests.mined import mine
from tests.scenarios.curating import Curation, candidates, recordings, run_commands

CHOSEN = "--category keep-beside --category shadow-evil --category where-is-good"
SHADOW = categories.load_category("shadow-evil")


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Return a workspace with a suite that two agents have played, and its labels."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("failures") / "w"))
    trajectory_store.save(workspace, recordings())
    run_commands(
        workspace.root,
        f"mine asked {CHOSEN} --per-category 4",
        "draft accept asked --all",
        "suite freeze asked",
        "run asked@1 --agent random --agent rule --continuations 4",
        "label asked@1",
    )
    return workspace


@pytest.fixture
def run(workspace: Workspace, capsys: pytest.CaptureFixture[str]) -> Curation:
    return Curation(workspace.root, capsys)


@pytest.fixture(scope="module")
def suite(workspace: Workspace) -> Suite:
    return suites.load(workspace, "asked@1")


@pytest.fixture(scope="module")
def failed(workspace: Workspace, suite: Suite) -> list[Trajectory]:
    return failures.load_failures(workspace, suite)


@pytest.fixture(scope="module")
def draft(workspace: Workspace) -> list[Scenario]:
    agents = "--agent random --agent blind --agent reader"
    words = f"--from-failures asked@1 --failure-share 0.5 --per-category 6 {CHOSEN} {agents}"
    run_commands(workspace.root, f"mine mixed {words}")
    return candidates(workspace, "mixed")


@pytest.fixture(scope="module")
def from_failures(draft: list[Scenario]) -> list[Scenario]:
    return [s for s in draft if FAILURE_TAG in s.tags]


def test_failed_continuations_become_recordings_that_go_on_without_actions(
    workspace, suite, failed
):
    kept = {one.id: one for one in continuations.load(workspace, {s.hash for s in suite.scenarios})}
    asked = {s.hash: s for s in suite.scenarios}
    bad = set()
    for one in kept.values():
        s = asked[one.scenario_hash]
        label = categories.load_category(s.category).label(
            one.episode, s.context, s.players, s.parameters
        )
        bad |= {one.id} if label.verdict != "success" else set()
    assert {t.provenance["continuation"] for t in failed} == bad
    assert 0 < len(bad) < len(kept)
    world = load_domain("lambda-star")
    for t in failed:
        one, until = kept[t.provenance["continuation"]], t.provenance["until"]
        s = asked[one.scenario_hash]
        assert (t.world, t.split, t.instructions) == (s.world, "test", s.instructions)
        assert t.players[s.players[0]].name == one.agent
        assert t.players[1 - s.players[0]] == Player("script", "no-op")
        steps = one.episode.steps
        assert (until, t.episode.steps) == (steps, steps + failures.EXTENSION_STEPS)
        part = t.episode.slice_steps(one.episode.state, 0, until)
        assert part.content_hash == one.episode.content_hash
        assert (t.episode.actions[until:] == world.noop).all() and not t.episode.utterances[
            until:
        ].any()
    assert verify([t.episode for t in failed]) == [None] * len(failed)


def after_takeover(category: Category) -> Category:
    """Return a category that is queried step by step, at the steps that failed agents reached."""

    def candidates(trajectory: Trajectory, context: int, horizon: int) -> Iterator[Candidate]:
        origin = trajectory.provenance
        last = origin["until"] - (horizon if category.partner == "replay" else 0)
        for candidate in category.candidates(trajectory, context, horizon):
            is_after = origin["takeover"] < candidate.step <= last
            if is_after and candidate.player in origin["roles"]:
                yield candidate

    return dataclasses.replace(category, candidates=candidates, prefilter=None)


def gather(failed: list[Trajectory], category: Category, terms: MiningTerms) -> GatheredSteps:
    parts = failures.split_into_parts(failed)
    assert len(parts) > 2
    with create_pool(1, 1) as here:
        return gather_candidates(parts, lambda: [category], terms, here)


@pytest.mark.parametrize(
    ("name", "partner"),
    [
        ("shadow-evil", "no-op"),
        ("when-evil", "no-op"),
        ("when-evil", "replay"),
        ("keep-beside", "no-op"),
        ("clean-take", "no-op"),
        ("evade-or-shadow", "no-op"),
    ],
)
def test_batched_search_of_failures_finds_what_step_by_step_queries_find(
    failed, monkeypatch, name, partner
):
    monkeypatch.setattr(failures, "_BATCH_SIZE", 20)
    category = dataclasses.replace(categories.load_category(name), partner=partner)
    terms = MiningTerms({name: 5}, seed=3, from_failures=True, per_world=2)
    plain = mine(failed, [after_takeover(category)], per_category=5, seed=3, per_world=2)
    batched = make_mined(gather(failed, category, terms), [category], terms)
    assert [s.hash for s in batched.scenarios] == [s.hash for s in plain.scenarios] != []
    assert batched.candidates == plain.candidates
    assert batched.strata == plain.strata
    assert batched.worlds == plain.worlds
    assert batched.sampled == {}


def test_failures_are_mined_alike_by_any_number_of_processes(workspace, draft):
    done: list[tuple[int, int]] = []
    order = MiningRequest(
        tuple(CHOSEN.split()[1::2]),
        per_category=6,
        from_failures="asked@1",
        failure_share=0.5,
        agents=("random", "blind", "reader"),
        workers=2,
    )
    made = run_request(
        order, workspace, existing=(), last={}, progress=lambda *now: done.append(now)
    )
    assert {s.id: s.hash for s in made.mined.scenarios} == {s.id: s.hash for s in draft}
    assert done[-1] == (made.in_split + made.failed,) * 2


def test_partner_that_repeats_a_recording_is_not_asked_after_its_end(failed, monkeypatch):
    monkeypatch.setattr(failures, "_BATCH_SIZE", 20)
    name, when = "when-evil", categories.load_category("when-evil")
    terms = MiningTerms({name: 1000}, seed=0, from_failures=True)
    for partner, steps in (("no-op", 0), ("replay", when.horizon)):
        gathered = gather(failed, dataclasses.replace(when, partner=partner), terms)
        picks = gathered.picks([(when, offer) for offer in gathered.offered[name].offers])
        spare = [t.provenance["until"] - steps - one.step for t, one in picks]
        assert spare and min(spare) >= 0


def test_stated_share_comes_from_failures_after_their_takeover(draft, failed):
    sources = {t.id: t for t in failed}
    names = {"shadow-evil", "where-is-good", "keep-beside"}
    for name in names:
        own = [s for s in draft if s.category == name]
        assert (len(own), sum(FAILURE_TAG in s.tags for s in own)) == (6, 3)
    for s in draft:
        assert (FAILURE_TAG in s.tags) == (s.trajectory in sources)
        assert (FAILURE_TAG in s.tags) == s.provenance["source"].startswith("sts run asked@1 ")
        if FAILURE_TAG in s.tags:
            rule, source = s.provenance["chosen_by"], sources[s.trajectory].provenance
            assert (rule["failures"], rule["share"]) == ("asked@1", 0.5)
            assert f"{CONTINUATIONS} continuations" in rule["kept_where"]
            assert set(rule["chance"]) == names
            assert s.provenance["continuation"] == source["continuation"]
            assert source["takeover"] < s.step <= source["until"]
            assert s.players[0] in source["roles"]
    assert len({s.id for s in draft}) == len(draft) and lint_scenarios(draft) == []


def test_some_agent_passes_each_kept_candidate_above_chance(workspace, from_failures):
    for s in from_failures:
        least = s.provenance["chosen_by"]["chance"][s.category]
        editor = Editor(s, failures.load_recording(workspace, s))
        first = editor.preview({"template": 0}).scenario  # in which moments are tried
        passed = compute_profile(first, ("random", "blind", "reader")).passed.values()
        assert any(one.successes > least * one.of for one in passed)


def test_candidates_that_no_agent_passes_above_chance_are_passed_over(failed):
    keep = failures.make_passable_filter({"shadow-evil": 1.0}, ("random",))
    found = mine(failed, [after_takeover(SHADOW)], per_category=1, seed=0, pick_filter=keep)
    assert not found.scenarios
    assert found.passed_over["shadow-evil"] > 0 and found.candidates["shadow-evil"] > 0


def test_candidate_from_a_failure_is_edited_by_command_and_on_the_page(run, from_failures):
    one = from_failures[0]
    assert failures.load_recording(run.workspace, one).id == one.trajectory
    assert "context: 10 -> 9" in run(f"draft edit mixed {one.id} --context 9")
    with AnnotationStore.open(run.workspace) as store:
        opened = DraftCache(run.workspace).open_draft("mixed", store)
    last = from_failures[-1]
    assert opened.editor(last.id, "").preview({"context": 8}).scenario.context == 8


def test_next_version_takes_failures_in_its_own_worlds_with_per_world_2(run, suite):
    mine = "mine asked --from-failures asked@1 --category shadow-evil --failure-share 1"
    mine += " --agent blind --agent reader --per-category 20"
    run("draft new --from asked@1 --overwrite")
    run(mine)
    run(f"{mine} --max-per-environment 2")
    steps: dict[str, list[int]] = {}
    begins = {t.id: t.provenance["begins"] for t in failures.load_failures(run.workspace, suite)}
    for s in (s for s in candidates(run.workspace, "asked") if s.category == "shadow-evil"):
        at = s.step + begins.get(s.trajectory, 0)
        steps.setdefault(s.world, []).append(at)
    assert max(map(len, steps.values())) == 2
    assert all(len(one) == 1 or abs(one[0] - one[1]) >= 10 for one in steps.values())


def test_chance_is_the_pass_rate_of_the_best_open_loop_policy(suite):
    names = ("keep-beside", "where-is-good")
    beside, where = ([s for s in suite.scenarios if s.category == name] for name in names)
    keep, ask = map(categories.load_category, names)
    answers = [s.parameters["answer"] for s in where]
    most = max(map(answers.count, answers)) / len(answers)
    assert compute_open_loop_pass_rate(ask, where, continuations=2) == most
    world = load_domain("lambda-star")
    straight = [OpenLoopAgent(world, [move], [0]) for move in (0, 1, 2)]
    rates = [compute_pass_rate(keep, beside, agent, continuations=2) for agent in straight]
    assert compute_open_loop_pass_rate(keep, beside, continuations=2) >= max(rates)
    assert compute_open_loop_pass_rate(keep, [], continuations=2) == 0.0


def test_unlike_keeps_one_candidate_per_response_profile(run):
    agents = "--agent blind --agent rule"
    words = f"--category shadow-evil --category count-others --per-category 2 {agents}"
    printed = json.loads(run(f"mine apart --distinct-profiles {words} --json"))
    assert "count-others has few to keep" in run.warnings
    every = candidates(run.workspace, "apart")
    for name in ("shadow-evil", "count-others"):
        own = [compute_profile(s, ("blind", "rule")).passed for s in every if s.category == name]
        assert all(one not in own[:n] for n, one in enumerate(own)) and own
    assert all(s.provenance["chosen_by"] == {"unlike": ["blind", "rule"]} for s in every)
    rows = {row["category"]: row["chosen"] for row in printed["categories"]}
    assert rows["count-others"] == 1
    more = f"mine apart --distinct-profiles --category count-others --per-category 1 {agents}"
    assert "are kept" in run(more, code=1)  # since the draft has one like them


def test_profiled_agents_default_to_those_of_the_worlds_categories():
    assert response_profiles.list_profiled_agents(["lambda-star"], ()) == list(
        load_players("lambda-star")
    )
    assert response_profiles.list_profiled_agents(["lambda-star"], ("rule", "babyai-bot")) == [
        "rule"
    ]


FAILED = "--from-failures asked@1"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (
            f"{FAILED} --failure-share 0",
            2,
            "expected --failure-share above 0 and at most 1, found 0",
        ),
        (
            f"{FAILED} --failure-share 1.5",
            2,
            "expected --failure-share above 0 and at most 1, found 1.5",
        ),
        (f"{FAILED} --failure-share nan", 2, "--failure-share: expected a number, found 'nan'"),
        (
            f"{FAILED} --failure-share 0.05",
            2,
            "--failure-share 0.05 of 10 scenarios is less than one scenario",
        ),
        (f"{FAILED} --agent nobody", 2, "unknown agent 'nobody'"),
        (f"{FAILED} --agent babyai-bot", 2, "the categories of lambda-star list no agents"),
        (f"{FAILED} --split train", 2, "or --from-failures with --split train"),
        ("--failure-share 0.3", 2, "expected --from-failures with --failure-share"),
        ("--agent rule", 2, "expected --distinct-profiles or --from-failures with --agent"),
        ("--from-failures nothing@1", 2, "unknown suite 'nothing"),
        ("--from-failures core@2", 1, "core@2 has no continuations; make some"),
        (
            "--distinct-profiles --split train",
            2,
            "no --distinct-profiles, --discriminating-share or --from-failures",
        ),
    ],
)
def test_invalid_selection_by_failures_is_refused(run, words, code, said):
    assert said in run(f"mine none {words}", code=code)
    assert not run.exists("none")


def test_suite_without_failures_is_refused(run):
    run("mine easy --category count-others --per-category 1")
    run("draft accept easy --all")
    run("suite freeze easy")
    run("run easy@1 --agent reader --continuations 2")
    run("label easy@1")
    said = run("mine none --from-failures easy@1", code=1)
    assert "no continuation of easy@1 failed by its labels: there are no failures" in said
    assert not run.exists("none")


def test_failures_without_candidates_are_refused(run, failed):
    words = ("--category", "when-evil", "--where", "step > 1000")
    said = run("mine", "none", *FAILED.split(), *words, code=1)
    assert f" and {len(failed)} failed continuations of asked@1, none of lambda-star" in said
    assert not run.exists("none")


def test_missing_or_torn_labels_are_refused(run):
    table: Path = run.workspace.path("labels", "asked-1.parquet")
    raw = table.read_bytes()
    try:
        table.unlink()
        said = run(f"mine none {FAILED}", code=1)
        assert said.endswith("asked@1 has no labels; run sts label asked@1")
        table.write_bytes(b"torn")
        run(f"mine none {FAILED}", code=1)
    finally:
        table.write_bytes(raw)
    assert not run.exists("none")
