"""Claims about all classes with small alphabets, their agents, and their anytime test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sts import agents
from sts.cli.main import main
from sts.engine import lockstep
from sts.engine.session import Team
from sts.errors import ArgumentError, DamagedState
from sts.numerics.streams import streams
from sts.storage.files import content_hash
from sts.storage.scores import read_score_rows
from sts_analysis.measures.anytime import choose_next
from sts_analysis.measures.classes import load_class
from tests import golden
from tests.programs import require_package
from tests.test_docs import ROOT, blocks

CLASSES = ("automata", "cups", "playground")
EACH = pytest.mark.parametrize("name", CLASSES)


def choose_states(name: str, count: int) -> list[bytes]:
    """Return environments of all complexities, as the anytime test chooses them."""
    classes, used, states, level = load_class(name), set[bytes](), [], 1.0
    for index in range(count):
        level, one = choose_next(classes, level, n_players=1, key=(0, index), used=used)
        assert one.state not in used
        used.add(one.state)
        states.append(one.state)
        level = level * 1.1 if classes.highest is None or level < classes.highest else 1.0
    return states


def play(name: str, agent: str, states: list[bytes], steps: int) -> Any:
    domain = load_class(name).domain
    own = streams(("test", agent), [(i,) for i in range(len(states))])
    team = Team(agents.load(agent), (0,), own)
    return lockstep.play_episodes(domain, domain.restore(states), [team], steps=steps)


@EACH
def test_random_agent_gets_0(name: str) -> None:
    """The first 100 of 600 steps depend on the start."""
    means = play(name, "random", choose_states(name, 150), 600).rewards[:, 100:, 0].mean(1)
    assert abs(means.mean()) < 4 * means.std(ddof=1) / len(means) ** 0.5
    assert means.std() > 0


@EACH
def test_rewards_are_between_minus_1_and_1_and_depend_on_the_actions(name: str) -> None:
    states = choose_states(name, 60)
    names = ("symbols-constant-0", "symbols-constant-1", "random")
    rewards = np.array([play(name, agent, states, 40).rewards[:, :, 0] for agent in names])
    assert np.abs(rewards).max() <= 1
    assert (np.ptp(rewards, axis=0) > 0).any(1).all()


@EACH
def test_restored_state_goes_on_as_the_original(name: str) -> None:
    domain = load_class(name).domain
    worlds = domain.restore(choose_states(name, 40))
    generator = np.random.default_rng(0)
    plan = generator.integers(0, len(domain.action_names), (30, 40, 1)).astype(np.int8)
    again = worlds
    for step, actions in enumerate(plan):
        if step == 7:
            again = domain.restore(worlds.states())
        for own in {id(worlds): worlds, id(again): again}.values():
            own.step(actions, np.zeros_like(actions))
        pair = [own.observe((0,), team=(0,), world=False) for own in (worlds, again)]
        for seen, same in zip(*pair, strict=True):
            np.testing.assert_array_equal(seen, same)
    assert worlds.states() == again.states()
    kept = np.array([3, 1])
    assert worlds.select(kept).states() == [again.states()[row] for row in kept]


@EACH
@pytest.mark.parametrize("change", ["", "{}", "[]", "3", "cut", "kind", "more", "far", "text"])
def test_invalid_state_is_refused(name: str, change: str) -> None:
    domain = load_class(name).domain
    (state,) = choose_states(name, 1)
    broken = {
        "cut": state[:-3],
        "kind": state.replace(b'"kind":"', b'"kind":"no'),
        "more": state.replace(b"{", b'{"a":1,', 1),
        "far": state.replace(b'"step":0', b'"step":-1'),
        "text": state.replace(b'"step":0', b'"step":"0"'),
    }.get(change, change.encode())
    assert broken != state
    with pytest.raises(DamagedState, match="expected states of"):
        domain.restore([state, broken])


@EACH
def test_learner_scores_more_than_random(name: str) -> None:
    states = choose_states(name, 100)
    gain = play(name, "symbols-q-table", states, 600).rewards[:, 300:, 0].mean(1)
    gain = gain - play(name, "random", states, 600).rewards[:, 300:, 0].mean(1)
    assert gain.mean() > 4 * gain.std(ddof=1) / len(gain) ** 0.5


@pytest.mark.parametrize("agent", ["constant-0", "constant-1", "win-stay", "q-table"])
def test_packaged_agent_behaves_as_its_version_states(agent: str) -> None:
    name = f"symbols-{agent}"
    parts = []
    for of in ("automata", "cups"):
        states = load_class(of).list_environments()  # type: ignore[attr-defined]
        parts.append(play(of, name, states, 40).actions.tobytes())
    golden.check(f"agent {name}", agents.load(name).version, content_hash(*parts)[:16])


def test_win_stay_repeats_what_was_rewarded_and_shifts_otherwise() -> None:
    played = play("automata", "symbols-win-stay", choose_states("automata", 50), 20)
    actions, won = played.actions[:, :, 0], played.rewards[:, :-1, 0] > 0
    assert (actions[:, 0] == 0).all() and won.any() and not won.all()
    np.testing.assert_array_equal(
        actions[:, 1:], np.where(won, actions[:, :-1], 1 - actions[:, :-1])
    )


def test_learner_learns_nothing_from_the_change_of_environments() -> None:
    """And keeps what it learned before."""
    agent, domain = agents.load("symbols-q-table"), load_class("automata").domain
    states = choose_states("automata", 30)
    team = Team(agent, (0,), streams(("q",), [(i,) for i in range(30)]))
    memory = lockstep.play_episodes(domain, domain.restore(states), [team], steps=25).memories[0]
    next_worlds = domain.restore(states[::-1])
    seen = next_worlds.observe((0,), team=(0,), world=False)
    _, after = agent.act(seen, None, memory, np.zeros((30, 1, 0)))  # type: ignore[arg-type]
    assert memory["values"].any()
    np.testing.assert_array_equal(after["values"], memory["values"])


def test_finite_class_runs_out_with_one_line() -> None:
    classes = load_class("cups")
    used = {*classes.list_environments()}  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match="class cups has no further environment after 336"):
        choose_next(classes, 1.0, n_players=1, key=(0,), used=used)


@EACH
def test_anytime_test_of_the_class(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    named = "--agent random --agent symbols-constant-0 --agent symbols-q-table"
    assert main(f"measure anytime --class {name} {named} --runs 4 --environments 9".split()) == 0
    rows = read_score_rows(Path("sts-workspace/scores/anytime.parquet"))
    metrics = {f"{metric} {name} environments=9" for metric in ("anytime", "anytime level")}
    assert {row["metric"] for row in rows} == metrics and len(rows) == 6
    assert "symbols-q-table" in capsys.readouterr().out


@EACH
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--agent oracle", "agent 'oracle' plays only in lambda-star, not in symbols"),
        ("--agent random --team 2", "expected a team of 1, found 2"),
    ],
)
def test_agent_or_team_that_cannot_play_gets_one_line(
    name: str,
    flags: str,
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(f"measure anytime --class {name} {flags}".split()) == 2
    error = capsys.readouterr().err.strip()
    assert message in error and "\n" not in error


def test_learner_of_the_docs_that_is_written_for_gymnasium_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_package("gymnasium")
    monkeypatch.chdir(tmp_path)
    titled = {title: text for _, title, text in blocks(ROOT / "docs/classes.md")}
    Path("averages.py").write_text(titled["averages.py"])
    states = choose_states("automata", 200)
    gain = play("automata", "averages:Averaging", states, 200).rewards[:, 100:, 0].mean(1)
    assert gain.mean() > 4 * gain.std(ddof=1) / len(gain) ** 0.5
