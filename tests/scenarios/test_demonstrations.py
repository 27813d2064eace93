"""Demonstrations: what is kept replays, obeys, is of the train split, and says who acted."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sts.agents.info import AgentInfo, load_infos
from sts.cli.main import main
from sts.domains import load_domain
from sts.engine.replay import verify
from sts.errors import StsError
from sts.formats import rlds
from sts.formats.minari import exporter, importer
from sts.storage.workspace import Workspace
from sts.trajectories import trajectory_store as store
from sts.trajectories.observed import iter_observations
from sts.trajectories.trajectory import Player, Trajectory
from sts_scenarios.mining import demonstrations
from sts_scenarios.mining.demonstrations import Outcome, Plan
from sts_scenarios.rules.categories import load_category

NAMES = ("beside-or-leave", "follow-mate", "last-move", "shadow-evil", "count-others")
SETTINGS = {"height": 7, "width": 8, "n_players": 3}
COMMAND = "demonstrate --teacher reader --size 7x8 --team 3".split()


def make_plan(
    teacher: str = "reader",
    domain: str = "lambda-star",
    names: Sequence[str] = NAMES,
    *,
    seed: int = 0,
    noise: float = 0.0,
) -> Plan:
    (info,) = load_infos([teacher]).values()
    assert isinstance(info, AgentInfo)
    return demonstrations.make_plan(teacher, info, domain, names, seed=seed, noise=noise)


def play(plan: Plan, count: int, workers: int = 1, **changes: Any) -> list[Outcome]:
    """Return the outcomes in small worlds."""
    world = SETTINGS | {"horizon": plan.steps} if plan.domain == "lambda-star" else {}
    parts = demonstrations.demonstrate(plan, count, world | changes, workers=workers)
    return [outcome for part in parts for outcome in part]


def list_kept(outcomes: Sequence[Outcome]) -> list[Trajectory]:
    return [outcome.trajectory for outcome in outcomes if outcome.trajectory]


def get_intended(t: Trajectory) -> NDArray[np.int8]:
    assert t.intended is not None
    return t.intended


def check_demonstrations(demonstrated: Sequence[Trajectory], teacher: str) -> None:
    """Assert that each replays, ends with the rule's success and states what was asked."""
    assert demonstrated and verify([t.episode for t in demonstrated]) == [None] * len(demonstrated)
    for t in demonstrated:
        asked, (told,) = t.provenance["asked"], t.instructions
        category, (player,) = load_category(asked["category"]), asked["roles"]
        takeover = asked["takeover"]
        label = category.label(t.episode, takeover, (player,), asked["parameters"])
        steps = t.episode.steps - takeover
        assert label == ("success", steps) and steps <= category.horizon
        assert category.context <= takeover
        assert t.split == "train"
        assert t.world == load_domain(t.episode.domain).world_id(t.episode.state)
        assert (told.given_at, told.player, told.source) == (takeover, player, "setter")
        assert told.category == category.name and not told.mark
        assert t.provenance["setter"]["kind"] == "script"
        assert t.provenance["fingerprint"] and asked["difficulty"] in ("easy", "medium", "hard")
        alone = "no-op" if category.partner == "no-op" else "replay"
        others = [p for n, p in enumerate(t.players) if n != player]
        assert t.players[player] == Player("agent", teacher)
        assert others == [Player("script", alone)] * len(others)


@given(seed=st.integers(0, 2**40), noise=st.sampled_from([0.0, 0.3]))
@settings(max_examples=settings().max_examples // 12)
def test_demonstrations_replay_and_end_when_the_rule_reports_success(seed, noise):
    outcomes = play(make_plan(seed=seed, noise=noise), 24)
    check_demonstrations(list_kept(outcomes), "reader")
    assert len({o.trajectory.instructions[0].given_at for o in outcomes if o.trajectory}) > 2
    for t in list_kept(outcomes):
        (player,), takeover = t.provenance["asked"]["roles"], t.provenance["asked"]["takeover"]
        differs = get_intended(t) != t.episode.actions
        assert not differs[:takeover].any() and not np.delete(differs, player, 1).any()
        assert noise or not differs.any()
        if t.players[player - 1].name == "no-op":
            others = np.delete(t.episode.actions, player, 1)[takeover:]
            assert (others == load_domain("lambda-star").noop).all()


@pytest.mark.parametrize(
    ("teacher", "domain", "names", "changes"),
    [
        (
            "babyai-reader",
            "babyai",
            ("babyai-fetch", "babyai-stand-or-take"),
            {"level": "PickupDist", "open": True},
        ),
        pytest.param(
            *("babyai-bot", "babyai", ("babyai-pick-up",), {"level": "PickupDist"}),
            marks=pytest.mark.slow,
        ),
        pytest.param("overcooked-greedy", "overcooked", (), {}, marks=pytest.mark.slow),
    ],
)
def test_every_packaged_environment_has_demonstrations(teacher, domain, names, changes):
    outcomes = play(make_plan(teacher, domain, names), 8, **changes)
    check_demonstrations(list_kept(outcomes), teacher)


def test_noise_replaces_the_teachers_moves_by_uniform_ones():
    demonstrated = list_kept(play(make_plan(seed=3, noise=0.5, names=("last-move",)), 80))
    pairs = []
    for t in demonstrated:
        (player,), takeover = t.provenance["asked"]["roles"], t.provenance["asked"]["takeover"]
        pairs.append(np.stack([get_intended(t), t.episode.actions])[:, takeover:, player])
    intended, executed = np.concatenate(pairs, 1)
    share, count = (intended != executed).mean(), len(intended)
    assert abs(share - 0.5 * 8 / 9) < 4 * np.sqrt(0.25 / count)
    assert set(intended.tolist()) == {load_domain("lambda-star").noop}  # it only answers
    assert set(executed.tolist()) == set(range(9))


def test_demonstrations_do_not_depend_on_processes_or_batches(monkeypatch):
    plan = make_plan(seed=5, noise=0.2)
    expected = play(plan, 20)
    monkeypatch.setattr(demonstrations, "WORLDS_PER_TASK", 7)
    for workers in (1, 2):
        again = play(plan, 20, workers)
        assert [(o.number, o.category) for o in again] == [(o.number, o.category) for o in expected]
        assert [t.id for t in list_kept(again)] == [t.id for t in list_kept(expected)]
    assert list_kept(play(make_plan(seed=6), 5))[0].id not in {t.id for t in list_kept(expected)}


def test_worlds_of_the_test_split_are_skipped():
    plan = make_plan()
    worlds = demonstrations.generate_worlds(plan, 60, SETTINGS | {"horizon": plan.steps})
    numbers = [world.number for world in worlds]
    assert len(numbers) == 60 and numbers == sorted(numbers)
    assert 60 < numbers[-1] < 100  # one world in five is of the test split
    outcomes = play(plan, 60)
    assert [o.number for o in outcomes] == numbers
    assert {t.provenance["index"] for t in list_kept(outcomes)} <= set(numbers)


def test_rarely_proposed_categories_come_first():
    asked = Counter(o.category for o in play(make_plan(names=("last-move", "follow-mate")), 80))
    alone = Counter(o.category for o in play(make_plan(names=("follow-mate",)), 80))
    assert 0 < alone["follow-mate"] < 40
    assert asked["follow-mate"] > 0.8 * alone["follow-mate"]


def test_demonstrations_survive_files_and_exports(tmp_path):
    demonstrated = list_kept(play(make_plan(seed=8, noise=0.3), 24))
    store.export(tmp_path / "t.parquet", demonstrated)
    exporter.write(tmp_path / "ours-v0", demonstrated)
    for again in (store.read(tmp_path / "t.parquet"), importer.read(tmp_path / "ours-v0")):
        assert [t.id for t in again] == [t.id for t in demonstrated]
        for a, b in zip(again, demonstrated, strict=True):
            assert np.array_equal(get_intended(a), get_intended(b))
    for player in range(3):
        own = [t for t in demonstrated if t.provenance["asked"]["roles"] == [player]]
        rlds.write(tmp_path / f"{player}.parquet", own, player=player)
        table = pd.read_parquet(tmp_path / f"{player}.parquet", dtype_backend="numpy_nullable")
        for t in own:
            rows, at = table[table.episode_id == t.id], t.instructions[0].given_at
            text = t.instructions[0].text
            texts = [""] * at + [text] * (t.episode.steps + 1 - at)
            assert rows.language_instruction.tolist() == texts
            assert rows.intended_action[:-1].tolist() == get_intended(t)[:, player].tolist()
            assert not rows.is_person.any() and set(rows.player_kind) == {"agent"}
        for replay in iter_observations(own, player):
            assert not replay.values["team"].any()  # the others are not on the teacher's team


def test_command_counts_saves_and_names_what_is_missing(tmp_path, capsys):
    words = [*COMMAND, "--episodes", "30", "--workspace", str(tmp_path), "--seed", "2"]
    flags = [word for name in ("last-move", "catch-mate") for word in ("--category", name)]
    assert main([*words, *flags, "--json"]) == 0
    value = json.loads(capsys.readouterr().out)
    saved = store.load(Workspace.open(tmp_path))
    assert [t.id for t in saved] == value["trajectories"] and len(saved) == value["kept"]
    assert value["worlds"] == 30 and value["unproposed"] == ["catch-mate"]
    assert value["categories"][0]["category"] == "last-move"
    assert value["categories"][0]["kept"] == value["kept"] <= value["asked"] <= 30
    assert main([*words, *flags]) == 0
    text = capsys.readouterr().out
    assert f"{value['kept']} demonstrations of {value['asked']} instructions in 30 tr" in text
    assert "never proposed in these worlds: catch-mate" in text
    words[2] = "local-search"  # which does not speak
    assert main([*words, "--category", "last-move"]) == 1
    assert "never done by local-search: last-move" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ("--noise 1.5", "expected --noise of 0 to 1, found 1.5"),
        ("--episodes 0", "expected --episodes of 1 or more, found 0"),
        ("--domain babyai", "agent 'reader' plays only in lambda-star, not in babyai"),
        ("--category babyai-fetch", "category 'babyai-fetch' is of babyai; expected one of"),
        ("--teacher random", "random plays in any environment: expected --domain"),
        ("--teacher random --domain gymnasium:CartPole-v1", "no category of gymnasium:CartPole-v1"),
    ],
)
def test_invalid_flags_print_one_line(tmp_path, capsys, flags, line):
    given_flags = flags.split()
    rest = ["--episodes", "2"] if "--episodes" not in given_flags else []
    rest += ["--teacher", "reader"] if "--teacher" not in given_flags else []
    command = ["demonstrate", *given_flags, *rest, "--workspace", str(tmp_path / "w")]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith(f"sts: {line}")
    assert not (tmp_path / "w").exists()


def test_finished_demonstrations_are_saved_when_a_later_world_fails(tmp_path, capsys, monkeypatch):
    perform = demonstrations.perform_task

    def fail(task):
        if task.worlds[-1].number > 30:
            raise StsError("the teacher stumbled")
        return perform(task)

    monkeypatch.setattr(demonstrations, "perform_task", fail)
    assert main([*COMMAND, "--episodes", "60", "--workspace", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert "sts: reader, world" in error and "the teacher stumbled" in error
    saved = store.load(Workspace.open(tmp_path))
    assert f"{len(saved)} demonstrations are saved in" in error and len(saved) > 5
