"""Mining from failures, and without candidates that the same agents pass equally often."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

from sts.annotations.store import Store
from sts.cli.main import main
from sts.continuations import store as continuations
from sts.domains import domain
from sts.engine.replay import verify
from sts.storage.workspace import Workspace
from sts.suites import store as suites
from sts.suites.drafts import open_draft
from sts.suites.lint import lint
from sts.suites.types import Scenario, Suite
from sts.trajectories import store as trajectories
from sts.trajectories.types import Participant, Trajectory
from sts_annotator_app.curation.drafts import Drafts
from sts_scenarios import categories, mining
from sts_scenarios.editing import Editor
from sts_scenarios.mining import failures, telling
from sts_scenarios.mining.chance import OpenLoopAgent, open_loop_pass_rate, pass_rate
from sts_scenarios.mining.making import FAILURE_TAG
from sts_scenarios.profiles import CONTINUATIONS, compute_profile, load_players
from tests.examples import recorded

AGENTS = ("--agent", "random", "--agent", "blind", "--agent", "reader")


def sts(workspace: Workspace, *words: str) -> int:
    return main([*words, "--workspace", str(workspace.root)])


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """Of a suite that two agents have played, and its labels."""
    workspace = Workspace.open(str(tmp_path_factory.mktemp("failures") / "w"))
    every = recorded(count=60, team=2, steps=40, height=8, width=9, seed=5)
    trajectories.save(workspace, every)
    chosen = [w for c in ("keep-beside", "shadow-evil", "where-is-good") for w in ("--category", c)]
    for line in (
        ("mine", "asked", *chosen, "--per-category", "4"),
        ("draft", "accept", "asked", "--all"),
        ("suite", "freeze", "asked"),
        ("run", "asked@1", "--agent", "random", "--agent", "rule", "--continuations", "4"),
        ("label", "asked@1"),
    ):
        assert sts(workspace, *line) == 0
    return workspace


@pytest.fixture(scope="module")
def suite(workspace: Workspace) -> Suite:
    return suites.load(workspace, "asked@1")


@pytest.fixture(scope="module")
def failed(workspace: Workspace, suite: Suite) -> list[Trajectory]:
    return failures.load_failures(workspace, suite)


@pytest.fixture(scope="module")
def draft(workspace: Workspace) -> list[Scenario]:
    words = ("--from-failures", "asked@1", "--share", "0.5", "--per-category", "6")
    chosen = [w for c in ("shadow-evil", "where-is-good", "keep-beside") for w in ("--category", c)]
    assert sts(workspace, "mine", "mixed", *words, *chosen, *AGENTS) == 0
    made = open_draft(workspace, "mixed")
    return [made.candidate(id) for id in made.ids()]


def test_a_failed_continuation_is_a_recording_of_its_scenarios_world(
    workspace: Workspace, suite: Suite, failed: list[Trajectory]
) -> None:
    kept = {one.id: one for one in continuations.load(workspace, {s.hash for s in suite.scenarios})}
    rules = categories.installed()
    asked = {s.hash: s for s in suite.scenarios}
    bad = set()
    for one in kept.values():
        s = asked[one.scenario_hash]
        label = rules[s.category].label(one.episode, s.takeover, s.roles, s.parameters)
        bad |= {one.id} if label.verdict != "success" else set()
    assert {t.provenance["continuation"] for t in failed} == bad
    assert 0 < len(bad) < len(kept)
    for t in failed:
        one = kept[t.provenance["continuation"]]
        s = asked[one.scenario_hash]
        assert (t.world, t.split, t.instructions) == (s.world, "test", s.instructions)
        assert t.participants[s.roles[0]].name == one.agent
        assert t.participants[1 - s.roles[0]] == Participant("script", "no-op")


def test_a_failed_continuations_world_goes_on_with_nobody_acting(
    workspace: Workspace, suite: Suite, failed: list[Trajectory]
) -> None:
    kept = {one.id: one for one in continuations.load(workspace, {s.hash for s in suite.scenarios})}
    for t in failed:
        one, until = kept[t.provenance["continuation"]].episode, t.provenance["until"]
        assert (until, t.episode.steps) == (one.steps, one.steps + failures.EXTENSION_STEPS)
        assert t.episode.part(one.state, 0, until).content_hash == one.content_hash
        assert (t.episode.moves[until:] == domain("lambda-star").noop).all()
        assert not t.episode.says[until:].any()
    assert verify(domain("lambda-star"), [t.episode for t in failed]) == [None] * len(failed)


def test_partners_that_repeat_a_recording_have_nothing_to_repeat_after_its_end(
    failed: list[Trajectory],
) -> None:
    shadow = failures.restrict_to_takeover(categories.named("shadow-evil"))
    repeated = dataclasses.replace(categories.named("shadow-evil"), partner="replay")
    for t in failed:
        last = t.provenance["until"]
        assert all(one.moment <= last for one in shadow.moments(t))
        own = failures.restrict_to_takeover(repeated).moments(t)
        assert all(one.moment + repeated.horizon <= last for one in own)


def test_the_stated_share_comes_from_failures_and_says_so(
    draft: list[Scenario], failed: list[Trajectory]
) -> None:
    sources = {t.id: t for t in failed}
    for name, expected in (("shadow-evil", 3), ("where-is-good", 3), ("keep-beside", 3)):
        own = [s for s in draft if s.category == name]
        from_failures = [s for s in own if FAILURE_TAG in s.tags]
        assert (len(own) - len(from_failures), len(from_failures)) == (3, expected)
        for s in own:
            assert (FAILURE_TAG in s.tags) == (s.trajectory in sources)
            assert (FAILURE_TAG in s.tags) == s.provenance["source"].startswith("sts run asked@1 ")
        for s in from_failures:
            rule = s.provenance["chosen_by"]
            assert (rule["failures"], rule["share"]) == ("asked@1", 0.5)
            assert f"{CONTINUATIONS} continuations" in rule["kept_where"]
            assert set(rule["chance"]) == {"shadow-evil", "where-is-good", "keep-beside"}
            assert s.provenance["continuation"] == sources[s.trajectory].provenance["continuation"]
    assert len({s.id for s in draft}) == len(draft)
    assert lint(draft) == []


def test_whoever_failed_is_asked_after_they_had_come_there(
    draft: list[Scenario], failed: list[Trajectory]
) -> None:
    sources = {t.id: t for t in failed}
    for s in (one for one in draft if FAILURE_TAG in one.tags):
        own = sources[s.trajectory].provenance
        assert own["takeover"] < s.context_start + s.takeover <= own["until"]
        assert s.roles[0] in own["roles"]


def test_what_is_kept_somebody_passes_above_chance(
    workspace: Workspace, draft: list[Scenario]
) -> None:
    for s in (one for one in draft if FAILURE_TAG in one.tags):
        least = s.provenance["chosen_by"]["chance"][s.category]
        editor = Editor(s, failures.recording_of(workspace, s))
        first = editor.preview({"wording": 0}).scenario  # in which moments are tried
        passed = compute_profile(first, ("random", "blind", "reader")).passed.values()
        assert any(one.successes > least * one.of for one in passed)


def test_what_nobody_passes_above_chance_is_passed_over(failed: list[Trajectory]) -> None:
    shadow = failures.restrict_to_takeover(categories.named("shadow-evil"))
    keep = failures.make_passable_filter({"shadow-evil": 1.0}, ("random",))
    found = mining.mine(failed, [shadow], per_category=1, seed=0, keep=keep)
    assert not found.scenarios
    assert found.passed_over["shadow-evil"] > 0
    assert found.candidates["shadow-evil"] > 0


def test_failures_in_any_order_give_the_same(failed: list[Trajectory]) -> None:
    shadow = failures.restrict_to_takeover(categories.named("shadow-evil"))
    both = [
        mining.mine(order, [shadow], per_category=3, seed=0).scenarios
        for order in (failed, failed[::-1])
    ]
    assert [s.row_hash for s in both[0]] == [s.row_hash for s in both[1]] != []


def test_a_candidate_from_a_failure_is_edited_like_any_other(
    workspace: Workspace, draft: list[Scenario], capsys: pytest.CaptureFixture[str]
) -> None:
    one = next(s for s in draft if FAILURE_TAG in s.tags)
    again = failures.recording_of(workspace, one)
    assert again.id == one.trajectory
    assert sts(workspace, "draft", "edit", "mixed", one.id, "--context", "9") == 0
    assert "context: 10 -> 9" in capsys.readouterr().out


def test_the_curators_page_opens_a_candidate_from_a_failure_like_any_other(
    workspace: Workspace, draft: list[Scenario]
) -> None:
    one = next(one for one in draft if "continuation" in one.provenance)
    with Store.open(workspace) as store:
        opened = Drafts(workspace).open_draft("mixed", store)
    assert opened.editor(one.id, "").preview({"context": 8}).scenario.takeover == 8


def test_the_next_version_takes_failures_of_its_own_worlds_where_a_world_may_give_two(
    workspace: Workspace, suite: Suite, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        "mine",
        "asked",
        "--from-failures",
        "asked@1",
        "--category",
        "shadow-evil",
        "--share",
        "1",
    )
    agents = ("--agent", "blind", "--agent", "reader", "--per-category", "20")
    assert sts(workspace, "draft", "from", "asked@1", "--replace") == 0
    assert sts(workspace, *words, *agents) == 0
    assert sts(workspace, *words, *agents, "--per-world", "2") == 0
    draft = open_draft(workspace, "asked")
    steps: dict[str, list[int]] = {}
    begins = {t.id: t.provenance["begins"] for t in failures.load_failures(workspace, suite)}
    for s in (draft.candidate(id) for id in draft.ids() if id.startswith("shadow-evil")):
        at = s.context_start + s.takeover + begins.get(s.trajectory, 0)
        steps.setdefault(s.world, []).append(at)
    assert max(map(len, steps.values())) == 2
    for one in steps.values():
        assert len(one) == 1 or abs(one[0] - one[1]) >= 10


def test_chance_is_what_the_best_policy_without_eyes_passes(suite: Suite) -> None:
    rule = {
        c: [s for s in suite.scenarios if s.category == c] for c in ("keep-beside", "where-is-good")
    }
    beside, where = (categories.named(name) for name in rule)
    answers = [s.parameters["answer"] for s in rule["where-is-good"]]
    most = max(map(answers.count, answers)) / len(answers)
    assert open_loop_pass_rate(where, rule["where-is-good"], continuations=2) == most
    world = domain("lambda-star")
    straight = [
        pass_rate(beside, rule["keep-beside"], OpenLoopAgent(world, [move], [0]), continuations=2)
        for move in (0, 1, 2)
    ]
    assert open_loop_pass_rate(beside, rule["keep-beside"], continuations=2) >= max(straight)
    assert open_loop_pass_rate(beside, [], continuations=2) == 0.0


def test_no_two_of_a_category_have_one_profile_where_that_is_asked(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = ("--category", "shadow-evil", "--category", "count-others", "--per-category", "2")
    agents = ("--agent", "blind", "--agent", "rule")
    assert sts(workspace, "mine", "apart", "--unlike", *chosen, *agents, "--json") == 0
    printed = capsys.readouterr()
    made = open_draft(workspace, "apart")
    every = [made.candidate(id) for id in made.ids()]
    for name in ("shadow-evil", "count-others"):
        own = [compute_profile(s, ("blind", "rule")).passed for s in every if s.category == name]
        assert all(one not in own[:n] for n, one in enumerate(own)) and own
    assert "count-others has few to keep" in printed.err
    assert all(s.provenance["chosen_by"] == {"unlike": ["blind", "rule"]} for s in every)
    rows = {row["category"]: row["chosen"] for row in json.loads(printed.out)["categories"]}
    assert rows["count-others"] == 1
    words = ("--unlike", "--category", "count-others", "--per-category", "1", *agents)
    assert sts(workspace, "mine", "apart", *words) == 1
    assert "are kept" in capsys.readouterr().err  # since the draft has one like them


def test_who_tells_apart_is_named_by_the_categories_of_the_world() -> None:
    assert telling.profile_agents(["lambda-star"], ()) == list(load_players("lambda-star"))
    assert telling.profile_agents(["lambda-star"], ("rule", "babyai-bot")) == ["rule"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--share", "0"), "expected --share above 0 and at most 1, found 0"),
        (("--share", "1.5"), "expected --share above 0 and at most 1, found 1.5"),
        (("--share", "nan"), "--share: expected a number, found 'nan'"),
        (("--share", "0.05"), "--share 0.05 of 10 scenarios is less than one scenario"),
        (("--agent", "nobody"), "unknown agent 'nobody'"),
        (("--agent", "babyai-bot"), "the categories of lambda-star list no agents"),
        (("--split", "train"), "or --from-failures with --split train"),
    ],
)
def test_a_share_that_is_none_is_one_line(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert sts(workspace, "mine", "none", "--from-failures", "asked@1", *words) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not workspace.path("drafts", "none").exists()


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--share", "0.3"), 2, "expected --from-failures with --share"),
        (("--agent", "rule"), 2, "expected --unlike or --from-failures with --agent"),
        (("--from-failures", "nothing@1"), 2, "unknown suite 'nothing"),
        (("--from-failures", "core@1"), 1, "core@1 has no continuations; make some"),
        (("--unlike", "--split", "train"), 2, "no --unlike, --by-effect or --from-failures"),
    ],
)
def test_what_cannot_be_asked_for_together_is_one_line(
    workspace: Workspace,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    code: int,
    said: str,
) -> None:
    assert sts(workspace, "mine", "none", *words) == code
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1
    assert not workspace.path("drafts", "none").exists()


def test_without_labels_or_failures_nothing_is_mined_from_them(
    workspace: Workspace, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = workspace.path("labels", "asked-1.parquet")
    mine = ("mine", "none", "--from-failures", "asked@1")
    raw = table.read_bytes()
    try:
        table.unlink()
        assert sts(workspace, *mine) == 1
        assert re.search(
            r"asked@1 has no labels; run sts label asked@1\n$", capsys.readouterr().err
        )
        table.write_bytes(b"torn")
        assert sts(workspace, *mine) == 1
        assert capsys.readouterr().err.count("\n") == 1
    finally:
        table.write_bytes(raw)
    assert not workspace.path("drafts", "none").exists()
